"""Each rule: what it finds, where, and what it leaves alone."""

from typing import Any

import pytest

from regraft.core.image_check import Built, judge
from regraft.core.image_rules import RULES
from regraft.core.image_values import Place
from regraft.core.image_view import Recipe

FROM = "FROM scratch\n"
PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
HASH = "0123456789abcdef0123456789abcdef01234567"
OTHER = "fedcba9876543210fedcba9876543210fedcba98"
COPY = f"{FROM}COPY docker/patch /patches/\n"
APPLIED = f"{COPY}RUN cd /r && git apply /patches/a.patch\n"


def check(track: Any, text: str, files: dict[str, str] | None = None, **of: Any) -> list[str]:
    """`RULE PATH:LINE` of everything that is found, with one patch `a.patch` beside the Dockerfile."""
    found = track({"docker/Dockerfile": text, "docker/patch/a.patch": PATCH, **(files or {})})
    recipe = Recipe("i", "docker/Dockerfile", arguments=of.pop("arguments", {}))
    findings = judge([Built(recipe, **of)], found.tree, found.read)
    return [f"{one.rule} {Place(one.path, one.line)}" for one in findings]


def test_a_sound_build_is_silent(track: Any) -> None:
    assert check(track, APPLIED) == []


@pytest.mark.parametrize(
    "text",
    [
        "RUN git -C /r apply /patches/a.patch",
        "RUN cd /r && patch -p1 < /patches/a.patch",
        "RUN cd /r && patch -p1 -i /patches/a.patch",
        "RUN cd /r && patch --input=/patches/a.patch -p1",
        "RUN cd /r && patch x.py /patches/a.patch",
        "RUN cat /patches/a.patch | git -C /r apply",
        "RUN set -e; for p in /patches/*.patch; do git -C /r apply $p; done",
        'RUN for p in /patches/*.patch; do git -C /r apply "$p" || exit 1; done',
        "RUN set -e; for p in a b; do git -C /r apply /patches/$p.patch; done",
        "RUN ls /patches/*.patch | xargs -n1 git -C /r apply",
        "RUN git am /patches/a.patch",
        "ARG P=/patches\nRUN git -C /r apply $P/a.patch",
        "WORKDIR /patches\nRUN git -C /r apply ../patches/a.patch || exit 1",
        "RUN while read p; do git -C /r apply /patches/$p || exit 1; done < /patches/series",
        "RUN ls /patches | sort | xargs -I{} git -C /r apply /patches/{}",
        "RUN <<EOF\nset -e\ncd /r\ngit apply /patches/a.patch\ntrue\nEOF",
        "RUN git -C /r apply --check /patches/a.patch && git -C /r apply /patches/a.patch",
        "RUN if git -C /r apply -R --check /patches/a.patch; then echo there; else git -C /r apply /patches/a.patch; fi",
        "RUN git -C /r apply /patches/a.patch || git -C /r apply --3way /patches/a.patch",
        'SHELL ["/bin/bash", "-o", "pipefail", "-ec"]\nRUN git -C /r apply /patches/a.patch | tee /log; true',
        'RUN ["git", "-C", "/r", "apply", "/patches/a.patch"]',
        'RUN ["bash", "-ec", "git -C /r apply /patches/a.patch; true"]',
        "RUN git -C /r apply --reverse --check /patches/a.patch || git -C /r apply /patches/a.patch",
        "RUN grep -q marker /r/x.py || git -C /r apply /patches/a.patch",
        'RUN [ -n "$SKIP" ] || git -C /r apply /patches/a.patch',
        'RUN for p in /patches/*.patch; do git -C /r apply "$p" || FAIL=1; done; [ -z "$FAIL" ]',
        "RUN git -C /r apply /patches/a.patch || (git -C /r apply -R --check /patches/a.patch && echo already)",
        "RUN git -C /r apply /patches/a.patch || exec false",
        "RUN die() { exit 1; }; git -C /r apply /patches/a.patch || die; true",
        "RUN <<EOF\n#!/bin/bash\ntrap 'exit 1' ERR\ngit -C /r apply /patches/a.patch\ntrue\nEOF",
        'RUN try() { "$@" || exit 1; }; try git -C /r apply /patches/a.patch; true',
        "RUN timeout 60 git -C /r apply /patches/a.patch",
        "RUN cd /r && gpatch -p1 < /patches/a.patch",
        "RUN cd /r && busybox patch -p1 < /patches/a.patch",
        "RUN cd /r && parallel git apply ::: /patches/*.patch",
        "RUN cd /r && git apply $(ls -v /patches/*.patch)",
        "RUN command -v patch || true; git -C /r apply /patches/a.patch",
        "RUN sudo apt-get install -y patch git || true; git -C /r apply /patches/a.patch",
        "RUN make patch || true; git -C /r apply /patches/a.patch",
        "RUN git -C /r apply --stat /patches/a.patch || true; git -C /r apply /patches/a.patch",
    ],
)  # fmt: skip
def test_every_sound_way_to_apply_is_understood(track: Any, text: str) -> None:
    files = {"docker/patch/b.patch": PATCH.replace("x.py", "y.py")} if "for p in a b" in text else {}
    assert check(track, f"{COPY}{text}\n", files) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("RUN git -C /r apply /patches/a.patch || echo failed", 3),
        ("RUN true && \\\n  git -C /r apply /patches/a.patch || true", 4),
        ("RUN for p in /patches/*.patch; do git -C /r apply $p; done", 3),
        ("RUN cd /r; git apply /patches/a.patch; pip list", 3),
        ("RUN git -C /r apply /patches/a.patch | tee log", 3),
        ("RUN if git -C /r apply /patches/a.patch; then echo yes; fi", 3),
        ("RUN if git -C /r apply --check /patches/a.patch; then git -C /r apply /patches/a.patch; else echo no; fi", 3),
        ("RUN set -e; git -C /r apply /patches/a.patch && echo yes; true", 3),
        ("RUN <<EOF\ngit -C /r apply /patches/a.patch\ntrue\nEOF", 4),
        ("RUN find /patches -name '*.patch' -exec git -C /r apply {} \\;", 3),
        ('RUN ["bash", "-c", "git -C /r apply /patches/a.patch; true"]', 3),
        ("RUN while read p; do git -C /r apply /patches/$p; done < /patches/series", 3),
        ("RUN X=$(git -C /r apply /patches/a.patch); true", 3),
        ("RUN echo $(git -C /r apply /patches/a.patch)", 3),
        ("RUN timeout 10 git -C /r apply /patches/a.patch || true", 3),
        ("RUN nice -n 5 git -C /r apply /patches/a.patch || true", 3),
        ("RUN bash -c 'git -C /r apply /patches/a.patch || true'", 3),
        ("RUN trap 'exit 0' EXIT; git -C /r apply /patches/a.patch", 3),
        ("RUN until git -C /r apply /patches/a.patch; do break; done", 3),
        ("RUN <<EOF\nf() {\n  git -C /r apply $1\n  echo done\n}\nf /patches/a.patch\nEOF", 5),
        ('RUN run() { "$@"; }; run git -C /r apply /patches/a.patch; true', 3),
    ],
)
def test_an_apply_whose_failure_cannot_stop_the_build(track: Any, text: str, line: int) -> None:
    assert check(track, f"{COPY}{text}\n") == [f"apply-unchecked docker/Dockerfile:{line}"]


