"""What `init` reads out of Dockerfiles: repositories rebuilt from what people described, each in a few lines."""

from collections.abc import Callable
from typing import Any

import pytest

COMMIT = "3f2c" * 10

ROCM = """
    ARG BASE=rocm/pytorch:6.4
    FROM ${BASE} AS base
    ARG SGLANG_REPO=https://github.com/sgl-project/sglang.git
    ARG SGLANG_BRANCH=sglang-carrier
    ARG MEGATRON_COMMIT=3f2c3f2c3f2c3f2c3f2c3f2c3f2c3f2c3f2c3f2c
    ENV PYTHONPATH=/root/Megatron-LM
    WORKDIR /sgl-workspace

    RUN git clone ${SGLANG_REPO} sglang \\
     # what is carried on top
     && cd sglang \\
     && git checkout ${SGLANG_BRANCH} \\
     && python3 -m pip install --no-deps -e "python[all_hip]"

    COPY docker/amd_patch/latest /tmp/amd_patch
    RUN cd /root && \\
        git clone https://github.com/carrier/Megatron-LM.git --recursive && \\
        cd Megatron-LM && git checkout ${MEGATRON_COMMIT} && \\
        git apply --3way /tmp/amd_patch/megatron.patch && \\
        pip install -e . --no-deps && rm -rf /tmp/amd_patch
"""


