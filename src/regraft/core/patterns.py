"""Regular expressions that are compiled when they are first used.

A cold gate imports a hundred of them and uses a quarter; compiling all costs it as much as starting an interpreter.
"""

import re
from typing import AnyStr, cast


class _Pattern:
    __slots__ = ("_compiled", "_flags", "_text")

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags
        self._compiled: re.Pattern[str] | re.Pattern[bytes] | None = None

    def __getattr__(self, name: str) -> object:
        if self._compiled is None:
            self._compiled = re.compile(self._text, self._flags)
        return getattr(self._compiled, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile`, later. A wrong expression is an error at its first use, so each needs a test that reaches it."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