def test_the_same_in_a_script_that_the_build_runs(track: Any) -> None:
    text = f"{COPY}COPY docker/apply.sh /\nRUN bash /apply.sh\n"
    script = "cd /r\nfor p in /patches/*.patch; do\n  git apply $p\ndone\n"
    assert check(track, text, {"docker/apply.sh": script}) == ["apply-unchecked docker/apply.sh:3"]
    assert check(track, text, {"docker/apply.sh": f"set -e\n{script}"}) == []
    assert check(
        track,
        text.replace("RUN bash /apply.sh", "RUN bash /apply.sh || true"),
        {"docker/apply.sh": f"set -e\n{script}"},
    ) == ["apply-unchecked docker/apply.sh:4"]


@pytest.mark.parametrize(
    "run",
    [
        "sudo bash /apply.sh",
        "sudo -u me /apply.sh",
        "env A=1 bash /apply.sh",
        "time bash /apply.sh",
        "exec bash /apply.sh",
        "exec /apply.sh",
        "bash < /apply.sh",
        "cat /apply.sh | bash",
        "timeout 60 /apply.sh",
        "bash -c '/apply.sh'",
        "cp /apply.sh /x && . /apply.sh",
        "PATH=/:$PATH apply.sh",
    ],
)
def test_a_script_is_followed_however_it_is_started(track: Any, run: str) -> None:
    script = "#!/bin/bash\ngit -C /r apply /patches/a.patch || true\n"
    text = f"{COPY}COPY docker/apply.sh /\n"
    text = text.replace("apply.sh /\n", "apply.sh /usr/local/bin/\n") if "PATH" in run else text
    assert check(track, f"{text}RUN {run}\n", {"docker/apply.sh": script}) == ["apply-unchecked docker/apply.sh:2"]


