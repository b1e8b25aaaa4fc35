"""The plan as a file: sealed by its digest, and refused when it was edited."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from regraft.core import document
from regraft.core.canonical import digest
from regraft.core.objects import Sha256, parse_commit, parse_sha256, parse_tree
from regraft.core.plan import SCHEMA, Plan, PlannedDependency, PlannedImage
from regraft.errors import InputError

_AGAIN = "make the plan again with `regraft plan`, and hand that file on unchanged"


def seal(plan: Plan) -> Plan:
    """The same plan with the digest that its content has."""
    return replace(plan, digest=plan_digest(plan))


def plan_digest(plan: Plan) -> Sha256:
    """The digest over what decides what is tested; refs, sources, states, notes and the baseline are not part of it."""
    return digest(
        {
            "schema": plan.schema,
            "project": plan.project,
            "manifest": plan.manifest,
            "suites": list(plan.suites),
            "image": _image(plan.image),
            "dependencies": {name: _dependency(planned) for name, planned in plan.dependencies.items()},
        }
    )


def encode_plan(plan: Plan) -> bytes:
    return document.encode(plan)


def one_line(plan: Plan) -> str:
    """The same document without a line end in it, for an output or an environment variable."""
    return document.encode_one_line(plan)


def decode_plan(data: bytes, name: str) -> Plan:
    """The plan in a file. Raises InputError: what `document.decode` raises, bad-hash, edited-plan, impossible-plan.

    The digest covers what decides what is tested. Of the rest only what no plan can say is refused.
    """
    plan = document.decode(data, Plan, SCHEMA, name)
    for place, problem in _bad_hashes(plan):
        raise InputError("bad-hash", f"{place}: {problem}", where=name)
    if plan_digest(plan) != plan.digest:
        raise InputError(
            "edited-plan",
            "the plan does not have the digest that it names: it was edited, or cut",
            where=name,
            hint=_AGAIN,
        )
    for place, problem in _impossible(plan):
        raise InputError("impossible-plan", f"{place}: {problem}", where=name, hint=_AGAIN)
    return plan


def _image(image: PlannedImage) -> dict[str, Any]:
    return {"name": image.name, "reference": image.reference, "digest": image.digest}


def _dependency(planned: PlannedDependency) -> dict[str, Any]:
    return {
        "action": planned.action,
        "url": planned.url,
        "commit": planned.commit,
        "tree": planned.tree,
        "patches": [{"path": patch.path, "sha256": patch.sha256} for patch in planned.patches],
    }


def _bad_hashes(plan: Plan) -> Iterator[tuple[str, str]]:
    checks: list[tuple[str, Any, str | None]] = [
        ("digest", parse_sha256, plan.digest),
        ("request", parse_sha256, plan.request),
        ("manifest", parse_sha256, plan.manifest),
        ("baseline.digest", parse_sha256, plan.baseline.digest if plan.baseline else None),
    ]
    for name, planned in plan.dependencies.items():
        checks.append((f"dependencies.{name}.commit", parse_commit, planned.commit))
        checks.append((f"dependencies.{name}.tree", parse_tree, planned.tree))
        checks.extend((f"dependencies.{name}.patches", parse_sha256, patch.sha256) for patch in planned.patches)
        if planned.action == "override" and (planned.commit is None or planned.tree is None):
            yield f"dependencies.{name}", "an override has a commit and a tree"
    for place, parse, value in checks:
        try:
            if value is not None:
                parse(value)
        except ValueError as error:
            yield place, str(error)


def _impossible(plan: Plan) -> Iterator[tuple[str, str]]:
    for name, planned in plan.dependencies.items():
        source, place = planned.source, f"dependencies.{name}"
        if not _is_place(source.line, source.column) or (source.line is None) == (source.kind == "body"):
            yield place, "a source in the body has a line and a column from 1, and no other source has one"
        if (planned.ref is None) == (source.kind in {"body", "input"}):
            yield place, "a ref is what an input or the body named"
        if (planned.action == "keep") != (source.kind == "unnamed"):
            yield place, "what nothing named is kept, and what something named is an override"
    for number, note in enumerate(plan.notes):
        if not _is_place(note.line, note.column):
            yield f"notes[{number}]", "a note has a line and a column from 1, or neither"


def _is_place(line: int | None, column: int | None) -> bool:
    return (line is None and column is None) or (line is not None and column is not None and line > 0 and column > 0)
