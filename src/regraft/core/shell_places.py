"""The commands of a script, each with the statements around it: whether one of those looks at its status."""

from collections.abc import Iterator

from msgspec import Struct

from regraft.core.shell_values import Block, Chain, Command, If, Negated, Nested, Node, Opaque, inside

LONGEST = 300  # parts of one chain: a longer one was not written by hand, and is taken for one that is asked


class Around(Struct, frozen=True):
    """A statement above a command, and which of its parts holds it."""

    node: Node
    part: int


class At(Struct, frozen=True):
    """A command and the statements around it, outermost first."""

    command: Command
    above: tuple[Around, ...]

    def nearest(self, kind: type) -> Around | None:
        return next((one for one in reversed(self.above) if isinstance(one.node, kind)), None)


def commands_at(node: Node) -> Iterator[At]:
    """Every command in a statement, whatever it is nested in, in order."""
    waiting: list[tuple[Node, tuple[Around, ...]]] = [(node, ())]
    while waiting:
        one, places = waiting.pop()
        if isinstance(one, Command):
            yield At(one, places)
        parts = one.held if isinstance(one, Opaque) else inside(one)
        waiting += [(part, (*places, Around(one, index))) for index, part in reversed(list(enumerate(parts)))]


def in_background(at: At) -> bool:
    """Whether it, or something around it, is started with `&`."""
    return any(
        isinstance(one.node, Block) and (stop := one.node.stops[one.part]) is not None and stop.text == "&"
        for one in at.above
    )


def is_asked(at: At) -> bool:
    """Whether a statement around it looks at its status: a condition, `!`, what has a `||` after it."""
    return any(map(asks_for, at.above))


def asks_for(place: Around) -> bool:
    """Whether a statement looks at the status of its part."""
    node = place.node
    if isinstance(node, Negated):
        return True
    if isinstance(node, If):
        parts = [
            is_condition
            for condition, _ in node.branches
            for is_condition in ([True, False] if condition is not None else [False])
        ]
        return parts[place.part]
    if isinstance(node, Nested) and node.kind == "while":
        return place.part < len(node.blocks) - 1
    return isinstance(node, Chain) and (len(node.operators) > LONGEST or next_or(node, place.part) is not None)


def next_or(chain: Chain, part: int) -> int | None:
    """The operator `||` that comes first after a part of a chain. None in one that is longer than LONGEST."""
    operators = chain.operators if len(chain.operators) <= LONGEST else ()
    return next((at for at in range(part, len(operators)) if operators[at].text == "||"), None)
