"""Decisions over all cases, held against the exact values of random expressions for many values of their names."""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

import pytest

from regraft.core.expression_cases import decide
from regraft.core.expression_classes import Kind, Mark, classes
from regraft.core.expression_evaluate import evaluate
from regraft.core.expression_known import Defined, Exactly, Known, OneOf, Path, Unknown
from regraft.core.expression_models import is_open
from regraft.core.expression_search import Memo
from regraft.core.expression_text import parse_expression
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Call, Compare, Comparison, Constant, Every, Expression, Key, Logic, Not
from regraft.core.expression_value import Array, Object, Value, equal, truthy
from regraft.core.expression_written import written
from regraft.core.workflow_trees import reference

LITERALS: Sequence[bool | float | str | None] = (
    *(
        None,
        True,
        False,
        0.0,
        1.0,
        10.0,
        "",
        "0",
        "1",
        " 1 ",
        "push",
        "PUSH",
        "pu",
        "true",
        "0xA",
        "10",
        "0XA",
        "Infinity",
    ),
    *("null", '"push"', "[1]", '{"k":"push"}', "{}"),
)
TEXTS = (
    "",
    "0",
    "1",
    " 1 ",
    "1.0",
    "push",
    "Push",
    "pu",
    "xpushx",
    "true",
    "0xa",
    "0XA",
    "10",
    "10 ",
    "infinity",
    "zzz",
    "null",
)
JSON = ('"push"', "[1]", '{"k":"push"}', '{"K":""}')
NUMBERS = (0.0, 1.0, 10.0, 3.5, float("nan"), float("inf"))
OBJECTS = (Array(), Array(("push",)), Object(), Object({"k": "push"}), Object({"k": ""}))
VALUES: Mapping[Kind, Sequence[Value]] = {
    "any": (None, True, False, *NUMBERS, *TEXTS, *JSON, *OBJECTS),
    "text": (None, *TEXTS, *JSON),
    "number": NUMBERS,
    "boolean": (True, False),
}
ELSEWHERE = [
    parse_expression(text)
    for text in (
        *(
            "c.p",
            "c.p || 'push'",
            "c.p == 'push'",
            "!c.p",
            "format('{0}', c.p)",
            "c.p && c.q",
            "fromJSON(c.p || '{}')",
            "c.q",
        ),
        "contains(c.p, 'pu') && c.q || 'no'",
    )
]
NAMES = [parse_expression(text) for text in ("a.x", "a.y", "b.z", "success()")]
EQUALS: Sequence[Comparison] = ("==", "!=", "==", "!=", "<", ">=", ">", "<=")
KINDS: Sequence[Kind] = ("any", "text", "number", "boolean")


class Table:
    def __init__(self, known: dict[str, Known]) -> None:
        self.table = known

    def known(self, path: Path) -> Known:
        return self.table.get(".".join(path), Unknown())


def tree(dice: random.Random, depth: int) -> Expression:
    """A random expression over few names."""

    def below() -> Expression:
        return tree(dice, depth - 1)

    roll = dice.random()
    if depth <= 0 or roll < 0.22:
        return dice.choice(NAMES) if dice.random() < 0.6 else Constant(dice.choice(LITERALS))
    if roll < 0.47:
        return Compare(
            dice.choice(EQUALS), below(), below() if dice.random() < 0.5 else Constant(dice.choice(LITERALS))
        )
    if roll < 0.72:
        return Logic("&&" if dice.random() < 0.5 else "||", tuple(below() for _ in range(dice.choice([2, 2, 3]))))
    if roll < 0.82:
        return Not(below())
    if roll < 0.86:
        return Key(below(), dice.choice([Constant("k"), Constant(0.0), below()]))
    if roll < 0.88:
        return Every(below())
    match dice.choice(["contains", "startswith", "endswith", "format", "fromjson", "tojson", "join", "case"]):
        case "format":
            return Call("format", (Constant(dice.choice(["{0}", "x{0}", "{0}{1}"])), below(), below()))
        case "case":
            return Call("case", (below(), below(), below()))
        case "contains" | "startswith" | "endswith" as name:
            return Call(name, (below(), below()))
        case name:
            return Call(name, (below(),))


def known(dice: random.Random) -> tuple[Known, Sequence[Value]]:
    """What is said of a name, and the values that it can have."""
    match dice.randrange(4):
        case 0:
            values = tuple(dice.sample(LITERALS, 3))
            return OneOf(values), values
        case 1:
            value = dice.choice(LITERALS)
            return Exactly(value), (value,)
    kind = dice.choice(KINDS)
    return Unknown(kind=kind), VALUES[kind]


