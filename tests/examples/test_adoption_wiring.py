"""The seams between the gate, the called workflow and its steps: each wiring that is broken turns the run red, or does not start."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PULL_12 = "ci-engine-pr: #12\n"
EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples/shell-to-regraft"
CALLERS = sorted(path for path in (EXAMPLE / "ladder").glob("[23]*/tests.yml"))


def must_reach_the_install(world: Any) -> None:
    """What the line names is what the suite ran with, and a run that says otherwise is red."""
    world.only("rocm")
    jobs = world.run(PULL_12)
    stage = world.stage(jobs, "rocm")
    assert stage.step("Run the suite").outcome == "success", f"{jobs['rocm'].result}: the suite did not run"
    assert world.commit("rocm", "engine") == world.pull(12), "the suite ran with the baked copy"


# The wirings that went wrong: file, what stands there, what stood there, how often.
FORWARDS_NOTHING = ("tests.yml", "      engine: ${{ needs.gate.outputs.engine }}\n", "", 2)
FORWARDS_NO_PLAN = ("tests.yml", "plan: ${{ toJSON(fromJSON(needs.gate.outputs.plan).rocm) }}", "plan: ''", 1)
FORWARDS_THE_OTHER_PLAN = ("tests.yml", "needs.gate.outputs.plan).rocm", "needs.gate.outputs.plan).cuda", 1)
FORWARDS_NO_DECISION = ("tests.yml", "overridden: ${{ needs.gate.outputs.overridden }}", "overridden: 'false'", 2)
LOSES_THE_DECISION = ("tests.yml", "needs.gate.outputs.overridden", "needs.gate.outputs.override", 2)
NEVER_SET = ("stage.yml", "if: inputs.overridden == 'true'", "if: inputs.override == 'true'", 1)


@pytest.mark.slow
def test_the_wiring_as_it_is_reaches_the_install(world: Any) -> None:
    must_reach_the_install(world)


def test_the_original_fault_was_green_parsed_and_never_reaching_the_install(world: Any) -> None:
    world.take("0-shell")
    world.edit(*FORWARDS_NOTHING)
    world.only("rocm")
    jobs = world.run(PULL_12)
    assert jobs["gate"].outputs["engine"] == "12"
    assert jobs["rocm"].result == "success"
    assert world.commit("rocm", "engine") == world.baked("engine")


def test_that_fault_is_seen_here(world: Any) -> None:
    world.take("0-shell")
    world.edit(*FORWARDS_NOTHING)
    with pytest.raises(AssertionError, match="the suite ran with the baked copy"):
        must_reach_the_install(world)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wiring", "step", "says"),
    [
        (FORWARDS_NO_PLAN, "Replace what is named", "JSONDecodeError"),  # it reads the plan before verify does
        (FORWARDS_THE_OTHER_PLAN, "Is this machine what the plan says?", "the plan is for the image 'cuda'"),
        (FORWARDS_NO_DECISION, "Is this machine what the plan says?", "nothing was checked out"),
        (LOSES_THE_DECISION, "Take the plan of the gate", "neither true nor false"),
        (NEVER_SET, "Is this machine what the plan says?", "nothing was checked out"),
    ],
    ids=["no plan", "the other plan", "no decision", "the decision's name", "an input that nobody sets"],
)
def test_a_broken_wiring_is_red_before_the_suite(world: Any, wiring: Any, step: str, says: str) -> None:
    world.edit(*wiring)
    world.only("rocm")
    jobs = world.run(PULL_12)
    stage = world.stage(jobs, "rocm")
    failed = next(one for one in stage.steps if one.outcome == "failure")
    assert (jobs["rocm"].result, stage.step("Run the suite").outcome) == ("failure", "skipped")
    assert failed.name == step
    assert says in failed.said


def test_a_caller_that_forwards_no_decision_is_not_started(world: Any, workflow_runner: ModuleType) -> None:
    world.edit("tests.yml", "      overridden: ${{ needs.gate.outputs.overridden }}\n", "", 2)
    with pytest.raises(workflow_runner.WorkflowError, match="overridden is required"):
        world.run(PULL_12)


@pytest.mark.parametrize("result", ["failure", "cancelled", "skipped"])
def test_a_gate_that_did_not_succeed_starts_no_stage(world: Any, result: str) -> None:
    world.results = {"gate": result}
    jobs = world.run(PULL_12)
    assert {name: job.result for name, job in jobs.items()} == {"gate": result, "cuda": "skipped", "rocm": "skipped"}
    assert not (world.root / "images").exists()


@pytest.mark.parametrize("path", CALLERS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("image", ["cuda", "rocm"])
@pytest.mark.parametrize("result", ["success", "failure", "cancelled", "skipped"])
def test_the_condition_itself_asks_for_the_gates_success(
    workflow_runner: ModuleType, expressions: ModuleType, path: Path, image: str, result: str
) -> None:
    """`needs:` alone would do so too, until somebody adds `always()`: the condition does not lean on it."""
    job = workflow_runner.read(path)["jobs"][image]
    scope = expressions.Scope({"needs": {"gate": {"result": result, "outputs": {}}}}, status="success")
    assert job["needs"] == "gate"
    assert expressions.holds(job["if"], scope) is (result == "success")
    assert expressions.holds(f"always() && {job['if']}", scope) is (result == "success")


@pytest.mark.parametrize("rung", ["2-plan", "2-plan-by-artifact"])
@pytest.mark.parametrize(
    ("text", "opens"), [("true", True), ("false", False), ("", False), ("0", False), ("no", False)]
)
def test_the_text_false_does_not_open_the_install_step(
    workflow_runner: ModuleType, expressions: ModuleType, rung: str, text: str, opens: bool
) -> None:
    stage = workflow_runner.read(EXAMPLE / "ladder" / rung / "stage.yml")
    declared = stage["on"]["workflow_call"]["inputs"]
    given = dict.fromkeys((name for name, about in declared.items() if about.get("required")), "x") | {
        "overridden": text
    }
    inputs = workflow_runner.call_inputs(declared, given)
    (step,) = [one for one in stage["jobs"]["suite"]["steps"] if one.get("name") == "Replace what is named"]
    assert expressions.holds(step["if"], expressions.Scope({"inputs": inputs})) is opens


@pytest.mark.slow
@pytest.mark.parametrize("condition", ["inputs.overridden", "${{ inputs.overridden }}"])
def test_a_condition_that_takes_the_text_for_a_boolean_is_seen(world: Any, condition: str) -> None:
    world.edit("stage.yml", "if: inputs.overridden == 'true'", f"if: {condition}", 1)
    world.only("cuda")
    stage = world.stage(world.run(""), "cuda")
    assert stage.step("Replace what is named").outcome == "success"


@pytest.mark.parametrize("text", ["yes", ""])
def test_a_decision_that_is_neither_is_an_error(world: Any, text: str) -> None:
    world.edit("tests.yml", "overridden: ${{ needs.gate.outputs.overridden }}", f"overridden: '{text}'", 2)
    world.only("cuda")
    stage = world.stage(world.run(""), "cuda")
    assert stage.step("Take the plan of the gate").code == 2
    assert stage.step("Run the suite").outcome == "skipped"


def test_text_for_a_declared_boolean_is_refused_as_github_refuses_it(workflow_runner: ModuleType) -> None:
    declared = {"overridden": {"type": "boolean", "required": "true"}}
    with pytest.raises(workflow_runner.WorkflowError, match="is a boolean"):
        workflow_runner.call_inputs(declared, {"overridden": "false"})
    assert workflow_runner.call_inputs(declared, {"overridden": False}) == {"overridden": False}


# A marker that vanished is a failure, and not a step that did not run.


def test_a_step_that_was_renamed_is_an_error(workflow_runner: ModuleType) -> None:
    twice = [workflow_runner.Step("Install"), workflow_runner.Step("Run"), workflow_runner.Step("Run")]
    job = workflow_runner.Job("success", steps=twice)
    with pytest.raises(workflow_runner.WorkflowError, match="0 steps are called 'Replace what is named'"):
        job.step("Replace what is named")
    with pytest.raises(workflow_runner.WorkflowError, match="2 steps are called 'Run'"):
        job.step("Run")


def test_a_wiring_that_was_reworded_is_an_error(world: Any) -> None:
    with pytest.raises(AssertionError, match="has 0 times"):
        world.edit("tests.yml", "engine: ${{ needs.gate.outputs.engine }}", "", 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "run: ci/install-planned.sh plan.json",
            "run: ci/install-planned.sh '${{ inputs.plan }}'",
            "takes text for code",
        ),
        (
            "        run: ci/install-planned.sh",
            "        continue-on-error: true\n        run: ci/install-planned.sh",
            "nobody here knows",
        ),
        ("    name: Suite", "    name: Suite\n    strategy: {}", "nobody here knows"),
        ("actions/checkout@", "actions/cache@", "nobody stands in"),
    ],
)
def test_what_the_runner_does_not_know_is_refused(
    world: Any, workflow_runner: ModuleType, old: str, new: str, says: str
) -> None:
    world.edit("stage.yml", old, new, 1)
    world.only("cuda")
    with pytest.raises(workflow_runner.WorkflowError, match=says):
        world.run(PULL_12)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'false' && 'opens' || 'shut'", "opens"),
        ("false && 'opens' || 'shut'", "shut"),
        ("needs.gate.outputs.nothing", None),
        ("needs.gate.outputs.nothing == ''", True),
        ("'TRUE' == 'true'", True),
        ("!(needs.gate.result != 'success')", True),
        ('fromJSON(\'{"a": {"b": 1}}\').a.b', 1),
        ("'it''s'", "it's"),
    ],
)
def test_expressions(expressions: ModuleType, expression: str, value: object) -> None:
    scope = expressions.Scope({"needs": {"gate": {"result": "success", "outputs": {}}}})
    assert expressions.evaluate(expression, scope) == value


@pytest.mark.parametrize(
    "expression",
    [
        *(
            "secrets.TOKEN",
            "contains('a', 'b')",
            "1 < 2",
            "needs['gate']",
            "true == 'true'",
            "needs.*.result",
            "a b",
            "",
            "'",
        ),
        *("fromJSON()", "hashFiles('**')", "github.event ="),
    ],
)
def test_an_expression_that_the_tests_do_not_know_is_refused(expressions: ModuleType, expression: str) -> None:
    with pytest.raises(expressions.UnsupportedError):
        expressions.evaluate(expression, expressions.Scope({"needs": {}, "github": {}}))


@pytest.mark.parametrize(
    ("status", "condition", "runs"),
    [
        ("failure", None, False),
        ("failure", "true", False),
        ("failure", "always()", True),
        ("failure", "failure()", True),
        ("success", "failure()", False),
        ("failure", "!cancelled()", True),
        ("cancelled", "!cancelled()", False),
    ],
)
def test_conditions(expressions: ModuleType, status: str, condition: str | None, runs: bool) -> None:
    assert expressions.holds(condition, expressions.Scope({}, status)) is runs


def test_outputs_are_read_as_the_runner_reads_them(workflow_runner: ModuleType) -> None:
    assert workflow_runner.read_outputs("a=1=2\nb<<X\nline\na=3\nX\nc=\n") == {"a": "1=2", "b": "line\na=3", "c": ""}
    with pytest.raises(workflow_runner.WorkflowError):
        workflow_runner.read_outputs("nothing\n")