def test_a_long_run_chain_with_clone_checkout_patch_and_editable_install(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    found = repository(
        {"docker/Dockerfile.rocm": ROCM, "docker/amd_patch/latest/megatron.patch": patch("megatron/init.py")}
    ).manifest()
    sglang, megatron = found.dependencies["sglang"], found.dependencies["megatron-lm"]
    assert (sglang.url, sglang.branch) == ("https://github.com/sgl-project/sglang.git", "sglang-carrier")
    assert (megatron.url, megatron.branch) == ("https://github.com/carrier/Megatron-LM.git", None)
    image = found.images["rocm"]
    assert image.dockerfile == "docker/Dockerfile.rocm"
    assert image.python_path == ("/root/Megatron-LM",)
    baked = image.baked["sglang"]
    assert baked.path == "/sgl-workspace/sglang"
    assert baked.install == (("python", "-m", "pip", "install", "--no-deps", "-e", "python[all_hip]"),)
    baked = image.baked["megatron-lm"]
    assert baked.path == "/root/Megatron-LM"
    assert (baked.patches, baked.apply) == (("docker/amd_patch/latest/megatron.patch",), "3way")
    assert baked.install == (("python", "-m", "pip", "install", "--no-deps", "-e", "."),)


def test_each_value_says_where_it_comes_from(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    found = repository(
        {"docker/Dockerfile.rocm": ROCM, "docker/amd_patch/latest/megatron.patch": patch("megatron/init.py")}
    )
    lines = found.propose().text.decode().split("\n")
    assert 'branch = "sglang-carrier"  # docker/Dockerfile.rocm:12' in lines
    assert 'path = "/root/Megatron-LM"  # docker/Dockerfile.rocm:17' in lines
    assert 'patches = ["docker/amd_patch/latest/megatron.patch"]  # docker/Dockerfile.rocm:19' in lines
    assert f"# docker/Dockerfile.rocm:18 checks out {COMMIT} (MEGATRON_COMMIT)" in lines


def test_what_is_not_known_is_a_question_with_its_key_left_out(repository: Callable[..., Any]) -> None:
    found = repository({"docker/Dockerfile.rocm": ROCM})
    questions = found.questions()
    assert "has a commit" in questions["dependencies.megatron-lm.branch"]
    assert "No workflow here names one" in questions["images.rocm.repository"]
    assert "whichever PATH finds" in questions["images.rocm.python"]
    assert "project has no such patch" in questions["images.rocm.baked"]
    assert questions.keys() >= {"suites", "project.install", "images.rocm.baked.sglang.imports"}
    assert found.manifest().images["rocm"].baked["megatron-lm"].patches == ()


def test_a_clone_without_a_commit_has_no_branch_that_anybody_could_know(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    """https://github.com/NVIDIA-NeMo/Speech/issues/248"""
    dockerfile = """
        FROM ubuntu
        RUN git clone https://example.org/parlance/ctc.git /opt/ctc && cd /opt/ctc && git submodule update --init
        COPY scripts/ctc.patch /tmp/
        RUN cd /opt/ctc && patch -p1 -f < /tmp/ctc.patch
    """
    found = repository({"Dockerfile": dockerfile, "scripts/ctc.patch": patch("setup.py")})
    assert "depends on the day" in found.questions()["dependencies.ctc.branch"]
    assert "Dockerfile:2" in found.questions()["dependencies.ctc.branch"]
    assert found.manifest().dependencies["ctc"].branch is None
    assert found.manifest().images["default"].baked["ctc"].patches == ("scripts/ctc.patch",)


@pytest.mark.parametrize(
    ("commands", "branch"),
    [
        ("git clone -b work https://x.org/o/eng /eng", "work"),
        ("git clone --branch=work https://x.org/o/eng /eng", "work"),
        ("git clone https://x.org/o/eng /eng && git -C /eng checkout work", "work"),
        ("git clone https://x.org/o/eng /eng && cd /eng && git fetch origin work && git checkout FETCH_HEAD", "work"),
        ("git clone https://x.org/o/eng /eng && cd /eng && git checkout -b mine origin/work", "work"),
        ("git clone https://x.org/o/eng /eng && cd /eng && git reset --hard origin/work", "work"),
        ("git clone https://x.org/o/eng /eng && (cd /eng && git switch work)", "work"),
        ("git init /eng && cd /eng && git remote add origin https://x.org/o/eng && git fetch --depth 1 origin work && git checkout FETCH_HEAD", "work"),
        ("git clone https://x.org/o/eng /eng && git -C /eng checkout v1.2.3", None),
        ("git clone https://x.org/o/eng /eng && git -C /eng checkout refs/tags/stable", None),
        (f"git clone https://x.org/o/eng /eng && git -C /eng checkout {COMMIT}", None),
        ("git clone https://x.org/o/eng /eng && git -C /eng checkout f1f6624", None),
        ("git clone https://x.org/o/eng /eng && cd /eng && git fetch origin pull/7/head && git checkout FETCH_HEAD", None),
        ("git clone https://x.org/o/eng /eng && cd /eng && git checkout ${WHAT}", None),
        ("git clone https://x.org/o/eng /eng && cd /eng && git checkout ${WHAT:-work}", "work"),
        ("git clone https://x.org/o/eng /eng && cd /eng && git checkout $(cat /commit)", None),
        ("WHAT=work; git clone https://x.org/o/eng /eng && cd /eng && git checkout $WHAT", "work"),
        ('git clone https://x.org/o/eng /eng; cd /eng; [ -n "$WHAT" ] && git checkout $WHAT; true', None),
    ],
)  # fmt: skip
def test_which_branch_is_followed(repository: Callable[..., Any], commands: str, branch: str | None) -> None:
    found = repository(Dockerfile=f"FROM ubuntu\nARG WHAT\nRUN {commands}\n").manifest()
    assert found.dependencies["eng"].url == "https://x.org/o/eng"
    assert found.dependencies["eng"].branch == branch
    assert found.images["default"].baked["eng"].path == "/eng"


def test_a_here_document_is_a_script_of_the_run(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    dockerfile = """
        # syntax=docker/dockerfile:1
        FROM ubuntu
        COPY patches/ /patches/
        RUN <<EOF
        set -e
        git clone https://x.org/o/eng /eng
        cd /eng
        git checkout work
        git apply /patches/one.patch
        EOF
        RUN python3 <<PY
        print("git clone https://x.org/o/never /never")
        PY
    """
    found = repository({"Dockerfile": dockerfile, "patches/one.patch": patch("a.py")})
    baked = found.manifest().images["default"].baked
    assert baked["eng"].patches == ("patches/one.patch",)
    assert list(baked) == ["eng"]
    assert 'patches = ["patches/one.patch"]  # Dockerfile:9' in found.propose().text.decode()


def test_a_bind_mount_and_a_script_of_the_repository(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    dockerfile = """
        FROM ubuntu
        RUN --mount=type=bind,source=docker,target=/mnt/docker bash /mnt/docker/install.sh
    """
    script = """
        #!/bin/bash
        set -e
        git clone https://x.org/o/eng /eng
        cd /eng && git checkout work
        patch -p1 -i /mnt/docker/eng.patch
    """
    found = repository({"Dockerfile": dockerfile, "docker/install.sh": script, "docker/eng.patch": patch("a.py")})
    assert found.manifest().images["default"].baked["eng"].patches == ("docker/eng.patch",)
    assert "# docker/install.sh:5" in found.propose().text.decode()


def test_a_stage_that_is_not_in_the_image_says_nothing_of_it(repository: Callable[..., Any]) -> None:
    dockerfile = """
        FROM ubuntu AS build
        RUN git clone -b work https://x.org/o/eng /src/eng && git clone -b work https://x.org/o/tool /src/tool
        FROM ubuntu
        COPY --from=build /src/eng /opt/eng
    """
    baked = repository(Dockerfile=dockerfile).manifest().images["default"].baked
    assert {name: one.path for name, one in baked.items()} == {"eng": "/opt/eng"}


def test_a_checkout_that_the_base_image_brings_has_no_address(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    dockerfile = """
        FROM vendor/stack:v1
        COPY eng.patch /tmp/
        RUN cd /stack/eng && git apply /tmp/eng.patch
    """
    found = repository({"Dockerfile": dockerfile, "eng.patch": patch("a.py")})
    assert found.manifest().dependencies == {}
    assert "vendor/stack:v1 (Dockerfile:1) brings it" in found.questions()["dependencies.eng.url"]
    assert '# patches = ["eng.patch"]  # Dockerfile:3' in found.propose().text.decode()


def test_a_condition_on_a_build_argument_is_answered_by_its_default(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    dockerfile = """
        FROM ubuntu
        ARG PATCH_IT=1
        ARG ALSO=0
        COPY *.patch /p/
        RUN git clone -b work https://x.org/o/eng /eng
        RUN if [ "$PATCH_IT" = "1" ]; then cd /eng && git apply /p/one.patch; fi
        RUN if [ "$ALSO" = "1" ]; then cd /eng && git apply /p/two.patch; fi
    """
    found = repository({"Dockerfile": dockerfile, "one.patch": patch("a.py"), "two.patch": patch("b.py")})
    assert found.manifest().images["default"].baked["eng"].patches == ("one.patch",)
    assert "No Dockerfile here applies it" in found.questions()["two.patch"]


def test_what_depends_on_a_condition_that_nobody_can_tell_is_asked(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    dockerfile = """
        FROM ubuntu
        COPY one.patch /p/
        RUN git clone -b work https://x.org/o/eng /eng
        RUN cd /eng && if python3 -c 'import torch' && nvidia-smi; then git apply /p/one.patch; fi
    """
    found = repository({"Dockerfile": dockerfile, "one.patch": patch("a.py")})
    assert found.manifest().images["default"].baked["eng"].patches == ()
    assert "only where the condition at Dockerfile:4 holds" in found.questions()["images.default.baked.eng.patches"]


def test_a_check_before_an_apply_is_taken_to_hold(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    """https://github.com/AMD-AGI/Primus/pull/375"""
    dockerfile = """
        FROM ubuntu
        COPY one.patch two.patch /p/
        RUN git clone -b work https://x.org/o/eng /eng && cd /eng \\
         && (git apply --check /p/one.patch && git apply /p/one.patch || echo 'probably there') \\
         && (git apply --reverse --check /p/two.patch || git apply /p/two.patch)
    """
    found = repository({"Dockerfile": dockerfile, "one.patch": patch("a.py"), "two.patch": patch("a.py")})
    assert found.manifest().images["default"].baked["eng"].patches == ("one.patch", "two.patch")


def test_strip_level_and_root(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    dockerfile = """
        FROM ubuntu
        COPY p/ /p/
        RUN git clone -b work https://x.org/o/eng /eng
        WORKDIR /eng
        RUN patch -p2 < /p/one.patch && git apply --directory=python /p/two.patch
        RUN patch -d /eng/lib -p1 -i /p/three.patch
    """
    files = {f"p/{name}.patch": patch(f"{name}.py") for name in ("one", "two", "three")}
    baked = repository({"Dockerfile": dockerfile, **files}).manifest().images["default"].baked["eng"]
    assert baked.patches == ("p/one.patch", "p/two.patch", "p/three.patch")
    assert baked.format("p/one.patch").strip == 2
    assert baked.format("p/two.patch").root == "python"
    assert baked.format("p/three.patch").root == "lib"


def test_a_patch_that_is_not_there_has_its_nearest_name(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    """https://github.com/radixark/miles/pull/1285: the line says hyphen, the file has an underscore."""
    dockerfile = """
        FROM ubuntu
        COPY docker/p/ /p/
        RUN git clone -b work https://x.org/o/eng /eng && cd /eng && git apply /p/a-b.patch
    """
    found = repository({"Dockerfile": dockerfile, "docker/p/a_b.patch": patch("a.py")})
    asked = found.questions()["images.default.baked"]
    assert "'docker/p/a-b.patch'" in asked
    assert "the nearest name is docker/p/a_b.patch" in asked
    assert "Dockerfile:3" in asked
    assert found.manifest().images["default"].baked["eng"].patches == ()


def test_an_apply_line_that_is_commented_out(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    """https://github.com/darwin/simverse/issues/6"""
    dockerfile = """
        FROM ubuntu
        RUN git clone -b work https://x.org/o/eng /eng
        COPY p/raw.patch /p/
        # RUN cd /eng && git apply /p/raw.patch
    """
    found = repository({"Dockerfile": dockerfile, "p/raw.patch": patch("a.py")})
    assert "Dockerfile:4 has it in a comment" in found.questions()["p/raw.patch"]


def test_a_patch_for_installed_files_is_of_no_checkout(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    """https://github.com/LMCache/LMCache/pull/640"""
    dockerfile = """
        FROM vendor/serving:v1
        COPY docker/p.patch /usr/lib/python3.12/dist-packages/serving/
        RUN cd /usr/lib/python3.12/dist-packages/serving && patch engine.py p.patch
    """
    found = repository({"Dockerfile": dockerfile, "docker/p.patch": patch("engine.py")})
    assert "a patch of which package?" in found.questions()["images.default.baked"]
    assert found.manifest().dependencies == {}


def test_two_images_share_one_dependency(repository: Callable[..., Any]) -> None:
    one = "FROM a\nRUN git clone -b work https://x.org/o/Eng.git /a/eng\n"
    two = "FROM b\nRUN git clone -b work git@x.org:o/eng /b/eng && git clone -b main https://x.org/p/eng /b/other\n"
    found = repository({"docker/Dockerfile.one": one, "docker/two/Dockerfile": two}).manifest()
    assert list(found.dependencies) == ["eng", "p-eng"]
    assert list(found.images) == ["one", "two"]
    assert found.images["two"].baked["eng"].path == "/b/eng"
    assert found.images["two"].baked["p-eng"].path == "/b/other"


def test_images_that_follow_different_branches_are_asked_about(repository: Callable[..., Any]) -> None:
    one = "FROM a\nRUN git clone -b old https://x.org/o/eng /eng\n"
    two = "FROM b\nRUN git clone -b new https://x.org/o/eng /eng\n"
    found = repository({"Dockerfile.one": one, "Dockerfile.two": two})
    assert found.manifest().dependencies["eng"].branch is None
    assert "'old' (Dockerfile.one:2), 'new' (Dockerfile.two:2)" in found.questions()["dependencies.eng.branch"]


def test_a_login_in_an_address_never_comes_into_the_manifest(repository: Callable[..., Any]) -> None:
    dockerfile = "FROM a\nARG T\nRUN git clone -b w https://x:${T}@x.org/o/eng /eng\nRUN git clone -b w https://me:pw@x.org/o/two /two\n"
    found = repository(Dockerfile=dockerfile)
    assert found.manifest().dependencies["eng"].url == "https://x.org/o/eng"
    assert "pw" not in found.propose().text.decode()


def test_hostile_text_stays_text(repository: Callable[..., Any]) -> None:
    dockerfile = 'FROM a\nRUN git clone -b "w\\"]\\nx" "https://x.org/o/e\\u0007ng" /eng\x1b[2J\nRUN git clone "--upload-pack=x" -- "-x" /y\n'
    found = repository({"Dockerfile": dockerfile, "pyproject.toml": '[project]\nname = "a\\u001bb"\n'})
    assert "\x1b" not in found.propose().text.decode()
    assert found.manifest() is not None


@pytest.mark.parametrize("text", ["", "FROM", "RUN", "COPY --from=0 a b", "FROM a\nRUN (((", "FROM a AS a\nFROM a AS a\nCOPY --from=a / /\n", "\\", "FROM a\nRUN <<EOF\n", "ONBUILD RUN git clone a", 'FROM a\nRUN ["', "FROM 9\nFROM -1\n"])  # fmt: skip
def test_a_dockerfile_that_is_odd_is_no_error(repository: Callable[..., Any], text: str) -> None:
    assert repository(Dockerfile=text).manifest().dependencies == {}


def test_a_repository_with_nothing_in_it(repository: Callable[..., Any]) -> None:
    found = repository({})
    assert found.manifest().name == "project"
    assert {"images", "dependencies"} <= found.questions().keys()


@pytest.mark.parametrize(
    "run",
    [
        "A=xy; " + "A=$A$A; " * 60 + "git clone $A",
        "".join(f"for v{n} in {'a ' * 100}; do " for n in range(6)) + "git clone https://x.org/o/e /e; " + "done; " * 6,
        "bash /s.sh",
        "git clone " + "git " * 200_000 + "<(",
        "$((" * 5_000,
        "x=${a:-" * 2_000,
    ],
    ids=["doubling", "loops", "itself", "words", "nested", "defaults"],
)
def test_what_would_take_for_ever_is_not_followed_to_its_end(repository: Callable[..., Any], run: str) -> None:
    import time

    begin = time.perf_counter()
    script = "#!/bin/sh\n" + ". /s.sh\n" * 50
    repository({"Dockerfile": f"FROM a\nCOPY s.sh /s.sh\nRUN {run}\n", "s.sh": script}).propose()
    assert time.perf_counter() - begin < 10