class World:
    """Names of two places: `c.*` at one, and at the other names of their own, or what an expression of the first place is."""

    def __init__(self, dice: random.Random) -> None:
        self.values: dict[str, Sequence[Value]] = {"success()": (True, False)}
        self.trees: dict[str, Expression] = {}
        table: dict[str, Known] = {}
        inner: dict[str, Known] = {}
        for name in ("c.p", "c.q"):
            inner[name], self.values[name] = known(dice)
        there = Table(inner)
        for name in ("a.x", "a.y", "b.z"):
            if dice.random() < 0.3:
                self.trees[name] = dice.choice(ELSEWHERE)
                table[name] = Defined(self.trees[name], there)
            else:
                table[name], self.values[name] = known(dice)
        self.names = Table(table)

    def truths(self, whole: Expression, dice: random.Random, most: int) -> Iterator[bool]:
        """What an expression really is, for all values of the names or for so many."""
        text = written(whole)
        names = [name for name in self.values if name in text or name.startswith("c.")]
        pools = [self.values[name] for name in names]
        for values in itertools.islice(itertools.product(*pools), most // 2):
            yield from self._truth(whole, dict(zip(names, values, strict=True)))
        for _ in range(most // 2):
            yield from self._truth(whole, {name: dice.choice(pool) for name, pool in zip(names, pools, strict=True)})

    def _truth(self, whole: Expression, values: Mapping[str, Value]) -> Iterator[bool]:
        there = {"c": Object({"p": values["c.p"], "q": values["c.q"]})}
        try:
            here = {name: evaluate(one, there) for name, one in self.trees.items()} | dict(values)
            contexts = {
                "a": Object({"x": here.get("a.x"), "y": here.get("a.y")}),
                "b": Object({"z": here.get("b.z")}),
            }
            yield truthy(evaluate(whole, contexts, {"success": lambda _: values.get("success()", True)}))
        except ExpressionError:
            return  # it fails, and so is neither


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_a_constant_holds_for_all_values(start: int) -> None:
    """Whatever was remembered of other decisions over the same names."""
    constants = 0
    for seed in range(start, start + 100):
        dice = random.Random(seed)
        world, memo = World(dice), Memo()
        for depth in (2, 3, 4):
            whole = tree(dice, depth)
            decision = decide(whole, world.names, memo)
            assert not decision.too_many, seed
            if decision.value is not None:
                constants += 1
                assert set(world.truths(whole, dice, 80)) <= {decision.value}, (seed, written(whole))
    assert constants > 90  # or else this shows nothing


def test_what_a_few_cases_show_to_be_open_is_no_constant() -> None:
    """Also where the cases are taken over from an earlier question about what is given."""
    shown = given_by_name = 0
    for seed in range(2000, 2300):
        dice = random.Random(seed)
        world, memo = World(dice), Memo()
        around = Table({"#in": Defined(Logic("&&", (reference("a.x"), tree(dice, 2), tree(dice, 1))), world.names)})
        around.table |= world.names.table
        for depth in (1, 2, 3):
            whole, given = tree(dice, depth), dice.choice((reference("#in"), tree(dice, 1)))
            if not is_open(whole, given, around, memo):
                continue
            shown += 1
            given_by_name += given == reference("#in")
            for one in (whole, Not(whole)):
                assert decide(Logic("&&", (given, one)), around).value is not False, (seed, written(whole))
    assert min(given_by_name, shown - given_by_name) > 50  # or else this shows nothing


def test_what_is_said_to_be_either_often_is() -> None:
    either = shown = 0
    for seed in range(1000, 1150):
        dice = random.Random(seed)
        world, whole = World(dice), tree(dice, 3)
        decision = decide(whole, world.names)
        if decision.value is None and decision.failed is None:
            either += 1
            shown += len(set(world.truths(whole, dice, 200))) == 2
    assert either > 30
    assert shown > 0.6 * either


@pytest.mark.parametrize("kind", KINDS)
def test_each_value_is_in_a_class(kind: Kind) -> None:
    """A class agrees with the value in its truth and in what it equals; one with an exact value has no other."""
    dice = random.Random(7)
    marks: list[Mark] = [one for one in LITERALS if isinstance(one, str | float) and not isinstance(one, bool)]
    for _ in range(150):
        constants = frozenset(dice.sample(marks, dice.randrange(5)))
        found = classes(kind, constants)
        for value in VALUES[kind]:
            fitting = [
                one
                for one in found
                if one.truth is truthy(value) and all(equal(value, mark) is same for mark, same in one.equals.items())
            ]
            assert fitting, (constants, value)
            if len(fitting) == 1 and isinstance(exact := fitting[0].exact, str | float):
                assert equal(exact, value), (constants, value)


@pytest.mark.parametrize("seed", range(30))
def test_an_expression_is_read_as_it_is_written(seed: int) -> None:
    """So that its text can stand for it."""
    dice = random.Random(seed)
    for _ in range(10):
        text = written(tree(dice, 4))
        assert written(parse_expression(text)) == text
