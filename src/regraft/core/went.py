"""Where the lines of a deleted file went: a file that is gone may have been moved and edited, or put into another one."""

from collections.abc import Iterable

from regraft.core.patterns import regex

_TELLING = regex(rb"\w{3}")


def taken_up(gone: bytes, changed: Iterable[tuple[bytes, bytes, bytes]]) -> bytes | None:
    """Of (path, content before, content after) for what the same commit changed, the path that took most of its lines.

    None where fewer than half of them came in anywhere.
    """
    wanted = _lines(gone)
    telling = {line for line in wanted if _TELLING.search(line)} or wanted
    found: set[bytes] = set()
    most: tuple[int, bytes] | None = None
    for path, before, after in changed:
        came = (telling & _lines(after)) - _lines(before)
        found |= came
        if came and (most is None or len(came) > most[0]):
            most = len(came), path
    return most[1] if most is not None and 2 * len(found) >= len(telling) else None


def _lines(content: bytes) -> set[bytes]:
    return {stripped for line in content.split(b"\n") if (stripped := line.strip())}
