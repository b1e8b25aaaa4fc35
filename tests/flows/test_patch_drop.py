"""Dropping a carried patch: the cases that people met, each with what goes, what stays and what is left to a reader."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from regraft.core.dockerfile_text import read_dockerfile
from regraft.core.drop_values import Drop, Evidence
from regraft.core.manifest_reader import read_manifest
from regraft.core.plan import PatchState
from regraft.errors import InputError, RefusedError
from regraft.flows.patch_drop import plan_drop

COMMIT = "c2" * 20


class Files:
    """`TrackedFiles` over a dictionary. `linked` are links, and what each leads to."""

    def __init__(self, files: dict[str, str], linked: dict[str, str] | None = None, root: str = "") -> None:
        self.linked = linked or {}
        self.root = root
        self.files = {path: text.encode() for path, text in files.items()}

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def links(self) -> dict[str, str]:
        return self.linked

    def each(self, paths: Sequence[str], limit: int) -> Iterator[tuple[str, bytes]]:
        yield from ((path, self.files[path]) for path in paths if len(self.files[path]) <= limit)


class Known:
    """A `Proof` that knows what it is told."""

    def __init__(self, *found: Evidence) -> None:
        self.found = found

    def of(self, patch: str) -> tuple[Evidence, ...]:  # noqa: ARG002 - the port's own
        return self.found


def at(state: PatchState, *, referred: bool | None = None, ref: str = "main", reason: str | None = None) -> Evidence:
    return Evidence("rocm", "megatron", ref, COMMIT, state, reason, referred)


THERE = Known(at("already-there"))
DEAD = Known(at("target-gone", referred=False))


def after(drop: Drop, path: str) -> str:
    """A file as it is then; a file that no change names is as it was."""
    [found] = [one for one in drop.changes if one.path == path]
    assert found.after is not None
    return found.after.decode()


def told(drop: Drop) -> list[str]:
    return [f"{one.path}:{one.line}:{one.column} {one.kind}" for one in drop.mentions]


LATEST = "docker/amd_patch/latest"
ROCM = f"""\
FROM rocm AS base
SHELL ["/bin/bash", "-ceuxo", "pipefail"]
# Patches are consumed below.
COPY {LATEST} /tmp/amd_patch/
RUN git clone "$UPSTREAM" Megatron-LM && \\
    cd Megatron-LM && \\
    git checkout ${{MEGATRON_BRANCH}} && \\
    # fused kernels do not build here
    git apply /tmp/amd_patch/megatron.patch && \\
    git apply /tmp/amd_patch/miles.patch && \\
    pip install -e .
"""
STACK = {
    f"{LATEST}/megatron.patch": "diff\n",
    f"{LATEST}/miles.patch": "diff\n",
    "docker/patch/latest/megatron.patch": "diff of another stack\n",
    "docker/Dockerfile.rocm": ROCM,
    "docker/Dockerfile": "FROM cuda\nCOPY docker/patch/latest/megatron.patch /p/\nRUN git apply /p/megatron.patch\n",
    ".github/workflows/build.yml": f"""\
on: push
jobs:
  build:
    steps:
      - uses: actions/checkout@v4
      - name: Try the patch
        run: |
          git -C upstream apply --check "$PWD/{LATEST}/megatron.patch"
      - run: docker build -f docker/Dockerfile.rocm .
""",
    "tests/test_image.py": f'def test_patch():\n    assert open("{LATEST}/megatron.patch")\n',
}


def test_a_patch_whose_target_is_gone_goes_with_its_lines_and_the_other_image_is_left_alone() -> None:
    """https://github.com/radixark/miles/pull/2768: the folder is still copied, since another patch is in it."""
    drop = plan_drop(f"{LATEST}/megatron.patch", Files(STACK), DEAD)
    assert [one.path for one in drop.changes] == [
        ".github/workflows/build.yml",
        "docker/Dockerfile.rocm",
        f"{LATEST}/megatron.patch",
    ]
    assert after(drop, "docker/Dockerfile.rocm") == ROCM.replace(
        "    git apply /tmp/amd_patch/megatron.patch && \\\n", ""
    )
    assert "Try the patch" not in after(drop, ".github/workflows/build.yml")
    assert "docker build" in after(drop, ".github/workflows/build.yml")
    assert told(drop) == ["tests/test_image.py:2:18 text"]
    assert drop.changes[-1].after is None


