"""Findings that were there before: frozen in a file, so that only new ones are heard of.

A finding is known again by its rule, its file and the text of its line, not by the line's number, which moves. Where several
are alike, the baseline says how many.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from regraft.core import document
from regraft.core.findings import Finding

SCHEMA = "regraft.findings-baseline/1"
SHOWN = 200  # characters of a line


class Frozen(Struct, frozen=True, forbid_unknown_fields=True):
    rule: str
    path: str
    text: str
    count: Annotated[int, Meta(ge=1)]


class FindingBaseline(Struct, frozen=True, forbid_unknown_fields=True):
    schema: str
    findings: tuple[Frozen, ...]


class _Known(NamedTuple):
    rule: str
    path: str
    text: str


def freeze(findings: Iterable[Finding], texts: Mapping[str, bytes]) -> bytes:
    """The baseline of these findings, as a file. `texts` are the files that they are in, by path."""
    counts = Counter(_known(findings, texts))
    frozen = tuple(Frozen(*key, counts[key]) for key in sorted(counts))
    return document.encode(FindingBaseline(SCHEMA, frozen))


def read_finding_baseline(data: bytes, name: str) -> FindingBaseline:
    """Raises InputError as `document.decode` does."""
    return document.decode(data, FindingBaseline, SCHEMA, name)


def without_frozen(
    findings: Iterable[Finding], baseline: FindingBaseline, texts: Mapping[str, bytes]
) -> tuple[tuple[Finding, ...], int]:
    """The findings that the baseline does not hold, and how many entries of it are found no more."""
    left = Counter({_Known(one.rule, one.path, one.text): one.count for one in baseline.findings})
    new = []
    found = tuple(findings)
    for one, key in zip(found, _known(found, texts), strict=True):
        if left[key] > 0:
            left[key] -= 1
        else:
            new.append(one)
    return tuple(new), sum(left.values())


def identities(findings: Iterable[Finding], texts: Mapping[str, bytes]) -> list[str]:
    """One hexadecimal name per finding that stays the same when lines above it come or go; alike ones are counted."""
    import hashlib  # noqa: PLC0415 - only what is handed to code scanning needs it

    seen: Counter[_Known] = Counter()
    names = []
    for key in _known(findings, texts):
        seen[key] += 1
        whole = "\0".join((*key, str(seen[key]))).encode()
        names.append(hashlib.sha256(whole).hexdigest()[:32])
    return names


def _known(findings: Iterable[Finding], texts: Mapping[str, bytes]) -> Iterator[_Known]:
    lines: dict[str, list[bytes]] = {}
    for one in findings:
        if one.path not in lines:
            lines[one.path] = texts.get(one.path, b"").splitlines()
        here = lines[one.path]
        text = here[one.line - 1].strip() if one.line is not None and one.line <= len(here) else b""
        path = one.path.encode("utf-8", "surrogateescape").decode(
            "utf-8", "backslashreplace"
        )  # a name may be any bytes
        yield _Known(one.rule, path, text.decode("utf-8", "backslashreplace")[:SHOWN])