def test_a_file_that_is_read_in_is_judged_with_the_script_that_reads_it(track: Any) -> None:
    def found(run: str, script: str) -> list[str]:
        text = f"{COPY}COPY docker/lib.sh /\nRUN {run}\n"
        return check(track, text, {"docker/lib.sh": script})

    apply = "git -C /r apply /patches/a.patch"
    assert found("set -e; . /lib.sh; true", f"{apply}\ntrue\n") == []
    assert found(". /lib.sh; true", f"true\n{apply}\ntrue\n") == ["apply-unchecked docker/lib.sh:2"]
    assert found(f". /lib.sh; {apply}; true", "set -e\n") == []
    assert found(f". /lib.sh; {apply} || die no; true", "die() { exit 1; }\n") == []
    assert found(". /lib.sh; put; true", f"put() {{\n  {apply}\n}}\n") == ["apply-unchecked docker/lib.sh:2"]


def test_a_script_that_the_dockerfile_itself_writes_is_followed(track: Any) -> None:
    body = "set +e\ngit -C /r apply /patches/a.patch\ntrue\n"
    for target, run in [("/p/run.sh", "sh /p/run.sh"), ("/p/", "sh /p/E"), ("/usr/local/bin/x", "x")]:
        assert check(track, f'{COPY}COPY <<"E" {target}\n{body}E\nRUN {run}\n') == [
            "apply-unchecked docker/Dockerfile:5"
        ]


def test_an_entry_point_is_found_by_path(track: Any) -> None:
    text = f"{APPLIED}COPY docker/entry.sh /usr/local/bin/\nENTRYPOINT ["
    files = {"docker/entry.sh": "#!/bin/sh\nset -e\ncd /r\ngit apply /patches/a.patch\n"}
    assert check(track, f'{text}"entry.sh"]\n', files) == ["patch-twice docker/entry.sh:4"]
    assert check(track, f'{text}"tini", "--", "entry.sh"]\n', files) == ["patch-twice docker/entry.sh:4"]


def test_a_copy_of_what_is_not_there_names_the_nearest(track: Any) -> None:
    found = track(
        {
            "Dockerfile": f"{FROM}COPY a.patch b-c.patch /\nRUN git apply /a.patch",
            "a.patch": PATCH,
            "b_c.patch": PATCH + "\n",
        }
    )
    findings = judge([Built(Recipe("i", "Dockerfile"))], found.tree, found.read)
    assert [(one.rule, one.line, one.fix) for one in findings if one.rule == "copy-missing"] == [
        ("copy-missing", 2, "the nearest name is 'b_c.patch'")
    ]


def test_what_a_step_before_the_build_makes_is_not_missing(track: Any) -> None:
    assert check(track, f"{APPLIED}COPY dist/x.whl /\n") == ["copy-missing docker/Dockerfile:4"]
    assert check(track, f"{APPLIED}COPY dist/x.whl /\n", generated=("dist/*",)) == []


def test_an_apply_of_a_patch_that_the_copied_folder_does_not_have(track: Any) -> None:
    found = check(
        track,
        f"{COPY}RUN git -C /r apply /patches/a.patch && git -C /r apply /patches/a-b.patch\n",
        {"docker/patch/a_b.patch": PATCH + "\n"},
    )
    assert found == ["apply-missing docker/Dockerfile:3", "patch-unused docker/patch/a_b.patch"]


def test_a_patch_that_no_image_applies(track: Any) -> None:
    files = {"docker/patch/b.patch": PATCH + "\n", "tests/data/c.patch": PATCH + "\n\n"}
    assert check(track, APPLIED, files) == ["patch-unused docker/patch/b.patch"]


