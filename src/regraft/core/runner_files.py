"""The files by which a step speaks to GitHub's runner: `$GITHUB_OUTPUT`, `$GITHUB_ENV` and `$GITHUB_PATH`.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands#environment-files
"""

from regraft.core.patterns import regex

_LINE_END = regex(r"\r\n|\r|\n")


class BadLineError(Exception):
    """The runner cannot read the file, and fails the step: what it says."""


def read_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """`NAME=VALUE` lines, and `NAME<<DELIMITER` with lines up to one that is the delimiter. Raises BadLineError.

    Lines end in a line feed alone: the runner on Linux leaves a carriage return in the value, and in the delimiter.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line:
            continue
        equals, arrows = line.find("="), line.find("<<")
        if equals >= 0 and (arrows < 0 or equals < arrows):
            name, _, value = line.partition("=")
            if not name:
                raise BadLineError(f"Invalid format '{line}'. Name must not be empty")
        elif arrows >= 0:
            name, _, delimiter = line.partition("<<")
            if not name or not delimiter:
                raise BadLineError(f"Invalid format '{line}'. Name must not be empty and delimiter must not be empty")
            try:
                stop = lines.index(delimiter, at)
            except ValueError:
                raise BadLineError(f"Invalid value. Matching delimiter not found '{delimiter}'") from None
            value = "\n".join(lines[at:stop])
            at = stop + 1
        else:
            raise BadLineError(f"Invalid format '{line}'")
        found.append((name, value))
    return tuple(found)


def read_paths(text: str) -> tuple[str, ...]:
    """What goes in front of PATH, the last line first of all."""
    found: list[str] = []
    for line in filter(None, _LINE_END.split(text)):
        if line in found:
            found.remove(line)
        found.append(line)
    return tuple(found)
