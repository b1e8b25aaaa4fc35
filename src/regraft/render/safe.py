"""Hostile text, made harmless for a terminal, a log and a Markdown page."""

import unicodedata

from regraft.core.patterns import regex

_PLAIN = regex(r"[ -~]*")


def text(value: str, limit: int = 400) -> str:
    """One printable line: control, format, surrogate and separator characters as escapes, at most `limit` characters.

    `##[` is broken up as well: GitHub's runner reads it as a command anywhere in a line.
    """
    if len(value) > limit:
        value = value[: limit - 1] + "…"
    if not _PLAIN.fullmatch(value):
        value = "".join(map(_printable, value))
    return value.replace("##[", "##\\[")


def _printable(char: str) -> str:
    if char == " " or unicodedata.category(char)[0] not in "CZ":
        return char
    return char.encode("unicode_escape").decode("ascii") if ord(char) != 0xA0 else "\\xa0"


def command_data(value: str) -> str:
    """The message of a workflow command (`::error::MESSAGE`), several lines allowed."""
    lines = "\n".join(text(line, 2000) for line in value.split("\n"))
    return lines.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(value: str) -> str:
    """A property of a workflow command (`file=VALUE`)."""
    return command_data(text(value)).replace(":", "%3A").replace(",", "%2C")


def log_line(value: str) -> str:
    """A line of a log that the runner does not take for a command, whatever it begins with."""
    line = text(value, 4000)
    return f"\\{line}" if line.lstrip().startswith("::") else line


_MARKDOWN = regex(r"([\\`*_{}\[\]()<>#+\-.!|~&@:/])")


def markdown(value: str, limit: int = 400) -> str:
    """Text that Markdown shows as it is: no markup, mention, link or HTML comes out of it."""
    return _MARKDOWN.sub(lambda match: f"&#{ord(match[1])};", text(value, limit))
