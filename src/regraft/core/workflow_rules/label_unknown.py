"""A label that a condition asks for and that the repository's own list does not have, or that is one slip off another."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from msgspec import Struct

from regraft.core.expression_tree import Call, Compare, Constant, Every, Expression, Key, parts
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.spelling import distance, nearest
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import files, place_in, references, uses
from regraft.core.workflow_values import Data, Place, Text
from regraft.core.workflow_yaml import items, mapping, read_yaml, text

NAME = "label-unknown"

_LISTS = tuple(f".github/{name}" for name in ("labels.yml", "labels.yaml", "labels.json"))
_LABELERS = (".github/labeler.yml", ".github/labeler.yaml")
_SETTERS = frozenset({"dependencies", "github_actions", "python", "javascript", "docker", "go", "rust", "java", "ruby"})
_LABEL = frozenset({"label", "labels"})
_WORDS = regex(r"[a-z0-9]+")
_LEAST = 4  # letters of a word in which a slip is told from another word
_USUAL = 3  # times


class _Asked(Struct, frozen=True):
    label: str
    place: Place


class _Listed(Struct, frozen=True):
    """Labels by their folded text: as they are written, and where. `complete`: there are no others."""

    labels: Mapping[str, Text]
    complete: bool


def find(graph: Graph) -> Iterator[Finding]:
    asked = list(_asked(graph))
    if not asked:
        return
    listed = _listed(graph)
    if listed is None:
        yield from _unusual(asked)
        return
    names = [one.value for one in listed.labels.values()]
    for one in asked:
        folded = one.label.casefold()
        if folded in listed.labels or folded in _SETTERS:
            continue
        meant = nearest(one.label, names)
        if meant is not None or listed.complete:
            yield _finding(one, "warning" if meant else "note", meant, listed)


def _finding(one: _Asked, severity: Severity, meant: str | None, listed: _Listed) -> Finding:
    at = one.place
    near = listed.labels[meant.casefold()].place if meant else None
    path = near.path if near is not None else next(iter(listed.labels.values())).place.path
    why = (Witness(near.path, near.line, f"here is `{(meant or '')[:60]}`"),) if near is not None else ()
    message = f"no label `{one.label[:80]}` is in `{path}`, so that this may never be true"
    fix = f"did you mean `{meant[:60]}`?" if meant else f"write a label that is there, or add it to `{path}`"
    return Finding(NAME, severity, message, at.path, at.line, at.column, "medium", why, fix)


def _unusual(asked: list[_Asked]) -> Iterator[Finding]:
    """One that stands in a single place, beside one that is usual here."""
    counts = Counter(one.label.casefold() for one in asked)
    first = {one.label.casefold(): one for one in reversed(asked)}
    usual = [label for label, count in counts.items() if count >= _USUAL]
    for label, count in counts.items():
        meant = next((one for one in usual if _is_slip(label, one)), None) if count == 1 else None
        if meant is None:
            continue
        at, other = first[label].place, first[meant].place
        why = (Witness(other.path, other.line, f"`{meant[:60]}` is asked for {counts[meant]} times, here first"),)
        message = f"the label `{label[:80]}` is asked for here alone, and is close to `{meant[:80]}`"
        fix = f"did you mean `{meant[:60]}`?"
        yield Finding(NAME, "warning", message, at.path, at.line, at.column, "low", why, fix)


def _is_slip(one: str, other: str) -> bool:
    """Whether they differ in one word, by a letter more, less or swapped, or in what stands between the words."""
    left, right = _WORDS.findall(one), _WORDS.findall(other)
    if left == right:
        return True
    if "".join(left) == "".join(right):
        return True
    different = [(a, b) for a, b in zip(left, right, strict=False) if a != b]
    if len(left) != len(right) or len(different) != 1:
        return False
    a, b = different[0]
    if min(len(a), len(b)) < _LEAST or not (a.isalpha() and b.isalpha()) or distance(a, b, 1) > 1:
        return False
    return len(a) != len(b) or sorted(a) == sorted(b)


def _asked(graph: Graph) -> Iterator[_Asked]:
    """Every text that a label is compared with, or looked for among labels, in any expression."""
    for file in files(graph):
        seen: set[tuple[int, int]] = set()
        for use in uses(graph, file.path).of("github"):
            if not _LABEL & set(use.path):
                continue
            first: Expression = use.node
            while isinstance(first, Key | Every):
                first = first.item
            begin = use.at - first.at
            if (id(use.text), begin) in seen:  # an expression names several
                continue
            seen.add((id(use.text), begin))
            for literal in _literals(use.tree):
                at = begin + literal.at + 1  # after the quote
                yield _Asked(str(literal.value), place_in(graph, use.text, at))


def _literals(tree: Expression) -> Iterator[Constant]:
    if isinstance(tree, Compare) and tree.operator in ("==", "!="):
        for one, other in ((tree.left, tree.right), (tree.right, tree.left)):
            if _is_text(one) and _path(other)[-3:] == ("event", "label", "name"):
                yield one
    if isinstance(tree, Call) and tree.function == "contains":
        held, sought = tree.arguments
        is_names = isinstance(held, Key) and isinstance(held.item, Every)
        if is_names and _path(held)[-1:] == ("labels",) and _is_text(sought):
            yield sought
    for one in parts(tree):
        yield from _literals(one)


def _is_text(tree: Expression) -> TypeGuard[Constant]:
    return isinstance(tree, Constant) and isinstance(tree.value, str) and tree.value != ""


def _path(tree: Expression) -> tuple[str, ...]:
    """Of a reference, up to `.*`, in lower case."""
    if not isinstance(tree, Key | Every):
        return ()
    found = next(references(tree), None)
    return tuple(one.lower() for one in found[1]) if found is not None and found[0] is tree else ()


def _listed(graph: Graph) -> _Listed | None:
    """The first list that is there and can be read."""
    for paths, complete in ((_LISTS, True), (_LABELERS, False)):
        for path in paths:
            data = graph.repository.read(path)
            root = read_yaml(path, data)[0] if data is not None else None
            if root is None:
                continue
            names = list(_names(root))
            if names:
                return _Listed({one.value.casefold(): one for one in reversed(names)}, complete)
    return None


def _names(root: Data) -> Iterator[Text]:
    """A list of `{name: …}` or of names, below `labels` or not; or a mapping whose keys are the names."""
    below = mapping(root).get("labels", root)
    for one in items(below):
        name = text(one) or text(mapping(one).get("name"))
        if name is not None:
            yield name
    yield from below.keys.values()


RULE = Rule(NAME, "a label that a condition asks for and the repository's own list does not have", find)
