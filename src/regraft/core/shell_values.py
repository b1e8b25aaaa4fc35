"""What a shell script is made of, as values. `shell_text` reads them; spans are in bytes of its text."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from regraft.core.spans import Span


class Word(Struct, frozen=True):
    """`text` is what the shell would make of it, but for expansions, which stand in it as `$NAME`.

    `glob`: it holds a pattern or braces. `plain`: it holds no expansion.
    """

    span: Span
    text: str
    glob: bool = False
    plain: bool = True


class Redirect(Struct, frozen=True):
    span: Span
    operator: str  # `<`, `>`, `2>&1` has `>&`
    target: Word | None


class Command(Struct, frozen=True):
    """A simple command, an assignment or a test. `words` begin with its name; `[`, `[[` and `export` are names too.

    `inner` are the scripts in its `$(…)` and `<(…)`.
    """

    span: Span
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[tuple[str, Word | None], ...] = ()
    inner: "tuple[Block, ...]" = ()

    @property
    def name(self) -> str:
        return self.words[0].text if self.words else ""

    @property
    def targets(self) -> tuple[Word, ...]:
        """What its redirections name."""
        return tuple(one.target for one in self.redirects if one.target is not None)


class Operator(Struct, frozen=True):
    span: Span
    text: str


class Negated(Struct, frozen=True):
    span: Span
    item: "Node"


class Pipeline(Struct, frozen=True):
    span: Span
    items: "tuple[Node, ...]"


class Chain(Struct, frozen=True):
    """`a && b || c`, which the shell reads from the left. `operators[i]` stands before `items[i + 1]`."""

    span: Span
    items: "tuple[Node, ...]"
    operators: tuple[Operator, ...]


class Block(Struct, frozen=True):
    """Statements in a row. `stops[i]` is what ends the i-th where that is `;` or `&`; else None, an end of line."""

    span: Span
    items: "tuple[Node, ...]"
    stops: tuple[Operator | None, ...]


class Group(Struct, frozen=True):
    """`{ …; }`, or `( … )`, whose changes of folder end with it."""

    span: Span
    kind: Literal["group", "subshell"]
    body: Block
    redirects: tuple[Redirect, ...] = ()


class If(Struct, frozen=True):
    """(condition, body) of `if` and each `elif`; the condition of `else` is None."""

    span: Span
    branches: tuple[tuple[Block | None, Block], ...]


class For(Struct, frozen=True):
    """A loop over a list of words."""

    span: Span
    variable: str
    words: tuple[Word, ...]
    body: Block


class Nested(Struct, frozen=True):
    """Anything else with statements in it: `while` and `until`, `case`, a function and its `name`."""

    span: Span
    kind: str
    blocks: tuple[Block, ...]
    name: str = ""


class Opaque(Struct, frozen=True):
    """`held` is the statement in it that can be read, though not edited: a loop that is redirected."""

    span: Span
    held: "tuple[Node, ...]" = ()


Node = Command | Negated | Pipeline | Chain | Block | Group | If | For | Nested | Opaque


def inside(node: Node) -> "tuple[Node, ...]":
    """The statements right below one, conditions among them."""
    match node:
        case Block(items=items) | Chain(items=items) | Pipeline(items=items):
            return items
        case Group(body=body) | For(body=body):
            return (body,)
        case If(branches=branches):
            return tuple(one for pair in branches for one in pair if one is not None)
        case Nested(blocks=blocks):
            return blocks
        case Negated(item=item):
            return (item,)
        case _:
            return ()


def commands_of(node: Node) -> Iterator[Command]:
    """Every command in a statement, whatever it is nested in, in order."""
    waiting: list[Node] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Command):
            yield one
        waiting += reversed(inside(one))


def all_nodes(node: Node) -> Iterator[Node]:
    """A statement and every one in it, in order, those in substitutions and in what cannot be edited among them."""
    waiting: list[Node] = [node]
    while waiting:
        one = waiting.pop()
        yield one
        further = one.inner if isinstance(one, Command) else one.held if isinstance(one, Opaque) else inside(one)
        waiting += reversed(further)


def all_commands(node: Node) -> Iterator[Command]:
    """The commands among `all_nodes`."""
    return (one for one in all_nodes(node) if isinstance(one, Command))
