"""What a called workflow asks for against what its caller grants."""

from collections.abc import Callable

import pytest

RULE = "permission-above-caller"


def calls(top: str = "", own: str = "", called: str = "called") -> str:
    return f"on: push\n{top}jobs:\n  call:\n    uses: ./.github/workflows/{called}.yml\n{own}"


def called(top: str = "", own: str = "", steps: str = "    runs-on: x\n    steps:\n      - run: make\n") -> str:
    return f"on: workflow_call\n{top}jobs:\n  build:\n{own}{steps}"


READ = "permissions:\n  contents: read\n"
OWN_READ = "    permissions:\n      contents: read\n"
OWN_WRITE = "    permissions:\n      contents: write\n"
NESTED = "    uses: ./.github/workflows/deep.yml\n"


@pytest.mark.parametrize(
    ("texts", "line", "asked"),
    [
        ({"ci.yml": calls(READ), "called.yml": called("", OWN_WRITE)}, 6, "`contents: write`"),
        ({"ci.yml": calls("", OWN_READ), "called.yml": called("permissions:\n  id-token: write\n")}, 4, "`id-token: write`"),
        ({"ci.yml": calls("permissions: read-all\n"), "called.yml": called("", OWN_WRITE)}, 5, "`contents: write`"),
        ({"ci.yml": calls("permissions: {}\n"), "called.yml": called("", OWN_READ)}, 5, "`contents: read`"),
        ({"ci.yml": calls("permissions: write-all\n", OWN_READ), "called.yml": called("", "    permissions: write-all\n")}, 5, "`actions: write`"),
        ({"ci.yml": calls(READ), "called.yml": called("", "", NESTED), "deep.yml": called("", OWN_WRITE)}, 6, "`contents: write`"),
        (
            {
                "ci.yml": calls("permissions: write-all\n"),
                "called.yml": called(READ, "", NESTED),
                "deep.yml": called("", OWN_WRITE),
            },
            6,
            "`contents: write`",
        ),
    ],
    ids=["workflow-of-caller", "top-of-called", "read-all", "nothing", "job-before-workflow", "nested", "nested-lowered"],
)  # fmt: skip
def test_what_is_asked_above_the_grant_is_found(found: Callable, texts: dict, line: int, asked: str) -> None:
    (one,) = found(texts, RULE)
    assert (one.severity, one.line) == ("error", line)
    assert asked in one.message


@pytest.mark.parametrize(
    "texts",
    [
        {"ci.yml": calls(), "called.yml": called("", OWN_WRITE)},
        {"ci.yml": calls("", OWN_WRITE), "called.yml": called("", OWN_READ)},
        {"ci.yml": calls(READ, OWN_WRITE), "called.yml": called(READ, OWN_WRITE)},
        {"ci.yml": calls("permissions: write-all\n"), "called.yml": called("permissions: write-all\n")},
        {"ci.yml": calls("permissions: read-all\n"), "called.yml": called("permissions: read-all\n")},
        {"ci.yml": calls(READ), "called.yml": called()},
        {"ci.yml": calls("permissions: read-all\n"), "called.yml": called("", "    permissions:\n      newest: read\n")},
        {"ci.yml": calls(READ), "called.yml": called("", "    permissions:\n      contents: none\n")},
        {"ci.yml": calls("permissions: {}\n"), "called.yml": called("", "    permissions: {}\n")},
        {"ci.yml": calls(READ, "", "none"), "called.yml": called("", OWN_WRITE)},
        {"ci.yml": calls("permissions: ${{ inputs.x }}\n"), "called.yml": called("", OWN_WRITE)},
    ],
    ids=[
        *("repository-default", "less", "job-grants", "all-all", "read-read", "inherits", "of-all", "asks-none", "nothing-nothing"),
        *("calls-another", "no-level"),
    ],
)  # fmt: skip
def test_what_is_granted_or_not_known_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert found(texts, RULE) == []


def test_each_call_is_found_once_with_every_line_that_asks(found: Callable) -> None:
    texts = {
        "ci.yml": calls(READ),
        "other.yml": calls(READ),
        "called.yml": called("permissions:\n  packages: write\n", OWN_WRITE),
    }
    one, other = found(texts, RULE)
    assert (one.path, other.path) == (".github/workflows/ci.yml", ".github/workflows/other.yml")
    assert [(w.path.rpartition("/")[2], w.line) for w in one.witnesses] == [
        ("ci.yml", 2),
        ("called.yml", 2),
        ("called.yml", 6),
    ]
    assert "`packages: write`" in one.message
    assert "`contents: write`" in one.message
