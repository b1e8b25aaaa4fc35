"""What zizmor found (`zizmor --format json`), as findings. Its rules are its own: https://docs.zizmor.sh/audits/"""

import json
import posixpath
from collections.abc import Iterator
from typing import Any

from regraft.core.document import LIMIT
from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.errors import InputError, raise_all

MOST = 2**31 - 1  # a line or column; SARIF's readers take no larger one

_SEVERITIES: dict[str, Severity] = {
    "High": "error",
    "Medium": "warning",
    "Low": "note",
    "Informational": "note",
    "Unknown": "note",
}
_CONFIDENCES: dict[str, Confidence] = {"High": "high", "Medium": "medium", "Low": "low", "Unknown": "low"}


def read_zizmor(data: bytes, name: str, top: str = "/") -> tuple[Finding, ...]:
    """Its findings but for those that it was told to ignore. Rules are `zizmor/IDENT`. Paths below `top` are given from there.

    Raises InputError: too-large, not-json, wrong-shape (every finding that is none, at once).
    """
    if len(data) > LIMIT:
        raise InputError("too-large", f"{len(data)} bytes; at most {LIMIT} are read", where=name)
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        hint = "write it with `zizmor --format json`"
        raise InputError("not-json", f"this is no JSON: {error!s:.120}", where=name, hint=hint) from error
    if not isinstance(raw, list):
        hint = "write it with `zizmor --format json`, not `json-v0`, `sarif` or `plain`"
        raise InputError("wrong-shape", "this is no list of zizmor's findings", where=name, hint=hint)
    found: list[Finding] = []
    wrong: list[InputError] = []
    for index, one in enumerate(raw):
        try:
            if not one.get("ignored"):
                found.append(_finding(one, f"{top.rstrip('/')}/"))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            message = f"finding {index + 1} is none of zizmor's: {type(error).__name__} {error!s:.80}"
            wrong.append(InputError("wrong-shape", message, where=name))
    raise_all(wrong)
    return tuple(found)


def _finding(one: dict[str, Any], top: str) -> Finding:
    places = list(_places(one["locations"], top))
    primary = next((place for place in places if place[0] == "Primary"), places[0])
    others = [place for place in places if place is not primary]
    judged = one["determinations"]
    return Finding(
        f"zizmor/{_plain(one['ident'])[:80]}",
        _SEVERITIES[judged["severity"]],
        f"{_plain(one['desc'])}: {primary[4]}"[:1000],
        primary[1],
        primary[2],
        primary[3],
        _CONFIDENCES[judged["confidence"]],
        tuple(Witness(path, line, said[:400]) for _, path, line, _, said in others),
    )


def _places(locations: list[dict[str, Any]], top: str) -> Iterator[tuple[str, str, int, int, str]]:
    """(kind, path, line, column, what it says of it); lines and columns start at 1."""
    for one in locations:
        key = one["symbolic"]["key"]["Local"]
        path = posixpath.normpath(_plain(key.get("given_path") or key["verbatim_path"]))
        start = one["concrete"]["location"]["start_point"]
        annotation = _plain(one["symbolic"]["annotation"])
        path = path.removeprefix(top) if top != "/" else path
        yield one["symbolic"]["kind"], path, _count(start["row"]) + 1, _count(start["column"]) + 1, annotation


def _count(number: Any) -> int:
    if type(number) is not int or not 0 <= number < MOST:
        raise ValueError(f"{number!r:.40} is no row or column")
    return number


def _plain(text: Any) -> str:
    """As UTF-8 can hold it: JSON's escapes can write halves of characters."""
    return str(text).encode("utf-8", "replace").decode()
