"""A matrix that gives other shards than the command that it starts is told of, so that some never run, or are not there."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_options import (
    FromMatrix,
    Where,
    Written,
    commands,
    given,
    place_of_matrix,
    resolve,
    ways,
)
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Data, Job, Place, Step, Text, Value
from regraft.core.workflow_yaml import items, mapping

NAME = "matrix-shards"

MOST = 10_000  # shards
_COUNTS = ("num-shards", "shard-count", "total-shards", "shard-total", "shards", "num-partitions", "partition-count")
# The option of one shard, the options that say how many there are, and the first number, where that is known.
_PAIRS: Mapping[str, tuple[tuple[str, ...], int | None]] = {
    "auto-partition-id": (("auto-partition-size",), 0),
    "group": (("splits",), 1),  # https://github.com/jerry-git/pytest-split
    "test-group": (("test-group-count",), 1),
    "shard-id": (_COUNTS, None),
    "shard-index": (_COUNTS, None),
    "shard": (_COUNTS, None),
    "partition-id": (("partition-size", *_COUNTS), None),
    "partition": (("partition-size", *_COUNTS), None),
}
_VARIABLES: Mapping[str, tuple[tuple[str, ...], int | None]] = {
    "GTEST_SHARD_INDEX": (("GTEST_TOTAL_SHARDS",), 0),
    "SHARD_INDEX": (("SHARD_COUNT", "TOTAL_SHARDS", "NUM_SHARDS", "SHARD_TOTAL"), None),
    "CI_NODE_INDEX": (("CI_NODE_TOTAL",), None),
}
_SLASHED = ("shard", "partition", "split", "group")
_OF = regex(r"(?:[a-z]+:)?(\S{1,220}?|\$\{\{[^}\n]{1,200}\}\})/(\S{1,220}|\$\{\{[^}\n]{1,200}\}\})")
_NUMBER = regex(r"[0-9]{1,6}")
_BRANCHES = regex(r"\b(?:if|case|elif)\b[^\n]*matrix\.")


class _Asked(Struct, frozen=True):
    """One command: where a shard is named, how many there are, and the first one's number."""

    text: str
    shard: Written
    count: Written
    first: int | None


class _Sharded(Struct, frozen=True, eq=False):
    """A matrix against a count. `values`: the shards that it gives."""

    source: FromMatrix
    values: frozenset[int]
    count: int
    first: int | None
    said: Place
    counted: Place


def find(graph: Graph) -> Iterator[Finding]:
    groups: dict[tuple[str, str, int], list[_Sharded]] = {}
    for path, job, step, asked in _asked(graph):
        for where in ways(graph, path, job, step):
            for one in _sharded(graph, where, asked):
                groups.setdefault((one.source.path, asked.text, one.count), []).append(one)
    seen: set[tuple[Place, int, Place]] = set()
    for group in groups.values():
        together = frozenset(value for one in group for value in one.values)
        for one in group:
            key = place_of_matrix(one.source.job, one.source.key), one.count, one.said
            if key not in seen and not _fits(together, one) and not _fits(one.values, one):
                seen.add(key)
                yield _finding(one)


def _asked(graph: Graph) -> Iterator[tuple[str, Job | None, Step, _Asked]]:
    for command in commands(graph):
        if _is_for_all(command.step):
            for asked in _of_options(command.text, command.options):
                yield command.path, command.job, command.step, asked
    for site in graph.sites():
        step, job = site.step, site.job
        if step is None or not _is_for_all(step):
            continue
        for shard, (counts, first) in _VARIABLES.items():
            value = step.env.get(shard)
            among = step.env
            if value is None and job is not None and step.index == 0:
                value, among = job.env.get(shard), job.env
            if value is None:
                continue
            count = next((among[one] for one in counts if one in among), None)
            if count is not None:
                yield (
                    site.path,
                    job,
                    step,
                    _Asked(f"{job.name if job else ''} {shard}", _written(value), _written(count), first),
                )


def _written(value: Value) -> Written:
    return Written(value.text.value, value.text.place)


def _is_for_all(step: Step) -> bool:
    """Whether it does the same for each combination, as far as that can be seen."""
    asks = step.condition is not None and "matrix" in step.condition.text.value
    return not asks and (step.run is None or _BRANCHES.search(step.run.text.value) is None)


def _of_options(text: str, options: Mapping[str, Written]) -> Iterator[_Asked]:
    for name, written in options.items():
        counts, first = _PAIRS.get(name, ((), None))
        count = next((options[one] for one in counts if one in options), None)
        if count is not None:
            yield _Asked(text.replace(written.text, "…"), written, count, first)
        elif any(word in name for word in _SLASHED) and (of := _OF.fullmatch(written.text)) is not None:
            shard, among = (Written(one, written.place) for one in of.groups())
            yield _Asked(text.replace(written.text, f"…/{of[2]}"), shard, among, None)


