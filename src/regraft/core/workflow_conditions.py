"""What an `if:` asks: with text around `${{ }}`, with what GitHub adds to it, and without."""

from regraft.core.expression_functions import STATUS
from regraft.core.expression_text import value_parts
from regraft.core.expression_tree import Call as Function
from regraft.core.expression_tree import Expression, parts
from regraft.core.once import once
from regraft.core.workflow_trees import TRUE, both, reference
from regraft.core.workflow_values import Condition, Place

SUCCESS = Function("success", ())


def asks_status(tree: Expression | None) -> bool:
    """Whether one of `success()`, `failure()`, `cancelled()`, `always()` stands in it, so that GitHub adds no `success() &&`."""
    return tree is not None and _asks(tree)


@once
def _asks(tree: Expression) -> bool:
    return (isinstance(tree, Function) and tree.function in STATUS) or any(map(_asks, parts(tree)))


def condition_tree(condition: Condition | None) -> Expression:
    """What is written; text around `${{ }}` is always true, and what cannot be parsed is not known."""
    if condition is None or condition.padded:
        return TRUE
    return condition.expression if condition.expression is not None else reference("#unknown")


def is_implicit(condition: Condition | None) -> bool:
    """Whether GitHub puts `success() &&` before it."""
    if condition is None:
        return True
    if condition.padded:
        return not any(asks_status(one.expression) for one in value_parts(condition.text.value))
    return not asks_status(condition.expression)


def whole_tree(condition: Condition | None) -> Expression:
    """With the `success() &&` that GitHub adds; what is written stands first, so that it decides before many jobs are looked at."""
    tree = condition_tree(condition)
    return both(tree, SUCCESS) if is_implicit(condition) else tree


def place_in(condition: Condition, at: int) -> Place:
    """Where a part of the expression stands in the file: `at` is that of the tree."""
    text = condition.text
    opening = text.value.find("${{")
    line = text.line(at if opening < 0 else opening + 3 + at)
    return text.place if line == text.place.line else Place(text.place.path, line)


def in_short(condition: Condition) -> str:
    """On one line."""
    said = " ".join(condition.text.value.split())
    return said if len(said) <= 120 else f"{said[:120]}…"
