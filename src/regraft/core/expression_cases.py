"""Whether an expression is true, false, or either, over all that its names can be.

It is evaluated once for each case. A name whose value matters is split into its classes when it is asked for, so that what is not
asked for is not enumerated; `a && false` is decided before `a` is split. What an unknown makes of a function, or of another
unknown, is one more unknown, by its text: each case stands for all real values that lead there, and there is one for each of those.
"""

from collections.abc import Callable

from msgspec import Struct

from regraft.core.expression_case import Case
from regraft.core.expression_classes import Class, classes
from regraft.core.expression_cone import Cone, Variable, path_of, results, text_of_path, variable
from regraft.core.expression_known import Defined, Exactly, Fields, Known, Names, OneOf, Path, Unknown
from regraft.core.expression_partly import Choice, Constants, Leaf, Listed, Named, Partly, Pending, TooManyError
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Expression, Logic
from regraft.core.expression_value import Value, truthy

MOST_CASES = 4096
MOST_STEPS = 300_000  # expressions looked at for one decision: a good half second
GLANCE = 4  # likewise, to see that an expression is no constant
FEW_CASES = 64  # so many are tried before the parts are looked at one by one


class Decision(Struct, frozen=True):
    """`value`: True or False in every case, else None. `leaves`: the names that decided, in the order they were asked for.

    `true` and `false`: the first case of each, None where there is none. `failed`: the evaluation fails in a case, with this
    message; the value is then None.
    """

    value: bool | None
    cases: int
    leaves: tuple[Leaf, ...]
    too_many: bool = False
    failed: str | None = None
    true: tuple[Choice, ...] | None = None
    false: tuple[Choice, ...] | None = None


class Memo:
    """What names have answered, for all decisions of one repository: a name is asked for once. Keeps its trees alive."""

    def __init__(self) -> None:
        self.named: dict[tuple[int, Names], tuple[Expression, Named | None]] = {}
        self.paths: dict[tuple[Path, Names], Named] = {}
        self.constants: Constants = {}


def decide(tree: Expression, names: Names, memo: Memo | None = None) -> Decision:
    """What an expression is, over all cases of its names. Never a wrong constant: what is too much to look at is None."""
    return _decide(tree, names, _Budget(memo or Memo()))


def _decide(tree: Expression, names: Names, budget: "_Budget") -> Decision:
    if not isinstance(tree, Logic):
        return _search(tree, names, budget, MOST_CASES)
    first = _search(tree, names, budget, FEW_CASES)
    if not first.too_many:
        return first
    until = tree.operator == "||"
    left: list[Expression] = []
    for item in tree.items:
        found = _decide(item, names, budget)
        if found.value is until:
            return found
        if found.value is None:
            left.append(item)
    if budget.steps < 0:
        return first
    if not left:
        return Decision(not until, first.cases, first.leaves, true=first.true, false=first.false)
    return _search(Logic(tree.operator, tuple(left), tree.at) if len(left) > 1 else left[0], names, budget, MOST_CASES)


def _search(tree: Expression, names: Names, budget: "_Budget", most: int) -> Decision:
    search = _Search(tree, names, budget)
    found: dict[bool, tuple[Choice, ...]] = {}

    def stop(run: Case) -> bool:
        truth = run.truth(tree, names)
        found.setdefault(truth, run.chosen())
        return len(found) == 2

    failed, too_many = search.over(stop, most)
    sure = len(found) == 1 and failed is None and not too_many
    value = next(iter(found)) if sure else None
    leaves = tuple(search.leaves.values())
    return Decision(value, search.cases, leaves, too_many, failed, found.get(True), found.get(False))


def is_open(tree: Expression, given: Expression, names: Names, memo: Memo | None = None) -> bool:
    """Whether a few cases in which `given` is true show both truths of an expression. False: that is not known yet."""
    search = _Search(tree, names, _Budget(memo or Memo()), given)
    found: set[bool] = set()

    def stop(run: Case) -> bool:
        if run.truth(given, names):
            found.add(run.truth(tree, names))
        return len(found) == 2

    return search.over(stop, GLANCE)[0] is None and len(found) == 2


