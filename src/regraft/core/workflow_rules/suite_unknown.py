"""A suite that a workflow names and the manifest does not have, or that the manifest has and no workflow names."""

from collections.abc import Iterator

from regraft.core.findings import Finding
from regraft.core.manifest import Manifest
from regraft.core.patterns import regex
from regraft.core.spelling import nearest
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_options import FromMatrix, Written, commands, given, resolve, ways
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Text

NAME = "suite-unknown"

MANIFEST = "regraft.toml"
OPTION = "suite"
_WORDS = regex(rb"[A-Za-z0-9_.-]+")


def find(graph: Graph) -> Iterator[Finding]:
    manifest = graph.repository.manifest
    if manifest is None or not manifest.suites:
        return
    found = list(dict.fromkeys(_named(graph)))
    if not any(one.text in manifest.suites for one in found):  # `--suite` is another program's
        return
    for one in found:
        if one.text not in manifest.suites:
            meant = nearest(one.text, manifest.suites)
            at = one.place
            fix = (
                f"write `{meant}`"
                if meant
                else f"write one of the manifest's suites, or `[suites.{one.text[:60]}]` there"
            )
            message = f"the manifest has no suite `{one.text[:80]}`"
            yield Finding(NAME, "warning", message, at.path, at.line, at.column, "high" if meant else "medium", fix=fix)
    yield from _unnamed(graph, manifest)


def _named(graph: Graph) -> Iterator[Written]:
    """Every text that `--suite` has in some way."""
    for command in commands(graph):
        written = command.options.get(OPTION)
        if written is None:
            continue
        for where in ways(graph, command.path, command.job, command.step):
            known = resolve(graph, where, written)
            if isinstance(known, Written):
                yield known
            elif isinstance(known, FromMatrix):
                for one in given(known.job, known.key) or ():
                    if isinstance(one.value, Text):
                        yield Written(one.value.value, one.value.place)


def _unnamed(graph: Graph, manifest: Manifest) -> Iterator[Finding]:
    """The word stands nowhere in a workflow or an action."""
    paths = [*graph.repository.workflows, *(one.path for one in graph.repository.actions.values())]
    words = {word for path in paths for word in _WORDS.findall(graph.repository.read(path) or b"")}
    missing = [name for name in manifest.suites if name.encode() not in words]
    if not missing:
        return
    from regraft.core.toml_places import TomlPlaces  # noqa: PLC0415 - a grammar, for a finding that is rare

    places = TomlPlaces(graph.repository.read(MANIFEST) or b"")
    for name in missing:
        line, column = places.place(("suites", name), "key")
        message = f"no workflow names the suite `{name[:80]}`"
        fix = "run it somewhere, or take it out of the manifest"
        yield Finding(NAME, "note", message, MANIFEST, line, column, "medium", fix=fix)


RULE = Rule(NAME, "a suite that a workflow names and the manifest does not have, or the other way round", find)