def test_a_patch_whose_apply_is_commented_out_says_so(track: Any) -> None:
    found = track({"Dockerfile": f"{FROM}COPY p /p/\n# RUN git apply /p/a.patch\n", "p/a.patch": PATCH})
    (one,) = judge([Built(Recipe("i", "Dockerfile"), patches=("p/a.patch",))], found.tree, found.read)
    assert (one.rule, one.path) == ("patch-unused", "p/a.patch")
    assert [(each.line, each.message) for each in one.witnesses] == [(3, "commented out here")]


def test_a_patch_that_only_a_stage_applies_which_nothing_leads_to(track: Any) -> None:
    assert check(
        track, f"FROM scratch AS old\n{APPLIED.partition('COPY')[1]}{APPLIED.partition('COPY')[2]}FROM scratch\n"
    ) == ["patch-unused docker/patch/a.patch"]


def test_a_patch_that_is_applied_twice(track: Any) -> None:
    assert check(track, f"{APPLIED}RUN git -C /r apply /patches/a.patch\n") == ["patch-twice docker/Dockerfile:4"]
    assert check(track, f"{APPLIED}RUN git -C /other apply /patches/a.patch\n") == []


@pytest.mark.parametrize(
    "between",
    [
        "git -C /r checkout -- . && ",
        "cd /r && git reset --hard && ",
        "git -C /r restore . && ",
        "rm -rf /r && ",
        f"rm -rf r; git clone https://e.org/r r && git -C /r checkout {HASH} && ",
        "git -C /r apply -R /patches/a.patch && ",
    ],
)
def test_a_patch_that_was_taken_back_is_not_applied_twice(track: Any, between: str) -> None:
    again = "git -C /r apply /patches/a.patch\n"
    assert check(track, f"{APPLIED}RUN {between}{again}") == []
    assert check(track, f"{APPLIED}RUN {again}RUN {between}true\n") == ["patch-twice docker/Dockerfile:4"]
    assert check(track, f"{APPLIED}RUN {between.replace('/r', '/q').replace(' r', ' q')}{again}") == [
        "patch-twice docker/Dockerfile:4"
    ]


def test_stages_that_do_not_come_from_each_other_each_have_a_tree_of_their_own(track: Any) -> None:
    one = APPLIED.replace("scratch", "scratch AS one")
    assert check(track, f"{one}{APPLIED}COPY --from=one /x /x\n") == []
    again = "RUN cd /r && git apply /patches/a.patch\n"
    assert check(track, f"{one}FROM one\n{again}") == ["patch-twice docker/Dockerfile:5"]
    assert check(track, f"{one}{COPY}COPY --from=one /r /r\n{again}") == ["patch-twice docker/Dockerfile:7"]
    install = "RUN cd /r && pip install .\n"
    assert check(track, f"FROM scratch AS one\n{install}{APPLIED}COPY --from=one /x /x\n") == []


def test_a_patch_that_is_applied_again_when_a_container_starts(track: Any) -> None:
    text = f'{APPLIED}COPY docker/start.sh /\nENTRYPOINT ["/start.sh"]\n'
    assert check(
        track, text, {"docker/start.sh": "#!/bin/sh\nset -e\ngit -C /r apply /patches/a.patch\nexec serve\n"}
    ) == ["patch-twice docker/start.sh:3"]


