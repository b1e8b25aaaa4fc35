"""Hostile text inside a message: bounded, escaped, and each odd character by its name."""

_LIMIT = 200


def quoted(text: str, limit: int = _LIMIT) -> str:
    """`text` as a Python literal of its first `limit` characters: no control character is left raw in it."""
    return repr(text[:limit]) + ("…" if len(text) > limit else "")


def character(char: str) -> str:
    """What a reader needs to find a character: itself where it is plain ASCII, else its code point and name."""
    if char == " ":
        return "a blank"
    if "!" <= char <= "~":
        return f"`{char}`" if char != "`" else "a backtick"
    import unicodedata  # noqa: PLC0415 - only a message about an odd character needs the name table

    name = unicodedata.name(char, "a control character" if ord(char) < 0x100 else "without a name")
    return f"U+{ord(char):04X} ({name})"
