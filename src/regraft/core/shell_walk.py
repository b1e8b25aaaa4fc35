"""The commands of a script in their order, with the folder and the variables that are known where each stands."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from regraft.core.dockerfile_args import BadSubstitutionError, Scope, expand
from regraft.core.drop_walk import moves
from regraft.core.patterns import regex
from regraft.core.shell_values import (
    Block,
    Chain,
    Command,
    For,
    Group,
    If,
    Negated,
    Nested,
    Node,
    Opaque,
    Pipeline,
    Word,
)

UNKNOWN = "$?"  # a folder that nobody knows

_VARIABLE = regex(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")


class Seen(Struct, frozen=True):
    """`loops` holds the words that a variable runs through. `inside` are the statements around it, outermost first."""

    command: Command
    folder: str
    scope: Scope
    loops: Mapping[str, tuple[Word, ...]]
    inside: tuple[Node, ...]

    def texts(self, word: Word) -> list[str]:
        """What a word may stand for: with variables replaced, once for each word that a loop puts there."""
        found = [word.text]
        for name in dict.fromkeys(_VARIABLE.findall(word.text)):
            if name in self.loops:
                values = [one.text for one in self.loops[name]]
                found = [_put(text, name, value) for text in found for value in values]
        return [self.text(one) for one in found]

    def text(self, text: str) -> str:
        """With the variables replaced that are known; `$` stays where one is not."""
        if "$" not in text:
            return text
        try:
            return expand(text, self.scope, "\0", quotes=False).text
        except BadSubstitutionError:
            return text

    def used(self, text: str) -> tuple[str, ...]:
        """The variables in it."""
        try:
            return expand(text, self.scope, "\0", quotes=False).used
        except BadSubstitutionError:
            return ()

    def argument(self, text: str) -> str | None:
        """The build argument that the whole of it is, such as `$REF`; None where it is more, or something else gives the value."""
        match = _VARIABLE.fullmatch(text)
        return match[1] if match and self._given(match[1]) else None

    def through(self, text: str) -> str | None:
        """The last build argument in it."""
        return next((name for name in reversed(self.used(text)) if self._given(name)), None)

    def _given(self, name: str) -> bool:
        """Whether the build argument of that name gives the variable its value."""
        arguments, own = self.scope.arguments, self.scope.environment
        return name in arguments and own.get(name, arguments[name]) == arguments[name]

    def path(self, text: str) -> str:
        return at(self.folder, text)


def _put(text: str, name: str, value: str) -> str:
    return text.replace(f"${{{name}}}", value).replace(f"${name}", value)


def at(folder: str, text: str) -> str:
    """`text` as an absolute path from `folder`, without `.` and `..`; it begins with `$` where that is not known."""
    if text.startswith("$"):
        return text
    if text.startswith("~"):
        text = f"/root{text[1:]}"
    path = text if text.startswith("/") else f"{folder}/{text}"
    if path.startswith("$"):
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/" + "/".join(parts)


def walk(block: Block, folder: str, scope: Scope, *, inner: bool = False) -> Iterator[Seen]:
    """Every command, in order. What an assignment or an `export` sets is known to those that follow it.

    With `inner`, those in `$(…)` and `<(…)` too, before the command that these are a part of.
    """
    known = Scope(scope.arguments, scope.environment, open=True)  # a script may set what nothing here tells
    yield from _Walk(folder, known.copy(), inner=inner).node(block, ())


class _Walk:
    def __init__(self, folder: str, scope: Scope, *, inner: bool) -> None:
        self.folder = folder
        self.scope = scope
        self.inner = inner
        self.loops: dict[str, tuple[Word, ...]] = {}

    def node(self, node: Node, inside: tuple[Node, ...]) -> Iterator[Seen]:
        around = (*inside, node)
        match node:
            case Command():
                for script in node.inner if self.inner else ():
                    yield from self._apart(script, around)
                yield self._command(node, inside)
            case Negated(item=item):
                yield from self.node(item, around)
            case Pipeline(items=items):
                for one in items:
                    yield from self._apart(one, around)
            case Block(items=items) | Chain(items=items):
                for one in items:
                    yield from self.node(one, around)
            case Group(kind="subshell", body=body):
                yield from self._apart(body, around)
            case Group(body=body):
                yield from self.node(body, around)
            case If(branches=branches):
                for condition, body in branches:
                    if condition is not None:
                        yield from self.node(condition, around)
                    yield from self._apart(body, around)
                self.folder = UNKNOWN if moves(node) else self.folder
            case For(variable=name, words=words, body=body):
                before = self.loops
                self.loops = {**before, name: words}
                yield from self._apart(body, around)
                self.loops = before
                self.folder = UNKNOWN if moves(node) else self.folder
            case Nested(blocks=blocks):
                for one in blocks:
                    yield from self._apart(one, around)
                self.folder = UNKNOWN if moves(node) else self.folder
            case Opaque(held=held):
                for one in held:
                    yield from self.node(one, around)

    def _apart(self, node: Node, inside: tuple[Node, ...]) -> Iterator[Seen]:
        """What it does to folder and variables ends with it."""
        folder, scope = self.folder, self.scope
        self.scope = scope.copy()
        yield from self.node(node, inside)
        self.folder, self.scope = folder, scope

    def _command(self, command: Command, inside: tuple[Node, ...]) -> Seen:
        seen = Seen(command, self.folder, self.scope, self.loops, inside)
        if command.assignments and not (command.words and command.name not in ("export", "declare", "local")):
            self.scope = self.scope.copy()
            for name, word in command.assignments:
                text = seen.text(word.text) if word is not None and not word.glob else "$"
                self.scope.environment[name] = None if "$" in text or "`" in text else text
        if command.name in ("cd", "pushd"):
            words = [word for word in command.words[1:] if not word.text.startswith("-")]
            self.folder = seen.path(seen.text(words[0].text)) if len(words) == 1 else UNKNOWN
        elif command.name == "popd" or (command.name == "cd" and len(command.words) == 2):
            self.folder = UNKNOWN
        return seen
