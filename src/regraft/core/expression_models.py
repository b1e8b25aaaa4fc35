"""That an expression is no constant where something else holds: shown by a few cases, without a look at all of them.

What holds around a place ("its job runs, and so do its callers") is given for every condition there. A case in which it was found
to hold is a model of it: whatever is chosen besides, it holds, so that it is not evaluated again for each condition.
"""

from collections.abc import Sequence

from regraft.core.expression_case import Case
from regraft.core.expression_cone import Variable, path_of, variable
from regraft.core.expression_known import Defined, Known, Names
from regraft.core.expression_partly import CoarseError, Model
from regraft.core.expression_search import Budget, Memo, Search
from regraft.core.expression_tree import Expression, Logic

MOST = 4  # cases of one search
KEPT = 2  # models of one name


def is_open(tree: Expression, given: Expression, names: Names, memo: Memo | None = None) -> bool:
    """Whether a few cases in which `given` is true show both truths of an expression. False: that is not known yet."""
    budget = Budget(memo or Memo())
    found: set[bool] = set()
    try:
        for model in _models(given, names, budget):
            _collect(found, tree, names, Search((tree,), names, budget, model))
    except CoarseError:
        found.clear()  # it asks for more than the models tell
        _collect(found, tree, names, Search((given, tree), names, budget), given)
    return len(found) == 2


def _collect(found: set[bool], tree: Expression, names: Names, search: Search, given: Expression | None = None) -> None:
    """The truths of a few cases, until there are two; of none where one cannot be evaluated."""

    def stop(run: Case) -> bool:
        if given is None or run.truth(given, names):
            found.add(run.truth(tree, names))
        return len(found) == 2

    failed, _ = search.over(stop, MOST)
    if failed is not None:
        found.clear()


def _models(tree: Expression, names: Names, budget: Budget) -> Sequence[Model]:
    """A few; none where a few cases show none. Those of a name are kept."""
    path = path_of(tree)
    if path is None:
        return _with(Model(), (tree,), names, budget)
    of, kept = variable(names, path), budget.memo.models
    if of not in kept:
        kept[of] = ()  # for what leads back to itself
        kept[of] = _of_name(of, tree, names.known(path), budget)
    return kept[of]


def _of_name(of: Variable, tree: Expression, known: Known, budget: Budget) -> Sequence[Model]:
    """Of what it stands for; and of `a && b` those of `a` in which `b` can be true too."""
    if not isinstance(known, Defined):
        return _with(Model(), (tree,), of[0], budget)
    if not isinstance(known.tree, Logic) or known.tree.operator == "||":
        return _models(known.tree, known.names, budget)
    first, *others = known.tree.items
    before = _models(first, known.names, budget)
    return [more for one in before for more in _with(one, others, known.names, budget, of)][:KEPT]


def _with(
    model: Model, trees: Sequence[Expression], names: Names, budget: Budget, of: Variable | None = None
) -> Sequence[Model]:
    """Models in which more is true, and so the name `of`."""
    found: list[Model] = []

    def stop(run: Case) -> bool:
        if all(run.truth(one, names) for one in trees):
            found.append(run.model(of))
        return len(found) == KEPT

    try:
        Search(trees, names, budget, model).over(stop, MOST)
    except CoarseError:
        return []
    return found