def test_the_last_patch_of_a_folder_goes_with_the_copy_of_the_folder() -> None:
    files = {path: text for path, text in STACK.items() if not path.endswith("miles.patch")}
    files["docker/Dockerfile.rocm"] = ROCM.replace("    git apply /tmp/amd_patch/miles.patch && \\\n", "")
    drop = plan_drop(f"{LATEST}/megatron.patch", Files(files), DEAD)
    assert "amd_patch" not in after(drop, "docker/Dockerfile.rocm")


STUBS = """\
git() { echo "git $*" >>"$LOG"; [ "$1" != clone ] || mkdir -p "$3"; }
pip() { echo "pip $* in ${PWD##*/}" >>"$LOG"; }
"""


def run_chain(dockerfile: str, folder: Path) -> list[str]:
    """Run every RUN of a Dockerfile as its SHELL does, with programs that write down how they are called."""
    folder.mkdir()
    log = folder / "log"
    log.touch()
    env = {"PATH": os.environ["PATH"], "LOG": str(log), "UPSTREAM": "u", "MEGATRON_BRANCH": "miles-main"}
    for one in read_dockerfile(dockerfile.encode()).instructions:
        if one.keyword == "RUN":
            script = STUBS + one.text.decode()
            subprocess.run(["bash", "-ceuo", "pipefail", script], cwd=folder, env=env, check=True)
    return log.read_text().splitlines()


def test_the_chain_that_is_left_really_runs(tmp_path: Path) -> None:
    """The other commands, in their order, in the same folder."""
    drop = plan_drop(f"{LATEST}/megatron.patch", Files(STACK), DEAD)
    before = run_chain(ROCM, tmp_path / "before")
    assert before == [
        "git clone u Megatron-LM",
        "git checkout miles-main",
        "git apply /tmp/amd_patch/megatron.patch",
        "git apply /tmp/amd_patch/miles.patch",
        "pip install -e . in Megatron-LM",
    ]
    now = run_chain(after(drop, "docker/Dockerfile.rocm"), tmp_path / "after")
    assert now == [line for line in before if "megatron.patch" not in line]


def test_a_fix_that_landed_is_dropped_and_every_other_mention_is_told() -> None:
    """https://github.com/NVIDIA-NeMo/RL/pull/3494: five other places refer to it."""
    files = {
        "patches/fix.patch": "diff\n",
        "Dockerfile": "FROM x\nCOPY patches/fix.patch /p/\nRUN cd /src && git apply /p/fix.patch\nRUN make\n",
        "README.md": "Check it:\n\n    git apply --check patches/fix.patch\n\nSee fix.patch, and prefix.patch.\n",
        "tests/disabled.txt": "# needs patches/fix.patch\ntest_a\n",
        "tools/apply.sh": '#!/bin/sh\nexec python tools/apply.py "$1/patches/fix.patch"\n',
        "tools/apply.py": "NAME = 'fix.patch'\n",
    }
    drop = plan_drop("patches/fix.patch", Files(files), THERE)
    assert after(drop, "Dockerfile") == "FROM x\nRUN make\n"
    assert told(drop) == [
        "README.md:3:23 text",
        "README.md:5:5 text",
        "tests/disabled.txt:1:9 text",
        "tools/apply.py:1:9 text",
        "tools/apply.sh:2:32 use",
    ]
    assert [one.path for one in drop.uses] == ["tools/apply.sh"]


def test_a_patch_beside_its_target_goes_with_the_copy_and_the_run_that_names_both() -> None:
    """https://github.com/LMCache/LMCache/pull/640."""
    site = "/opt/venv/lib/python3.12/site-packages/vllm"
    files = {
        "docker/patch/cache.patch": "diff\n",
        "docker/Dockerfile": f"FROM x\nCOPY docker/patch/cache.patch {site}/cache.patch\n"
        f"RUN patch {site}/worker.py {site}/cache.patch\nRUN pip check\n",
    }
    drop = plan_drop("docker/patch/cache.patch", Files(files), None)
    assert after(drop, "docker/Dockerfile") == "FROM x\nRUN pip check\n"
    assert not drop.proved


