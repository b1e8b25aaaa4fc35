"""The documents that `show` and `diff` read, told apart by their schema."""

import json

from msgspec import Struct

from regraft.core import baseline, receipt
from regraft.core.baseline import Baseline
from regraft.core.document import LIMIT, decode, plain
from regraft.core.plan import Plan
from regraft.core.plan_document import decode_plan
from regraft.core.receipt import Receipt
from regraft.core.receipt_document import decode_receipt

Paper = Plan | Receipt | Baseline


class Change(Struct, frozen=True):
    """One place in which two documents differ; None where one of them has nothing there."""

    place: str  # dotted, "dependencies.sglang.commit"
    before: str | None
    after: str | None


def read_paper(data: bytes, name: str) -> Paper:
    """A plan, a receipt or a baseline. Raises InputError: what `document.decode` raises, and edited-plan, edited-receipt."""
    match _schema(data):
        case receipt.SCHEMA:
            return decode_receipt(data, name)
        case baseline.SCHEMA:
            return decode(data, Baseline, baseline.SCHEMA, name)
        case _:
            return decode_plan(data, name)


def compare(one: Paper, other: Paper) -> tuple[Change, ...]:
    """What differs in what both kinds of document have: a plan is compared with a receipt by what was planned.

    Notes, findings, times and digests are left out: they say how one came to the other.
    """
    found = isinstance(one, Receipt) and isinstance(other, Receipt)
    before, after = (_comparable(paper, found=found) for paper in (one, other))
    keys = sorted(before.keys() | after.keys())
    return tuple(Change(key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key))


_LEFT_OUT = ("digest", "schema", "notes", "findings", "times", "outcome", "error", "request")


def _comparable(paper: Paper, *, found: bool) -> dict[str, str]:
    """The document as dotted places; of a receipt what was found too where `found`, else only what was planned."""
    content = plain(paper)
    for key in _LEFT_OUT:
        content.pop(key, None)
    if isinstance(paper, Receipt):
        for name, one in content["dependencies"].items():
            planned = one.pop("planned")
            content["dependencies"][name] = planned | one if found else planned
        if not found:
            for key in ("environment", "verdict", "plan"):
                del content[key]
    flat: dict[str, str] = {}
    _flatten(content, "", flat)
    return flat


def _flatten(value: object, place: str, flat: dict[str, str]) -> None:
    """Lists of named things are keyed by the name, so that one more is one change."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _flatten(inner, f"{place}.{key}" if place else str(key), flat)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            named = inner if isinstance(inner, dict) else {}
            _flatten(inner, f"{place}.{named.get('path') or named.get('name') or index}", flat)
    elif value is not None:
        flat[place] = value if isinstance(value, str) else json.dumps(value)


def _schema(data: bytes) -> object:
    if len(data) > LIMIT:
        return None
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return raw.get("schema") if isinstance(raw, dict) else None


def moved_commits(one: Paper, other: Paper) -> dict[str, tuple[str, str]]:
    """Dependencies whose commit differs between two plans or receipts: name -> (before, after)."""
    before, after = _commits(one), _commits(other)
    return {name: (before[name], after[name]) for name in before.keys() & after.keys() if before[name] != after[name]}


def _commits(paper: Paper) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, held in paper.dependencies.items():
        if isinstance(held, receipt.FoundDependency):
            commit = held.after.commit if held.after else None
        else:
            commit = held.commit
        if commit is not None:
            found[name] = commit
    return found
