"""What `init` reads out of workflows, scripts and requirements."""

from collections.abc import Callable
from typing import Any

import pytest

ENGINE = "FROM a\nRUN git clone -b work https://x.org/o/eng /eng\n"


def workflow(jobs: str) -> str:
    return f"on: pull_request\njobs:\n{jobs}"


def test_an_image_is_what_a_workflow_builds_it_as(repository: Callable[..., Any]) -> None:
    jobs = """\
  build:
    env:
      TAG: nightly
    steps:
      - run: |
          docker build \\
            -f docker/Dockerfile.rocm -t reg.example.org/team/eng:${TAG} .
  test:
    container:
      image: reg.example.org/team/eng:nightly
    steps:
      - run: pip install -e . --no-deps
"""
    found = repository({"docker/Dockerfile.rocm": ENGINE, ".github/workflows/ci.yml": workflow(jobs)})
    image = found.manifest().images["rocm"]
    assert (image.repository, image.tag) == ("reg.example.org/team/eng", "nightly")
    assert found.manifest().suites["test"].image == "rocm"
    assert found.manifest().install == (("python", "-m", "pip", "install", "--no-deps", "-e", "."),)
    assert 'image = "rocm"  # .github/workflows/ci.yml:12' in found.propose().text.decode()


def test_an_action_that_builds_names_file_and_tags(repository: Callable[..., Any]) -> None:
    jobs = """\
  build:
    strategy:
      matrix:
        include:
          - {file: docker/Dockerfile.x, tag: tx}
    steps:
      - uses: docker/build-push-action@v6
        with:
          file: ${{ matrix.file }}
          push: true
          tags: reg.example.org/team/eng:${{ matrix.tag }}
"""
    files = {"docker/Dockerfile.x": ENGINE, "docker/Dockerfile": ENGINE}
    found = repository({**files, ".github/workflows/ci.yml": workflow(jobs)})
    assert found.manifest().images["x"].tag == "tx"
    # https://github.com/gpustack/runner/pull/250: the other variant is not built by anything
    asked = found.questions()["images.default.dockerfile"]
    assert "builds docker/Dockerfile.x, and nothing here builds docker/Dockerfile" in asked
    assert "images.x.dockerfile" not in found.questions()


def test_a_name_that_fits_one_image_only_is_taken_and_any_other_is_asked_about(repository: Callable[..., Any]) -> None:
    jobs = """\
  one:
    uses: ./.github/workflows/stage.yml
    with:
      container: reg.example.org/eng-cuda:v1
  two:
    container: reg.example.org/something:v1
"""
    files = {"docker/Dockerfile.cuda": ENGINE, "docker/Dockerfile.rocm": ENGINE}
    found = repository({**files, ".github/workflows/ci.yml": workflow(jobs)})
    images = found.manifest().images
    assert (images["cuda"].repository, images["rocm"].repository) == ("reg.example.org/eng-cuda", None)
    assert "reg.example.org/something:v1" in found.questions()["images.rocm.repository"]
    assert {name: one.image for name, one in found.manifest().suites.items()} == {"one": "cuda"}


def test_several_tags_of_one_image_are_asked_about(repository: Callable[..., Any]) -> None:
    jobs = "  b:\n    steps:\n      - run: docker build -t r.org/e:a -t r.org/e:b .\n"
    found = repository({"Dockerfile": ENGINE, ".github/workflows/ci.yml": workflow(jobs)})
    assert found.manifest().images["default"].repository is None
    assert "r.org/e:a" in found.questions()["images.default.repository"]


@pytest.mark.parametrize(
    "line",
    [
        "printf '%s' \"$BODY\" | sed -n 's/^ci-eng-pr: #\\([0-9]*\\).*/\\1/p'",
        "grep -oP '^ci-eng-pr:\\s*#?\\K\\d+' body.txt",
        "python ci/read.py --key ci-eng-pr",
        'KEY="ci-eng-pr"',
    ],
)
def test_directives_that_are_read_already(repository: Callable[..., Any], line: str) -> None:
    jobs = f"  gate:\n    steps:\n      - run: |\n          {line}\n"
    found = repository({"Dockerfile": ENGINE, ".github/workflows/ci.yml": workflow(jobs)})
    assert found.manifest().dependencies["eng"].directive == "ci-eng-pr"
    assert 'directive = "ci-eng-pr"  # .github/workflows/ci.yml:6' in found.propose().text.decode()


