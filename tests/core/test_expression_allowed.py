"""Which contexts and functions a key may use: all of GitHub's schema, and actions."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from regraft.core.expression_allowed import ACTION, WORKFLOW, Allowed, allowed, not_allowed
from regraft.core.expression_text import parse_expression

SCHEMA = Path(__file__).parents[3] / "shared/data/workflow-v1.0.json"
SCALARS = frozenset({"string", "boolean", "number", "null", "any", "sequence", "mapping"})

Found = tuple[tuple[str, ...], frozenset[str]]


@cache
def definitions() -> dict[str, Any]:
    return dict(json.loads(SCHEMA.read_text("utf-8"))["definitions"])


def leaves(name: str, path: tuple[str, ...], above: frozenset[str], inside: frozenset[str]) -> Iterator[Found]:
    """Each place of a scalar below a definition, with what all definitions on the way to it allow together."""
    if name in inside:
        return
    known = definitions().get(name)
    if known is None:
        yield path, above
        return
    here = above | frozenset(known.get("context", ()))
    below = inside | {name}
    for one in known.get("one-of", ()):
        yield from leaves(one, path, here, below)
    mapping = known.get("mapping")
    if mapping is not None:
        for key, value in mapping.get("properties", {}).items():
            yield from leaves(value if isinstance(value, str) else value["type"], (*path, key), here, below)
        if "loose-value-type" in mapping:
            yield from leaves(mapping["loose-value-type"], (*path, "*"), here, below)
    if "sequence" in known:
        yield from leaves(known["sequence"]["item-type"], path, here, below)
    if SCALARS & known.keys() - {"sequence", "mapping"}:
        yield path, here


def written(found: Allowed | None) -> frozenset[str]:
    """As the schema writes it: `github`, `hashFiles(1,255)`."""
    if found is None:
        return frozenset()
    names = {"hashfiles": "hashFiles"}
    spell = {
        f"{names.get(name, name)}({least},{'MAX' if most == 255 and name != 'hashfiles' else most})"
        for name, (least, most) in found.functions.items()
    }
    return found.contexts | spell


@pytest.mark.skipif(not SCHEMA.is_file(), reason="GitHub's schema of workflows is not on this machine")
def test_as_in_githubs_schema() -> None:
    found = list(leaves("workflow-root", (), frozenset(), frozenset()))
    assert len({path for path, _ in found}) > 120
    assert [(path, written(allowed(path)) ^ wanted) for path, wanted in found if written(allowed(path)) != wanted] == []


@pytest.mark.skipif(not SCHEMA.is_file(), reason="GitHub's schema of workflows is not on this machine")
def test_each_entry_is_a_place_of_the_schema() -> None:
    paths = {path for path, _ in leaves("workflow-root", (), frozenset(), frozenset())}
    assert [entry for entry in WORKFLOW if not any(path[: len(entry)] == entry for path in paths)] == []


@pytest.mark.parametrize(
    ("keys", "text", "refused"),
    [
        ("jobs.a.if", "success('a', 'b') && needs.a.result == 'success'", []),
        ("jobs.a.if", "env.X || secrets.Y || matrix.z", ["env", "secrets", "matrix"]),
        ("jobs.a.if", "hashFiles('x')", ["hashfiles"]),
        ("jobs.a.steps.if", "always() && hashFiles('x') && env.X", []),
        ("jobs.a.steps.if", "success('a')", ["success"]),
        ("jobs.a.steps.if", "secrets.X", ["secrets"]),
        ("jobs.a.steps.env.TOKEN", "secrets.X || steps.a.outputs.b", []),
        ("jobs.a.steps.with.key", "always()", ["always"]),
        ("jobs.a.steps.parallel.run", "steps.x.outputs.y", []),
        ("jobs.a.runs-on", "runner.os", ["runner"]),
        ("jobs.a.env.X", "env.Y", ["env"]),
        ("jobs.a.outputs.x", "steps.a.outputs.b || env.X", []),
        ("jobs.a.strategy.matrix.os", "matrix.x || needs.a.outputs.b", ["matrix"]),
        ("jobs.a.with.x", "secrets.X || env.X", ["secrets", "env"]),
        ("jobs.a.secrets.x", "secrets.X", []),
        ("env.X", "env.Y || secrets.Z || inputs.a", ["env"]),
        ("on.workflow_call.outputs.x.value", "jobs.a.outputs.b", []),
        ("jobs.env.services.env.image", "secrets.X", ["secrets"]),
        ("jobs.env.services.env.env.X", "secrets.X", []),
    ],
)
def test_what_a_key_refuses(keys: str, text: str, refused: list[str]) -> None:
    here = allowed(keys.split("."))
    assert here is not None
    assert [message.split("'")[1] for _, message in not_allowed(parse_expression(text), here)] == refused


@pytest.mark.parametrize(
    "keys", ["name", "on.push.branches", "jobs.a.uses", "jobs.a.needs", "jobs.a.steps.uses", "jobs.a.steps.id"]
)
def test_where_nothing_is_evaluated(keys: str) -> None:
    assert allowed(keys.split(".")) is None


@pytest.mark.parametrize(
    ("keys", "text", "refused"),
    [
        ("runs.steps.run", "inputs.x || steps.a.outputs.b || hashFiles('x')", []),
        ("runs.steps.run", "secrets.X || vars.Y || needs.z", ["secrets", "vars", "needs"]),
        ("runs.steps.if", "failure() || cancelled()", []),
        ("outputs.x.value", "steps.a.outputs.b", []),
        ("inputs.x.default", "inputs.y || github.token", ["inputs"]),
        ("runs.args", "inputs.x || github.sha", ["github"]),
    ],
)
def test_what_an_action_refuses(keys: str, text: str, refused: list[str]) -> None:
    here = allowed(keys.split("."), ACTION)
    assert here is not None
    assert [message.split("'")[1] for _, message in not_allowed(parse_expression(text), here)] == refused
