"""Whether a script asks later for what failed: by a variable, a file or `$?` that the failure has left."""

from collections.abc import Mapping, Sequence

from regraft.core.patterns import regex
from regraft.core.shell_values import Command, Nested, Node, Opaque, all_commands, all_nodes

USUAL = frozenset("echo printf true false : cat git patch make touch rm cd sleep test [ [[ export set".split())  # noqa: SIM905
ENDING_NAMES = frozenset({"die", "fail", "fatal", "abort", "bail", "panic", "error_exit"})  # what people call their own

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_ENDS = frozenset({"exit", "return", "false", "exec", "kill"})
_SAY = frozenset({"echo", "printf"})
_TESTS = frozenset({"[", "[[", "test", "expr", "exit", "return", "wait"})
_SETS = frozenset({"read", "mapfile", "readarray", "let", "export", "declare", "local"})
_STATUS = ("$?", "PIPESTATUS")


class Asked:
    """What the failure has left: names of variables, and files."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._files: set[str] = set()
        self._numbers = False  # `(( … ))`, which is not read

    def __bool__(self) -> bool:
        return bool(self._names) or self._numbers

    def within(self, node: Node, functions: Mapping[str, Nested]) -> None:
        """Take note of what a statement sets that runs, or does not run, because of the failure."""
        waiting, seen = [node], set[str]()
        while waiting:
            for one in all_nodes(waiting.pop()):
                self._numbers |= isinstance(one, Opaque) and not one.held
                if isinstance(one, Command):
                    self._sets(one)
                    if one.name in functions and one.name not in seen:
                        seen.add(one.name)
                        waiting += functions[one.name].blocks

    def assigned(self, command: Command, *, failed: bool) -> None:
        """Take note of an assignment that keeps the status, or one that is not read."""
        if failed:
            for name, word in command.assignments:
                if word is None or any(one in word.text for one in _STATUS):
                    self._names.add(name)

    def by(self, command: Command) -> bool:
        """Whether a command asks for it."""
        words = [word.text for word in command.words]
        if command.name in _SAY:
            return False
        if any(status in word for status in _STATUS for word in words):
            return True
        if command.name == "wait":
            return len(words) > 1
        if command.name not in _TESTS and not command.name.startswith("$"):
            return False
        named = {name for word in words for name in _NAME.findall(word)}
        return bool(named & self._names or self._files & set(words)) or (
            self._numbers and any("$" in one for one in words)
        )

    def _sets(self, command: Command) -> None:
        self._names.update(name for name, _ in command.assignments)
        words = [word.text for word in command.words]
        if command.name in _SETS:
            self._names.update(name for word in words[1:] for name in _NAME.findall(word))
        if command.name == "touch":
            self._files.update(words[1:])
        self._files.update(
            one.target.text for one in command.redirects if ">" in one.operator and one.target is not None
        )


def ends(node: Node, functions: Mapping[str, Nested]) -> bool:
    """Whether a script may end in it."""
    return any(
        one.name in _ENDS
        or (one.name in functions and any(each.name in _ENDS for each in all_commands(functions[one.name])))
        for one in all_commands(node)
    )


def kills(words: Sequence[str]) -> bool:
    """Whether the shell is killed."""
    return words[0] == "kill" and any(word in ("$$", "0", "${$}") for word in words)


def passes(words: Sequence[str]) -> bool:
    """Whether a command runs what its function was given."""
    return bool(words) and words[0] not in _SAY and any(word in ("$@", "$*") for word in words)