def test_a_patch_that_is_applied_at_build_time_and_at_start_goes_from_both() -> None:
    """https://github.com/ServerlessLLM/ServerlessLLM/pull/228."""
    files = {
        "vllm_patch/load.patch": "diff\n",
        "Dockerfile": "FROM x\nCOPY vllm_patch/load.patch /app/\nRUN patch -p2 -d /vllm < /app/load.patch && make\n",
        "entrypoint.sh": '#!/bin/bash\nset -e\nif ! patch -p2 --dry-run -d "$VLLM" < ./vllm_patch/load.patch; then\n'
        '  echo "already there"\nelse\n  patch -p2 -d "$VLLM" < ./vllm_patch/load.patch\nfi\nexec "$@"\n',
    }
    drop = plan_drop("vllm_patch/load.patch", Files(files), THERE)
    assert after(drop, "Dockerfile") == "FROM x\nRUN make\n"
    assert after(drop, "entrypoint.sh") == '#!/bin/bash\nset -e\nexec "$@"\n'
    assert drop.remarks == ("it was used in 2 files: Dockerfile:2, entrypoint.sh:3",)


def test_a_line_that_was_commented_out_is_told_and_that_nothing_applies_the_patch() -> None:
    """https://github.com/darwin/simverse/issues/6."""
    files = {
        "patches/rpc.patch": "diff\n",
        "Dockerfile": "FROM x\n# RUN git apply /p/rpc.patch\nRUN make && \\\n  # git apply /p/rpc.patch && \\\n  make install\n",
    }
    drop = plan_drop("patches/rpc.patch", Files(files), None)
    assert [one.path for one in drop.changes] == ["patches/rpc.patch"]
    assert told(drop) == ["Dockerfile:2:17 text", "Dockerfile:4:15 text"]
    assert drop.remarks == ("no Dockerfile, workflow or script applies it",)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_declaration_and_application_both_go_and_entries_beside_them_stay(number: int) -> None:
    """https://github.com/rsyslog/rsyslog/pull/7488 and https://github.com/packit/packit/pull/1582: three entries without an
    empty line between them, each of them dropped in turn.
    """
    gone = f"debian/patches/{number}.patch"
    files = {
        **{f"debian/patches/{one}.patch": "diff\n" for one in (1, 2, 3)},
        "debian/patches/series": "1.patch\n2.patch -p1\n3.patch\n",
        "Dockerfile": "FROM x\nCOPY debian/patches/1.patch /p/\nCOPY debian/patches/2.patch /p/\nCOPY debian/patches/3.patch /p/\n"
        "RUN git apply /p/1.patch && \\\n    git apply /p/2.patch && \\\n    git apply /p/3.patch\nRUN make\n",
        "prep.sh": "patch -p1 < debian/patches/1.patch\npatch -p1 < debian/patches/2.patch\npatch -p1 < debian/patches/3.patch\n",
        "regraft.toml": '[images.a.baked.b]\npatches = [\n  "debian/patches/1.patch", # one\n  "debian/patches/2.patch",\n'
        '  # three\n  "debian/patches/3.patch",\n]\n',
    }
    drop = plan_drop(gone, Files(files), THERE)
    assert drop.mentions == ()
    for path in ("debian/patches/series", "prep.sh"):
        kept = [line for line in files[path].splitlines() if f"{number}.patch" not in line]
        assert after(drop, path).splitlines() == kept
    assert after(drop, "regraft.toml") == files["regraft.toml"].replace(f'"{gone}",', "").replace("\n  \n", "\n")
    others = [one for one in (1, 2, 3) if one != number]
    copies = "".join(f"COPY debian/patches/{one}.patch /p/\n" for one in others)
    chain = " && \\\n    ".join(f"git apply /p/{one}.patch" for one in others)
    assert after(drop, "Dockerfile") == f"FROM x\n{copies}RUN {chain}\nRUN make\n"


def test_one_patch_that_landed_goes_and_the_other_that_only_moved_does_not() -> None:
    """https://github.com/eugr/spark-vllm-docker/issues/201 and https://github.com/eugr/spark-vllm-docker/pull/213."""
    files = Files(
        {
            "mods/a.patch": "diff\n",
            "mods/b.patch": "diff\n",
            "Dockerfile": "FROM x\nCOPY mods/a.patch mods/b.patch /m/\nRUN patch -p1 < /m/a.patch && patch -p1 < /m/b.patch\n",
        }
    )
    assert (
        after(plan_drop("mods/a.patch", files, THERE), "Dockerfile")
        == "FROM x\nCOPY mods/b.patch /m/\nRUN patch -p1 < /m/b.patch\n"
    )
    with pytest.raises(RefusedError, match="cannot be proved") as refused:
        plan_drop("mods/b.patch", files, Known(at("conflict", reason="line 70 moved")))
    assert "conflict at main (c2c2c2c2c2c2) of megatron, in rocm: line 70 moved" in refused.value.message