def test_a_directive_by_the_beginning_of_a_name_and_one_of_nobody(repository: Callable[..., Any]) -> None:
    dockerfile = "FROM a\nRUN git clone -b w https://x.org/o/Eng-LM /eng && git clone -b w https://x.org/o/two /two\n"
    script = "#!/bin/sh\ngrep '^ci-eng-pr:' | grep ci-tow-pr: ; group=ci-two-pr-12\n"
    found = repository({"Dockerfile": dockerfile, "scripts/gate.sh": script})
    assert found.manifest().dependencies["eng-lm"].directive == "ci-eng-pr"
    assert found.manifest().dependencies["two"].directive == "ci-two-pr"
    assert 'directive = "ci-two-pr"' not in found.propose().text.decode()
    assert "ci-two-pr is near" in found.questions()["ci-tow-pr"]


def test_dispatch_inputs_are_directives_too(repository: Callable[..., Any]) -> None:
    text = "on:\n  workflow_dispatch:\n    inputs:\n      ci_eng_pr:\n        type: string\njobs: {}\n"
    found = repository({"Dockerfile": ENGINE, ".github/workflows/ci.yml": text})
    assert 'directive = "ci-eng-pr"  # .github/workflows/ci.yml:5' in found.propose().text.decode()


@pytest.mark.parametrize("text", ["", "[", "jobs: [1]", "jobs:\n  a: {steps: 3}", "- a", "a: &a [*a]", "\x00", "jobs: {a: {container: [x]}}"])  # fmt: skip
def test_a_workflow_that_is_odd_is_no_error(repository: Callable[..., Any], text: str) -> None:
    found = repository({"Dockerfile": ENGINE, ".github/workflows/ci.yml": text})
    assert list(found.manifest().images) == ["default"]


def test_a_workflow_that_is_no_yaml_is_said(repository: Callable[..., Any]) -> None:
    found = repository({"Dockerfile": ENGINE, ".github/workflows/ci.yml": "a: [\n"})
    assert "# .github/workflows/ci.yml is no YAML" in found.propose().text.decode()


def test_pip_from_git_has_no_checkout_that_a_run_could_move(repository: Callable[..., Any]) -> None:
    dockerfile = """
        FROM a
        RUN pip install git+https://x.org/o/loose.git "held @ git+https://x.org/o/held@3f2c3f2c3f2c3f2c3f2c3f2c3f2c3f2c3f2c3f2c"
        RUN pip install -q 'git+https://x.org/o/branchy@dev#egg=Branchy_Dist'
    """
    found = repository(Dockerfile=dockerfile)
    deps = found.manifest().dependencies
    assert {name: (one.url, one.branch) for name, one in deps.items()} == {
        "loose": ("https://x.org/o/loose.git", None),
        "held": ("https://x.org/o/held", None),
        "branchy": ("https://x.org/o/branchy", "dev"),
    }
    asked = found.questions()
    assert "without a pin" in asked["images.default.baked.loose.path"]
    assert "at a commit (Dockerfile:2)" in asked["images.default.baked.held.path"]
    assert found.manifest().images["default"].baked == {}


def test_requirements_that_come_from_git(repository: Callable[..., Any]) -> None:
    files = {
        "requirements.txt": "numpy>=1\neng @ git+https://x.org/o/eng@main\n-e git+https://x.org/o/two#egg=two\n",
        "pyproject.toml": '[project]\nname = "mine"\ndependencies = [\n  "three @ git+https://x.org/o/three",\n]\n',
    }
    found = repository(files)
    assert list(found.manifest().dependencies) == ["three", "eng", "two"]
    assert found.manifest().dependencies["eng"].branch == "main"
    assert found.manifest().name == "mine"
    assert 'url = "https://x.org/o/three"  # pyproject.toml:4' in found.propose().text.decode()


def test_names_of_distributions_and_modules_only_where_something_says_them(repository: Callable[..., Any]) -> None:
    files = {
        "Dockerfile": ENGINE + "RUN git clone -b w https://x.org/o/quiet /quiet\n",
        "pyproject.toml": '[project]\nname = "mine"\ndependencies = ["eng>=2"]\n',
        "src/mine/a.py": "import os\nfrom eng.core import x\n",
    }
    found = repository(files)
    baked = found.manifest().images["default"].baked
    assert (baked["eng"].distributions, baked["eng"].locate) == (("eng",), ("eng",))
    assert (baked["quiet"].distributions, baked["quiet"].locate) == ((), ())
    assert 'distributions = ["eng"]  # pyproject.toml:3 requires it' in found.propose().text.decode()
    assert 'locate = ["eng"]  # src/mine/a.py:2 imports it' in found.propose().text.decode()


