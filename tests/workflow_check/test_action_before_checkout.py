"""Actions of the repository, and when the repository is there."""

from collections.abc import Callable

import pytest

RULE = "action-before-checkout"


def job(*steps: str, on: str = "ubuntu-latest") -> dict[str, str]:
    """The first step is in line 6."""
    lines = "".join(f"      - {one}\n" for one in steps)
    return {
        "ci.yml": f"on: push\njobs:\n  a:\n    runs-on: {on}\n    steps:\n{lines}",
        "act/action.yml": "runs:\n  using: node20\n  main: x.js\n",
    }


CHECKOUT = "uses: actions/checkout@v4"
LOCAL = "uses: ./act"


@pytest.mark.parametrize(
    ("texts", "line", "witnesses"),
    [
        (job(LOCAL), 6, []),
        (job(LOCAL, CHECKOUT), 6, [7]),
        (job("uses: actions/setup-python@v5", "run: echo starts", LOCAL, LOCAL, CHECKOUT), 8, [10]),
        (job("run: echo starts", LOCAL, on="windows-2022"), 7, []),
    ],
    ids=["never", "later", "after a language", "windows"],
)
def test_an_action_in_an_empty_workspace_is_found(texts: dict, line: int, witnesses: list, found: Callable) -> None:
    (one,) = found(texts, RULE)
    assert (one.severity, one.line, [at.line for at in one.witnesses]) == ("error", line, witnesses)


@pytest.mark.parametrize(
    "texts",
    [
        job(CHECKOUT, LOCAL),
        job("run: git clone https://example.com/o/r .", LOCAL),
        job("run: gh repo clone o/r . && echo done", LOCAL),
        job("run: echo 'runs{}' > action.yml", LOCAL),
        job("run: echo $(make)", LOCAL),
        job("uses: o/checkout@v1", LOCAL),
        job("uses: actions/github-script@v7\n        with: {script: x}", LOCAL),
        job(LOCAL, on="self-hosted"),
        job(LOCAL, on="${{ matrix.os }}"),
        job(LOCAL, on="[self-hosted, linux]"),
    ],
)
def test_one_where_something_may_be_there_is_not(texts: dict, found: Callable) -> None:
    assert found(texts, RULE) == []