@pytest.mark.parametrize(
    ("install", "target", "found"),
    [
        ("pip install -e .", "setup.py", True),
        ("pip install -e .", "csrc/x.cu", True),
        ("pip install -e .", "pkg/x.py", False),
        ("pip install .", "pkg/x.py", True),
        ("python -m pip install --no-deps -e .", "pyproject.toml", True),
        ("python setup.py install", "pkg/x.py", True),
        ("pip install torch", "setup.py", False),
        ("pip install -e /elsewhere", "setup.py", False),
        ("pip install -r ./requirements.txt", "setup.py", False),
        ("pip wheel . -w /w && pip install /w/*.whl", "pkg/x.py", True),
        ("python -m build", "pkg/x.py", True),
        ("python -m build --outdir /w /r", "pkg/x.py", True),
        ("pip install -e file:///r", "setup.py", True),
        ("make install", "csrc/x.cu", True),
        ("make install", "pkg/x.py", False),
        ("make -C /r/csrc", "csrc/x.cu", True),
        ("cmake -B build && cmake --build build", "csrc/x.cu", True),
        ("ninja -C build", "csrc/x.cu", True),
        ("make -C /", "csrc/x.cu", False),
        ("pip install ./sub", "setup.py", False),
        ("pip install ./sub", "sub/x.py", True),
        ("git clone https://e.org/t /r/third && pip install /r/third", "pkg/x.py", False),
    ],
)
def test_a_patch_after_the_install_that_it_changes(track: Any, install: str, target: str, found: bool) -> None:
    files = {"docker/patch/a.patch": PATCH.replace("x.py", target)}
    text = f"{COPY}RUN cd /r && {install}\nRUN cd /r && git apply /patches/a.patch\n"
    after = [one for one in check(track, text, files) if not one.startswith("clone-moving")]
    assert after == (["patch-after-install docker/Dockerfile:4"] if found else [])
    again = f"{text}RUN cd /r && {install}\n"
    before = f"{COPY}RUN cd /r && git apply /patches/a.patch && {install}\n"
    for sound in (again, before):
        assert [one for one in check(track, sound, files) if not one.startswith("clone-moving")] == []


def test_identical_copies(track: Any) -> None:
    files = {
        "docker/patch/b.patch": PATCH,
        "docker/Dockerfile.b": APPLIED,
        "docker/b.sh": "docker build -f docker/Dockerfile.b .",
    }
    text = f"{COPY}RUN cd /r && git apply /patches/a.patch && git apply /patches/b.patch\n"
    assert check(track, text, files) == ["patch-copied docker/patch/b.patch"]
    assert check(track, text, {**files, "docker/Dockerfile.b": text}) == [
        "patch-copied docker/Dockerfile.b",
        "patch-copied docker/patch/b.patch",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RUN git clone https://e.org/r", True),
        ("RUN git clone -b main https://e.org/r", True),
        ("RUN git clone -b v1.2.3 https://e.org/r", False),
        ("ARG R=main\nRUN git clone https://e.org/r && cd r && git checkout $R", False),
        (f"RUN git clone https://e.org/r && cd r && git checkout {HASH}", False),
        ("RUN pip install git+https://e.org/r@main", True),
    ],
)
def test_a_clone_by_a_moving_name(track: Any, text: str, found: bool) -> None:
    line = 4 + text.count("\n")
    assert check(track, f"{APPLIED}{text}\n") == ([f"clone-moving docker/Dockerfile:{line}"] if found else [])


def test_an_input_outside_of_the_declared_list(track: Any) -> None:
    text = f"{APPLIED}COPY common/install.sh /\n"
    files = {"common/install.sh": "true\n"}
    assert check(track, text, files, within=("docker/**",)) == ["input-outside docker/Dockerfile:4"]
    assert check(track, text, files, within=("docker/**", "common/*")) == []
    assert check(track, text, files) == []


def test_a_dockerfile_that_nobody_builds(track: Any) -> None:
    other = {"docker/Dockerfile.x": f"{FROM}RUN true\n"}
    assert check(track, APPLIED, other) == ["image-unbuilt docker/Dockerfile.x"]
    assert (
        check(track, APPLIED, {**other, ".github/workflows/b.yml": "run: docker build -f docker/Dockerfile.x .\n"})
        == []
    )
    assert check(track, APPLIED, {**other, "Makefile": "x:\n\tdocker build -f Dockerfile.x docker\n"}) == []
    assert check(track, APPLIED, {**other, "README.md": "Dockerfile.x is old\n"}) == [
        "image-unbuilt docker/Dockerfile.x"
    ]


def test_a_copy_of_an_applied_patch_wherever_it_lies(track: Any) -> None:
    files = {
        "q/one.patch": PATCH,
        "tests/data/one.patch": PATCH,
        "r/other.patch": PATCH + "\n",
        "s/other.patch": PATCH + "\n",
    }
    assert check(track, APPLIED, files) == ["patch-copied q/one.patch", "patch-copied tests/data/one.patch"]