@pytest.mark.parametrize(
    ("lines", "python"),
    [
        ("RUN python3 -m venv /v\nENV PATH=/v/bin:$PATH\nRUN pip install -e /eng", "/v/bin/python"),
        ("RUN /v/bin/pip install -e /eng", "/v/bin/python"),
        ("ENV VIRTUAL_ENV=/v\nRUN python -m pip install -e /eng", "/v/bin/python"),
        ("RUN . /v/bin/activate && pip install -e /eng", "/v/bin/python"),
        ("RUN cd /eng && /opt/conda/bin/python3.12 setup.py develop", "/opt/conda/bin/python3.12"),
        ("ENV PATH=/somewhere/bin:$PATH\nRUN pip install -e /eng", None),
        ("RUN pip install -e /eng", None),
        ("RUN /a/bin/pip install -e /eng && /b/bin/pip install -e /eng/more", None),
    ],
)
def test_the_interpreter_where_it_is_told(repository: Callable[..., Any], lines: str, python: str | None) -> None:
    found = repository(Dockerfile=f"{ENGINE}{lines}\n")
    assert found.manifest().images["default"].python == (python or "python3")
    assert ("images.default.python" in found.questions()) is (python is None)


def test_an_installer_of_no_known_interpreter_is_asked_about(repository: Callable[..., Any]) -> None:
    found = repository(Dockerfile=f"{ENGINE}RUN uv pip install -e /eng\n")
    assert "`uv pip install -e .` (Dockerfile:3)" in found.questions()["images.default.baked.eng.install"]
    assert found.manifest().images["default"].baked["eng"].install == ()


def test_variables_before_an_install_command(repository: Callable[..., Any]) -> None:
    found = repository(Dockerfile=f"{ENGINE}RUN cd /eng && BUILD_KERNELS=0 MAX_JOBS=4 pip install .\n")
    assert found.manifest().images["default"].env == (("BUILD_KERNELS", "0"), ("MAX_JOBS", "4"))


BUILT = """
    ARG BRANCH=main
    FROM a AS engine
    ARG BRANCH
    COPY p /p
    RUN git clone -b ${BRANCH} https://x.org/o/eng /eng && cd /eng && git apply /p/1.patch
    FROM engine AS tools
    RUN git clone -b w https://x.org/o/tool /tool
"""


@pytest.mark.parametrize(
    "step",
    [
        "      - run: docker buildx build --target engine --build-arg BRANCH=work -f docker/Dockerfile docker\n",
        "      - uses: docker/build-push-action@v6\n        with: {context: docker, target: engine, build-args: BRANCH=work}\n",
    ],
)
def test_context_target_and_arguments_are_those_of_the_build(
    repository: Callable[..., Any], patch: Callable[..., str], step: str
) -> None:
    jobs = f"  build:\n    steps:\n{step}"
    files = {"docker/Dockerfile": BUILT, "docker/p/1.patch": patch("a"), "p/1.patch": patch("b")}
    found = repository({**files, ".github/workflows/ci.yml": workflow(jobs)})
    image = found.manifest().images["default"]
    assert (image.build.context, image.build.target) == ("docker", "engine")
    assert image.build.arguments == {"BRANCH": "work"}
    assert list(image.baked) == ["eng"]
    assert image.baked["eng"].patches == ("docker/p/1.patch",)
    assert found.manifest().dependencies["eng"].branch == "work"


def test_an_argument_that_is_not_written_anywhere_is_asked_about(repository: Callable[..., Any]) -> None:
    dockerfile = "FROM a\nARG REF=main\nRUN git clone https://x.org/o/eng /eng && git -C /eng checkout $REF\n"
    jobs = '  build:\n    steps:\n      - run: docker build --build-arg REF="$REF" .\n'
    found = repository({"Dockerfile": dockerfile, ".github/workflows/ci.yml": workflow(jobs)})
    assert "which values do REF have?" in found.questions()["images.default.build-args"]
    assert found.manifest().dependencies["eng"].branch is None


def test_two_ways_to_build_one_file_are_asked_about(repository: Callable[..., Any]) -> None:
    jobs = (
        "  b:\n    steps:\n      - run: docker build --build-arg A=1 .\n      - run: docker build --build-arg A=2 .\n"
    )
    found = repository({"Dockerfile": ENGINE, ".github/workflows/ci.yml": workflow(jobs)})
    assert (
        ".github/workflows/ci.yml:5, .github/workflows/ci.yml:6 differ"
        in found.questions()["images.default.build-args"]
    )
