"""An environment variable that a script reads and that nothing sets: the shell puts nothing in its place and goes on."""

from collections.abc import Iterator

from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.runner_names import runner_meant
from regraft.core.shell_variables import Variables, variables
from regraft.core.spelling import distance
from regraft.core.workflow_environment import Environment, environment, is_known, sourced, written_names
from regraft.core.workflow_graph import Graph, Site
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_scripts import Script, kept, lines_of, scripts
from regraft.core.workflow_uses import falls_back, place_of, uses
from regraft.core.workflow_values import Place, Value, Workflow

NAME = "env-unset"
MOST = 100  # names of one step that are looked at
_SHORT = len("RUNNER_") + 4  # a longer name is no other word by chance

_GUARD = regex(rb"(?m)^\s*set \+[a-z]*u|\bset -a\b|\bset -o allexport\b")
_READ = regex(rb"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_DIGITS = regex(r"[0-9]")


_ELSEWHERE = regex(
    r"(?i:\$\{?env:)([A-Za-z_]{5,40})|%([A-Za-z_]{5,40})%|\benviron(?:\.get\(|\[)\s*[\"']([A-Za-z_]{5,40})[\"']\s*[\])]"
)

_ASKED = regex(r"-[nz]\s+[\"']?\$\{\{\s*env\.(\w+)")


def find(graph: Graph) -> Iterator[Finding]:
    for script in scripts(graph):
        if b"$" in script.data and script.job is not None and script.step is not None:
            yield from _of(graph, script)
    for site in graph.sites():
        if site.step is not None and site.step.run is not None:
            yield from _in_other_languages(graph, site, site.step.run)
    for workflow in graph.repository.workflows.values():
        yield from _in_expressions(graph, workflow)


def _in_expressions(graph: Graph, workflow: Workflow) -> Iterator[Finding]:
    """`env.X`, which holds what the workflow sets and nothing of the machine."""
    said: set[tuple[str, str]] = set()
    for use in uses(graph, workflow.path).of("env"):
        if len(use.path) != 2 or use.job is None or use.step is None or falls_back(use):
            continue
        name = use.names[1]
        if is_known(name) or (use.job.name, name) in said or name in _ASKED.findall(use.text.value):
            continue
        around = environment(graph, workflow, use.job, use.step)
        if name.lower() in {one.lower() for one in around.names}:
            continue
        said.add((use.job.name, name))
        yield from _judge_read(place_of(graph, use), name, around)


def _judge_read(place: Place, name: str, around: Environment) -> Iterator[Finding]:
    meant = _meant(name, [*around.names])
    if meant is None and around.open:
        return
    message = f"nothing sets `env.{name}`, which is read here" + (f", but `{meant}` is set" if meant else "")
    severity: Severity = "error" if meant is not None and not around.open else "warning"
    set_at = around.names.get(meant) if meant is not None else None
    witnesses = (Witness(set_at.path, set_at.line, f"`{meant}` is set here"),) if set_at is not None else ()
    fix = f"write `env.{meant}`" if meant is not None else f"set `{name}` in an `env` above it"
    yield Finding(NAME, severity, message, place.path, place.line, place.column, "medium", witnesses, fix)


def _in_other_languages(graph: Graph, site: Site, run: Value) -> Iterator[Finding]:
    """Of PowerShell, cmd and Python, only names that are a letter off one of the runner's are judged."""
    text, said = run.text, set[str]()
    for match in _ELSEWHERE.finditer(text.value):
        name = match[1] or match[2] or match[3]
        meant = runner_meant(name)
        if meant is None or name in said or _is_given(graph, site, name, text.value):
            continue
        said.add(name)
        line = text.line(match.start())
        lines = lines_of(graph, site.path)
        column = (lines[line - 1].find(name) if line <= len(lines) else -1) + 1
        yield _misspelt(Place(site.path, line, column or text.place.column), name, meant, "error", f"write `{meant}`")


def _is_given(graph: Graph, site: Site, name: str, text: str) -> bool:
    """Whether something sets it: an `env` around, an earlier step, the script itself."""
    if regex(rf"(?i)(?:env:|\bset\s+\"?){name}\}}?\s*=|environ\[[\"']{name}[\"']\]\s*=").search(text):
        return True
    workflow = graph.repository.workflows.get(site.path)
    if workflow is None or site.job is None or site.step is None:
        return False
    return name in environment(graph, workflow, site.job, site.step).names


def _misspelt(place: Place, name: str, meant: str, severity: Severity, fix: str) -> Finding:
    message = f"nothing sets `{name}`, which is read here: the runner sets `{meant}`"
    confidence: Confidence = "high" if severity == "error" else "medium"
    return Finding(NAME, severity, message, place.path, place.line, place.column, confidence, (), fix)


def _of(graph: Graph, script: Script) -> Iterator[Finding]:
    if _GUARD.search(script.data):
        return
    assert script.job is not None  # `find` has looked
    assert script.step is not None  # likewise
    workflow = graph.repository.workflows[script.path]
    given = (workflow.env, script.job.env, script.step.env)
    if all(
        is_known(name) or any(name in one for one in given)
        for name in map(bytes.decode, set(_READ.findall(script.data)))
    ):
        return
    own: Variables = kept(graph, ("variables", script.data), lambda: variables(script.root, script.data))
    names = [(name, at) for name, at in own.reads if name not in own.sets and not is_known(name)]
    if not names:
        return
    around = environment(graph, workflow, script.job, script.step)
    names = [one for one in names if one[0] not in around.names]
    if not names:
        return
    more, opens = sourced(graph, own.sources)
    is_open = around.open or opens or own.open
    said = set(more)
    for name, at in names[:MOST]:
        if name not in said:
            said.add(name)
            yield from _judge(script, (name, at), around, own.sets, is_open=is_open)


def _judge(
    script: Script, read: tuple[str, int], around: Environment, own: frozenset[str], *, is_open: bool
) -> Iterator[Finding]:
    name, at = read
    place = script.place(at)
    runners = runner_meant(name)
    if runners is not None and runners[:7] != name[:7]:  # nobody begins a name of their own like that
        yield _misspelt(place, name, runners, "error", f"write `${runners}`")
        return
    if runners is not None and (not is_open or len(name) > _SHORT):
        yield _misspelt(place, name, runners, "warning" if is_open else "error", f"write `${runners}`")
        return
    meant = _meant(name, [*around.names, *sorted(own)])
    if meant is not None:
        set_at = around.names.get(meant)
        witnesses = (Witness(set_at.path, set_at.line, f"`{meant}` is set here"),) if set_at is not None else ()
        message = f"nothing sets `{name}`, which is read here, but `{meant}` is set"
        severity, fix = ("warning" if is_open else "error"), f"write `${meant}`"
        yield Finding(NAME, severity, message, place.path, place.line, place.column, "medium", witnesses, fix)  # type: ignore[arg-type]  # one of the two words
        return
    if is_open:
        return
    later = _own_write(script, name)
    if later is not None:
        message = f"`{name}` is not set in this step: what is written to `GITHUB_ENV` is there for later steps"
        witnesses = (Witness(later.path, later.line, f"`{name}` is written here"),)
        fix = "set it in the script as well"
        yield Finding(NAME, "warning", message, place.path, place.line, place.column, "high", witnesses, fix)
        return
    message = f"nothing sets `{name}`, which is read here: no `env`, no earlier step, not this script, not the runner"
    fix = f"set it in `env`, or write `${{{name}:-}}` where it may be missing"
    yield Finding(NAME, "warning", message, place.path, place.line, place.column, "medium", (), fix)


def _meant(name: str, known: list[str]) -> str | None:
    """The one that is set and that this is one or two letters off, or the same but for its case."""
    if len(name) < 4:
        return None
    limit = 1 if len(name) < 8 else 2
    best: tuple[int, str] | None = None
    for one in known[:MOST]:
        if len(one) < 4:
            continue
        off = 0 if one.lower() == name.lower() else distance(name, one, limit)
        if off <= limit and _DIGITS.sub("", one) != _DIGITS.sub("", name) and (best is None or off < best[0]):
            best = off, one
    return best[1] if best is not None else None


def _own_write(script: Script, name: str) -> Place | None:
    value = script.value
    if value is None or "GITHUB_ENV" not in value.text.value:
        return None
    return written_names(value)[0].get(name)


RULE = Rule(NAME, "an environment variable that a script reads and nothing sets", find)
