"""Options of commands in `run` scripts, and what their values come to: a text, or what a matrix gives.

    for command in commands(graph):
        for where in ways(graph, command.path, command.job, command.step):
            known = resolve(graph, where, command.options["suite"])

Scripts are read by words here, without the shell's grammar: what is quoted or built in another way stays unknown.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from regraft.core.expression_text import parse_expression
from regraft.core.expression_tokens import ExpressionError
from regraft.core.patterns import regex
from regraft.core.workflow_graph import CALL, Graph
from regraft.core.workflow_inputs import find
from regraft.core.workflow_scripts import masked
from regraft.core.workflow_uses import place_in, references
from regraft.core.workflow_values import Action, Data, Job, Place, Step, Text, Value, Workflow
from regraft.core.workflow_yaml import items, mapping

DEEPEST = 4  # calls in a row
MOST = 64  # ways to one place

_WORTH = regex(r"--[a-z-]*(?:shard|partition|group|suite)")
_END = regex(r"\n|&&|\|\||[;|]")
_WORD = regex(r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"'])+""")
_EXPRESSION = regex(r"\$\{\{[ \t]*([^}\n]{1,200}?)[ \t]*\}\}")
_VARIABLE = regex(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_PLAIN = regex(r"[A-Za-z0-9_./:@%+-]{1,200}")


class Written(Struct, frozen=True):
    """A value as it is written, and where."""

    text: str
    place: Place


class Command(Struct, frozen=True, eq=False):
    """`options` by name without dashes, with `-` for `_`; an option that is given twice has its last value.

    `text`: all of it, on one line.
    """

    path: str
    job: Job | None
    step: Step
    text: str
    options: Mapping[str, Written]


class Where(Struct, frozen=True, eq=False):
    """A place, and who calls the file that it is in."""

    path: str
    job: Job | None
    step: Step | None
    caller: "Where | None" = None


class FromMatrix(Struct, frozen=True, eq=False):
    """`matrix.KEY` of a job."""

    path: str
    job: Job
    key: str


Known = Written | FromMatrix | None


def commands(graph: Graph) -> tuple[Command, ...]:
    """Those with an option that a shard or a suite can be named by."""
    found = graph.memo.get("commands with options")
    if found is None:
        found = graph.memo["commands with options"] = tuple(_commands(graph))
    assert isinstance(found, tuple)
    return found


def ways(graph: Graph, path: str, job: Job | None, step: Step | None) -> list[Where]:
    """A place by each chain of callers in the repository; one without a caller where nobody here calls the file."""
    return _ways(graph, path, job, step, DEEPEST)[:MOST]


def resolve(graph: Graph, where: Where, written: Written) -> Known:
    """What a value comes to; None where that is not known."""
    text = written.text.strip()
    expression = _EXPRESSION.fullmatch(text)
    if expression is not None:
        return _reference(graph, where, expression[1])
    variable = _VARIABLE.fullmatch(text)
    if variable is not None:
        value = _variable(graph, where, variable[1] or variable[2])
        return None if value is None or value.text == written.text else resolve(graph, where, value)
    return Written(text, written.place) if _PLAIN.fullmatch(text) else None


def given(job: Job, key: str) -> list[Data] | None:
    """The values of `matrix.KEY`, each with its place; None where one is not known."""
    matrix = job.data.get("strategy", "matrix")
    own = find(mapping(matrix), key)
    include = find(mapping(matrix), "include")
    if matrix is None or not mapping(matrix) or (include is not None and not isinstance(include.value, tuple)):
        return None
    if own is not None and not isinstance(own.value, tuple):
        return None
    found = [*items(own), *(one for added in items(include) if (one := find(mapping(added), key)) is not None)]
    return found if found and all(_is_plain(one) for one in found) else None


def place_of_matrix(job: Job, key: str) -> Place:
    """Of the key, or of the whole matrix where only `include` has it."""
    matrix = job.data.get("strategy", "matrix")
    assert matrix is not None  # it was read
    named = find(matrix.keys, key)
    return named.place if named is not None else matrix.place


def _is_plain(data: Data) -> bool:
    return isinstance(data.value, Text) and "${{" not in data.value.value


def _commands(graph: Graph) -> Iterator[Command]:
    for site in graph.sites():
        step = site.step
        if step is None or step.run is None or _WORTH.search(step.run.text.value) is None:
            continue
        for begin, stop in _segments(masked(step.run)):
            options = dict(_options(graph, step.run.text, begin, stop))
            if options:
                text = " ".join(step.run.text.value[begin:stop].replace("\\\n", " ").split())
                yield Command(site.path, site.job, step, text, options)


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """Where each command begins and ends, comments left out; a line that goes on is a part of it."""
    text = text.replace("\\\n", "  ")
    begin = 0
    for match in _END.finditer(text + "\n"):
        segment = text[begin : match.start()]
        if not segment.lstrip().startswith("#"):
            yield begin, match.start()
        begin = match.end()


def _options(graph: Graph, text: Text, begin: int, stop: int) -> Iterator[tuple[str, Written]]:
    """Offsets are those of the text; an expression is one word, whatever stands in it."""
    value = text.value
    mask = masked(Value(text, ())).replace("\\\n", "  ")
    words = [(match.start(), match.end()) for match in _WORD.finditer(mask, begin, stop)]
    for at, (start, end) in enumerate(words):
        if not mask.startswith("--", start):
            continue
        equals = mask.find("=", start, end)
        name = mask[start + 2 : equals if equals >= 0 else end].replace("_", "-")
        if equals >= 0:
            first, last = equals + 1, end
        elif at + 1 < len(words) and not mask.startswith("-", words[at + 1][0]):
            first, last = words[at + 1]
        else:
            continue
        while last - first >= 2 and value[first] == value[last - 1] and value[first] in "\"'":
            first, last = first + 1, last - 1
        yield name, Written(value[first:last], place_in(graph, text, first))


def _ways(graph: Graph, path: str, job: Job | None, step: Step | None, left: int) -> list[Where]:
    calls = graph.callers(path) if left else ()
    callers = [one for call in calls[:MOST] for one in _ways(graph, call.path, call.job, call.step, left - 1)[:MOST]]
    return [Where(path, job, step, one) for one in callers] or [Where(path, job, step)]


def _reference(graph: Graph, where: Where, text: str) -> Known:
    try:
        tree = parse_expression(text)
    except ExpressionError:
        return None
    found = next(references(tree), None)
    if found is None or found[0] is not tree or found[2] or len(found[1]) != 2:
        return None
    context, name = found[1][0].lower(), found[1][1]
    if context == "matrix":
        job = where.job
        if job is None:  # an action has no matrix of its own: that of the job that uses it
            return None
        return FromMatrix(where.path, job, name)
    if context == "env":
        value = _variable(graph, where, name)
        return None if value is None or "env." in value.text else resolve(graph, where, value)
    return _input(graph, where, name) if context == "inputs" else None


def _input(graph: Graph, where: Where, name: str) -> Known:
    caller = where.caller
    if caller is None:
        return None
    file = _file(graph, where.path)
    if isinstance(file, Action):
        declared, passed = find(file.inputs, name), caller.step.arguments if caller.step is not None else {}
    else:
        event = file.events.get(CALL) if file is not None else None
        declared = find(event.inputs, name) if event is not None else None
        passed = caller.job.arguments if caller.job is not None else {}
    value = find(passed, name)
    if value is None and declared is not None:
        value = declared.default
    return None if value is None else resolve(graph, caller, Written(value.text.value, value.text.place))


def _variable(graph: Graph, where: Where, name: str) -> Written | None:
    """As it is written at the step, the job or the workflow."""
    file = _file(graph, where.path)
    for named in (
        where.step.env if where.step is not None else {},
        where.job.env if where.job is not None else {},
        file.env if isinstance(file, Workflow) else {},
    ):
        if name in named:
            text = named[name].text
            return Written(text.value, text.place)
    return None


def _file(graph: Graph, path: str) -> Workflow | Action | None:
    found = graph.repository.workflows.get(path)
    return found or next((one for one in graph.repository.actions.values() if one.path == path), None)
