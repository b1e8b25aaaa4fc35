"""A comparison of what `github` says with a text that it never is: a branch's bare name for a ref, an event that there is not."""

from collections.abc import Iterator

from regraft.core.expression_tree import Call, Compare, Constant, Expression, parts
from regraft.core.findings import Finding, Witness
from regraft.core.patterns import regex
from regraft.core.spelling import nearest
from regraft.core.workflow_events import beginnings, references
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, files, place_of, uses

NAME = "github-value-impossible"

EVENTS = frozenset(
    {
        *("branch_protection_rule", "check_run", "check_suite", "create", "delete", "deployment", "deployment_status"),
        *("discussion", "discussion_comment", "dynamic", "fork", "gollum", "image_version", "issue_comment", "issues"),
        *("label", "merge_group", "milestone", "page_build", "project", "project_card", "project_column", "public"),
        *("pull_request", "pull_request_comment", "pull_request_review", "pull_request_review_comment"),
        *("pull_request_target", "push", "registry_package", "release", "repository_dispatch", "schedule", "status"),
        *("watch", "workflow_call", "workflow_dispatch", "workflow_run"),
    }
)
"""Of GitHub's workflow schema, and `dynamic`, which its own runs have."""

_REF = regex(r"refs/(?:heads|tags|pull)/.+", 2)  # in any case, as texts are compared
_BEGINNINGS = ("refs/heads/", "refs/tags/", "refs/pull/")


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        for one in uses(graph, file.path).of("github"):
            if one.whole:
                continue
            if one.path == ("github", "event", "name"):
                yield from _no_name(graph, file.path, one)
            for against in _compared(one.tree, one.node):
                mistake = _mistake(one.path, against)
                if mistake is not None:
                    place = place_of(graph, one)
                    message, fix = mistake
                    yield Finding(NAME, "error", message, place.path, place.line, place.column, fix=fix)
                elif (begins := _kind(one.path, against)) is not None:
                    yield from _filtered_out(graph, file.path, one, begins)


def _compared(tree: Expression, node: Expression) -> Iterator[Constant]:
    """The texts that a reference is compared with, or that it is asked to begin with."""
    match tree:
        case Compare(operator="==" | "!=", left=left, right=Constant() as right) if left is node:
            yield right
        case Compare(operator="==" | "!=", left=Constant() as left, right=right) if right is node:
            yield left
        case Call(function="startswith", arguments=(first, Constant() as begin)) if first is node:
            yield Constant(f"{begin.value}*", begin.at) if isinstance(begin.value, str) else begin
        case _:
            for one in parts(tree):
                yield from _compared(one, node)


def _mistake(path: tuple[str, ...], against: Constant) -> tuple[str, str] | None:
    text = against.value
    if not isinstance(text, str) or not text:
        return None
    begins = text.endswith("*")
    text = text.rstrip("*")
    if path == ("github", "ref") and not _fits(text, begins=begins):
        return (
            f"`github.ref` never is `{text[:80]}`: it is `refs/heads/…`, `refs/tags/…` or `refs/pull/…`",
            "compare `github.ref_name`, or write the whole ref",
        )
    if path == ("github", "event_name") and not begins and text.lower() not in EVENTS:
        meant = nearest(text, EVENTS)
        fix = f"did you mean `{meant}`?" if meant else "write an event's name"
        return f"`github.event_name` never is `{text[:80]}`: GitHub has no such event", fix
    if path == ("github", "ref_type") and not begins and text.lower() not in ("branch", "tag"):
        return f"`github.ref_type` never is `{text[:80]}`: it is `branch` or `tag`", "write one of the two"
    return None


def _kind(path: tuple[str, ...], against: Constant) -> str | None:
    """Whether a comparison asks for a branch (`heads`), a tag or a pull request."""
    text = against.value.lower() if isinstance(against.value, str) else ""
    if path == ("github", "ref"):
        return next((one[5:-1] for one in _BEGINNINGS if text.startswith(one)), None)
    return {"branch": "heads", "tag": "tags"}.get(text) if path == ("github", "ref_type") else None


def _filtered_out(graph: Graph, path: str, use: Use, begins: str) -> Iterator[Finding]:
    """Where every push that starts the file is filtered to branches, or to tags, and the other is asked for.

    Where the filters are names and no patterns, the condition is judged with all the rest of it, by others.
    """
    scopes = graph.scopes(path)
    if not scopes or graph.is_crowded(path) or any(one.is_open for one in scopes):
        return
    events = list({id(one.event): one.event for one in scopes}.values())
    if any(begins in beginnings(one) for one in events) or all(references(one) is not None for one in events):
        return
    if begins == "heads" and use.path == ("github", "ref_type") and any("pull" in beginnings(one) for one in events):
        return  # a pull request's is `branch`
    place = place_of(graph, use)
    asked = {"heads": "a branch", "tags": "a tag", "pull": "a pull request"}[begins]
    message = f"`{use.said}` is compared with {asked}, and the filters of what starts this file let none through"
    fix = "compare it with what starts the file, let that start it too, or take the comparison out"
    why = tuple(Witness(one.place.path, one.place.line, f"`{one.name}`, with its filters") for one in events[:8])
    yield Finding(NAME, "warning", message, place.path, place.line, place.column, "high", why, fix)


def _fits(text: str, *, begins: bool) -> bool:
    lower = text.lower()
    if begins and any(one.startswith(lower) for one in _BEGINNINGS):
        return True
    return _REF.fullmatch(text) is not None


def _no_name(graph: Graph, path: str, use: Use) -> Iterator[Finding]:
    """Of all events only `status` has a name in its payload."""
    scopes = graph.scopes(path)
    if not scopes or any(one.is_open or one.event.name in ("status", "repository_dispatch") for one in scopes):
        return
    place = place_of(graph, use)
    message = "`github.event.name` is always empty: no event that starts this file has it"
    fix = "the event's name is `github.event_name`"
    yield Finding(NAME, "error", message, place.path, place.line, place.column, fix=fix)


RULE = Rule(NAME, "a comparison of what `github` says with a text that it never is", find)
