"""The rules of `image check` about commands that apply patches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from regraft.core.findings import Finding
from regraft.core.image_applies import Applied
from regraft.core.image_rules import finding
from regraft.core.image_scripts import READS, Script
from regraft.core.image_values import Place
from regraft.core.shell_failure import Outcome, outcome
from regraft.core.shell_values import Block, Chain, Command, For, If, Nested, Node, Pipeline, all_nodes
from regraft.core.trees import printable


def missing(applied: Iterable[Applied]) -> Iterator[Finding]:
    for one in applied:
        for text, near in one.missing:
            message = f"{one.apply.tool} of {printable(text)}, which the folder copied there does not have"
            yield finding("apply-missing", one.place, message, f"the nearest name is {near}" if near else None)


def unchecked(applied: Sequence[Applied], scripts: Iterable[Script]) -> Iterator[Finding]:
    """Applies of which the failure does not reach the build, or the start. `scripts` are all that are followed."""
    read = {id(one.caller[1]): one for one in scripts if one.caller is not None and _reads(one)}
    told: set[tuple[int, tuple[str, ...]]] = set()
    for one in applied:
        if one.apply.back or one.script.block is None:
            continue
        key = (id(one.script), one.paths or tuple(word.text for word in one.apply.files))
        same = [other for other in applied if other.script is one.script and _alike(one, other)]
        if key in told or all(other.apply.asks for other in same):
            continue
        told.add(key)
        if _through_find(one.seen.command):
            message = "find ends well whatever its -exec … ; does: a patch that does not fit is not seen"
            yield finding("apply-unchecked", one.place, message, "loop over the files, with `|| exit 1`")
            continue
        result, where = _result(one.script, [other.seen.command for other in same], read)
        if result == "goes-on":
            place, why = where
            witnesses = ((place, "its failure ends here"),) if place != one.place else ()
            message = f"{one.apply.tool} may fail and the build goes on: {why}"
            yield finding(
                "apply-unchecked", one.place, message, "let it end the build: `|| exit 1`, or `set -e`", witnesses
            )


def _alike(one: Applied, other: Applied) -> bool:
    """Two tries of the same patches: what lets the one fail, lets the other. So does the question whether it is there already."""
    if other.apply.back and not other.apply.asks:
        return False
    texts = tuple(word.text for word in one.apply.files)
    return other is one or texts == tuple(word.text for word in other.apply.files)


def _reads(script: Script) -> bool:
    """Whether the shell that runs its caller runs it too: `.`, `source`, `eval`."""
    return script.caller is not None and script.caller[1].name in (*READS, "eval") and script.block is not None


def _through_find(command: Command) -> bool:
    words = [word.text for word in command.words]
    return bool(words) and words[0].rpartition("/")[2] == "find" and words[-1] == ";"


def _result(
    script: Script, failing: Sequence[Command], read: Mapping[int, Script]
) -> tuple[Outcome, tuple[Place, str]]:
    """Through the scripts that run each other, up to the build's own command."""
    here: Script | None = script
    result: Outcome = "unclear"
    place, why = script.place(0), ""
    blocks = {command: one.block for command, one in read.items() if one.block is not None}
    while here is not None and here.block is not None:
        while _reads(here) and here.caller is not None:
            here = here.caller[0]
        if here.block is None:
            break
        result, node = outcome(here.block, failing, here.shell, blocks)
        if result != "stops":
            at = node if node is not None else failing[0]
            owner = next((one for one in (here, script, *read.values()) if _has(one, at)), here)
            place, why = owner.place(at.span.start), _why(at, here)
            break
        if here.caller is None:
            break
        caller, command = here.caller
        here, failing = caller, [command]
    return result, (place, why)


def _has(script: Script, node: Node) -> bool:
    return script.block is not None and any(one is node for one in all_nodes(script.block))


def _why(node: Node, script: Script) -> str:
    match node:
        case Chain(operators=operators) if any(one.text == "||" for one in operators):
            return "what follows `||` ends well"
        case Chain():
            return "a later command of the `&&` chain decides"
        case Pipeline():
            return "a pipe ends as its last command does (no pipefail in force)"
        case For() | Nested(kind="while" | "until"):
            return "the loop ends as its last turn does"
        case If():
            return "the `if` asks, and goes on"
        case Command(inner=inner) if inner:
            return "a command does not end as the `$(…)` among its words does"
        case Block() if not script.shell.errexit:
            return "the script ends as its last command does (no `set -e` in force)"
        case _:
            return "nothing asks for its status"
