"""Whether a file that a patch edits is still there, and still a file."""

from regraft.core.objects import Blob
from regraft.core.patch_text import Section
from regraft.core.trees import LINK, SUBMODULE, Entry, Tracked, printable, shown
from regraft.flows.ports import GateStore

LINK_LIMIT = 64 * 1024
SHOWN = 3

_KINDS = {LINK: "symbolic link", SUBMODULE: "submodule"}


def kind_of(entry: Entry) -> str:
    return _KINDS.get(entry.mode, "file")


def gone(path: bytes, section: Section, store: GateStore, tracked: Tracked) -> str | None:
    """Why a patch cannot edit `path` any more, or None where it can."""
    entry = tracked.get(path)
    if entry is None:
        return occupied(path, tracked) or f"is not there{_hint(path, section, tracked)}"
    expected = _KINDS.get(section.old_mode or section.index_mode or "", "file")
    found = kind_of(entry)
    if found == expected:
        return None
    target = ""
    if entry.mode == LINK:
        target = ", to " + printable(store.read_blob(Blob(entry.oid), LINK_LIMIT).decode("utf-8", "surrogateescape"))
    return f"is a {found} now{target}"


def occupied(path: bytes, tracked: Tracked) -> str | None:
    """What stands at an absent path, or above it, instead of a file."""
    if any(other.startswith(path + b"/") for other in tracked):
        return "is a folder now"
    parts = path.split(b"/")
    for length in range(1, len(parts)):
        above = tracked.get(b"/".join(parts[:length]))
        if above is not None:
            return f"is not there: {shown(above.path)} is a {kind_of(above)} now"
    return None


def _hint(path: bytes, section: Section, tracked: Tracked) -> str:
    hunks = section.hunks
    if section.kind == "edit" and hunks and hunks[0].start == 0 and not hunks[0].removed:
        return "; the patch's old side is empty: probably a new file, which the patch must say"
    name = path.rpartition(b"/")[2]
    alike = [other for other in tracked if other.rpartition(b"/")[2] == name]
    if len(alike) == 1:
        return f"; one file has that name: {shown(alike[0])}"
    if alike:
        more = ", …" if len(alike) > SHOWN else ""
        return f"; {len(alike)} files have that name: {', '.join(map(shown, alike[:SHOWN]))}{more}"
    return ""