@pytest.mark.parametrize(
    "found",
    [
        [at("applies")],
        [at("partial")],
        [at("conflict")],
        [at("unreadable")],
        [at("target-gone")],
        [at("target-gone", referred=True)],
        [at("already-there"), at("applies", ref="release")],
        [at("already-there"), at("target-gone", referred=None)],
    ],
)
def test_without_proof_at_every_ref_nothing_is_proposed(found: list[Evidence]) -> None:
    with pytest.raises(RefusedError) as refused:
        plan_drop(f"{LATEST}/megatron.patch", Files(STACK), Known(*found))
    assert refused.value.code == "not-proved"


def test_a_patch_that_nothing_carries_has_no_proof() -> None:
    with pytest.raises(RefusedError) as refused:
        plan_drop(f"{LATEST}/megatron.patch", Files(STACK), Known())
    assert refused.value.code == "no-proof"


def test_a_path_that_is_not_tracked_gets_the_nearest_one() -> None:
    with pytest.raises(InputError, match="tracks no file") as missing:
        plan_drop("miles.patch", Files(STACK), THERE)
    assert missing.value.hint == f"did you mean {LATEST}/miles.patch?"


def test_only_patches_are_dropped() -> None:
    with pytest.raises(InputError) as refused:
        plan_drop("docker/Dockerfile", Files(STACK), None)
    assert refused.value.code == "not-a-patch"


MANIFEST = """\
[project]
name = "x"
[dependencies.d]
url = "u"
branch = "main"
[images.i]
[images.i.baked.d]
path = "/d"
series = "fixes/order"
"""


def test_the_series_that_the_manifest_names_is_read_as_one() -> None:
    files = {"fixes/order": "a\nb.diff\n", "fixes/a": "diff\n", "fixes/b.diff": "diff\n", "regraft.toml": MANIFEST}
    drop = plan_drop("fixes/b.diff", Files(files), THERE, read_manifest(MANIFEST.encode()))
    assert after(drop, "fixes/order") == "a\n"


LOOP = "RUN for p in /p/*.patch; do git apply $p; done\n"


@pytest.mark.parametrize("copy", ["COPY p/a.patch /p/\n", "COPY p/ /p/\n", "COPY p/*.patch /p/\n"])
@pytest.mark.parametrize("use", [LOOP, "RUN git apply /p/*.patch && make\n"])
def test_a_pattern_that_would_stand_for_nothing_is_a_use(copy: str, use: str) -> None:
    files = {"p/a.patch": "diff\n", "Dockerfile": f"FROM x\n{copy}{use}"}
    drop = plan_drop("p/a.patch", Files(files), THERE)
    assert [one.text for one in drop.uses] == [use.strip()]


def test_a_pattern_that_another_patch_is_brought_for_is_none() -> None:
    files = {"p/a.patch": "diff\n", "p/b.patch": "diff\n", "Dockerfile": f"FROM x\nCOPY p/*.patch /p/\n{LOOP}"}
    drop = plan_drop("p/a.patch", Files(files), THERE)
    assert told(drop) == ["Dockerfile:2:6 pattern", "Dockerfile:3:14 pattern"]
    assert drop.uses == ()


def test_a_pattern_stands_for_nothing_where_the_other_patch_is_not_brought_there() -> None:
    """What lies beside the patch in the project is not beside it in the image."""
    files = {"p/a.patch": "diff\n", "p/b.patch": "diff\n", "Dockerfile": f"FROM x\nCOPY p/a.patch /p/\n{LOOP}"}
    assert len(plan_drop("p/a.patch", Files(files), THERE).uses) == 1


@pytest.mark.parametrize(
    ("series", "run", "uses"),
    [
        ("a.patch\n", "RUN cd /dep && quilt push -a", 1),
        ("# all of them\na.patch -p1\n\n", "RUN cd /dep && quilt push -a", 1),
        ("a.patch\n", "RUN cd /dep && QUILT_PATCHES=p quilt --quiltrc=- push -a", 1),
        ("a.patch\nb.patch\n", "RUN cd /dep && quilt push -a", 0),
        ("a.patch\n", "RUN quilt push -a || test $? = 2", 0),
        ("a.patch\n", "RUN echo quilt push", 0),
        ("a.patch\n", "RUN apt-get install quilt && make", 0),
    ],
)
def test_a_series_without_a_patch_is_a_use_where_quilt_pushes_it(series: str, run: str, uses: int) -> None:
    files = {"p/a.patch": "diff\n", "p/series": series, "Dockerfile": f"FROM x\nCOPY p /dep/patches\n{run}\n"}
    assert len(plan_drop("p/a.patch", Files(files), THERE).uses) == uses