def _sharded(graph: Graph, where: Where, asked: _Asked) -> Iterator[_Sharded]:
    source = resolve(graph, where, asked.shard)
    if not isinstance(source, FromMatrix) or _is_moved(source):
        return
    values = given(source.job, source.key)
    if values is None or _is_excluded(source):
        return
    count = resolve(graph, where, asked.count)
    if isinstance(count, Written):
        pairs = {(count.text, count.place): values}
    elif isinstance(count, FromMatrix) and count.job is source.job:
        pairs = _together(source, count.key)
    else:
        return
    for (text, counted), some in pairs.items():
        numbers = [one.value.value for one in some if isinstance(one.value, Text)]
        if _NUMBER.fullmatch(text) and 0 < int(text) <= MOST and all(map(_NUMBER.fullmatch, numbers)):
            yield _Sharded(source, frozenset(map(int, numbers)), int(text), asked.first, asked.shard.place, counted)


def _is_moved(source: FromMatrix) -> bool:
    """Whether a script of the job calculates with it."""
    scripts = [one.run.text.value for one in source.job.steps if one.run is not None]
    return any("$((" in one and f"matrix.{source.key}" in one for one in scripts)


def _is_excluded(source: FromMatrix) -> bool:
    """Whether `exclude` may take one of its values away altogether."""
    exclude = named(mapping(source.job.data.get("strategy", "matrix")), "exclude")
    keys = [{key.lower() for key in mapping(one)} for one in items(exclude)]
    return exclude is not None and (not keys or any(one == {source.key.lower()} for one in keys))


def _together(source: FromMatrix, count: str) -> dict[tuple[str, Place], list[Data]]:
    """The values that come with each count; nothing where that is not plain to see."""
    matrix = mapping(source.job.data.get("strategy", "matrix"))
    own, counts = named(matrix, source.key), named(matrix, count)
    found: dict[tuple[str, Place], list[Data]] = {}
    if (own is None) != (counts is None):
        return {}
    if own is not None and counts is not None:
        if "include" in matrix:
            return {}
        return {(one.value.value, one.place): list(items(own)) for one in items(counts) if isinstance(one.value, Text)}
    places: dict[str, Place] = {}
    for one in items(named(matrix, "include")):
        value, of = named(mapping(one), source.key), named(mapping(one), count)
        if value is None or of is None or not isinstance(of.value, Text):
            return {}
        text = of.value.value
        found.setdefault((text, places.setdefault(text, of.place)), []).append(value)
    return found


def _fits(values: frozenset[int], one: _Sharded) -> bool:
    return any(values == set(range(first, first + one.count)) for first in _firsts(one))


def _firsts(one: _Sharded) -> Sequence[int]:
    return (0, 1) if one.first is None else (one.first,)


def _finding(one: _Sharded) -> Finding:
    first = max(_firsts(one), key=lambda first: len(one.values & set(range(first, first + one.count))))
    wanted = set(range(first, first + one.count))
    missing, others = sorted(wanted - one.values), sorted(one.values - wanted)
    key, job, count = one.source.key, one.source.job.name, one.count
    said = [f"{_list(missing)} {'is' if len(missing) == 1 else 'are'} never run"] if missing else []
    said += [f"{_list(others)} {'is none' if len(others) == 1 else 'are none'} of them"] if others else []
    message = f"`matrix.{key}` of `{job}` has {len(one.values)} values, and its command is told of {count} shards, {first} to {first + count - 1}: {' and '.join(said)}"
    severity: Severity = "warning" if len(one.values) == 1 and not others else "error"
    place = place_of_matrix(one.source.job, key)
    witnesses = [Witness(one.said.path, one.said.line, "here a shard is named")]
    if (one.counted.path, one.counted.line) != (one.said.path, one.said.line):
        witnesses.append(Witness(one.counted.path, one.counted.line, f"here there are {count}"))
    fix = f"let `{key}` have {first} to {first + count - 1}, or tell the command of as many as there are"
    confidence: Confidence = "high" if severity == "error" else "medium"
    return Finding(NAME, severity, message, place.path, place.line, place.column, confidence, tuple(witnesses), fix)


def _list(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"`{one}`" for one in numbers[:5])
    return f"{shown} and {len(numbers) - 5} more" if len(numbers) > 5 else shown


RULE = Rule(NAME, "a matrix that gives other shards than its command is told of", find)
