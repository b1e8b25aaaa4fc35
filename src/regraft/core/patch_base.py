"""Small files that a series of patches fits: what is not in a patch is filled with lines of its own.

For tests of what replays patches, where the real upstream is not at hand.
"""

from collections.abc import Mapping, Sequence

from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import Hunk, Section
from regraft.errors import InputError

_Lines = dict[int, bytes]  # what must stand at a line, counted from 1


def base_files(patches: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files before the first patch, by path. `patches` by name, in the order of application.

    Raises InputError `no-base`: a patch is damaged, moves a file or is binary, or two of them contradict each other by line.
    """
    wanted: dict[str, _Lines] = {}
    open_ended: set[str] = set()
    for name, data in reversed(list(patches.items())):
        text = read_patch_text(data, exists=lambda _: True)
        if text.problems:
            raise _no_base(name, text.problems[0].message)
        for section in text.sections:
            path = section.path.decode("utf-8", "surrogateescape")
            if section.origin is not None or section.binary is not None:
                raise _no_base(name, f"it moves {path}, or its change is binary")
            after = wanted.pop(path, {})
            if section.kind == "create":
                open_ended.discard(path)
                continue
            wanted[path] = _before(section, after, name)
            if any(line.startswith(b"\\") for hunk in section.hunks for line in hunk.body):
                open_ended.add(path)
    return {path: _filled(path, lines, open_ended=path in open_ended) for path, lines in wanted.items()}


def _before(section: Section, after: _Lines, name: str) -> _Lines:
    """What must stand where before a section, of what must stand where after it."""
    found: _Lines = {}
    shift, told = 0, dict(after)
    for hunk in section.hunks:
        old, new = _side(hunk, b"-"), _side(hunk, b"+")
        start = hunk.new_start if new else hunk.new_start + 1
        for number in sorted(told):
            if number < start:
                found[number - shift] = told.pop(number)
        for number, line in enumerate(new, start):
            if told.pop(number, line) != line:
                raise _no_base(name, f"a later patch wants another line {number} of {section.path!r:.200}")
        begin = hunk.start if old else hunk.start + 1
        found |= dict(enumerate(old, begin))
        shift += len(new) - len(old)
    return found | {number - shift: line for number, line in told.items()}


def _side(hunk: Hunk, sign: bytes) -> list[bytes]:
    """The lines of a hunk before (`-`) or after (`+`) it."""
    return [line[1:] for line in hunk.body if not line.startswith(b"\\") and (line[:1] in (b" ", sign, b""))]


def _filled(path: str, lines: _Lines, *, open_ended: bool) -> bytes:
    last = max(lines, default=0)
    filled: Sequence[bytes] = [lines.get(one, f"# line {one} of {path}".encode()) for one in range(1, last + 1)]
    return b"\n".join(filled) + (b"" if open_ended or not filled else b"\n")


def _no_base(name: str, why: str) -> InputError:
    hint = "give the files that the patches fit: `files` of the override"
    return InputError("no-base", f"no file can be made up that this patch fits: {why}", where=name, hint=hint)
