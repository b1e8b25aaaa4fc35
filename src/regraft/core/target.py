"""Whether a file that a patch edits is still there, and still a file."""

from regraft.core.patch_text import Section
from regraft.core.section_fit import state_on
from regraft.core.tree_view import LINK_LIMIT, View, canonical, kind_of, occupied
from regraft.core.trees import LINK, Entry, printable, shown

SHOWN = 3


def gone(path: bytes, section: Section, view: View) -> str | None:
    """Why a patch cannot edit `path` any more, or None where it can."""
    entry = view.entry(path)
    if entry is None:
        return occupied(path, view) or f"is not there{_hint(path, section, view)}"
    expected = kind_of(canonical(section.old_mode or section.index_mode or "100644"))
    found = kind_of(entry.mode)
    if found == expected:
        return None
    return f"is a {found} now{_leads_to(entry, view)}"


def _leads_to(entry: Entry, view: View) -> str:
    if entry.mode != LINK:
        return ""
    return ", to " + printable(view.content(entry)[:LINK_LIMIT].decode("utf-8", "surrogateescape"))


def _hint(path: bytes, section: Section, view: View) -> str:
    hunks = section.hunks
    if section.kind == "edit" and hunks and hunks[0].start == 0 and not hunks[0].removed:
        return "; the patch's old side is empty: probably a new file, which the patch must say"
    if section.creates_if_absent:
        return "; it has no old lines, and git would make a new file of it"
    name = path.rpartition(b"/")[2]
    alike = sorted(other for other in view.paths() if other.endswith(name) and other.rpartition(b"/")[2] == name)
    if len(alike) == 1:
        return f"; one file has that name: {shown(alike[0])}{_whether_it_fits(alike[0], section, view)}"
    if alike:
        more = ", …" if len(alike) > SHOWN else ""
        return f"; {len(alike)} files have that name: {', '.join(map(shown, alike[:SHOWN]))}{more}"
    return ""


def _whether_it_fits(path: bytes, section: Section, view: View) -> str:
    """Said of the only file with that name, where its content is here."""
    entry = view.entry(path)
    changes = section.hunks or section.substitutions
    content = view.blob(entry.oid) if entry is not None and entry.oid and changes else None
    if content is None:
        return ""
    fits = state_on(section, content) == "applies"
    return f", and the {'hunks' if section.hunks else 'entries'} {'fit' if fits else 'do not fit'} there"
