"""Is cached byte code what its source makes? Runs inside an image's Python (3.8 or newer), standard library only.

Started by `regraft.adapters.machine` like `image_probe.py`. REQUEST is {"answer": file to make, "limit": how many sources
to compile}; standard input holds the absolute paths of the sources, as JSON. No code is run.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import sys
import types
import warnings
from typing import Any

STALE_LIMIT = 1000
FIELDS = (  # all that an import makes of a code object; older interpreters do not have the last ones
    "co_name",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_firstlineno",
    "co_code",
    "co_consts",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_qualname",
    "co_linetable",
    "co_exceptiontable",
)


class Unused(Exception):  # noqa: N818 - no error: the import would compile the source
    """There is no byte code, or none that an import would take."""


class Cached(importlib.machinery.SourceFileLoader):
    """Takes the byte code where an import takes it, by the interpreter's own rules, and compiles nothing."""

    @staticmethod
    def source_to_code(*_: Any, **__: Any) -> Any:
        raise Unused


def main() -> None:
    request = json.loads(sys.argv[1])
    sources: list[str] = json.load(sys.stdin)
    warnings.simplefilter("ignore")  # what the compiler says of a source is no answer
    stale: list[dict[str, str]] = []
    compared = left = 0
    for source in sources:
        try:
            code = cached(source)
        except Unused:
            continue
        if compared == request["limit"]:
            left += 1
            continue
        compared += 1
        why = difference(source, code)
        if why is not None and len(stale) < STALE_LIMIT:
            stale.append({"path": importlib.util.cache_from_source(source), "why": why})
    answer = os.open(request["answer"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(answer, "wb") as stream:
        stream.write(json.dumps({"compared": compared, "left": left, "stale": stale}).encode("ascii"))


def cached(source: str) -> types.CodeType | None:
    """The byte code that an import takes, None where it fails on it. Raises Unused where it takes none."""
    # PEP 3147: an interpreter whose tag is None keeps no byte code, and cache_from_source has no answer there.
    tagged = getattr(sys.implementation, "cache_tag", None) is not None
    if not tagged or not os.path.exists(importlib.util.cache_from_source(source)):
        raise Unused
    try:
        return Cached("m", source).get_code("m")
    except OSError:
        raise Unused from None
    except Unused:
        raise
    except Exception:  # noqa: BLE001 - whatever `marshal` makes of anybody's bytes
        return None


def difference(source: str, code: types.CodeType | None) -> str | None:
    """Why the byte code is not this source's, or None where it is: code objects are equal whatever their file is called."""
    if code is None:
        return "damaged: an import fails on it"
    try:
        with open(source, "rb") as stream:
            fresh = compile(stream.read(), source, "exec", dont_inherit=True, optimize=-1)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        return f"the source beside it does not compile: {type(error).__name__}"
    except OSError as error:
        return f"the source beside it cannot be read: {error.strerror}"
    same = code == fresh or plain(code) == plain(fresh)
    return None if same else "made from another source than the file beside it"


def plain(value: Any) -> Any:
    """A constant as values that are equal where they are the same: a NaN that the compiler folded equals no other."""
    if isinstance(value, types.CodeType):
        return [plain(getattr(value, name, None)) for name in FIELDS]
    if isinstance(value, tuple):
        return ("tuple", tuple(map(plain, value)))
    if isinstance(value, frozenset):
        return ("frozenset", frozenset(map(plain, value)))
    if isinstance(value, (float, complex)):
        return (type(value).__name__, value.real.hex(), value.imag.hex())
    return (type(value).__name__, value)


main()