def values(tree: Expression, names: Names, most: int = 64, memo: Memo | None = None) -> tuple[Value, ...] | None:
    """All values that an expression can have; None where that is not known, or where there are more than `most`."""
    search = _Search(tree, names, _Budget(memo or Memo()))
    found: list[Value] = []
    unknown = False

    def stop(run: Case) -> bool:
        nonlocal unknown
        value = run.decided(run.value(tree, names))
        if isinstance(value, Pending | Listed):
            unknown = True
        elif not any(one is value or (type(one) is type(value) and one == value) for one in found):
            found.append(value)
        return unknown or len(found) > most

    failed, too_many = search.over(stop, MOST_CASES, both_ends=False)
    return None if unknown or too_many or failed is not None or len(found) > most else tuple(found)


class _Budget:
    """Of steps, for everything that one decision takes."""

    def __init__(self, memo: Memo) -> None:
        self.steps = MOST_STEPS
        self.memo = memo


class _Search:
    """All cases, one after the other; in each the classes that were chosen, in the order in which they were asked for."""

    def __init__(self, tree: Expression, names: Names, budget: _Budget, given: Expression | None = None) -> None:
        self.cases = 0
        self.leaves: dict[Variable, Leaf] = {}
        self._choices: list[list[int]] = []  # the class, and of how many
        self._named = budget.memo.named
        self._paths = budget.memo.paths
        self.constants = budget.memo.constants
        self._cone: Cone | None = None
        self._budget = budget
        self._last = False
        self._trees = (tree,) if given is None else (given, tree)
        self._names = names

    def over(self, stop: Callable[[Case], bool], most: int, *, both_ends: bool = True) -> tuple[str | None, bool]:
        """Run each case until `stop` holds, `most` at the most. Gives the message of an evaluation that fails, and whether there are too many."""
        try:
            while self.cases < most:
                if self._run(stop) or not self._advance():
                    return None, False
                if both_ends and self.cases == 1 and self._other_end(stop):
                    return None, False
        except ExpressionError as error:
            return error.message, False
        except TooManyError:
            pass
        return None, True

    def _run(self, stop: Callable[[Case], bool]) -> bool:
        self.cases += 1
        run = Case(self, self._budget.steps)
        try:
            stopped = stop(run)
        finally:
            self._budget.steps = run.steps
        for key, leaf in run.touched.items():
            self.leaves.setdefault(key, leaf)
        del self._choices[run.position :]
        return stopped

    def _other_end(self, stop: Callable[[Case], bool]) -> bool:
        """The case of the last classes, in which most that is not constant shows the other truth."""
        kept, self._choices, self._last = self._choices, [], True
        stopped = self._run(stop)
        self._choices, self._last = kept, False
        return stopped

    def _advance(self) -> bool:
        while self._choices:
            last = self._choices[-1]
            last[0] += 1
            if last[0] < last[1]:
                return True
            self._choices.pop()
        return False

    def choose(self, position: int, of: int) -> int:
        """The class at a position of this case; the first (or last), where the position is new."""
        if position == len(self._choices):
            self._choices.append([of - 1 if self._last else 0, of])
        return self._choices[position][0]

    def known(self, path: Path, names: Names) -> Known:
        return self.at_path(path, names).known

    def named(self, tree: Expression, names: Names) -> Named | None:
        found = self._named.get((id(tree), names))
        if found is None:
            path = path_of(tree)
            found = self._named[id(tree), names] = tree, None if path is None else self.at_path(path, names)
        return found[1]

    def at_path(self, path: Path, names: Names) -> Named:
        key = (path, names)
        if key not in self._paths:
            known = Exactly(value=True) if path == ("always()",) else names.known(path)
            of = variable(names, path)
            self._paths[key] = Named(of, Leaf(path, names, known.why), known, _value(of, path, known))
        return self._paths[key]

    def results(self, tree: Expression, names: Names) -> tuple[Path, ...] | None:
        return results(tree, names, self.known)

    def classes(self, of: Pending) -> tuple[Class, ...]:
        if of.among:
            return tuple(Class(truthy(one), {}, one) for one in of.among)
        if self._cone is None:
            self._cone = Cone(self.known)
            for tree in self._trees:
                self._cone.add(tree, self._names)
        return classes(of.kind, self._cone.marks(of.of))


def _value(of: Variable, path: Path, known: Known) -> Partly:
    text = text_of_path(path)
    match known:
        case Exactly(value=value):
            return value
        case OneOf(values=values):
            return values[0] if len(values) == 1 else Pending(of, text, among=values)
        case Fields():
            return Pending(of, text, "collection")
        case Unknown(kind=kind):
            return Pending(of, text, "boolean" if path[0].endswith("()") else kind)
        case Defined():
            return Pending(of, text)
