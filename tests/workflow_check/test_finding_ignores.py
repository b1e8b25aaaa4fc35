"""Comments that say which finding is meant to stay: what they speak of, and what is wrong with one."""

import pytest

from regraft.core.finding_ignores import read_ignores, without_ignored
from regraft.core.findings import Finding

PATH = ".github/workflows/ci.yml"
KNOWN = {"swallowed-failure": "", "input-unread": ""}


def left_of(text: str, *findings: tuple[str, int]) -> list[tuple[str, int | None]]:
    found = [Finding(rule, "error", "…", PATH, line) for rule, line in findings]
    left, _ = without_ignored(found, read_ignores(PATH, text.encode()), KNOWN, KNOWN)
    return [(one.rule, one.line) for one in left]


@pytest.mark.parametrize(
    "text",
    [
        "a\n- run: make || true  # regraft: ignore[swallowed-failure] old branches have no such target\n",
        "# regraft: ignore[swallowed-failure] old branches have no such target\n- run: make || true\n",
        "#regraft:ignore[input-unread, swallowed-failure]: why not\n- run: make || true\n",
        "# regraft: ignore[swallowed-failure] why\n  # another comment\n- run: make || true\n",
    ],
    ids=["same-line", "line-before", "several-rules", "comment-between"],
)
def test_a_finding_that_a_comment_speaks_of_is_not_said(text: str) -> None:
    line = text.split("\n").index(next(one for one in text.split("\n") if "make" in one)) + 1
    assert ("swallowed-failure", line) not in left_of(text, ("swallowed-failure", line))


def test_a_comment_speaks_of_its_own_line_and_its_own_rule_only() -> None:
    text = "- run: make || true  # regraft: ignore[swallowed-failure] why\n- run: make || true\n"
    assert left_of(text, ("swallowed-failure", 1), ("swallowed-failure", 2), ("input-unread", 1)) == [
        ("swallowed-failure", 2),
        ("input-unread", 1),
    ]


def test_a_comment_without_a_reason_ignores_nothing_and_is_said() -> None:
    text = "- run: make || true  # regraft: ignore[swallowed-failure]\n"
    assert left_of(text, ("swallowed-failure", 1)) == [("swallowed-failure", 1), ("ignore-without-reason", 1)]


def test_a_comment_that_names_no_rule_or_an_unknown_one_is_said() -> None:
    assert left_of("# regraft: ignore because\n") == [("ignore-without-rule", 1)]
    left, _ = without_ignored([], read_ignores(PATH, b"# regraft: ignore[swalowed-failure] x\n"), KNOWN, KNOWN)
    assert [(one.rule, one.fix) for one in left] == [("ignore-unknown-rule", "did you mean swallowed-failure?")]


def test_a_comment_that_ignores_nothing_is_a_note_where_its_rule_was_looked_for() -> None:
    ignores = read_ignores(PATH, b"- run: make  # regraft: ignore[swallowed-failure] why\n")
    left, ignored = without_ignored([], ignores, KNOWN, KNOWN)
    assert ([(one.rule, one.severity) for one in left], ignored) == ([("ignore-unused", "note")], 0)
    assert without_ignored([], ignores, KNOWN, {"input-unread"}) == ([], 0)


IGNORE = "# regraft: ignore[swallowed-failure] why"
STEP = "- run: |\n    make a\n"


@pytest.mark.parametrize(
    "text",
    [
        f"- run: don't || true  {IGNORE}\n",
        f"- run: 'make || true'  {IGNORE}\n",
        f"- run: |  {IGNORE}\n    make || true\n",
        f"- run: |\n    make || true  {IGNORE}\n",
        f"- run: |\n    {IGNORE}\n    make || true\n",
        f"- run: |\n    echo 'x' \"it's # x\" \\' || true  {IGNORE}\n",
        f"- é: 'é'\n- run: |\n    make || true  {IGNORE}\n- 'x'\n",
        f"- run: |\n    make\n  {IGNORE}\n- run: 'make' || true\n",
    ],
)
def test_a_comment_of_yaml_or_of_a_script_counts(text: str) -> None:
    [one] = read_ignores(PATH, text.encode())
    assert (one.rules, one.reason) == (("swallowed-failure",), "why")


@pytest.mark.parametrize(
    "text",
    [
        f'- run: "make || true  {IGNORE}"\n',
        f"- run: 'make || true  {IGNORE}'\n",
        f"- run: 'make\n  {IGNORE}\n  make'\n",
        f"- run: |\n    make || echo '  {IGNORE}'\n",
        f'- run: |\n    make || echo "\\"  {IGNORE}"\n',
        f"- run: make || echo x{IGNORE}\n",
        f"- run: |\n    make || echo x{IGNORE}\n",
    ],
)
def test_a_text_that_looks_like_a_comment_is_none(text: str) -> None:
    assert read_ignores(PATH, text.encode()) == []


def test_a_text_in_quotes_does_not_hide_the_comment_behind_it() -> None:
    text = f'- run: "make  # regraft: ignore[input-unread] no" {IGNORE}\n'
    [one] = read_ignores(PATH, text.encode())
    assert one.rules == ("swallowed-failure",)


@pytest.mark.parametrize("text", [f"a: [\n{IGNORE}\n", f"a: \x00 {IGNORE}\n", f"\ufeffa: 1 {IGNORE}\n"])
def test_what_is_no_yaml_is_read_as_far_as_it_goes(text: str) -> None:
    assert len(read_ignores(PATH, text.encode())) == 1


def test_what_cannot_be_ignored_is_said_and_the_comment_too() -> None:
    ignores = read_ignores(PATH, b"x  # regraft: ignore[workflow-unreadable] later\n")
    unreadable = Finding("workflow-unreadable", "error", "…", PATH, 1)
    left, ignored = without_ignored([unreadable], ignores, {"workflow-unreadable": ""}, (), {"workflow-unreadable"})
    assert ([one.rule for one in left], ignored) == (["workflow-unreadable", "ignore-unknown-rule"], 0)
