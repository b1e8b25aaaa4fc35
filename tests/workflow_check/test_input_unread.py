"""Inputs that are declared and that nothing reads."""

from collections.abc import Callable

import pytest

RULE = "input-unread"

DISPATCH = "on:\n  workflow_dispatch:\n    inputs:\n      target:\n        type: string\n"
CALL = "on:\n  workflow_call:\n    inputs:\n      target:\n        type: string\n"
READ = "${{ inputs.target }}"


def workflow(on: str, line: str = "", more: str = "") -> str:
    return f"{on}jobs:\n  a:\n    runs-on: x\n    steps:\n      - run: make {line}\n{more}"


def action(line: str, using: str = "composite") -> str:
    return f"inputs:\n  target: {{}}\nruns:\n  using: {using}\n  main: x.js\n  steps:\n    - run: make {line}\n      shell: bash\n"


SCRIPT = "      - uses: actions/github-script@v7\n        with: {{script: '{}'}}\n"
CALLER = "jobs:\n  a:\n    uses: ./.github/workflows/called.yml\n"


@pytest.mark.parametrize(
    ("texts", "severity", "line"),
    [
        ({"a.yml": workflow(DISPATCH)}, "warning", 4),
        ({"a.yml": workflow(DISPATCH, "${{ inputs.targets }} ${{ env.target }}")}, "warning", 4),
        (
            {"a.yml": workflow(DISPATCH, "; jq .pull_request.number $GITHUB_EVENT_PATH; echo ${{ inputs.other }}")},
            "warning",
            4,
        ),
        ({"a.yml": workflow(DISPATCH, "", SCRIPT.format("context.payload.pull_request.number"))}, "warning", 4),
        ({"called.yml": workflow(CALL, "${{ github.event.inputs.target }}")}, "warning", 4),
        ({"up/action.yml": action("$INPUT_TARGET")}, "warning", 2),
        ({"a.yml": DISPATCH + CALLER, "called.yml": workflow("on: workflow_call\n", "$TARGET")}, "warning", 4),
        ({"a.yml": workflow(DISPATCH.replace("target", "reason"))}, "note", 4),
        ({"a.yml": workflow(DISPATCH.replace("type: string", "description: 'deprecated, does nothing'"))}, "note", 4),
    ],
    ids=[
        "dispatch",
        "others-read",
        "event-number",
        "payload-number",
        "call-is-no-event-input",
        "action",
        "not-passed-on",
        "said-to-people",
        "deprecated",
    ],
)
def test_an_input_that_nothing_reads_is_found(found: Callable, texts: dict, severity: str, line: int) -> None:
    assert [(one.severity, one.line) for one in found(texts, RULE)] == [(severity, line)]


