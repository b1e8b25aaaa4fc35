"""What goes of a chain, a loop, a guard when a patch goes: each case by its text, and all of them by what bash does."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regraft.core.drop_layout import Layout
from regraft.core.drop_shell import cut_shell
from regraft.core.drop_target import UNKNOWN, WORKDIR, Target, Where
from regraft.core.spans import Edit, edited

TARGET = Target("p/m.patch", frozenset({"p/m.patch", "p/o.patch", "Dockerfile"}))
P = "git apply /tmp/m.patch"


def cut(text: str, *, joined: bool = True) -> str:
    """The script without the patch; "" where nothing of use is left."""
    raw = text.encode()
    where = Where(TARGET, WORKDIR, {"/tmp/m.patch"})
    found = cut_shell(raw, Layout(raw, joined=joined), where)
    if found is None:
        return text
    return "" if found.whole else edited(raw, [Edit(span) for span in found.spans]).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"a && \\\n  {P} && \\\n  b", "a && \\\n  b"),
        (f"a \\\n  && {P} \\\n  && b", "a \\\n  && b"),
        (f"a && \\\n  {P}", "a"),
        (f"{P} && \\\n  a", "a"),
        (f"a && {P} && b", "a && b"),
        (f"a; {P}; b", "a; b"),
        (f"a; \\\n  {P}; \\\n  b", "a; \\\n  b"),
        (f"a; \\\n  {P}", "a"),
        (
            f"a && \\\n  # about the patch\n  {P} && \\\n  # about b\n  b",
            "a && \\\n  # about the patch\n  # about b\n  b",
        ),
        (f"{P} && \\\n  # about b\n  b", "\\\n  # about b\n  b"),
    ],
)
def test_a_link_goes_and_its_neighbours_keep_their_bytes(before: str, after: str) -> None:
    assert cut(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"a && cd r && {P} && cd .. && b", "a && b"),
        (f"a && cd r/s && {P} && cd ../.. && b", "a && b"),
        (f"a && cd /r && {P} && cd - && b", "a && b"),
        (f"a && pushd r && {P} && popd && b", "a && b"),
        (f"a && (cd r && {P}) && b", "a && b"),
        (f"a && cd r && {P} && cd .. && cd s && b", "a && cd s && b"),
        (f"cd r; {P}; cd ..; a", "a"),
        (f"a && cd /r && {P}", "a"),
        # Where it cannot be told that the second undoes the first, both stay.
        (f"a && cd r/s && {P} && cd .. && b", "a && cd r/s && cd .. && b"),
        (f"a && cd $R && {P} && cd .. && b", "a && cd $R && cd .. && b"),
        (f"a && cd /r && {P} && b", "a && cd /r && b"),
        (f"cd /r && {P}; b", "cd /r; b"),
    ],
)
def test_changes_of_folder_go_where_they_were_for_the_patch_alone(before: str, after: str) -> None:
    assert cut(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{P} || true; b", "b"),
        (f"{P} || echo 'm.patch failed' && b", "b"),
        (f"{P} || {{ echo failed; exit 1; }} && b", "b"),
        (f"cd r && {P} || true && b", "cd r && b"),
        (f"cd r && {P} || exit 1; b", "cd r || exit 1; b"),
        ("git apply --check /tmp/m.patch && git apply /tmp/m.patch || echo there; b", "b"),
        ("git apply -R --check /tmp/m.patch || git apply /tmp/m.patch; b", "b"),
        (f"[ -f /marker ] || {P}; b", "b"),
        # A tail that also guards other commands stays with them, and one that does real work is nobody's to delete.
        (f"a && {P} || true && b", "a || true && b"),
        (f"{P} || pip install x; b", f"{P} || pip install x; b"),
        (f"a || {P}; b", f"a || {P}; b"),
        (f"a && [ -f x ] || {P} && b", f"a && [ -f x ] || {P} && b"),
        (f"a && {P} || {P} && b", f"a && {P} || {P} && b"),
        (f"! {P} && b", f"! {P} && b"),
        (f"! {P} || exit 3; b", f"! {P} || exit 3; b"),
        ("! git apply -R --check /tmp/m.patch && git apply /tmp/m.patch; b", "b"),
    ],
)
def test_tails_go_with_the_patch_unless_they_are_for_others(before: str, after: str) -> None:
    assert cut(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"if [ -f /tmp/m.patch ]; then {P}; fi; b", "b"),
        (f"if [ -d /r ]; then {P}; else echo none; fi && b", "b"),
        ("if git apply --check /tmp/m.patch; then git apply /tmp/m.patch; else echo there; exit 1; fi; b", "b"),
        (f"if a; then {P}; b; fi", "if a; then b; fi"),
        (f"if a; then {P}; fi; b", f"if a; then {P}; fi; b"),
        (f"if [ -f /tmp/m.patch ]; then {P}; b; fi", f"if [ -f /tmp/m.patch ]; then {P}; b; fi"),
        (f"if [ -d r ]; then cd r; {P}; fi; b", "if [ -d r ]; then cd r; fi; b"),
        (f"f() {{ {P}; }}; f; b", f"f() {{ {P}; }}; f; b"),
        (f"f() {{ {P}; a; }}; f", "f() { a; }; f"),
        (f"while a; do {P}; b; done", "while a; do b; done"),
    ],
)
def test_a_guard_goes_only_where_all_of_it_is_about_the_patch(before: str, after: str) -> None:
    assert cut(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for p in o m; do git apply /tmp/$p.patch; done; b", "for p in o; do git apply /tmp/$p.patch; done; b"),
        ("for p in m o; do git apply /tmp/$p.patch; done; b", "for p in o; do git apply /tmp/$p.patch; done; b"),
        ("for p in /tmp/m.patch; do git apply ${p} || exit 1; done; b", "b"),
        (
            "for p in \\\n    /tmp/o.patch \\\n    /tmp/m.patch \\\n    /tmp/q.patch; do patch < $p; done",
            "for p in \\\n    /tmp/o.patch \\\n    /tmp/q.patch; do patch < $p; done",
        ),
        ("for p in m.patch; do git apply /tmp/$p; make; done", "for p in m.patch; do git apply /tmp/$p; make; done"),
        ("for p in /tmp/*.patch; do git apply $p; done; b", "for p in /tmp/*.patch; do git apply $p; done; b"),
        (f"for i in 1 2; do {P}; done; b", "b"),
    ],
)
def test_a_word_of_a_loop_goes_and_a_loop_without_words(before: str, after: str) -> None:
    assert cut(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("git apply /tmp/o.patch /tmp/m.patch", "git apply /tmp/o.patch"),
        ("git apply \\\n  /tmp/m.patch \\\n  /tmp/o.patch && b", "git apply \\\n  /tmp/o.patch && b"),
        ("rm /tmp/m.patch /tmp/o.patch", "rm /tmp/o.patch"),
        ("cat /tmp/o.patch /tmp/m.patch | patch -p1", "cat /tmp/o.patch | patch -p1"),
        ("cat /tmp/m.patch | patch -p1 && b", "b"),
        ("yes | patch -p1 < /tmp/m.patch; b", "b"),
        ("git apply /tmp/m.patch 2>&1 | tee log && b", "b"),
        ("patch -p1 -d /r -i /tmp/m.patch && b", "b"),
        ("patch --input=/tmp/m.patch && b", "b"),
        ("patch -p1 </tmp/m.patch && b", "b"),
        ("patch /r/file.py /tmp/m.patch && b", "b"),
        ("git -C /r am --3way /tmp/m.patch && b", "b"),
        ("git am < /tmp/m.patch && b", "b"),
        ("sudo git apply --directory sub '/tmp/m.patch' && b", "b"),
        ("cp /tmp/m.patch . && git apply m.patch && rm m.patch && b", "b"),
        ("cd /tmp && git -C /r apply /tmp/m.patch && b", "cd /tmp && b"),
        ("cd /tmp && patch -d /r -i ./m.patch && b", "cd /tmp && b"),
        ("X=/tmp/m.patch && git apply $X && b", "b"),
        ("X=/tmp/m.patch && git apply $X && other $X", "X=/tmp/m.patch && git apply $X && other $X"),
        # Another file of that name, and commands that nobody knows.
        ("git apply /other/m.patch && b", "git apply /other/m.patch && b"),
        ("curl -o /tmp/m.patch u && git apply /tmp/m.patch", "curl -o /tmp/m.patch u && git apply /tmp/m.patch"),
        ("strange /tmp/m.patch && b", "strange /tmp/m.patch && b"),
        ("git add /tmp/m.patch && b", "git add /tmp/m.patch && b"),
    ],
)
def test_the_ways_in_which_a_patch_is_used(before: str, after: str) -> None:
    assert cut(before) == after


@pytest.mark.parametrize(
    "text",
    [P, f"cd /r && {P}", f"set -ex; cd /r; {P}", f"echo now && {P}", f"(cd r; {P}) || true", f"{P} && rm /tmp/m.patch"],
)
def test_nothing_of_use_is_left(text: str) -> None:
    assert cut(text) == ""


def test_a_script_keeps_its_lines_and_comments() -> None:
    before = f"#!/bin/sh\nset -e\n# why\n{P}\n\nif true; then\n\t{P} || exit 1\n\tmake\nfi\nmake && \\\n  {P}\n"
    after = "#!/bin/sh\nset -e\n# why\n\nif true; then\n\tmake\nfi\nmake\n"
    assert cut(before, joined=False) == after


def test_a_script_of_a_checkout_knows_the_patch_by_the_end_of_its_path() -> None:
    def loose(text: str, target: Target = TARGET) -> str:
        raw = text.encode()
        found = cut_shell(raw, Layout(raw), Where(target, UNKNOWN, set(), loose=True))
        assert found is not None
        return edited(raw, [Edit(span) for span in found.spans]).decode()

    for path in ("p/m.patch", '"$ROOT/p/m.patch"', "../../p/m.patch", "m.patch", '"${HERE}/m.patch"', "/src/p/m.patch"):
        assert loose(f"git apply {path}\nmake\n") == "make\n", path
    for path in ("/tmp/m.patch", "q/m.patch", "$X.patch", "m.patch.orig"):
        assert loose(f"git apply {path}\nmake\n") == f"git apply {path}\nmake\n", path
    two = Target("p/m.patch", frozenset({"p/m.patch", "q/p/m.patch"}))
    for path in ("q/p/m.patch", "m.patch", "/src/q/p/m.patch"):
        assert loose(f"git apply {path}\nmake\n", two) == f"git apply {path}\nmake\n", path


STUBS = "git() { return 0; }\n" + "".join(f"c{n}() {{ echo c{n}; return ${{r{n}}}; }}\n" for n in range(4))
links = st.sampled_from(
    ["c0", "c1", "c2", "c3", P, P, P, "true", "echo >&2 talk", "[ -d / ]", f"( {P} )", f"{{ {P}; c1; }}", f"! {P}"]
)
joints = st.sampled_from([" && ", " && ", " && \\\n  ", " \\\n  && ", " || ", " || \\\n ", "; ", "; \\\n  "])


def done(script: str, results: tuple[int, ...], folder: Path) -> tuple[str, int]:
    setting = "".join(f"r{n}={result}\n" for n, result in enumerate(results))
    ran = subprocess.run(
        ["bash", "-c", setting + STUBS + script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "syntax error" not in ran.stderr, (script, ran.stderr)
    return ran.stdout, ran.returncode


@given(
    st.lists(links, min_size=1, max_size=7).flatmap(
        lambda items: st.tuples(st.just(items), st.lists(joints, min_size=len(items) - 1, max_size=len(items) - 1))
    ),
    st.tuples(*[st.sampled_from([0, 0, 1])] * 4),
)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bash_runs_the_same_other_commands_with_the_same_end(
    tmp_path: Path, parts: tuple[list[str], list[str]], results: tuple[int, ...]
) -> None:
    """As if the patch had applied: what ran before runs after, whatever the others return.

    Where the patch was the last statement, the one before it now tells how the script ends: stricter than before.
    """
    items, between = parts
    script = items[0] + "".join(joint + item for joint, item in zip(between, items[1:], strict=True))
    rest = cut(script)
    before, after = done(script, results, tmp_path), done(rest or ":", results, tmp_path)
    assert before[0] == after[0], (script, rest)
    if "!" not in script and P not in script.rpartition(";")[2]:
        assert before[1] == after[1], (script, rest)
