"""Secrets that do not arrive in a called workflow, and secrets that it does not read."""

from collections.abc import Callable

import pytest

RULE = "secret-missing"


def called(read: str = "${{ secrets.TOKEN }}", declared: str = "", more: str = "", job: str = "") -> str:
    secrets = f"    secrets:\n      TOKEN:{declared}\n" if declared else ""
    return f"on:\n  workflow_call:\n{secrets}{more}jobs:\n  a:\n    runs-on: x\n{job}    steps:\n      - run: make {read}\n"


def caller(secrets: str = "", on: str = "push", file: str = "called") -> str:
    return f"on: {on}\njobs:\n  call:\n    uses: ./.github/workflows/{file}.yml\n{secrets}"


GIVES = "    secrets:\n      TOKEN: ${{ secrets.TOKEN }}\n"
OTHER = "    secrets:\n      OTHER: ${{ secrets.OTHER }}\n"
INHERITS = "    secrets: inherit\n"


@pytest.mark.parametrize(
    ("texts", "severity", "line"),
    [
        ({"a.yml": caller(), "called.yml": called()}, "error", 7),
        ({"a.yml": caller(), "b.yml": caller(OTHER), "called.yml": called()}, "error", 7),
        ({"a.yml": caller(), "called.yml": called(more="  workflow_dispatch:\n")}, "warning", 8),
        ({"a.yml": caller(), "called.yml": called(declared=" {required: false}")}, "warning", 9),
        ({"a.yml": caller(), "called.yml": called("${{ secrets.TOKEN || github.token }}")}, "note", 7),
        ({"a.yml": caller("", file="middle"), "middle.yml": caller(INHERITS, "workflow_call"), "called.yml": called()}, "error", 7),
        ({"a.yml": caller(GIVES), "called.yml": called("x", " {required: true}")}, "note", 4),
    ],
    ids=["none", "another", "also-by-hand", "optional", "with-default", "inherits-nothing", "unread"],
)  # fmt: skip
def test_a_secret_that_does_not_arrive_is_found(found: Callable, texts: dict, severity: str, line: int) -> None:
    assert [(one.severity, one.path[-10:], one.line) for one in found(texts, RULE)] == [(severity, "called.yml", line)]


@pytest.mark.parametrize(
    "texts",
    [
        {"a.yml": caller(GIVES), "called.yml": called(declared=" {required: true}")},
        {"a.yml": caller(INHERITS), "called.yml": called()},
        {"a.yml": caller(), "b.yml": caller(GIVES.replace("TOKEN:", "Token:")), "called.yml": called(declared=" {}")},
        {"a.yml": caller(), "called.yml": called("${{ secrets.GITHUB_TOKEN }} ${{ secrets.github_token }}")},
        {"called.yml": called()},
        {"a.yml": caller(), "called.yml": called(job="    environment: production\n")},
        {"a.yml": caller(), "called.yml": called(declared=" {required: true}")},
        {"a.yml": caller(), "b.yml": "on: push\njobs:\n  a:\n    uses: o/r/.github/workflows/called.yml@v1\n", "called.yml": called()},
        {"a.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: make ${{ secrets.TOKEN }}\n"},
        {"a.yml": caller(INHERITS, file="middle"), "middle.yml": caller(INHERITS, "workflow_call"), "called.yml": called()},
        {"a.yml": caller(GIVES), "called.yml": called("'${{ toJSON(secrets) }}'", " {}")},
    ],
    ids=[
        *("passed", "inherits", "one-passes", "own-token", "no-caller", "environment", "refused-anyway", "elsewhere"),
        *("no-call", "inherits-all-the-way", "whole"),
    ],
)  # fmt: skip
def test_a_secret_that_arrives_or_may_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert found(texts, RULE) == []


def test_one_caller_of_two_that_does_not_inherit(found: Callable) -> None:
    texts = {"a.yml": caller(INHERITS), "b.yml": caller(), "called.yml": called()}
    assert [(one.severity, one.path[-5:], one.line) for one in found(texts, RULE)] == [("warning", "b.yml", 4)]


@pytest.mark.parametrize(
    "texts",
    [
        {"a.yml": caller(INHERITS), "b.yml": caller(), "called.yml": called("${{ secrets.TOKEN || github.token }}")},
        {"a.yml": caller(INHERITS), "b.yml": caller(), "called.yml": called(declared=" {required: false}")},
        {"a.yml": caller(INHERITS), "b.yml": caller(INHERITS), "called.yml": called()},
    ],
    ids=["falls back", "is declared to be optional", "both inherit"],
)
def test_callers_that_pass_it_or_need_not(texts: dict[str, str], found: Callable) -> None:
    assert found(texts, RULE) == []
