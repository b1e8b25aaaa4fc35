"""`regraft patch drop` of a patch that is given by its address: its entry in the manifest goes; what fetches it is left to a reader."""

import re
from collections.abc import Iterable, Iterator

from regraft.core.drop_edits import SHOWN, cut_file, kind_of
from regraft.core.drop_target import Target
from regraft.core.drop_values import Change, Drop, Evidence, Mention
from regraft.core.patch_address import parse_address
from regraft.core.spans import Edit, Places, edited

RUNS = frozenset({"dockerfile", "workflow", "script", "build"})


def drop_address(
    patch: str, files: Iterable[tuple[str, bytes]], target: Target, evidence: tuple[Evidence, ...], *, proved: bool
) -> Drop:
    """`files` are all that are tracked, read. A line that names the address or its digest and runs is a use: it would still
    fetch and apply the patch, or fail once nobody has it.
    """
    address = parse_address(patch)
    changes: list[Change] = []
    mentions: list[Mention] = []
    for name, data in files:
        kind, after = kind_of(name, data, target), data
        if kind == "manifest":
            cut = cut_file(name, data, target)
            after = edited(data, [Edit(span) for span in cut.spans])
            if cut.spans:
                places = Places(data)
                lines = tuple(dict.fromkeys(places.of(span.start)[0] for span in cut.spans))
                changes.append(Change(name, data, after, lines))
        if b"\0" not in data[:8000]:
            mentions += _mentions(name, after, kind, (address.url, address.sha256))
    uses = tuple(one for one in mentions if one.kind == "use")
    remarks = () if changes else ("its entry in the manifest could not be taken out by itself: do that by hand",)
    return Drop(patch, address.sha256, evidence, proved, tuple(changes), tuple(mentions), remarks=remarks, uses=uses)


def _mentions(path: str, data: bytes, kind: str, names: tuple[str, ...]) -> Iterator[Mention]:
    """One for each line; that a comment mentions it is no use."""
    places = Places(data)
    told: set[int] = set()
    for match in re.finditer(rb"|".join(re.escape(name.encode()) for name in names), data):
        line, column = places.of(match.start())
        if line not in told:
            told.add(line)
            text = places.line(line).decode("utf-8", "replace").strip()
            runs = kind in RUNS and not text.startswith("#")
            yield Mention(path, line, column, "use" if runs else "text", text[:SHOWN], line)
