"""The cases of an expression, one after the other, each with the classes that it asks for; and what is remembered between them."""

from collections.abc import Callable, Sequence

from regraft.core.expression_case import Case
from regraft.core.expression_classes import Class, classes
from regraft.core.expression_cone import Cone, Variable, path_of, results, text_of_path, variable
from regraft.core.expression_known import Defined, Exactly, Fields, Known, Names, OneOf, Path, Unknown
from regraft.core.expression_partly import Constants, Leaf, Model, Named, Partly, Pending, TooManyError
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Expression
from regraft.core.expression_value import truthy

MOST_STEPS = 300_000  # expressions looked at for one decision: a good half second
MOST_IN_ALL = 10_000_000  # likewise, for all decisions that share a memory


class Memo:
    """What names have answered, for all decisions of one repository: a name is asked for once. Keeps its trees alive."""

    def __init__(self, steps: int = MOST_IN_ALL) -> None:
        self.named: dict[tuple[int, Names], tuple[Expression, Named | None]] = {}
        self.paths: dict[tuple[Path, Names], Named] = {}
        self.constants: Constants = {}
        self.models: dict[Variable, Sequence[Model]] = {}
        self.steps = steps


class Budget:
    """Of steps, for everything that one decision takes."""

    def __init__(self, memo: Memo) -> None:
        self.steps = min(MOST_STEPS, memo.steps)
        self.memo = memo

    def spent(self, left: int) -> None:
        """So many steps are left of what there was."""
        self.memo.steps -= self.steps - left
        self.steps = left


class Search:
    """All cases, one after the other; in each the classes that were chosen, in the order in which they were asked for."""

    def __init__(self, trees: Sequence[Expression], names: Names, budget: Budget, model: Model | None = None) -> None:
        """`trees`: all that is going to be asked. `model`: where all cases begin."""
        self.cases = 0
        self.leaves: dict[Variable, Leaf] = {}
        self._choices: list[list[int]] = []  # the class, and of how many
        self._named = budget.memo.named
        self._paths = budget.memo.paths
        self.constants = budget.memo.constants
        self._cone: Cone | None = None
        self._budget = budget
        self._last = False
        self._trees = trees
        self._names = names
        self._model = model

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
        run = Case(self, self._budget.steps, self._model)
        try:
            stopped = stop(run)
        finally:
            self._budget.spent(run.steps)
        for key, leaf in run.touched.items():
            self.leaves.setdefault(key, leaf)
        del self._choices[run.position :]
        return stopped

    def _other_end(self, stop: Callable[[Case], bool]) -> bool:
        """The case of the last classes, in which most that is not constant shows the other truth."""
        kept, self._choices, self._last = self._choices, [], True
        stopped = self._run(stop)
        self._choices, self._last = kept, False
        self.cases -= 1  # it comes again
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