def pinned(commit: str) -> str:
    return f"{COPY}RUN git clone https://e.org/r /r && cd /r && git checkout {commit} && git apply /patches/a.patch\n"


def test_one_patch_on_two_commits(track: Any) -> None:
    found = track({"a/Dockerfile": pinned(HASH), "b/Dockerfile": pinned(OTHER), "docker/patch/a.patch": PATCH})
    built = [Built(Recipe(name, f"{name}/Dockerfile")) for name in "ab"]
    assert [(one.rule, one.path, one.line) for one in judge(built, found.tree, found.read)] == [
        ("pin-differs", "b/Dockerfile", 3)
    ]
    same = track(
        {"a/Dockerfile": pinned(HASH), "b/Dockerfile": pinned(HASH[:12]) + "RUN 1", "docker/patch/a.patch": PATCH}
    )
    assert judge(built, same.tree, same.read) == ()


def test_a_pin_that_the_lock_does_not_record(track: Any) -> None:
    locks = {"r": ("https://E.org/r.git", OTHER, Place("lock.json"))}
    assert check(track, pinned(HASH), locks=locks) == ["pin-differs docker/Dockerfile:3"]
    assert check(track, pinned(OTHER), locks=locks) == []


def test_a_build_argument_that_nothing_declares(track: Any) -> None:
    assert check(track, APPLIED, arguments={"NOBODY": "x"}) == ["argument-unused docker/Dockerfile"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("FROM a AS build\nFROM b\nCOPY --from=biuld /x /\n", 3),
        (f"{FROM}RUNN x\n", 2),
        (f"{FROM}ARG X\nCOPY $X /\n", 3),
        (f"{FROM}COPY link /\n", 2),
    ],
)
def test_a_dockerfile_that_is_wrong(track: Any, text: str, line: int) -> None:
    found = track({"Dockerfile": text, "link": "/etc"}, {"link": "120000"})
    findings = judge([Built(Recipe("i", "Dockerfile"))], found.tree, found.read)
    assert [(one.rule, one.line) for one in findings] == [("dockerfile-wrong", line)]


def test_a_dockerfile_that_is_not_there_accuses_no_patch(track: Any) -> None:
    found = track({"docker/patch/a.patch": PATCH})
    findings = judge(
        [Built(Recipe("i", "docker/Dockerfile"), patches=("docker/patch/a.patch",))], found.tree, found.read
    )
    assert [one.rule for one in findings] == ["dockerfile-wrong"]


def test_a_script_that_cannot_be_read_is_said(track: Any) -> None:
    assert check(track, f"{APPLIED}RUN if true; then\n") == ["script-unread docker/Dockerfile:4"]


@pytest.mark.parametrize(
    "text",
    [
        "RUN " + "( " * 190 + "git apply /patches/a.patch" + " )" * 190,
        "RUN " + "if true; then " * 90 + "git apply /patches/a.patch" + "; fi" * 90,
        "RUN " + "! " * 150 + "git apply /patches/a.patch",
        "COPY " + "${A:-" * 5000 + "}" * 5000 + " /",
        "COPY [z-a] /",
        "COPY " + "*" * 3000 + "x /",
        "RUN " + "git apply $(" * 300,
        "RUN --mount=,,,=, x",
        "COPY --from= a /",
        "ADD",
        "ENV =",
        "ONBUILD",
        "WORKDIR $",
        "RUN <<",
        "SHELL []",
        "\x00\xff",
    ],
)
def test_hostile_text_is_a_finding_or_nothing_and_never_a_traceback(track: Any, text: str) -> None:
    check(track, f"{APPLIED}{text}\n")


WORKFLOW = """\
on: {push: {paths: [docker/Dockerfile, "gone/**"]}}
jobs:
  build:
    steps:
      - run: docker build -t ${{ hashFiles('docker/Dockerfile') }} -f docker/Dockerfile .
"""


def test_filters_and_hashes_that_leave_an_input_out(track: Any) -> None:
    path = ".github/workflows/build.yml"
    found = [f"filter-unmatched {path}:1", f"input-unwatched {path}:1", f"input-unhashed {path}:5"]
    assert check(track, APPLIED, {path: WORKFLOW}) == found
    right = (
        WORKFLOW.replace("docker/Dockerfile, ", "'docker/**'")
        .replace('"gone/**"', "")
        .replace("('docker/Dockerfile')", "('docker')")
    )
    assert check(track, APPLIED, {path: right}) == []


