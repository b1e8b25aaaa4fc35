"""Answers that are kept with what they are about."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

MOST_KEPT = 65_536  # answers of one function
Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def once(find: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """A function that looks at nothing but a value that never changes, and is asked again and again for the same one.

    The very same: two values that are equal are two.
    """
    kept: dict[int, tuple[Asked, Answer]] = {}  # with the value, so that its id stays its own

    @wraps(find)
    def asked(value: Asked) -> Answer:
        found = kept.get(id(value))
        if found is None:
            answer = find(value)
            if len(kept) >= MOST_KEPT:
                kept.clear()
            found = kept[id(value)] = value, answer
        return found[1]

    return asked
