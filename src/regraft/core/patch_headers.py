"""Header lines of a patch with another name in them, read by their fields: `--- a/f` and `diff --git a/f b/f` hold other f's too."""

import re

from regraft.core.patch_names import quoted_name, unquote_at, without_stamp

_WORDS = (b"--- ", b"+++ ", b"Index: ")


def renamed(line: bytes, old: bytes, now: bytes) -> bytes | None:
    """One header line for a file that is called `now`, and was `old`: both without the prefix that is stripped, which stays.

    The line as it is where it names no file; None where its name is not `old` with a prefix.
    """
    for word in _WORDS:
        if line.startswith(word):
            return _named(line[len(word) :], word, old, now)
    if line.startswith(b"diff "):
        return _pair(line, old, now)
    return line


def _named(text: bytes, word: bytes, old: bytes, now: bytes) -> bytes | None:
    quoted = unquote_at(text)
    name = without_stamp(text).removesuffix(b"\r")
    tail = text[quoted[1] if quoted else len(name) :]
    made = _replaced(name, old, now)
    if made is None:
        return None
    if tail.rstrip(b"\r") in (b"", b"\t") and word != b"Index: ":  # git ends a name with blanks by a tab
        tail = (b"\t" if b" " in made else b"") + tail.lstrip(b"\t")
    return word + quoted_name(made) + tail


def _replaced(name: bytes, old: bytes, now: bytes) -> bytes | None:
    prefix = name.removesuffix(old)
    return prefix + now if name.endswith(old) and (not prefix or prefix.endswith(b"/")) else None


def _pair(line: bytes, old: bytes, now: bytes) -> bytes | None:
    """`diff --git a/f b/f`, or a plain diff's own command line, whose last two words are names."""
    bare = line.removesuffix(b"\r")
    for gap in re.finditer(rb"[ \t]", bare):
        first = _last_name(bare[: gap.start()], old, now)
        second = _whole(bare[gap.end() :], old, now)
        if first is not None and second is not None:
            return first + gap[0] + second + line[len(bare) :]
    return None if line.startswith(b"diff --git ") else line


def _whole(text: bytes, old: bytes, now: bytes) -> bytes | None:
    quoted = unquote_at(text)
    if quoted is not None and quoted[1] != len(text):
        return None
    made = _replaced(quoted[0] if quoted else text, old, now)
    return quoted_name(made) if made is not None and _is_plain_prefix(made, now) else None


def _last_name(text: bytes, old: bytes, now: bytes) -> bytes | None:
    """The text with the name at its end renamed."""
    for gap in re.finditer(rb" (?=[^-])", text):
        made = _whole(text[gap.end() :], old, now)
        if made is not None:
            return text[: gap.end()] + made
    return None


def _is_plain_prefix(name: bytes, now: bytes) -> bool:
    """Blanks in a prefix would be other words."""
    return not re.search(rb"[ \t]", name.removesuffix(now))
