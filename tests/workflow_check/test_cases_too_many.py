"""What is not judged is said."""

from collections.abc import Callable

import pytest

RULE = "cases-too-many"


def dispatch(options: int, names: str, condition: str) -> dict[str, str]:
    inputs = "".join(f"      {one}: {{type: choice, options: {list(range(options))}}}\n" for one in names)
    jobs = f"jobs:\n  a:\n    runs-on: x\n    if: {condition}\n    steps: [{{run: make}}]\n"
    return {"ci.yml": f"on:\n  workflow_dispatch:\n    inputs:\n{inputs}{jobs}"}


def joined(names: str) -> str:
    holes = "-".join(f"{{{at}}}" for at in range(len(names)))
    return f"format('{holes}', {', '.join(f'inputs.{one}' for one in names)}) == 'no'"


@pytest.mark.parametrize("names", ["abcd", "abcdef"])
def test_an_expression_of_too_many_cases_is_a_note_at_its_place(names: str, found: Callable) -> None:
    (finding,) = found(dispatch(9, names, joined(names)), RULE)
    assert (finding.severity, finding.line, finding.column) == ("note", 4 + len(names) + 3, 9)
    assert "4,096" in finding.message


@pytest.mark.parametrize(
    "texts",
    [
        dispatch(7, "abcd", joined("abcd")),  # just as many: none of them is one more
        dispatch(9, "abcdef", " && ".join(f"inputs.{one} != '10'" for one in "abcdef")),
        dispatch(9, "abcd", "inputs.a == '1' || " + joined("abcd")),  # open in the first cases
    ],
)
def test_what_can_be_judged_is_no_finding(texts: dict[str, str], found: Callable) -> None:
    assert found(texts, RULE) == []


def test_a_file_that_is_started_in_too_many_ways_is_said_once(found: Callable) -> None:
    calls = "".join(f"  c{one}:\n    uses: ./.github/workflows/called.yml\n" for one in range(600))
    called = "on: workflow_call\njobs:\n" + "".join(
        f"  j{one}:\n    runs-on: x\n    if: inputs.a\n    steps: [{{run: make}}]\n" for one in range(2)
    )
    findings = found({"ci.yml": f"on: push\njobs:\n{calls}", "called.yml": called}, RULE)
    assert [(one.severity, one.path, one.line) for one in findings] == [("note", ".github/workflows/called.yml", 1)]


@pytest.mark.slow
def test_workflows_that_take_too_long_all_together_are_said_once(found: Callable) -> None:
    chain = "".join(
        f"  j{at}:\n    runs-on: x\n    needs: j{at - 1}\n    if: needs.j{at - 1}.result == 'success'\n    steps: [{{run: make}}]\n"
        for at in range(1, 500)
    )
    texts = {"ci.yml": f"on: push\njobs:\n  j0:\n    runs-on: x\n    steps: [{{run: make}}]\n{chain}"}
    said = [one.message for one in found(texts, RULE, "skipped-by-ancestor")]
    assert said == ["the workflows have too many cases all together: many of their conditions are not judged"]
