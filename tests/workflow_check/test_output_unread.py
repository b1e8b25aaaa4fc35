"""Outputs that are made and that nothing reads."""

from collections.abc import Callable

import pytest

RULE = "output-unread"


def workflow(read: str = "", outputs: str = "{tag: '${{ steps.s.outputs.tag }}'}") -> dict[str, str]:
    text = f"on: push\njobs:\n  a:\n    runs-on: x\n    outputs: {outputs}\n    steps:\n      - id: s\n        run: echo tag=1 >> $GITHUB_OUTPUT\n  b:\n    needs: a\n    runs-on: x\n    steps:\n      - run: make {read}\n"
    return {"a.yml": text}


CALLED = "on:\n  workflow_call:\n    outputs:\n      tag:\n        value: ${{ jobs.a.outputs.tag }}\njobs:\n  a:\n    runs-on: x\n    outputs: {tag: x}\n    steps: []\n"
CALLER = "on: push\njobs:\n  a:\n    uses: ./.github/workflows/called.yml\n  b:\n    needs: a\n    runs-on: x\n    steps:\n      - run: make {read}\n"
ACTION = "outputs:\n  tag:\n    value: x\nruns:\n  using: composite\n  steps: []\n"
USER = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - id: up\n        uses: ./.github/up\n      - run: make {read}\n"


@pytest.mark.parametrize(
    ("texts", "severity", "path", "line"),
    [
        (workflow(), "warning", "a.yml", 5),
        (workflow("${{ needs.a.outputs.other }} ${{ needs.a.result }}"), "warning", "a.yml", 5),
        (workflow(outputs="{}"), "note", "a.yml", 8),
        (workflow("${{ steps.s.outputs.tag }}", "{}"), "note", "a.yml", 8),
        ({"a.yml": CALLER.format(read=""), "called.yml": CALLED}, "note", "called.yml", 4),
        ({"a.yml": USER.format(read=""), ".github/up/action.yml": ACTION}, "note", "action.yml", 2),
    ],
    ids=["job", "others-read", "step", "of-another-job", "called", "action"],
)
def test_an_output_that_nothing_reads_is_found(
    found: Callable, texts: dict, severity: str, path: str, line: int
) -> None:
    assert [(one.severity, one.path.rpartition("/")[2], one.line) for one in found(texts, RULE)] == [
        (severity, path, line)
    ]


@pytest.mark.parametrize(
    "texts",
    [
        workflow("${{ needs.a.outputs.TAG }}"),
        workflow("'${{ toJSON(needs) }}'"),
        workflow("${{ needs.*.outputs.x }}"),
        workflow("${{ needs.a.outputs[matrix.x] }}"),
        workflow("${{ needs['a'].outputs['tag'] }}"),
        workflow("'${{ toJSON(needs.a) }}'"),
        workflow("${{ a..b }}"),
        {"called.yml": CALLED},
        {"a.yml": CALLER.format(read="${{ needs.a.outputs.tag }}"), "called.yml": CALLED},
        {".github/up/action.yml": ACTION},
        {"a.yml": workflow("${{ needs.a.outputs.tag }}")["a.yml"].replace("run: echo", "run: IFS=, read a <<< x; python -c 'k=1'; echo")},
        {"a.yml": USER.format(read="").replace("/.github", ""), "up/action.yml": ACTION},
        {"a.yml": USER.format(read="${{ steps.up.outputs.tag }}"), ".github/up/action.yml": ACTION},
        {"a.yml": workflow(outputs="{}")["a.yml"].replace("      - id: s\n        run", "      - run")},
    ],
    ids=[
        *("read", "whole", "every", "index", "quoted", "job", "unparsed", "no-caller", "caller-reads", "no-user", "no-outputs", "used-elsewhere", "user-reads"),
        "no-id",
    ],
)  # fmt: skip
def test_an_output_that_is_or_may_be_read_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert [one for one in found(texts, RULE) if one.rule == RULE] == []
