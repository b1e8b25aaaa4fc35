"""A script that reads directives of a pull request's body by a pattern of its own: https://github.com/radixark/miles/pull/2674"""

import posixpath
import re
from collections.abc import Iterator

from regraft.core.findings import Finding, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_run_by import program_text, programs
from regraft.core.workflow_values import Condition, Place, Step

NAME = "directive-grammar"

_BODY = regex(
    r"pull_request\.body|pull_request\[['\"]body|--json[ =]\S*body|issue\.body|\.body\b|\bpr_?body\b", re.IGNORECASE
)
_IN_PROGRAM = regex(r"(?i)\bbody\b|PR_BODY|GITHUB_EVENT_PATH")
# `ci-sglang-pr`, and with a pattern in the place of the name
_KEY = r"\bci[-_](?:[a-z0-9.]+(?:-[a-z0-9.]+)*?|\(?(?:\?P<\w+>|\?:)?\[[^\]\s]{1,30}\][+*]?\)?|\(?(?:\?P<\w+>|\?:)?(?:\\w|\.|\\S)[+*]\??\)?)[-_]pr\b"  # fmt: skip
_READS = regex(
    r"\b(?:grep|egrep|sed|awk|gawk|perl|rg|expr)\b|=~|\bre\.(?:search|match|compile|findall|finditer|fullmatch|split|sub)\b"
    r"|\.match(?:All)?\(|\.search\(|\.exec\(|RegExp|\.test\(|startswith\(|startsWith\(|\.includes\(|\bin line\b|\bcase\b"
)
_ANY_CASE = regex(r"\bgrep\s+(?:-\w+\s+)*-\w*i|re\.I\b|IGNORECASE|\(\?i\)|/[gm]*i[gm]*\b|['\"]g?i['\"]|ignore-case|tolower|\.lower\(|toLowerCase")  # fmt: skip
_SAYS = regex(r"\s*(?:#|//|(?:echo|printf)\b[^|]*$)")
_FENCES = regex(r"```|~~~|fence|<!--")


def find(graph: Graph) -> Iterator[Finding]:
    said: set[tuple[str, int]] = set()
    key = regex("|".join([_KEY, *_declared(graph)]))
    for site in graph.sites():
        steps = _of_step(graph, site.step, key) if site.step is not None else ()
        for found in (*_of_condition(site.condition, key), *steps):
            if (found.path, found.line or 0) not in said:
                said.add((found.path, found.line or 0))
                yield found


def _declared(graph: Graph) -> list[str]:
    manifest = graph.repository.manifest
    if manifest is None:
        return []
    named = [one.directive for one in manifest.dependencies.values()]
    named += [one.directive for one in manifest.packages.values()]
    named += [one.tag_directive for one in manifest.images.values() if one.tag_directive is not None]
    return [re.escape(one) for one in named]


def _of_condition(condition: Condition | None, key: re.Pattern[str]) -> Iterator[Finding]:
    """`contains(github.event.pull_request.body, 'ci-sglang-pr:')`."""
    if condition is None or key.search(condition.text.value) is None or _BODY.search(condition.text.value) is None:
        return
    found = key.search(condition.text.value)
    assert found is not None  # that is what was asked
    place = condition.text.place
    message = f"this looks for `{found[0][:60]}` anywhere in the body, in any case, in code fences, quotes and comments; regraft's grammar does not"
    fix = "let `regraft plan` read the body, and ask its outputs"
    yield Finding(NAME, "warning", message, place.path, place.line, place.column, "medium", (), fix)


def _of_step(graph: Graph, step: Step, key: re.Pattern[str]) -> Iterator[Finding]:
    values = [one for one in (step.run, step.arguments.get("script")) if one is not None]
    around = "\n".join(one.text.value for one in (*values, *step.env.values()))
    has_body = _BODY.search(around) is not None
    for value in values:
        place = _first(value.text.value, key) if has_body else None
        if place is not None:
            at, line = place
            yield _finding(Place(value.text.place.path, value.text.line(at)), line, value.text.value, key, ())
    if step.run is None:
        return
    for path in (one for one in programs(graph, step) if _is_named(step.run.text.value, one)):
        text = program_text(graph, path)
        place = _first(text, key) if has_body or _IN_PROGRAM.search(text) else None
        if place is not None:
            at, line = place
            why = (Witness(step.place.path, step.place.line, f"a step runs {path}"),)
            yield _finding(Place(path, text.count("\n", 0, at) + 1), line, text, key, why)


def _is_named(script: str, path: str) -> bool:
    """Whether a script names the program itself, as a file or a module, and not by what another one says."""
    module = path.removesuffix(".py").replace("/", ".")
    return (
        path in script
        or module in script
        or re.search(rf"/{re.escape(posixpath.basename(path))}\b", script) is not None
    )


def _first(text: str, key: re.Pattern[str]) -> tuple[int, str] | None:
    """Where the first line begins that looks for such a key, and the line."""
    if key.search(text) is None:
        return None
    at = 0
    for line in text.split("\n"):
        if key.search(line) and _READS.search(line) and not _SAYS.match(line):
            return at, line
        at += len(line) + 1
    return None


def _finding(place: Place, line: str, text: str, key: re.Pattern[str], why: tuple[Witness, ...]) -> Finding:
    found = key.search(line)
    assert found is not None  # that is how the line was found
    other = []
    if _ANY_CASE.search(line):
        other.append("in any case")
    if not re.search(r"\^(?:\\s\*|\[\[:space:\]\]\*|\[ \\t\]\*| \*|\(|\?:|\?P<\w+>)*$|startswith\(\s*f?['\"]$|startsWith\(\s*['\"]$", line[: found.start()]):  # fmt: skip
        other.append("in the middle of a line")
    if not _FENCES.search(text):
        other.append("in code fences, quotes and comments")
    taken = f", and takes it {', '.join(other)}" if other else ""
    message = f"this reads `{found[0][:60]}` by a pattern of its own{taken}; regraft's grammar does not"
    if not other:
        message = f"this reads `{found[0][:60]}` by a pattern of its own, beside regraft's grammar"
    fix = "let `regraft plan` read the body: it says of each line what it is taken for"
    return Finding(NAME, "warning", message, place.path, place.line, None, "medium", why, fix)


RULE = Rule(NAME, "a script that reads directives by another grammar than regraft's", find)
