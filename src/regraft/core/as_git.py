"""What `git apply` makes of sections that touch the same paths: all are checked in order, then old files go, then new ones come.

As in apply.c: a rename or a copy reads the tree as it was, an edit what an earlier section made, and a path may be created where
another section takes it away.
"""

from collections.abc import Mapping, Sequence

from regraft.core.content_state import judge_content
from regraft.core.patch_text import Section
from regraft.core.tree_view import Made, View, canonical, kind_of, made_entry, occupied
from regraft.core.trees import FILE, Entry

_TO_GO, _GONE = "to be deleted", "deleted"
Results = Mapping[bytes, Made | None]


def as_git(sections: Sequence[Section], view: View) -> Results | None:
    """What git makes of each path (None: it is taken away), or None where git refuses."""
    table: dict[bytes, Made | str] = {one.old_path: _TO_GO for one in sections if one.kind in ("delete", "rename")}
    every: list[tuple[Section, Made]] = []
    vacated = frozenset(table)
    for section in sections:
        made = _one(section, view, table, vacated)
        if made is None:
            return None
        if section.kind != "delete":
            table[section.path] = made
        if section.kind in ("delete", "rename"):
            table[section.old_path] = _GONE
        every.append((section, made))
    results: dict[bytes, Made | None] = {
        section.old_path: None for section, _ in every if section.kind in ("delete", "rename")
    }
    results |= {section.path: made for section, made in every if section.kind != "delete"}
    return results


def _one(section: Section, view: View, table: Mapping[bytes, Made | str], vacated: frozenset[bytes]) -> Made | None:
    old = _old(section, view, table)
    if isinstance(old, str):
        return None
    if section.kind in ("create", "rename", "copy"):
        free = table.get(section.path) in (_TO_GO, _GONE)
        if (view.entry(section.path) is not None and not free) or occupied(
            section.path, view, vacated | {section.path}
        ):
            return None
    if old is None:
        content, mode, entry = b"", FILE, None
    else:
        content, mode, entry = old.content, old.mode, made_entry(section.old_path, old)
    expected = section.old_mode or section.index_mode
    wanted = canonical(section.new_mode) if section.new_mode else mode
    if old is not None and section.kind != "delete" and kind_of(wanted) != kind_of(mode):
        return None
    if old is not None and expected is not None and kind_of(canonical(expected)) != kind_of(mode):
        return None
    taken = judge_content(section, content, _named(entry, view, content), view).taken
    if taken is None or (section.kind == "delete" and taken):
        return None
    return Made(wanted, taken)


def _named(entry: Entry | None, view: View, content: bytes) -> Entry | None:
    """The entry with the name of its content, which need not be what stands at its path."""
    if entry is None or entry.kind == "commit":
        return entry
    from regraft.core.checkout_tree import object_hash  # noqa: PLC0415 - needed for the odd patch only

    oid = object_hash("blob", len(content), [content], sha256=view.sha256).hex()
    return Entry(entry.mode, entry.kind, oid, entry.path)


def _old(section: Section, view: View, table: Mapping[bytes, Made | str]) -> Made | str | None:
    """What the section reads: nothing for a new file; a string where git refuses."""
    if section.kind == "create":
        return None
    if section.kind not in ("rename", "copy"):
        previous = table.get(section.old_path)
        if previous == _GONE:
            return _GONE
        if isinstance(previous, Made):
            return previous
    entry = view.entry(section.old_path)
    if entry is None:
        return None if section.creates_if_absent else "absent"
    return Made(entry.mode, view.content(entry))