def uses_in(dockerfile: str, *others: str) -> list[str]:
    files = {"p/a.patch": "diff\n", "Dockerfile": dockerfile, **dict.fromkeys(others, "x\n")}
    return [one.text for one in plan_drop("p/a.patch", Files(files), THERE).uses]


@pytest.mark.parametrize(
    "use",
    [
        "find /tmp/p -name '*.patch' -exec git -C /dep apply {} +",
        "cd /tmp/p && ls && make -C /dep",
        "cp -r /tmp/p /opt/applied && make",
        "/usr/local/bin/apply-all /tmp/p/",
        "apply-all --from=/tmp/p",
        "for d in /tmp/p; do cd $d && ls; done",
        "test -d /tmp/p && make",
        "bash -c 'cd /tmp/p; make'",
        "P=/tmp/p make",
        "make > /tmp/p/log",
        "<<EOF\ncd /tmp/p\nEOF",
        '["ls", "/tmp/p"]',
        "while ( ; do cd /tmp/p",
    ],
)
@pytest.mark.parametrize("copy", ["COPY p/ /tmp/p/", "COPY p /tmp/p", "COPY p/a.patch /tmp/p/", "COPY . /tmp/"])
def test_what_needs_a_folder_in_which_nothing_but_the_patch_was_is_a_use(copy: str, use: str) -> None:
    line = "cd /tmp/p" if "EOF" in use else f"RUN {use}"
    assert uses_in(f"FROM x\n{copy}\nRUN {use}\n") == [line]


@pytest.mark.parametrize(
    ("dockerfile", "use"),
    [
        ("FROM x AS a\nCOPY p /tmp/p\nFROM y\nCOPY --from=a /tmp/p /q\nRUN make\n", "COPY --from=a /tmp/p /q"),
        ("FROM x AS a\nCOPY p /tmp/p\nFROM a\nRUN cd /tmp/p && make\n", "RUN cd /tmp/p && make"),
        ("FROM x\nWORKDIR /w\nCOPY p fixes\nRUN cd fixes && make\n", "RUN cd fixes && make"),
        ("FROM x\nCOPY p /q\nENV FIXES=/q\nRUN make\n", "ENV FIXES=/q"),
        (
            "FROM x\nRUN --mount=type=bind,source=p,target=/q cd /q && make\n",
            "RUN --mount=type=bind,source=p,target=/q cd /q && make",
        ),
    ],
)
def test_so_is_what_another_stage_a_relative_path_or_a_mount_takes_from_it(dockerfile: str, use: str) -> None:
    assert uses_in(dockerfile) == [use]


@pytest.mark.parametrize(
    "rest",
    [
        "RUN rm -rf /tmp/p && make",
        "RUN mkdir -p /tmp/p && cd /tmp/p && make",
        "WORKDIR /tmp/p\nRUN ls /tmp/p",
        "COPY other.txt /tmp/p/\nRUN ls /tmp/p",
        "RUN if [ -d /tmp/p ]; then cd /tmp/p && make; fi",
        "RUN echo /tmp/p",
        "# /tmp/p",
        "RUN ls /tmp/p2 /x/tmp/p",
        "FROM y\nRUN ls /tmp/p",
    ],
)
def test_a_folder_that_is_made_otherwise_or_asked_for_first_is_no_matter(rest: str) -> None:
    assert uses_in(f"FROM x\nCOPY p/ /tmp/p/\n{rest}\n", "other.txt") == []


