"""What the fuzz is about: small trees before a patch, after it, and as upstream has them now. Each kind has its quota."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

Tree = dict[str, tuple[str, bytes]]  # path -> (mode, content)
FILE, EXECUTABLE, LINK = "100644", "100755", "120000"


@dataclass
class Case:
    """The trees that the patches lead through (two for one patch), and the tree that they are judged on."""

    kind: str
    steps: list[Tree]
    now: Tree
    joined: bool = False  # all diffs in one text
    plain: bool = False  # without git's own headers
    damage: Callable[[bytes], bytes] | None = None
    base: bool = False  # whether the content that the patch was made on is at hand
    notes: dict[str, object] = field(default_factory=dict)


class Maker:
    """Makes cases from one random source; `number` goes into contents so that no case is taken for another's rename."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 0

    def case(self, kind: str, number: int) -> Case:
        self.number = number
        made: Case = getattr(self, kind)()
        made.base = self.random.random() < 0.5
        return made

    # ---- texts

    def lines(self, count: int = 30) -> list[bytes]:
        return [b"case %d line %d\n" % (self.number, one) for one in range(count)]

    def few(self, count: int, words: int = 3) -> list[bytes]:
        """Lines from a tiny alphabet: nearly everything stands at several places."""
        return [b"%c\n" % self.random.choice(b"abcdefgh"[:words]) for _ in range(count)]

    def edited(self, lines: list[bytes], times: int, words: int = 0) -> list[bytes]:
        done = list(lines)
        for _ in range(times):
            at = self.random.randrange(len(done) + 1)
            new = (
                self.few(self.random.randint(1, 2), words)
                if words
                else [b"edit %d of %d\n" % (self.random.randrange(99), self.number)]
            )
            what = self.random.choice(("add", "take", "change"))
            done[at : at + (what != "add")] = [] if what == "take" else new
        return done

    def at(self, lines: list[bytes], *places: int) -> list[bytes]:
        """Lines changed at these places, at each of them in the same way whatever is changed elsewhere."""
        done = list(lines)
        for place in sorted(places, reverse=True):
            source = random.Random(self.number * 1000 + place)
            new = [b"new %d at %d\n" % (self.number, place)] * source.choice((0, 1, 1, 1, 2))
            done[place : place + source.randint(not new, 2)] = new
        return done

    def tree(self, lines: list[bytes], *, keep_newline: bool = True, mode: str = FILE) -> Tree:
        text = b"".join(lines)
        if not keep_newline and self.random.random() < 0.5:
            text = text.removesuffix(b"\n")
        return {"f": (mode, text), "k": (FILE, b"kept %d\n" % self.number)}

    # ---- kinds

    def untouched(self) -> Case:
        old = self.lines()
        return Case(
            "", [self.tree(old), self.tree(self.at(old, 3, 14, 25))], self.tree(old), plain=self.random.random() < 0.3
        )

    def offset(self) -> Case:
        old = self.lines()
        now = self.at(old, self.random.choice((0, 8, 9, 19)))
        return Case(
            "", [self.tree(old), self.tree(self.at(old, 4, 14, 25))], self.tree(now), plain=self.random.random() < 0.3
        )

    def landed(self) -> Case:
        old = self.lines()
        new = self.at(old, 5, 15, 24)
        now = self.edited(new, self.random.randint(0, 2))
        return Case("", [self.tree(old), self.tree(new)], self.tree(now), plain=self.random.random() < 0.3)

    def some_hunks(self) -> Case:
        old = self.lines(40)
        places = (5, 15, 25, 35)
        now = self.at(old, *self.random.sample(places, self.random.randint(1, 3)))
        return Case("", [self.tree(old), self.tree(self.at(old, *places))], self.tree(now))

    def some_files(self) -> Case:
        names = ["a", "b", "c"]
        old = {name: (FILE, b"%s\n" % name.encode() + b"".join(self.lines(12))) for name in names}
        new = {name: (FILE, old[name][1].replace(b"line 6\n", b"six\n")) for name in names}
        now = {name: self.random.choice((old, new))[name] for name in names}
        return Case("", [old, new], now)

    def conflict(self) -> Case:
        old = self.lines()
        place = self.random.randint(4, 24)
        return Case(
            "",
            [self.tree(old), self.tree(self.at(old, place))],
            self.tree(self.at(old, place + self.random.randint(-2, 2))),
        )

    def small(self) -> Case:
        """Tiny texts from a tiny alphabet, everything random: where the places are many and the ends are near."""
        words = self.random.randint(1, 4)
        old = self.few(self.random.randint(1, 12), words)
        new = self.edited(old, self.random.randint(1, 3), words)
        now = self.edited(self.random.choice((old, new)), self.random.randint(0, 3), words)
        ends = self.random.random() < 0.6
        trees = [self.tree(one, keep_newline=ends) for one in (old, new, now)]
        return Case("", trees[:2], trees[2], plain=self.random.random() < 0.3)

    def equal_blocks(self) -> Case:
        block = self.few(self.random.randint(2, 9), 3)
        old = [*block, b"x\n"] * self.random.randint(2, 4)
        new = self.edited(old, self.random.randint(1, 2), 4)
        start = self.random.choice((old, new))
        extra = [*block, b"x\n"] * self.random.randint(0, 2)
        now = [*extra, *start] if self.random.random() < 0.5 else [*start, *extra]
        return Case("", [self.tree(old), self.tree(new)], self.tree(now), plain=self.random.random() < 0.3)

    def both_fit(self) -> Case:
        block = self.lines(8)
        old = [*block, b"a\n", *block]
        new = [*block, b"a\n", b"b\n", *block]
        now = [*self.random.choice((old, new)), b"between\n", *self.random.choice((old, new))]
        return Case("", [self.tree(old), self.tree(new)], self.tree(now), plain=self.random.random() < 0.3)

    def new_file(self) -> Case:
        kept: Tree = {"k": (FILE, b"kept\n")}
        content = self.random.choice((b"", b"one\n", b"one", b"#!/bin/sh\n%d\n" % self.number, b"".join(self.lines(5))))
        made = (self.random.choice((FILE, EXECUTABLE)), content)
        there = self.random.choice(
            (
                {},
                {},
                {"n": made},
                {"n": (FILE, content)},
                {"n": (FILE, content + b"more\n")},
                {"n/x": made},
                {"n": (LINK, content or b"x")},
            )
        )
        return Case("", [kept, kept | {"n": made}], kept | there, plain=bool(content) and self.random.random() < 0.3)

    def deleted_file(self) -> Case:
        kept: Tree = {"k": (FILE, b"kept\n")}
        content = self.random.choice((b"", b"one\n", b"one", b"".join(self.few(6)), b"".join(self.lines(9))))
        gone = (self.random.choice((FILE, EXECUTABLE)), content)
        there = self.random.choice(
            (
                {},
                {"g": gone},
                {"g": gone},
                {"moved": gone},
                {"g": (FILE, content + b"more\n")},
                {"g/x": gone},
                {"g": (LINK, b"k")},
            )
        )
        return Case("", [kept | {"g": gone}, kept], kept | there, plain=bool(content) and self.random.random() < 0.3)

    def modes(self) -> Case:
        old = self.lines(12)
        new = self.random.choice((old, self.at(old, 5)))
        now = self.random.choice((old, new, self.at(old, 1)))
        before, after = self.random.sample((FILE, EXECUTABLE), 2)
        if self.random.random() < 0.3:
            after = before
            new = self.at(old, 5)
        return Case(
            "",
            [self.tree(old, mode=before), self.tree(new, mode=after)],
            self.tree(now, mode=self.random.choice((FILE, EXECUTABLE))),
        )

    def rename(self) -> Case:
        old = self.lines(20)
        new = self.random.choice((old, self.at(old, 9)))
        source, target = b"".join(old), b"".join(new)
        to = self.random.choice(("e", "sub/e", "f/e"))
        there: Tree = self.random.choice(
            (
                {"f": (FILE, source)},
                {"f": (FILE, source)},
                {to: (FILE, target)},
                {to: (FILE, source)},
                {to: (FILE, b"other\n")},
                {"f": (FILE, target)},
                {"elsewhere": (FILE, source)},
                {} if to == "f/e" else {"f": (FILE, source), to: (FILE, target)},
                {"f": (FILE, b"".join(self.at(old, 2)))},
            )
        )
        return Case("", [{"f": (FILE, source)}, {to: (FILE, target)}], {"k": (FILE, b"kept\n")} | there)

    def binary(self) -> Case:
        old = bytes(self.random.randrange(256) for _ in range(self.random.randint(1, 300))) + b"\0"
        new = old[:50] + b"%d\0" % self.number + old[self.random.randint(40, 60) :]
        before: Tree = {"i": (FILE, old)} if self.random.random() < 0.7 else {}
        after: Tree = {"i": (FILE, new)} if not before or self.random.random() < 0.8 else {}
        there = self.random.choice(({"i": (FILE, old)}, {"i": (FILE, new)}, {"i": (FILE, old + b"x")}, {}, before))
        kept: Tree = {"k": (FILE, b"kept\n")}
        return Case("", [kept | before, kept | after], kept | there)

    def returns(self) -> Case:
        ends = self.random.choice(([b"\r\n"], [b"\r\n", b"\n"]))
        old = [line[:-1] + self.random.choice(ends) for line in self.lines(20)]
        new = [line.replace(b"\r\n", b"\n") if number == 12 else line for number, line in enumerate(self.at(old, 9))]
        now = self.random.choice((old, new, [line.replace(b"\r\n", b"\n") for line in old], self.at(old, 2)))
        return Case("", [self.tree(old), self.tree(new)], self.tree(now))

    def ends(self) -> Case:
        """The newline at the end: there or not, before, after and now."""
        old = self.random.choice((self.lines(6), self.few(5)))
        new = self.random.choice((old, self.edited(old, 1), [*old, b"last\n"], old[:-1]))
        now = self.random.choice((old, new, [*old, b"more\n"], [*new, b"\n"]))
        trees = [self.tree(one, keep_newline=False) for one in (old, new, now)]
        return Case("", trees[:2], trees[2], plain=self.random.random() < 0.3)

    def _steps(self) -> list[list[bytes]]:
        if self.random.random() < 0.5:
            steps = [self.few(self.random.randint(4, 14), 4)]
            for _ in range(self.random.randint(2, 3)):
                steps.append(self.edited(steps[-1], self.random.randint(1, 2), 5))
            return steps
        steps = [self.lines(25)]
        for _ in range(self.random.randint(2, 3)):
            steps.append(self.at(steps[-1], self.random.randint(4, 20)))
        return steps

    def sections(self) -> Case:
        """Several diffs of one file in one text."""
        stack = self.stack()
        stack.joined = True
        return stack

    def stack(self) -> Case:
        steps = self._steps()
        now = self.random.choice((steps[0], steps[0], *steps))
        if self.random.random() < 0.4:
            now = self.edited(now, 1)
        return Case("", [self.tree(one) for one in steps], self.tree(now))

    def gone(self) -> Case:
        old = self.lines(12)
        there: Tree = self.random.choice(
            (
                {},
                {"f": (LINK, b"k")},
                {"f/x": (FILE, b"".join(old))},
                {"other/f": (FILE, b"".join(old))},
                {"f": (FILE, b"".join(old))},
            )
        )
        return Case(
            "",
            [self.tree(old), self.tree(self.at(old, 6))],
            {"k": (FILE, b"kept\n")} | there,
            plain=self.random.random() < 0.2,
        )

    def tangled(self) -> Case:
        """Names that change places, types that change, and edits across a rename."""
        one, two = (FILE, b"".join(self.lines(9))), (FILE, b"".join(self.few(7)) + b"%d\n" % self.number)
        old: Tree = {"a": one, "b": two}
        link = (LINK, b"target %d" % self.number)
        new: Tree = self.random.choice(
            ({"a": two, "b": one}, {"a": link, "b": two}, {"a/x": one, "b": two}, {"c": one, "a": two})
        )
        third: Tree = {"c": (FILE, one[1] + b"end\n"), "b": two}
        steps = [old, new] if self.random.random() < 0.6 else [old, {"c": one, "b": two}, third]
        now = self.random.choice((old, old, *steps[1:], {"b": one}))
        return Case("", steps, now, joined=True)

    def unreadable(self) -> Case:
        made = self.random.choice((self.untouched, self.landed, self.binary, self.new_file))()
        made.plain = False
        seed = self.random.random()
        made.damage = lambda data: damaged(data, random.Random(seed))
        return made


def damaged(data: bytes, source: random.Random) -> bytes:
    """A line lost, doubled, cut, or put elsewhere."""
    rows = data.split(b"\n")[:-1]
    at = source.randrange(len(rows))
    row = rows[at]
    rows[at : at + 1] = source.choice(([], [row, row], [row[:-1]], [row + b"\r"], [b"x" + row], [row[1:]]))
    return b"\n".join(rows) + (b"\n" if source.random() < 0.9 else b"")


QUOTAS = {
    "small": 24, "equal_blocks": 10, "ends": 8, "untouched": 3, "offset": 4, "landed": 4, "some_hunks": 4, "some_files": 3,
    "conflict": 4, "both_fit": 3, "new_file": 4, "deleted_file": 4, "modes": 4, "rename": 4, "binary": 4, "returns": 3,
    "sections": 4, "stack": 8, "gone": 2, "tangled": 4, "unreadable": 3,
}  # fmt: skip
