"""What a script asks elsewhere and goes on without: a failure hidden by the command or the pipeline that the question is in."""

from collections.abc import Callable

from regraft.core.patterns import regex
from regraft.core.shell_kinds import stripped
from regraft.core.shell_options import Shell
from regraft.core.shell_places import At
from regraft.core.shell_values import Command, Group, Node, Pipeline
from regraft.core.workflow_scripts import Script
from regraft.core.workflow_swallowed import Lost

_PASSES_ON = frozenset(
    {"tee", "cat", "ts", "sed", "tail", "head", "less", "uniq", "tr", "cut", "nl", "sort", "ansi2html", "stdbuf"}
)
_EXTRACTS = frozenset({"jq", "awk", "base64", "xargs", "wc", "rev"})
_ASKS = regex(r"(?:\$\(|`)\s*(git ls-remote|git fetch|curl|wget|gh)\b")
_HANDED_ON = regex(r"\$\{?GITHUB_(?:OUTPUT|ENV)\b")
_ASSIGNS = frozenset({"export", "local", "declare", "readonly", "typeset"})


def lost_answer(script: Script, at: At, goes_on: Callable[[Command, Shell], bool]) -> Lost | None:
    """What a substitution asks elsewhere, in a command that does well whatever comes. `why` is the whole message.

    `goes_on`: whether the script does when a command fails under such options.
    """
    command = at.command
    if command.name in _ASSIGNS:
        words = [(name, word) for name, word in command.assignments if word is not None]
        said = "`" + command.name + "` does well whatever happens in it"
    elif command.name in ("echo", "printf") and _is_handed_on(at):
        words = [("", word) for word in command.words[1:]]
        said = f"`{command.name}` does well whatever happens in it"
    else:
        return _piped(script, command, goes_on) if command.inner and not command.words else None
    for name, word in words:
        asks = _ASKS.search(word.text)
        if asks is None or "||" in word.text or (name and _is_looked_at(script, name, command.span.stop)):
            continue
        message = f"`{asks[1]}` can fail and {script.label} goes on without its answer: {said}"
        fix = "assign it to a variable on a line of its own first"
        return Lost(command.span.start, command.span.stop, "warning", message, fix)
    return None


def _piped(script: Script, command: Command, goes_on: Callable[[Command, Shell], bool]) -> Lost | None:
    """`TAG=$(curl … | jq …)`: the pipeline's status is that of its last part."""
    if len(command.inner) != 1 or len(command.inner[0].items) != 1 or len(command.assignments) != 1:
        return None
    pipe, name = command.inner[0].items[0], command.assignments[0][0]
    if not isinstance(pipe, Pipeline) or not all(passes_on(one, _EXTRACTS) for one in pipe.items[1:]):
        return None
    first, last = pipe.items[0], pipe.items[-1]
    if not isinstance(first, Command) or not isinstance(last, Command):
        return None
    if _ASKS.match(f"$({' '.join(word.text for word in first.words)}") is None:
        return None
    if _is_looked_at(script, name, command.span.stop) or not goes_on(first, script.shell) or goes_on(first, _SURE):
        return None
    asks = script.text(first.span.start, first.span.stop)
    message = f"`{asks}` can fail and {script.label} goes on with an empty `{name}`: the status of the pipeline is that of `{last.name}`, as `pipefail` is not set"
    fix = "write `shell: bash` at the step, or `set -o pipefail` before it"
    return Lost(first.span.start, first.span.stop, "warning", message, fix)


_SURE = Shell(True, True)


def _is_handed_on(at: At) -> bool:
    targets = [one.target for one in at.command.redirects]
    targets += [one.target for place in at.above if isinstance(place.node, Group) for one in place.node.redirects]
    return any(one is not None and _HANDED_ON.search(one.text) for one in targets)


def _is_looked_at(script: Script, name: str, after: int) -> bool:
    rest = script.data[after:].decode("utf-8", "replace")
    return (
        regex(rf"(?:\[\[?|\btest|-[nz])\s+[^\n]*\$\{{?{name}\b|\$\{{{name}:\?|\bcase\s[^\n]*\$\{{?{name}\b").search(
            rest
        )
        is not None
    )


def passes_on(node: Node, others: frozenset[str] = frozenset()) -> bool:
    """Whether a part of a pipeline does well whatever it reads."""
    if not isinstance(node, Command):
        return False
    words = stripped(node)
    if not words:
        return False
    name = words[0].text.rpartition("/")[2]
    return (
        name in _PASSES_ON
        or name in others
        or (name == "grep" and any(one.text.startswith("-") and "v" in one.text for one in words[1:3]))
    )
