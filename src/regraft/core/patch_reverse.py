"""The change that takes a section back."""

from regraft.core.patch_text import BinaryPatch, Hunk, Kind, Section, Substitution

_KINDS: dict[Kind, Kind] = {
    "edit": "edit",
    "create": "delete",
    "delete": "create",
    "rename": "rename",
    "copy": "delete",
}


def reversed_section(section: Section) -> Section:
    """A binary part that cannot be reversed stays as it is, and then does not fit."""
    kind = _KINDS[section.kind]
    swaps = section.kind == "rename" and section.origin is not None
    binary = section.binary
    if binary is not None and binary.reverse is not None:
        binary = BinaryPatch(binary.reverse, binary.forward)
    return Section(
        section.line,
        kind,
        section.old_path if swaps else section.path,
        section.path if swaps else None,
        old_mode=section.new_mode,
        new_mode=section.old_mode,
        index_mode=section.index_mode,
        old_oid=section.new_oid,
        new_oid=section.old_oid,
        binary=binary,
        hunks=[reversed_hunk(hunk) for hunk in section.hunks],
        substitutions=[Substitution(one.line, one.new, one.old, one.count) for one in reversed(section.substitutions)],
    )


def reversed_hunk(hunk: Hunk) -> Hunk:
    body: list[bytes] = []
    added: list[bytes] = []
    for line in hunk.body:
        mark = line[:1]
        if mark == b"-":
            body += added
            added = []
            body.append(b"+" + line[1:])
        elif mark == b"+":
            body.append(b"-" + line[1:])
        else:
            body.append(line)
    return Hunk(hunk.line, hunk.new_start, hunk.start, tuple(body + added))
