"""Accepted and refused lines and bodies, as data that a person can read."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from regraft.core.directive_reader import read_body
from regraft.core.directives import Vocabulary

CORPUS = Path(__file__).parent / "corpus"


def lines() -> Iterator[object]:
    for number, row in enumerate((CORPUS / "lines.txt").read_text("utf-8").splitlines(), 1):
        if row and not row.startswith("#"):
            outcome, bar, line = row.partition("| ")
            assert bar, f"line {number} has no bar"
            plain = ast.literal_eval("'" + line.replace("'", "\\'") + "'")
            yield pytest.param(outcome.strip(), plain, id=f"{number}:{line[:40]}")


def bodies() -> Iterator[object]:
    _, *cases = (CORPUS / "bodies.txt").read_text("utf-8").split("\n=== ")
    for case in cases:
        name, _, rest = case.partition("\n")
        body, _, expected = rest.partition("\n=>\n") if not rest.endswith("\n=>") else (rest[:-3], "", "")
        yield pytest.param(body, expected.strip().splitlines(), id=name.split(",")[0])


@pytest.mark.parametrize(("outcome", "line"), list(lines()))
def test_a_line_amounts_to(outcome: str, line: str, grammar: Vocabulary, outcomes) -> None:  # noqa: ANN001
    said = outcomes(read_body(line, grammar))
    assert said == ([f"1:{outcome}"] if outcome else [])
    # Neither the line above nor below it matters, where blank lines stand between.
    assert outcomes(read_body(f"Text.\n\n{line}\n\nText.\n", grammar)) == ([f"3:{outcome}"] if outcome else [])


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(("body", "expected"), list(bodies()))
def test_a_body_amounts_to(
    body: str,
    expected: list[str],
    line_end: str,
    grammar: Vocabulary,
    outcomes,  # noqa: ANN001
) -> None:
    assert outcomes(read_body(body.replace("\n", line_end), grammar)) == expected
    assert outcomes(read_body(body.replace("\n", line_end) + line_end, grammar)) == expected