def test_every_rule_has_a_test_here() -> None:
    from pathlib import Path

    text = Path(__file__).read_text("utf-8")
    assert [rule for rule in RULES if f"{rule} " not in text and f'"{rule}"' not in text] == []


def test_the_page_has_the_same_rules() -> None:
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs/commands/image-check.md").read_text("utf-8")
    rows = [f"| `{name}` | {rule.severity} | {rule.text} |" for name, rule in RULES.items()]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows


@pytest.mark.parametrize(
    ("run", "more"),
    [
        ("RUN cd /r && QUILT_PATCHES=/patches quilt push -a", {}),
        ("ENV QUILT_PATCHES=/patches\nRUN cd /r && quilt push -a", {}),
        ("RUN python3 /tools/put.py /patches", {}),
        ("RUN python3 /tools/put.py --patches=/patches/", {}),
        ("RUN python3 /patches/put.py", {"docker/patch/put.py": "subprocess.run(['git', 'apply', name])"}),
        (
            "RUN cd /r && make -f /patches/Makefile patch",
            {"docker/patch/Makefile": "patch:\n\tgit apply /patches/a.patch\n"},
        ),
        ("RUN make -C /patches", {"docker/patch/Makefile": "all:\n\tgit apply /patches/a.patch\n"}),
        ("WORKDIR /patches\nRUN make", {"docker/patch/Makefile": "all:\n\tgit apply /patches/a.patch\n"}),
        ("RUN make -C /r PATCHES=/patches", {}),
        ("RUN cd /r && stg import /patches/a.patch", {}),
        ("RUN for p in /patches/*.patch; do put-it $p || exit 1; done", {}),
        ("RUN cat /patches/*.patch | put-it", {}),
        ("RUN put-it < /patches/a.patch", {}),
    ],
)
def test_a_patch_in_the_hands_of_another_program_is_not_called_unused(
    track: Any, run: str, more: dict[str, str]
) -> None:
    assert check(track, f"{COPY}{run}\n", more) == []


@pytest.mark.parametrize(
    "run",
    [
        "pip install /patches",
        "python3 -m pip install /patches",
        "make -C /patches",
        "ls -l /patches",
        "chmod -R a+r /patches",
        "rm -rf /patches",
        "cd /patches",
        "cat /patches/a.patch",
        "make",
    ],
)
def test_who_only_looks_at_a_patch_does_not_apply_it(track: Any, run: str) -> None:
    assert check(track, f"{COPY}RUN {run}\n") == ["patch-unused docker/patch/a.patch"]


def test_a_patch_that_is_copied_as_one_and_that_nothing_applies(track: Any) -> None:
    def unused(text: str, *paths: str) -> list[str]:
        found = track({"Dockerfile": f"{FROM}{text}", **{path: f"{PATCH}{path}" for path in paths}})
        return [one.path for one in judge([Built(Recipe("i", "Dockerfile"))], found.tree, found.read)]

    assert unused("COPY patches /p/\n# RUN git apply /p/a.patch\n", "patches/a.patch") == ["patches/a.patch"]
    assert unused("COPY q /p/\nRUN make\n", "q/a.patch", "q/series") == ["q/a.patch"]
    assert unused("COPY q/a.patch /p/\n", "q/a.patch", "q/b.patch") == ["q/a.patch"]
    assert unused("COPY fixes/*.diff /p/\n", "fixes/a.diff") == ["fixes/a.diff"]
    assert unused("COPY patches /p/\n", "patches/deep/a.patch") == ["patches/deep/a.patch"]
    assert unused("COPY . /app/\n", "tests/data/a.patch", "a.patch", "b.py", "c.py") == []
    assert unused("COPY tests /app/\n", "tests/a.patch", "tests/test_a.py", "tests/test_b.py") == []
    assert unused("COPY src /app/\n", "src/tests/a.patch", "src/main.py") == []