@pytest.mark.parametrize(
    ("path", "text", "uses"),
    [
        ("ci/x.sh", "#!/bin/sh\nls docker/fixes && make\n", 1),
        ("ci/x.sh", "#!/bin/sh\ncd $ROOT/docker/fixes/ && make\n", 1),
        ("ci/x.sh", "#!/bin/sh\nif [ -d docker/fixes ]; then\n  cd docker/fixes\nfi\n", 0),
        ("ci/x.sh", "#!/bin/sh\n# docker/fixes\necho docker/fixes\nls docker/fixes2 docker/fixes/new\n", 0),
        ("Makefile", "x:\n\ttar cf x.tar docker/fixes\n", 1),
        ("docs/x.md", "ls docker/fixes\n", 0),
        (
            ".github/workflows/x.yml",
            "on:\n  push:\n    paths: [docker/fixes]\njobs:\n  a:\n    steps:\n      - run: ls docker/fixes\n",
            1,
        ),
    ],
)
def test_what_of_a_script_needs_a_folder_that_is_in_no_checkout_any_more_is_a_use(
    path: str, text: str, uses: int
) -> None:
    files = {"docker/fixes/a.patch": "diff\n", "docker/Dockerfile": "FROM x\n", path: text}
    assert len(plan_drop("docker/fixes/a.patch", Files(files), THERE).uses) == uses


def test_a_name_alone_is_a_folder_behind_a_command_that_takes_one() -> None:
    script = "#!/bin/sh\npip install fixes\ngit commit -m fixes\ncp -r fixes /x\n"
    files = {"fixes/a.patch": "diff\n", "x.sh": script}
    assert [one.text for one in plan_drop("fixes/a.patch", Files(files), THERE).uses] == ["cp -r fixes /x"]


def test_a_folder_that_another_patch_is_in_is_there() -> None:
    assert uses_in("FROM x\nCOPY p/ /tmp/p/\nRUN ls /tmp/p\n", "p/b.patch") == []


@pytest.mark.parametrize("folder", ["/", "/tmp/", "/srv/engine/"])
def test_one_file_beside_what_the_base_image_has_takes_no_folder_with_it(folder: str) -> None:
    assert uses_in(f"FROM x\nCOPY p/a.patch {folder}\nRUN cd {folder} && make\n") == []


@pytest.mark.parametrize(
    ("path", "text", "uses"),
    [
        ("Dockerfile", 'FROM x\nCOPY p/a.patch /p/\nRUN bash -c "git apply /p/a.patch"\n', [3]),
        ("Dockerfile", "FROM x\nCOPY p/a.patch /p/\nRUN X=$(git apply /p/a.patch) && make\n", [3]),
        ("Dockerfile", "FROM x\nCOPY p/a.patch p/b.patch /p/\nRUN git apply /p/{a,b}.patch\n", [3]),
        ("Dockerfile", "FROM x\nARG P=p/a.patch\nCOPY $P /p/\n", [2]),
        ("Dockerfile", "FROM x\n# p/a.patch\nLABEL p=p/a.patch\nRUN make && echo no a.patch\n", []),
        ("Dockerfile", "FROM x\nRUN echo a.patch > list && make\nRUN echo a.patch | xargs git apply\n", [2, 3]),
        ("Dockerfile", "FROM x\nRUN <<EOF\n# a.patch\nmake\nX=$(cat p/a.patch)\nEOF\n", [5]),
        ("Makefile", "x:\n\tgit apply p/a.patch # a.patch\n# p/a.patch\n", [2]),
        ("cmake/p.cmake", "execute_process(COMMAND git apply p/a.patch)\n", [1]),
        ("run.sh", "#!/bin/sh\npython x.py p/a.patch # with a.patch\n# p/a.patch\n", [2]),
        ("run.sh", "#!/bin/sh\nx ' # ' p/a.patch\n", [2]),
        ("docs/x.md", "git apply p/a.patch\n", []),
        ("tests/t.py", "P = 'p/a.patch'\n", []),
        (
            ".github/workflows/x.yml",
            (
                "on:\n  push:\n    paths:\n      - p/a.patch\njobs:\n  a:\n    steps:\n      - name: a.patch\n        uses: x # a.patch\n"
                "        with:\n          patch: p/a.patch\n      - run: |\n          # a.patch\n          x p/a.patch\n"
            ),
            [11, 14],
        ),
    ],
)
def test_what_fails_without_the_file_is_a_use_and_what_only_speaks_of_it_is_a_text(
    path: str, text: str, uses: list[int]
) -> None:
    drop = plan_drop("p/a.patch", Files({"p/a.patch": "diff\n", "p/b.patch": "diff\n", path: text}), THERE)
    assert [one.was for one in drop.uses] == uses


