"""GitHub's own test cases for expressions: results, kinds, and errors with their kind and words."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from regraft.core.expression_evaluate import evaluate
from regraft.core.expression_text import parse_expression
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_value import Value, kind_of, plain_of, value_of

VECTORS = Path(__file__).parents[3] / "shared/data/expression-vectors"

pytestmark = pytest.mark.skipif(
    not VECTORS.is_dir(), reason="GitHub's test cases for expressions are not on this machine"
)


FILES = [path.stem for path in sorted(VECTORS.glob("*.json"))]


def cases(name: str) -> list[Mapping[str, Any]]:
    groups = json.loads((VECTORS / f"{name}.json").read_text("utf-8"))
    return [case for found in groups.values() for case in found]


def value(case: Mapping[str, Any]) -> Value:
    contexts = {name.lower(): value_of(one) for name, one in case.get("contexts", {}).items()}
    return evaluate(parse_expression(case["expr"], frozenset(contexts)), contexts)


def differs(case: Mapping[str, Any]) -> str | None:
    """What is not as GitHub says. `options.skip` names implementations that cannot do a case; this one does them all."""
    wanted = case.get("err")
    try:
        found = value(case)
    except ExpressionError as error:
        if wanted is None or (error.kind, wanted["value"] in error.message) != (wanted["kind"], True):
            return f"{case['expr']}: {error.kind}: {error.message}"
        return None
    if wanted is not None:
        return f"{case['expr']}: no error"
    right = (case["result"]["kind"], case["result"]["value"])
    return None if (kind_of(found), plain_of(found)) == right else f"{case['expr']}: {found!r}"


@pytest.mark.parametrize("name", FILES)
def test_what_github_says(name: str) -> None:
    assert [found for case in cases(name) if (found := differs(case))] == []


def test_all_cases_are_there() -> None:
    assert sum(len(cases(name)) for name in FILES) == 1020


def test_a_wrong_answer_would_be_seen() -> None:
    assert differs({"expr": "1 == 2", "result": {"kind": "Boolean", "value": True}}) is not None
    assert differs({"expr": "1", "result": {"kind": "String", "value": 1}}) is not None
    assert differs({"expr": "1", "err": {"kind": "parsing", "value": "x"}}) is not None
    assert differs({"expr": "1 2", "err": {"kind": "lexing", "value": "Unexpected symbol"}}) is not None