def test_a_pattern_that_matches_nothing_in_the_folder_that_was_copied(track: Any) -> None:
    both = ["apply-missing docker/Dockerfile:3", "patch-unused docker/patch/a.patch"]
    assert check(track, f"{COPY}RUN cd /r && git apply /patches/00*.patch\n") == both
    assert check(track, f"{COPY}RUN for p in /patches/00*; do git -C /r apply $p || exit 1; done\n") == both
    assert check(track, f"{COPY}RUN cd /r && git apply /elsewhere/00*.patch\n") == []


@pytest.mark.parametrize(
    "before",
    [
        "RUN curl -sSfo /patches/0001.patch https://example.org/1",
        "RUN cd /patches && wget https://example.org/0001.patch",
        "RUN git -C /r format-patch -o /patches -1",
        "RUN sed s/a/b/ /patches/a.patch > /patches/0001.patch",
        "COPY --from=example.org/patches:1 / /patches/",
        "ADD https://example.org/0001.patch /patches/",
    ],
)
def test_a_folder_that_something_else_fills_too_is_not_known(track: Any, before: str) -> None:
    rules = [
        one.partition(" ")[0] for one in check(track, f"{COPY}{before}\nRUN git -C /r apply /patches/0001.patch\n")
    ]
    assert "apply-missing" not in rules
    assert "patch-unused" not in rules


def test_a_missing_source_makes_no_patch_unused(track: Any) -> None:
    text = f"{FROM}COPY docker/patches /patches/\nRUN cd /r && git apply /patches/a.patch\n"
    assert check(track, text) == ["copy-missing docker/Dockerfile:2"]


def test_images_that_were_not_asked_for_are_not_forgotten(track: Any) -> None:
    files = {
        "x/Dockerfile": f"{FROM}COPY p /p\nRUN git apply /p/a.patch\n",
        "y/Dockerfile": f"{FROM}COPY p /p\nRUN git apply /p/b.patch\n",
        "p/a.patch": PATCH,
        "p/b.patch": PATCH + "\n",
    }
    found = track(files)
    x, y = (Built(Recipe(name, f"{name}/Dockerfile")) for name in "xy")
    assert judge([x], found.tree, found.read, [y]) == ()
    assert [one.rule for one in judge([x], found.tree, found.read)] == ["patch-unused", "image-unbuilt"]
    broken = track({path: text for path, text in files.items() if path != "y/Dockerfile"})
    assert judge([x], broken.tree, broken.read, [y]) == ()


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("v1.0", "v2.0", True),
        ("main", "dev", True),
        ("main", "main", False),
        ("v1.0", HASH, False),
        (HASH[:12], HASH, False),
        (OTHER, HASH, True),
    ],
)
def test_one_patch_on_two_versions(track: Any, one: str, other: str, found: bool) -> None:
    def text(ref: str) -> str:
        return f"{COPY}RUN git clone https://e.org/r /r && cd /r && git checkout {ref}\nRUN git -C /r apply /patches/a.patch\n"

    files = {"docker/patch/a.patch": PATCH, "docker/A": text(one), "docker/B": text(other)}
    tree = track(files)
    findings = judge([Built(Recipe(name, f"docker/{name}")) for name in "AB"], tree.tree, tree.read)
    pins = [f"{each.path}:{each.line}" for each in findings if each.rule == "pin-differs"]
    assert pins == (["docker/B:3"] if found else [])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("on: {push: {paths: ['old/**']}}\njobs: {}\n", False),
        ("on:\n  push:\n    paths:\n      - old/Dockerfile\n      - src/**\njobs: {}\n", False),
        ("on:\n  push:\n    paths-ignore:\n    - old/Dockerfile\njobs: {}\n", False),
        ("on: push\n# old/Dockerfile\njobs: {}  # old/Dockerfile\n", False),
        ("jobs:\n  a:\n    steps:\n    - run: docker build -f old/Dockerfile .\n", True),
        (
            "on:\n  push:\n    paths:\n      - src/**\njobs:\n  a:\n    steps:\n    - with: {context: old}\n      file: old/Dockerfile\n",
            True,
        ),
    ],
)
def test_a_filter_or_a_comment_builds_nothing(track: Any, text: str, named: bool) -> None:
    files = {"old/Dockerfile": FROM, ".github/workflows/w.yml": text}
    found = [one for one in check(track, APPLIED, files) if not one.startswith("filter-unmatched")]
    assert found == ([] if named else ["image-unbuilt old/Dockerfile"])
