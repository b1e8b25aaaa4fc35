"""What goes of a script when the patch goes: whole statements, links of a chain, words of a list.

Each cut leaves the other commands in their order, and running under the conditions that they had. Where that is not plain, nothing
is cut, and the mention is left to a reader.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct, field

from regraft.core.drop_command import idle, judge_command, reads_a_patch, state
from regraft.core.drop_layout import Layout
from regraft.core.drop_target import UNKNOWN, Where
from regraft.core.drop_walk import all_about, before_list, is_cd, moves, stands_for_patch, undoes
from regraft.core.shell_text import command_texts, read_shell
from regraft.core.shell_values import Block, Chain, Command, For, Group, If, Negated, Nested, Node, Pipeline, Word
from regraft.core.spans import Edit, Span, edited, merged

IDLE, ENDS, STATE, WORK = range(4)  # what a statement is good for: talk, `exit`, the shell's own state, anything else


class Cut(Struct):
    """`whole`: all of it goes. Else `spans` of it go, and `left` says what the rest is good for.

    `inverted`: it ends well where the patch does not apply.
    """

    left: int = WORK
    whole: bool = False
    spans: list[Span] = field(default_factory=list)
    inverted: bool = False

    @property
    def involved(self) -> bool:
        return self.whole or bool(self.spans)


class ShellCut(Struct, frozen=True):
    """What goes of a script; `globs` are the patterns that may stand for the patch, and stay.

    `whole`: nothing of use is left. The spans then leave the changes of folder and the talk.
    """

    whole: bool
    spans: tuple[Span, ...]
    globs: tuple[Span, ...]


def cut_shell(text: bytes, layout: Layout, where: Where) -> ShellCut | None:
    """What to cut out of a script. `text` is what a shell reads of `layout.raw`, byte for byte in the same place.

    None where it cannot be read, or where what would be left is not the same commands in the same order.
    """
    block = read_shell(text)
    if block is None:
        return None
    cutter = _Cutter(layout)
    cut = cutter.block(block, where, last=True)
    spans = merged(cut.spans)
    if _proved(text, spans, where):
        return ShellCut(cut.whole, tuple(spans), tuple(cutter.globs))
    return None


def _proved(text: bytes, spans: list[Span], where: Where) -> bool:
    """By a second reading: the rest is a script with the other commands in their order, and uses no variable that is gone."""
    if not spans:
        return True
    rest = edited(text, [Edit(span) for span in spans])
    names = [place[1:].encode() for place in where.places if place.startswith("$") and "/" not in place]
    if any(b"$" + name in rest or b"${" + name in rest for name in names):
        return False
    expected = command_texts(text, spans)
    return expected is not None and command_texts(rest) == expected


class _Cutter:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.globs: list[Span] = []

    def node(self, node: Node, where: Where, *, last: bool) -> Cut:
        match node:
            case Command():
                return self._command(node, where)
            case Negated():
                cut = self.node(node.item, where, last=False)
                cut.inverted = not cut.inverted
                return cut
            case Pipeline():
                return self._pipeline(node, where)
            case Chain():
                return self._chain(node, where, last=last)
            case Group():
                return self._group(node, where, last=last)
            case If():
                return self._if(node, where)
            case For():
                return self._for(node, where)
            case Nested():
                return self._nested(node, where)
            case _:
                return Cut()

    def _command(self, command: Command, where: Where) -> Cut:
        verdict = judge_command(command, where)
        self.globs += [word.span for word in verdict.globs]
        if verdict.part == "whole":
            return Cut(IDLE, whole=True)
        if verdict.part == "words":
            return Cut(WORK, spans=self._words(command.words, verdict.words))
        if idle(command):
            return Cut(IDLE)
        if idle(command, ends=True):
            return Cut(ENDS)
        return Cut(STATE if state(command) else WORK)

    def _words(self, words: Sequence[Word], gone: Sequence[Word]) -> list[Span]:
        return [self._layout.word(before.span, word) for before, word in pairwise(words) if word in gone]

    def _pipeline(self, pipeline: Pipeline, where: Where) -> Cut:
        cuts = [self.node(one, where, last=False) for one in pipeline.items]
        if any(cut.whole for cut in cuts):
            rest = [one for one, cut in zip(pipeline.items, cuts, strict=True) if not cut.whole]
            follows = all(isinstance(one, Command) and (reads_a_patch(one) or idle(one)) for one in rest)
            return Cut(IDLE, whole=True) if follows else Cut()
        level = IDLE if all(cut.left == IDLE for cut in cuts) else WORK
        return Cut(level, spans=[span for cut in cuts for span in cut.spans])

    def _group(self, group: Group, where: Where, *, last: bool) -> Cut:
        inner = where.inner() if group.kind == "subshell" else where
        cut = self.block(group.body, inner, last=last or group.kind == "subshell")
        if group.kind == "subshell" and cut.left == STATE:
            cut.left = IDLE
        writes = any(one.operator not in ("<", ">&") for one in group.redirects)
        return Cut(WORK) if writes and cut.whole else cut

    def block(self, block: Block, where: Where, *, last: bool) -> Cut:
        count = len(block.items)
        cuts = [
            self.node(item, where, last=last and index == count - 1 and _ends(block, index))
            for index, item in enumerate(block.items)
        ]
        gone = {index for index, cut in enumerate(cuts) if cut.whole}
        _take_folders(block.items, gone, lambda index: _ends(block, index), last=last)
        kept = [cut for index, cut in enumerate(cuts) if index not in gone]
        level = max((cut.left for cut in kept), default=IDLE)
        spans = [self._layout.statement(block, index) for index in sorted(gone)]
        spans += [span for cut in kept for span in cut.spans]
        whole = any(cut.involved for cut in cuts) and _worthless(level, last=last)
        return Cut(level, whole, spans, inverted=bool(cuts) and cuts[-1].inverted)

    def _chain(self, chain: Chain, where: Where, *, last: bool) -> Cut:
        count = len(chain.items)
        cuts = [self.node(item, where, last=last and index == count - 1) for index, item in enumerate(chain.items)]
        gone = _gone_of_chain(chain, cuts)
        if gone is None:
            return Cut()
        _take_folders(chain.items, gone, lambda index: index == 0 or chain.operators[index - 1].text == "&&", last=last)
        kept = [index for index in range(count) if index not in gone]
        ended = any(cuts[index].left == ENDS for index in gone if not cuts[index].whole)
        if (kept or ended) and any(cuts[index].inverted for index in gone):
            return Cut()
        level = max((cuts[index].left for index in kept), default=IDLE)
        if any(cut.involved for cut in cuts) and _worthless(level, last=last):
            return Cut(IDLE, whole=True)
        spans = [span for index in kept for span in cuts[index].spans]
        places = [item.span for item in chain.items]
        spans += [self._layout.links(places, chain.operators, first, final) for first, final in _runs(gone)]
        return Cut(level, spans=spans)

    def _if(self, node: If, where: Where) -> Cut:
        branches = []
        for condition, body in node.branches:
            asked = self.block(condition, where, last=False) if condition is not None else Cut(IDLE)
            branches.append((asked, self.block(body, where.inner(), last=False)))
        if moves(node):
            where.folder = UNKNOWN
        cuts = [cut for pair in branches for cut in pair]
        level = max(cut.left for cut in cuts)
        if any(cut.involved for cut in cuts) and level <= ENDS:
            return Cut(IDLE, whole=True)
        if any(asked.involved or body.whole for asked, body in branches):
            return Cut()
        return Cut(level, spans=[span for cut in cuts for span in cut.spans])

    def _for(self, loop: For, where: Where) -> Cut:
        gone = [word for word in loop.words if not word.glob and stands_for_patch(loop, word, where)]
        self.globs += [word.span for word in loop.words if word.glob and where.may_match(word.text)]
        inner = where.inner()
        inner.places = {*where.places, f"${loop.variable}"} if gone else where.places
        probe = _Cutter(self._layout)  # of the body, as it is for the words that go
        body = probe.block(loop.body, inner, last=False)
        if moves(loop):
            where.folder = UNKNOWN
        if gone and len(gone) == len(loop.words):
            about = body.whole or body.left <= ENDS or all_about(loop)
            return Cut(IDLE, whole=True) if about else Cut()
        if gone:
            before = [before_list(loop), *(word.span for word in loop.words)]
            pairs = zip(before, loop.words, strict=False)
            return Cut(spans=[self._layout.word(one, word) for one, word in pairs if word in gone])
        self.globs += probe.globs
        if body.whole:
            return Cut(IDLE, whole=True)
        return Cut(body.left, spans=body.spans)

    def _nested(self, node: Nested, where: Where) -> Cut:
        cuts = [self.block(one, where.inner(), last=False) for one in node.blocks]
        if moves(node):
            where.folder = UNKNOWN
        if any(cut.whole for cut in cuts):
            return Cut()
        return Cut(spans=[span for cut in cuts for span in cut.spans])


def _ends(block: Block, index: int) -> bool:
    """Whether a statement is waited for."""
    stop = block.stops[index]
    return stop is None or stop.text != "&"


def _worthless(level: int, *, last: bool) -> bool:
    return level == IDLE or (last and level == STATE)


def _gone_of_chain(chain: Chain, cuts: Sequence[Cut]) -> set[int] | None:
    """Which items go; None where no cut leaves the others under the conditions that they had.

    The shell reads `a && p || b && c` as `((a && p) || b) && c`: what follows `||` is for all that stands before it.
    """
    gone: set[int] = set()
    for head, tails in _units(chain):
        before = [cuts[index].left for index in range(head) if index not in gone]
        others = [index for index in tails if not cuts[index].whole]
        dead = all(cuts[index].left <= ENDS and not cuts[index].spans for index in others)
        if cuts[head].whole:
            caught = len(others) < len(tails) and any(level != STATE for level in before)
            if not dead or caught:  # one of those that go would have caught what others let fail
                return None
            talk = all(level == STATE for level in before) and all(cuts[index].left == IDLE for index in others)
            gone |= {head, *tails} if talk or not before else {head, *(set(tails) - set(others))}
        elif len(others) < len(tails):
            if before or cuts[head].left != IDLE or cuts[head].spans or not dead:
                return None
            gone |= {head, *tails}
    return gone


def _units(chain: Chain) -> list[tuple[int, list[int]]]:
    """Each item that begins the chain or follows `&&`, with those that follow it after `||`."""
    units: list[tuple[int, list[int]]] = [(0, [])]
    for index, operator in enumerate(chain.operators, 1):
        if operator.text == "&&":
            units.append((index, []))
        else:
            units[-1][1].append(index)
    return units


def _runs(gone: set[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for index in sorted(gone):
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def _take_folders(items: Sequence[Node], gone: set[int], plain: Callable[[int], bool], *, last: bool) -> None:
    """Let changes of folder go that were there for the patch alone: there and back, or at the very end."""
    while True:
        size = len(gone)
        for first, final in _runs(gone):
            before, after = first - 1, final + 1
            if before < 0 or not plain(before) or not is_cd(items[before]):
                continue
            if after < len(items):
                if plain(after) and undoes(items[before], items[after]):
                    gone |= {before, after}
            elif last:
                gone.add(before)
        if len(gone) == size:
            return
