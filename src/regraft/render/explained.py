"""What a checkout is made of, for people and machines."""

import json
from collections.abc import Iterable, Iterator

from regraft.core import document
from regraft.core.explained import Explained
from regraft.render import safe

SHOWN = 20
_STATES = {
    "in": "is in it",
    "not-in": "is not in it",
    "differs": "a file that it edits is not as it makes it",
    "does-not-fit": "does not fit this commit",
    "not-known": "not known",
}


def explained_lines(every: Iterable[Explained]) -> Iterator[str]:
    for one in every:
        yield f"{safe.text(one.dependency)} at {safe.text(one.path)}"
        yield f"  commit    {_commit(one)}"
        for other in one.alike[:SHOWN]:
            yield f"  or        {other} (which has the same files)"
        for expected in one.expected:
            same = "the same" if expected.commit == one.commit else f"another: {expected.commit}"
            yield f"  expected  {same} ({safe.text(expected.who)})"
        for patch in one.patches:
            yield safe.log_line(f"  patch     {patch.path}: {_STATES[patch.state]}")
        for file, path in list(one.by_patch.items())[:SHOWN]:
            yield safe.log_line(f"  changed   {file}: by {path}")
        for odd in one.by_nothing[:SHOWN]:
            yield safe.log_line(f"  {odd.kind:<9} {odd.path}: explained by nothing")
        if len(one.by_nothing) > SHOWN:
            yield f"  and {len(one.by_nothing) - SHOWN} more that nothing explains"
        for name, version in one.distributions.items():
            yield safe.log_line(f"  installed {name} {version}")
        for module, place in one.imported.items():
            yield safe.log_line(f"  import    {module}: {place or 'not found'}")


def _commit(one: Explained) -> str:
    if one.commit is not None:
        found = f" of {one.compared} candidates" if one.compared > 1 else ""
        by = f"found by its files{found}" if one.how == "found" else "recorded in the checkout"
        return f"{one.commit} ({by})"
    if one.compared:
        return f"unknown: none of {one.compared} candidates has just these files"
    return "unknown: nothing records it; `--candidates 50` compares the files with the newest commits of its branch"


def explained_json(every: Iterable[Explained]) -> str:
    return json.dumps({"dependencies": {one.dependency: document.plain(one) for one in every}}, indent=2)
