"""One case of an expression: its value where each name that matters was taken to be in one of its classes.

What an unknown makes of a function, of a comparison with another unknown, or of an index, is one more unknown, by its text.
"""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import UNSET

from regraft.core.expression_classes import Class, Kind, mark
from regraft.core.expression_cone import Variable
from regraft.core.expression_evaluate import compare
from regraft.core.expression_functions import PURE
from regraft.core.expression_known import Defined, Names
from regraft.core.expression_partly import (
    Cases,
    Choice,
    CoarseError,
    Leaf,
    Listed,
    Model,
    Named,
    Partly,
    Pending,
    TooManyError,
    pending,
    shown,
)
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Call, Compare, Constant, Context, Every, Expression, Key, Logic, Not
from regraft.core.expression_value import Array, Object, Value, every, index, primitive, truthy
from regraft.core.expression_written import written

DEEPEST = 80  # expressions inside each other, through all names: each takes a few calls
_NAMES = (Key, Context, Call)
_KINDS: dict[str, Kind] = {"format": "text", "join": "text", "tojson": "text", "hashfiles": "text", "fromjson": "any"}


class _UnforcedError(Exception):
    """A value is needed that no class was chosen for."""


class _OpenError(Exception):
    """A function needs a value that is not known."""


class Case:
    """Evaluates by choosing a class where one is needed; `_peeking` while nothing may be chosen."""

    def __init__(self, cases: Cases, steps: int, model: Model | None = None) -> None:
        self.touched: dict[Variable, Leaf] = {}
        self.position = 0
        self.steps = steps  # expressions that may still be looked at
        self._cases = cases
        self._model = model or Model()
        self._classes: dict[Variable, Class] = {**self._model.classes}
        self._chosen: list[tuple[Pending, Class]] = []
        self._there: dict[tuple[Variable, bool], tuple[Partly, dict[Variable, Leaf]]] = {**self._model.there}
        self._open: dict[tuple[Variable, bool], int] = {}  # how many choices there were when one more was needed
        self._blocked: dict[tuple[int, Names], int] = {}
        self._peeking = False
        self._depth = 0
        self._uses = 0  # of classes that were chosen: what was found without one holds in all cases

    def chosen(self) -> tuple[Choice, ...]:
        """What was taken for what, in this case."""
        return tuple(Choice(value.of[0], value.text, shown(one)) for value, one in self._chosen)

    def model(self, true: Variable | None = None) -> Model:
        """What was chosen and found so far, with a name that is true then."""
        return Model(self._classes, self._there | ({} if true is None else {(true, True): (True, {})}))

    def truth(self, tree: Expression, names: Names) -> bool:
        """Raises ExpressionError where the evaluation fails."""
        self.steps -= 1
        if self.steps < 0:
            raise TooManyError
        if self._depth >= DEEPEST:
            return self._free(names, written(tree))
        self._depth += 1  # whoever catches what is raised in between sets it back
        if isinstance(tree, Logic):
            found = self._logic(tree, names)
        elif isinstance(tree, Not):
            found = not self.truth(tree.item, names)
        elif isinstance(tree, _NAMES) and (named := self._cases.named(tree, names)) is not None:
            found = self._true(self._name(named, truth=True))
        else:
            found = self._true(self.value(tree, names))
        self._depth -= 1
        return found

    def value(self, tree: Expression, names: Names) -> Partly:
        """Raises ExpressionError where the evaluation fails."""
        self.steps -= 1
        if self.steps < 0:
            raise TooManyError
        if self._depth >= DEEPEST:
            return pending(tree, names)
        self._depth += 1
        found = self._value(tree, names)
        self._depth -= 1
        return found

    def decided(self, value: Partly) -> Partly:
        """With a class, if that is worth it: where it is one of few, or compared with constants elsewhere."""
        if isinstance(value, Pending) and (
            value.among or value.kind == "boolean" or len(self._cases.classes(value)) > 2
        ):
            self._force(value)
        return self._settled(value)

    def _settled(self, value: Partly) -> Partly:
        """The only value of the class that was chosen for it, where there is one."""
        if (
            isinstance(value, Pending)
            and (found := self._classes.get(value.of)) is not None
            and found.exact is not UNSET
        ):
            self._uses += 1
            return found.exact
        return value

    def _force(self, value: Pending) -> Class:
        found = self._classes.get(value.of)
        self._uses += 1
        if found is None:
            if self._peeking:
                raise _UnforcedError
            classes = self._cases.classes(value)
            found = self._classes[value.of] = classes[self._cases.choose(self.position, len(classes))]
            self._chosen.append((value, found))
            self.position += 1
        return found

    def _true(self, value: Partly) -> bool:
        value = self._settled(value)
        if isinstance(value, Pending):
            return self._force(value).truth
        return isinstance(value, Listed) or truthy(value)

    def _free(self, names: Names, text: str) -> bool:
        """A truth that is not known, by its text."""
        return self._force(Pending((names, text), text, "boolean")).truth

    def _peek(self, tree: Expression, names: Names) -> "bool | ExpressionError | None":
        """The truth if it can be had without choosing a class, else None."""
        was, self._peeking, depth = self._peeking, True, self._depth
        try:
            return self.truth(tree, names)
        except _UnforcedError:
            return None
        except ExpressionError as error:
            return error
        finally:
            self._peeking, self._depth = was, depth

    def _logic(self, tree: Logic, names: Names) -> bool:
        """An item that decides already is looked for before anything is chosen; in one case once for as many choices."""
        until = tree.operator == "||"
        key = (id(tree), names)
        if self._blocked.get(key) == self.position:
            if self._peeking:
                raise _UnforcedError
            later: Sequence[Expression] = tree.items
        else:
            found = self._decisive(tree.items, names, until=until)
            if isinstance(found, bool):
                return found
            later = found
            self._blocked[key] = self.position
            if self._peeking:
                raise _UnforcedError
        for item in later:
            if self.truth(item, names) is until:
                return until
        return not until

    def _decisive(self, items: Sequence[Expression], names: Names, *, until: bool) -> bool | Sequence[Expression]:
        """The truth, if it is known; else the items of which it depends. `until`: the truth of an item that decides."""
        before, kept = self.touched, dict(self.touched)
        later: list[Expression] = []
        for item in items:
            self.touched = {}
            found = self._peek(item, names)
            if found is until:
                self.touched = before | self.touched
                return until
            if isinstance(found, ExpressionError):
                self.touched = kept
                return items  # a mistake counts only if evaluation gets that far
            if found is None:
                later.append(item)
            else:
                kept |= self.touched
        self.touched = kept
        return later or not until

    def _value(self, tree: Expression, names: Names) -> Partly:
        if isinstance(tree, Constant):
            return tree.value
        if isinstance(tree, _NAMES) and (named := self._cases.named(tree, names)) is not None:
            return self._name(named)
        match tree:
            case Compare():
                return self._compare(tree, names)
            case Call():
                return self._call(tree, names)
            case Not(item=item):
                return not self.truth(item, names)
            case Logic(operator=operator, items=items):
                value: Partly = None
                for item in items:
                    value = self.value(item, names)
                    if self._true(value) is (operator == "||"):
                        break
                return value
            case Key() | Every():
                return self._indexed(tree, names)
        raise AssertionError(tree)

    def _name(self, named: Named, *, truth: bool = False) -> Partly:
        """What a name is; `truth`: only whether it is true matters, if it stands for an expression."""
        self.touched.setdefault(named.of, named.leaf)
        known = named.known
        return (
            self._defined(named.of, known.tree, known.names, truth=truth) if isinstance(known, Defined) else named.value
        )

    def _defined(self, of: Variable, tree: Expression, names: Names, *, truth: bool) -> Partly:
        """The value (or the truth) of an expression of another place. One that leads back to itself is unknown."""
        key = (of, truth)
        found = self._cases.constants.get(key)
        if found is None and (found := self._there.get(key)) is not None:
            self._uses += 1  # it may have come from a class that was chosen before
        if found is None:
            if self._peeking and self._open.get(key) == self.position:
                raise _UnforcedError
            self._there[key] = Pending(of, of[1]), {}
            before, self.touched, uses = self.touched, {}, self._uses
            try:
                value = self.truth(tree, names) if truth else self.value(tree, names)
            except (_UnforcedError, ExpressionError):
                del self._there[key]
                self._open[key] = self.position
                raise
            found = self._there[key] = value, self.touched
            if self._uses == uses and not isinstance(value, Pending | Listed):
                self._cases.constants[key] = found
            self.touched = before
        value, touched = found
        self.touched |= touched
        return value

    def _indexed(self, tree: Key | Every, names: Names) -> Partly:
        results = self._cases.results(tree, names)
        if results is not None:
            return Listed(tuple(self._name(self._cases.at_path(path, names)) for path in results))
        item = self.decided(self.value(tree.item, names))
        if isinstance(tree, Every):
            return pending(tree, names, "collection") if isinstance(item, Pending | Listed) else every(item)
        key = self.decided(self.value(tree.index, names))
        if not isinstance(item, Pending | Listed | Array | Object):
            return None
        if isinstance(item, Pending | Listed) or isinstance(key, Pending | Listed):
            return pending(tree, names, "collection" if _filtered(tree) else "any")
        return index(item, key)

    def _compare(self, tree: Compare, names: Names) -> bool:
        left = self._settled(self.value(tree.left, names))
        right = self._settled(self.value(tree.right, names))
        if tree.operator in ("==", "!="):
            return self._equal(left, right, names, partial(_pair, tree)) is (tree.operator == "==")
        left, right = self.decided(left), self.decided(right)
        if isinstance(left, Pending | Listed) or isinstance(right, Pending | Listed):
            return self._free(names, written(tree))
        return compare(tree.operator, left, right)

    def _equal(self, left: Partly, right: Partly, names: Names, text: Callable[[], str]) -> bool:
        """`text`: what stands for it where it is not known."""
        if isinstance(left, Pending) and isinstance(right, Pending):
            if left.of == right.of and left.kind == "text":
                return True
            left, right = self.decided(left), self.decided(right)
        if isinstance(right, Pending | Listed):
            left, right = right, left
        if isinstance(right, Pending | Listed):
            return self._free(names, text())
        if not isinstance(left, Pending | Listed):
            return compare("==", left, right)
        if not primitive(right):
            return self._free(names, text())
        found = mark(right)
        if isinstance(left, Listed) or found is None:
            return False
        chosen = self._force(left)
        if chosen.exact is not UNSET:
            return compare("==", chosen.exact, right)
        if found in chosen.equals:
            return chosen.equals[found]
        if left.of in self._model.classes:
            raise CoarseError
        return self._free(names, text())

    def _call(self, tree: Call, names: Names) -> Partly:
        if tree.function == "case":
            return self._choose(tree, names)
        known: dict[int, Partly] = {}

        def argument(at: int) -> Value:
            if at not in known:
                known[at] = self.decided(self.value(tree.arguments[at], names))
            found = known[at]
            if isinstance(found, Pending | Listed):
                raise _OpenError
            return found

        try:
            if (pure := PURE.get(tree.function)) is not None:
                return pure(len(tree.arguments), argument)
        except _OpenError:
            if tree.function == "contains" and isinstance(where := known[0], Listed | Array):
                return self._contains(where.items, tree, names)
        return pending(tree, names, _KINDS.get(tree.function, "boolean"))

    def _contains(self, items: Sequence[Partly], tree: Call, names: Names) -> bool:
        what = self._settled(self.value(tree.arguments[1], names))
        texts = (partial("{} {}".format, written(tree), at) for at in range(len(items)))
        return any(self._equal(self._settled(one), what, names, text) for one, text in zip(items, texts, strict=True))

    def _choose(self, tree: Call, names: Names) -> Partly:
        *pairs, otherwise = tree.arguments
        for at in range(0, len(pairs), 2):
            holds = self._settled(self.value(pairs[at], names))
            if not isinstance(holds, bool | Pending):
                raise ExpressionError("case predicate must evaluate to a boolean value", tree.at, "evaluation")
            if self._true(holds):
                return self.value(pairs[at + 1], names)
        return self.value(otherwise, names)


def _pair(tree: Compare) -> str:
    """`a == b` for `b != a` too."""
    return " == ".join(sorted((written(tree.left), written(tree.right))))


def _filtered(tree: Expression) -> bool:
    while isinstance(tree, Key):
        tree = tree.item
    return isinstance(tree, Every)
