"""Labels that conditions ask for and nobody can set, as far as the repository tells."""

from collections.abc import Callable

import pytest

RULE = "label-unknown"


def workflow(*conditions: str) -> str:
    jobs = "".join(
        f"  j{at}:\n    if: {one}\n    runs-on: x\n    steps: [{{run: make}}]\n" for at, one in enumerate(conditions)
    )
    return f"on:\n  pull_request:\n    types: [labeled]\njobs:\n{jobs}"


def has(label: str) -> str:
    return f"contains(github.event.pull_request.labels.*.name, '{label}')"


def added(label: str) -> str:
    return f"github.event.label.name == '{label}'"


def said(found: Callable, text: str, **files: str) -> list[tuple[str, int]]:
    given = {f".github/{name.replace('__', '.')}": body for name, body in files.items()}
    return [(one.severity, one.line) for one in found({"ci.yml": text, **given}, RULE)]


LABELS = "- name: run-ci\n  color: ffffff\n- {name: 'skip gpu', color: '000000'}\n"


@pytest.mark.parametrize(
    ("condition", "severity"),
    [
        (has("run-c"), "warning"),
        (added("skip-gpu"), "warning"),
        (f"{added('run-ci')} || {has('run_cii')}", "warning"),
        ("${{ 'runci' == github.event.label.name }}", "warning"),
        (has("something else"), "note"),
        ("contains(toJSON(github.event.pull_request.labels), 'nonsense') || " + has("run-cl"), "warning"),
    ],
)
def test_a_label_that_the_list_does_not_have(condition: str, severity: str, found: Callable) -> None:
    assert said(found, workflow(condition), labels__yml=LABELS) == [(severity, 6)]


@pytest.mark.parametrize(
    "condition",
    [
        has("run-ci"),
        added("RUN-CI"),  # GitHub compares without case
        added("skip gpu"),
        "startsWith(github.event.label.name, 'run-')",
        "contains(github.event.label.name, 'nonsense')",
        "github.event.label.name != ''",
        "github.event_name == 'run-c'",
        "contains(fromJSON(vars.LABELS), github.event.label.name)",
        has("dependencies"),  # what Dependabot sets
    ],
)
def test_a_label_of_the_list_and_what_is_no_label(condition: str, found: Callable) -> None:
    assert said(found, workflow(condition), labels__yml=LABELS) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labels__yaml", LABELS),
        ("labels__json", '[{"name": "run-ci"}, {"name": "other"}]'),
        ("labels__yml", "labels:\n  - name: run-ci\n"),
        ("labels__yml", "run-ci: ffffff\nother: '000000'\n"),
        ("labels__yml", "- run-ci\n- other\n"),
    ],
)
def test_a_list_is_read_in_any_of_its_forms(name: str, text: str, found: Callable) -> None:
    assert said(found, workflow(has("run-cl")), **{name: text}) == [("warning", 6)]
    assert said(found, workflow(has("run-ci")), **{name: text}) == []


def test_a_labeler_knows_only_those_that_it_sets(found: Callable) -> None:
    labeler = "run-docs:\n  - changed-files: [{any-glob-to-any-file: 'docs/**'}]\n"
    assert said(found, workflow(has("run-dosc")), labeler__yml=labeler) == [("warning", 6)]
    assert said(found, workflow(has("by hand")), labeler__yml=labeler) == []


@pytest.mark.parametrize(
    ("often", "once"), [("run-nightly", "run-nigthly"), ("skip-tests", "skip-test"), ("approved", "aproved")]
)
def test_without_a_list_a_label_close_to_a_usual_one_is_a_warning(often: str, once: str, found: Callable) -> None:
    assert said(found, workflow(has(often), added(often), has(often), has(once))) == [("warning", 18)]


@pytest.mark.parametrize(
    ("often", "once"),
    [
        ("run-ci-2-gpu", "run-ci-4-gpu"),
        ("run-gpu", "run-cpu"),
        ("stage-a", "stage-b"),
        ("rocm720", "rocm700"),
        ("enable-cache", "disable-cache"),
        ("ok", "ko"),
        ("high priority", "low priority"),
    ],
)
def test_a_label_that_is_another_one_is_silent(often: str, once: str, found: Callable) -> None:
    assert said(found, workflow(has(often), added(often), has(often), has(once))) == []


def test_two_that_are_used_alike_are_silent(found: Callable) -> None:
    assert said(found, workflow(has("skip-tests"), has("skip-test"))) == []


def test_a_list_that_cannot_be_read_is_none(found: Callable) -> None:
    assert said(found, workflow(has("x")), labels__yml="[") == []
    assert said(found, workflow(has("x")), labels__json="{") == []


def test_the_nearest_and_its_place_are_said(found: Callable) -> None:
    [one] = found({"ci.yml": workflow(has("run-cl")), ".github/labels.yml": LABELS}, RULE)
    assert "`run-cl`" in one.message
    assert one.fix is not None
    assert "`run-ci`" in one.fix
    assert [(witness.path, witness.line) for witness in one.witnesses] == [(".github/labels.yml", 1)]
    assert one.column == 60