@pytest.mark.parametrize(
    "texts",
    [
        {"a.yml": workflow(DISPATCH, READ)},
        {"a.yml": workflow(DISPATCH, "${{ github.event.inputs.target }}")},
        {"a.yml": workflow(DISPATCH, "${{ toJSON(inputs) }}")},
        {"a.yml": workflow(DISPATCH, "${{ inputs[matrix.x] }}")},
        {"a.yml": workflow(DISPATCH, "'${{ toJSON(github) }}'")},
        {"a.yml": workflow(DISPATCH, "'${{ toJSON(github.event) }}'")},
        {"a.yml": workflow(DISPATCH, "; jq .inputs.target $GITHUB_EVENT_PATH")},
        {"a.yml": workflow(DISPATCH, "; python tools/read.py"), "tools/read.py": "json.load(open(os.environ['GITHUB_EVENT_PATH']))['inputs']"},
        {"a.yml": workflow(DISPATCH, "; cd tools; python -m pkg.read"), "tools/pkg/read.py": "import pkg.event\n", "tools/pkg/event.py": "os.environ['GITHUB_EVENT_PATH']['inputs']"},
        {"a.yml": workflow(DISPATCH, "", SCRIPT.format("context.payload.inputs.target"))},
        {"a.yml": workflow(DISPATCH, "", SCRIPT.format("const event = context.payload"))},
        {"a.yml": DISPATCH + CALLER, "called.yml": workflow("on: workflow_call\n", "${{ github.event.inputs.target }}")},
        {"a.yml": workflow(DISPATCH + "run-name: for ${{ inputs.target }}\n")},
        {"a.yml": workflow(DISPATCH + "concurrency: ${{ inputs.target }}\n")},
        {"a.yml": workflow(DISPATCH, "${{ inputs..x }}")},
        {"called.yml": workflow(CALL, READ)},
        {"up/action.yml": action(READ)},
        {"up/action.yml": action("", "node20")},
        {"up/action.yml": "inputs:\n  target: {}\noutputs:\n  o:\n    value: ${{ inputs.target }}\nruns:\n  using: composite\n  steps: []\n"},
    ],
    ids=[
        *("read", "event", "whole", "index", "github", "github-event", "event-file", "program", "module", "script-action", "payload"),
        *("called", "run-name", "concurrency", "unparsed", "call", "action", "node", "output-of-action"),
    ],
)  # fmt: skip
def test_an_input_that_is_read_or_may_be_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert [one for one in found(texts, RULE) if one.rule == RULE] == []


def test_an_input_that_several_declare_and_none_reads_says_how_many(found: Callable) -> None:
    texts = {f"{name}.yml": workflow(DISPATCH) for name in "abc"} | {"d.yml": workflow(DISPATCH, READ)}
    some = found(texts, RULE)
    assert [one.path[-5:] for one in some] == ["a.yml", "b.yml", "c.yml"]
    assert all("3 workflows" in one.message for one in some)


def test_who_passes_it_for_nothing_is_a_witness(found: Callable) -> None:
    texts = {"a.yml": f"on: push\n{CALLER}    with: {{target: b}}\n", "called.yml": workflow(CALL)}
    (one,) = found(texts, RULE)
    assert [(w.path[-5:], w.line) for w in one.witnesses] == [("a.yml", 5)]


MANIFEST = """\
[project]
name = "own"
[dependencies.engine]
url = "https://example.org/engine.git"
directive = "ci-engine"
[images.lane]
[images.lane.baked.engine]
path = "/opt/engine"
install = []
distributions = []
"""
PLANNED = DISPATCH.replace("target", "ci_engine") + "jobs:\n  a:\n    runs-on: x\n    steps:\n"


@pytest.mark.parametrize(
    "step",
    [
        "      - uses: example-org/regraft@v1\n        with:\n          command: plan\n",
        "      - run: regraft plan --output plan.json\n",
        "      - run: |\n          python -m regraft \\\n            plan --image lane\n",
        "      - run: ci/gate.sh\n",
    ],
    ids=["action", "command", "module", "program"],
)
def test_what_the_manifest_takes_from_the_event_is_read_by_a_plan(found: Callable, step: str) -> None:
    texts = {"a.yml": PLANNED + step, "ci/gate.sh": "regraft plan --output plan.json\n", "regraft.toml": MANIFEST}
    assert found(texts, RULE) == []


@pytest.mark.parametrize(
    ("text", "manifest"),
    [
        (PLANNED + "      - run: regraft verify plan.json\n", MANIFEST),
        (PLANNED + "      - uses: example-org/regraft@v1\n        with:\n          command: verify\n", MANIFEST),
        (PLANNED.replace("ci_engine", "ci_engin") + "      - run: regraft plan\n", MANIFEST),
        (PLANNED + "      - run: regraft plan\n", None),
    ],
    ids=["no-plan", "action-without-plan", "a-letter-off", "no-manifest"],
)
def test_an_input_that_no_plan_takes_is_found(found: Callable, text: str, manifest: str | None) -> None:
    texts = {"a.yml": text} | ({"regraft.toml": manifest} if manifest else {})
    assert [one.line for one in found(texts, RULE)] == [4]
