"""Whether an expression is true, false, or either, over all that its names can be.

It is evaluated once for each case. A name whose value matters is split into its classes when it is asked for, so that what is not
asked for is not enumerated; `a && false` is decided before `a` is split. What an unknown makes of a function, or of another
unknown, is one more unknown, by its text: each case stands for all real values that lead there, and there is one for each of those.
"""

from msgspec import Struct

from regraft.core.expression_case import Case
from regraft.core.expression_cone import path_of
from regraft.core.expression_known import Defined, Names
from regraft.core.expression_partly import Choice, Leaf, Listed, Pending
from regraft.core.expression_search import Budget, Memo, Search
from regraft.core.expression_tree import Expression, Logic
from regraft.core.expression_value import Value

MOST_CASES = 4096
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


def decide(tree: Expression, names: Names, memo: Memo | None = None) -> Decision:
    """What an expression is, over all cases of its names. Never a wrong constant: what is too much to look at is None."""
    return _decide(tree, names, Budget(memo or Memo()))


def _decide(tree: Expression, names: Names, budget: Budget) -> Decision:
    if not isinstance(tree, Logic):
        path = path_of(tree)
        known = None if path is None else names.known(path)
        if isinstance(known, Defined) and not known.why and isinstance(known.tree, Logic):
            return _decide(known.tree, known.names, budget)  # which can be looked at part by part
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


def _search(tree: Expression, names: Names, budget: Budget, most: int) -> Decision:
    search = Search((tree,), names, budget)
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


def values(tree: Expression, names: Names, most: int = 64, memo: Memo | None = None) -> tuple[Value, ...] | None:
    """All values that an expression can have; None where that is not known, or where there are more than `most`."""
    search = Search((tree,), names, Budget(memo or Memo()))
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
