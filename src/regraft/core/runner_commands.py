"""Workflow commands: the lines of a step's log that GitHub's runner takes as an instruction.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from regraft.core.patterns import regex

_NAMES = frozenset(
    {
        *("add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group", "notice"),
        *("remove-matcher", "save-state", "set-env", "set-output", "stop-commands", "warning"),
    }
)
_LINE_END = regex(r"\r\n|\r|\n")
_DATA = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
_PROPERTY = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))
_OLD = (("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%25", "%"))


class Command(Struct, frozen=True):
    """`line` counts the log's lines from 1."""

    name: str
    properties: Mapping[str, str]
    data: str
    line: int


def read_commands(lines: Iterable[str]) -> tuple[Command, ...]:
    """Those in a log, in order; between `::stop-commands::TOKEN` and `::TOKEN::` there are none."""
    found: list[Command] = []
    token = None
    for number, line in enumerate(lines, 1):
        if token is not None:
            token = None if line.strip().lower() == f"::{token}::".lower() else token
            continue
        command = _new(line, number) or _old(line, number)
        if command is None:
            continue
        found.append(command)
        if command.name == "stop-commands" and command.data:
            token = command.data
    return tuple(found)


def masked(texts: Iterable[str]) -> frozenset[str]:
    """What the runner hides of secrets and masks: each as a whole, and each of its lines."""
    return frozenset(one for text in texts for one in (text, *_LINE_END.split(text)) if one.strip())


def _new(line: str, number: int) -> Command | None:
    """`::name key=value,key=value::data`, after blanks."""
    line = line.lstrip()
    head, separator, data = line[2:].partition("::")
    if not line.startswith("::") or not separator:
        return None
    name, _, rest = head.partition(" ")
    return _command(name, rest.strip().split(","), data, number, (_PROPERTY, _DATA))


def _old(line: str, number: int) -> Command | None:
    """`##[name key=value;key=value]data`, anywhere in a line."""
    _, begins, rest = line.partition("##[")
    head, ends, data = rest.partition("]")
    if not begins or not ends:
        return None
    name, _, properties = head.partition(" ")
    return _command(name, properties.split(";"), data, number, (_OLD, _OLD))


Escapes = tuple[tuple[str, str], ...]


def _command(
    name: str, properties: Iterable[str], data: str, line: int, escapes: tuple[Escapes, Escapes]
) -> Command | None:
    if name.lower() not in _NAMES:
        return None
    pairs = (one.partition("=") for one in properties)
    named = {key: _plain(value, escapes[0]) for key, _, value in pairs if key and value}
    return Command(name.lower(), named, _plain(data, escapes[1]), line)


def _plain(text: str, escapes: Escapes) -> str:
    for escaped, char in escapes:
        text = text.replace(escaped, char)
    return text