def named(dockerfile: str) -> str:
    return MANIFEST.replace("[images.i]\n", f'[images.i]\ndockerfile = "{dockerfile}"\n').replace(
        'series = "fixes/order"', 'patches = ["p/a.patch"]'
    )


BUILD = "FROM x\nCOPY p/a.patch /p/\nRUN git apply /p/a.patch && make\n"


def test_the_dockerfile_that_the_manifest_names_is_read_as_one_whatever_it_is_called() -> None:
    text = named("docker/build.df")
    files = {"p/a.patch": "diff\n", "docker/build.df": BUILD, "regraft.toml": text}
    drop = plan_drop("p/a.patch", Files(files), THERE, read_manifest(text.encode()))
    assert after(drop, "docker/build.df") == "FROM x\nRUN make\n"


@pytest.mark.parametrize("manifest", [None, named("image")])
def test_a_dockerfile_behind_a_link_is_read_as_what_the_link_is_called(manifest: str | None) -> None:
    link = "image" if manifest else "Dockerfile"
    files = {"p/a.patch": "diff\n", "docker/df": BUILD}
    read = read_manifest(manifest.encode()) if manifest else None
    drop = plan_drop("p/a.patch", Files(files, {link: "docker/df"}), THERE, read)
    assert after(drop, "docker/df") == "FROM x\nRUN make\n"


def test_a_patch_that_is_a_link_goes_and_what_it_leads_to_stays() -> None:
    files = {"real.txt": "diff\n", "Dockerfile": BUILD}
    drop = plan_drop("p/a.patch", Files(files, {"p/a.patch": "real.txt"}), THERE)
    assert after(drop, "Dockerfile") == "FROM x\nRUN make\n"
    assert [(one.path, one.before) for one in drop.changes if one.after is None] == [("p/a.patch", b"diff\n")]
    assert drop.remarks == ("it is a link: real.txt, which it leads to, stays",)


def test_a_project_below_the_top_of_its_repository_is_read_with_what_is_above_it() -> None:
    text = named("Dockerfile")
    files = {
        "sub/p/a.patch": "diff\n",
        "sub/Dockerfile": BUILD,
        "sub/regraft.toml": text,
        "top.Dockerfile": BUILD.replace(" p/", " sub/p/"),
        "sub/docker/Dockerfile": BUILD,
    }
    drop = plan_drop("a.patch", Files(files, root="sub/"), THERE, read_manifest(text.encode()))
    assert drop.patch == "p/a.patch"
    for path in ("sub/Dockerfile", "top.Dockerfile", "sub/docker/Dockerfile"):
        assert after(drop, path) == "FROM x\nRUN make\n"
    assert after(drop, "sub/regraft.toml") == text.replace('"p/a.patch"', "")
    assert drop.changes[-1].path == "sub/p/a.patch"


def test_a_bare_name_means_the_one_patch_of_that_name_that_is_carried() -> None:
    text = named("Dockerfile")
    files = {"p/a.patch": "diff\n", "q/a.patch": "diff\n", "regraft.toml": text}
    assert plan_drop("a.patch", Files(files), THERE, read_manifest(text.encode())).patch == "p/a.patch"
    both = text.replace('["p/a.patch"]', '["p/a.patch", "q/a.patch"]')
    with pytest.raises(InputError, match="2 patches are called"):
        plan_drop("a.patch", Files({**files, "regraft.toml": both}), THERE, read_manifest(both.encode()))


def test_binary_files_and_large_ones_are_not_mentions() -> None:
    files = {"p/a.patch": "diff\n", "blob": "\0a.patch", "large.txt": "p/a.patch\n" * 500_000}
    drop = plan_drop("p/a.patch", Files(files), THERE)
    assert drop.mentions == ()
    assert drop.remarks[-1] == "1 tracked files are not there, or hold more than 4194304 bytes, and were not read"


@pytest.mark.parametrize(
    "name", ["a b.patch", "a'b.patch", 'a"b.patch', "a\nb.patch", "[a].patch", "(a).patch", "a*.patch", "-x.patch"]
)
def test_hostile_names_are_found_as_they_are(name: str) -> None:
    files = {f"p/{name}": "diff\n", "notes.txt": f"see p/{name}\n", "series": f"p/{name}\n"}
    drop = plan_drop(f"p/{name}", Files(files), THERE)
    assert [one.path for one in drop.mentions if one.path == "notes.txt"] == ["notes.txt"]
    assert drop.changes[-1].path == f"p/{name}"
