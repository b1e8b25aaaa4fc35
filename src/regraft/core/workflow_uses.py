"""Every reference to a context in a repository's workflows and actions: `inputs.x`, `needs.a.outputs.b`, with its place.

A file is walked once. Where an index is not known (`inputs[matrix.x]`) or is `*`, the object before it is read as a whole,
as it is by `toJSON(inputs)`.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.expression_text import mistakes, read_condition, value_parts
from regraft.core.expression_tree import Constant, Context, Every, Expression, Key, Logic, parts
from regraft.core.expression_value import text_of
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_text import unparsed
from regraft.core.workflow_values import Action, Data, Job, Place, Problem, Step, Text, Workflow

LINES = 60  # of a text that is written over several lines

_NAMED = frozenset({(one,) for one in ("env", "with", "outputs", "secrets", "inputs", "matrix")})  # keys here are names

_Owner = tuple[Job | None, Step | None]
_TOP: _Owner = (None, None)


class Use(Struct, frozen=True, eq=False):
    """`path` is in lower case and ends before the first index that is not known; `names` is the same as it is written.

    `whole`: such an index follows. `text` holds the expression at its character `at`; `tree` is all of that expression and
    `node` the reference in it. `keys` lead from the top of the file to the text, without positions in sequences.
    """

    path: tuple[str, ...]
    names: tuple[str, ...]
    whole: bool
    text: Text
    at: int
    keys: tuple[str, ...]
    job: Job | None
    step: Step | None
    tree: Expression
    node: Expression

    @property
    def line(self) -> int:
        return self.text.line(self.at)

    @property
    def said(self) -> str:
        return ".".join(self.names)

    def reads(self, *path: str) -> bool:
        """Whether it reads what stands at a path (in lower case), with what is around it, or a part of it."""
        length = min(len(self.path), len(path))
        return self.path[:length] == path[:length]


class Written(Struct, frozen=True, eq=False):
    """An expression of a file, whether it reads something or not. It begins at the character `at` of the text."""

    tree: Expression
    text: Text
    at: int
    keys: tuple[str, ...]


class Uses(Struct, frozen=True):
    """Of one file. `unread`: the place of the first expression that cannot be parsed, so that anything may be read there.

    `problems`: what is wrong with each in `${{ }}`, whatever key it stands at. GitHub parses those of every text.
    """

    all: tuple[Use, ...]
    by_context: Mapping[str, tuple[Use, ...]]
    expressions: tuple[Written, ...] = ()
    unread: Place | None = None
    problems: tuple[Problem, ...] = ()

    def of(self, context: str) -> tuple[Use, ...]:
        return self.by_context.get(context, ())

    def read(self, *path: str) -> Use | None:
        """The first that reads what stands at a path (in lower case), or the object that holds it."""
        return next((one for one in self.of(path[0]) if one.reads(*path)), None)


def uses(graph: Graph, path: str) -> Uses:
    """Of a workflow or an action, by the path of its file."""
    key = ("uses", path)
    found = graph.memo.get(key)
    if found is None:
        found = graph.memo[key] = _read(graph, path)
    assert isinstance(found, Uses)
    return found


def files(graph: Graph) -> Iterator[Workflow | Action]:
    """Every workflow and action."""
    yield from graph.repository.workflows.values()
    yield from graph.repository.actions.values()


def place_of(graph: Graph, use: Use) -> Place:
    """The line and column of a reference: exact where it is found as it is written."""
    return place_in(graph, use.text, use.at)


def place_in(graph: Graph, text: Text, at: int) -> Place:
    """The line and column of the character `at` of a text."""
    lines = _lines(graph, text.place.path)
    sought = text.value[at:].partition("\n")[0].split("'")[0][:40]
    if text.block:
        line = text.line(at)
        own = text.value[:at].rpartition("\n")[2]
        written = lines[line - 1] if line <= len(lines) else ""
        whole = (own + text.value[at:].partition("\n")[0]).rstrip()
        start = written.find(whole)
        return Place(text.place.path, line, max(start, 0) + len(own) + 1)
    begin = text.place.column - 1
    before = text.value[:at].count(sought) if sought else 0
    for line in range(text.place.line, min(text.place.line + LINES, len(lines) + 1)):
        written = lines[line - 1]
        column = written.find(sought, begin) if sought else -1
        while column >= 0 and before:
            column, before = written.find(sought, column + 1), before - 1
        if column >= 0:
            return Place(text.place.path, line, column + 1)
        begin = 0
    return text.place


def falls_back(use: Use) -> bool:
    """Whether `|| …` stands after it, so that something else is taken where it is empty."""
    return _falls_back(use.tree, use.node)


def _falls_back(tree: Expression, node: Expression) -> bool:
    if isinstance(tree, Logic) and tree.operator == "||" and any(holds(one, node) for one in tree.items[:-1]):
        return True
    return any(_falls_back(one, node) for one in parts(tree))


def holds(tree: Expression, node: Expression) -> bool:
    """Whether a part of an expression is this very one."""
    return tree is node or any(holds(one, node) for one in parts(tree))


def references(tree: Expression) -> Iterator[tuple[Expression, tuple[str, ...], bool]]:
    """Each reference in an expression: its node, its names, and whether the object that they lead to is read as a whole."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, Context | Key | Every):
            waiting += reversed(parts(one))
            continue
        indexes: list[Expression | None] = []
        inner: Expression = one
        while isinstance(inner, Key | Every):
            indexes.append(inner.index if isinstance(inner, Key) else None)
            inner = inner.item
        unknown = [index for index in indexes if index is not None and not isinstance(index, Constant)]
        waiting += unknown
        if not isinstance(inner, Context):
            waiting.append(inner)
            continue
        names: list[str] = [inner.name]
        for index in reversed(indexes):
            if not isinstance(index, Constant):
                break
            names.append(text_of(index.value))
        yield one, tuple(names), len(names) <= len(indexes)


def _read(graph: Graph, path: str) -> Uses:
    file = graph.repository.workflows.get(path) or next(
        (one for one in graph.repository.actions.values() if one.path == path), None
    )
    if file is None:
        return Uses((), {})
    walk = _Walk()
    if isinstance(file, Workflow):
        for key, body in _pairs(file.data):
            if key == "jobs":
                for name, job in _pairs(body):
                    walk.job(file.jobs.get(name), name, job)
            else:
                walk.data(body, (key,), _TOP)
    else:
        walk.action(file)
    by: dict[str, list[Use]] = {}
    for one in walk.found:
        by.setdefault(one.path[0], []).append(one)
    by_context = {name: tuple(some) for name, some in by.items()}
    return Uses(tuple(walk.found), by_context, tuple(walk.expressions), walk.unread, tuple(walk.problems))


class _Walk:
    def __init__(self) -> None:
        self.found: list[Use] = []
        self.expressions: list[Written] = []
        self.unread: Place | None = None
        self.problems: list[Problem] = []

    def job(self, job: Job | None, name: str, data: Data) -> None:
        if job is None:
            return
        for key, body in _pairs(data):
            if key == "steps":
                self._steps(job.steps, body, ("jobs", name, "steps"), job)
            else:
                self.data(body, ("jobs", name, key), (job, None))

    def action(self, action: Action) -> None:
        for key, body in _pairs(action.data):
            if key != "runs":
                self.data(body, (key,), _TOP)
                continue
            for inner, below in _pairs(body):
                if inner == "steps":
                    self._steps(action.steps, below, ("runs", "steps"), None)
                else:
                    self.data(below, ("runs", inner), _TOP)

    def _steps(self, steps: Sequence[Step], data: Data, keys: tuple[str, ...], job: Job | None) -> None:
        if isinstance(data.value, tuple):
            for step, body in zip(steps, data.value, strict=False):
                self.data(body, keys, (job, step))
        else:
            self.data(data, keys, (job, None))

    def data(self, data: Data, keys: tuple[str, ...], owner: _Owner) -> None:
        if isinstance(data.value, Text):
            self._text(data.value, keys, owner)
        elif isinstance(data.value, tuple):
            for one in data.value:
                self.data(one, keys, owner)
        else:
            for key, one in data.value.items():
                self.data(one, (*keys, key), owner)

    def _text(self, text: Text, keys: tuple[str, ...], owner: _Owner) -> None:
        if "${{" not in text.value:
            if keys[-1] != "if" or keys[-2:-1] in _NAMED or not text.value.strip():
                return
            tree = read_condition(text).expression
            if tree is None:
                self.unread = self.unread or text.place
            else:
                self._tree(tree, text, 0, keys, owner)
            return
        found = value_parts(text.value)
        for part in found:
            if part.expression is not None:
                self._tree(part.expression, text, part.at, keys, owner)
            elif not part.literal:
                self.unread = self.unread or text.place
        self.problems += (unparsed(text, mistake) for mistake in mistakes(text.value, found))

    def _tree(self, tree: Expression, text: Text, at: int, keys: tuple[str, ...], owner: _Owner) -> None:
        self.expressions.append(Written(tree, text, at, keys))
        for node, names, whole in references(tree):
            path = tuple(one.lower() for one in names)
            begin = node
            while isinstance(begin, Key | Every):
                begin = begin.item
            self.found.append(Use(path, names, whole, text, at + begin.at, keys, *owner, tree, node))


def _pairs(data: Data) -> Iterator[tuple[str, Data]]:
    if isinstance(data.value, Mapping):
        yield from data.value.items()


def _lines(graph: Graph, path: str) -> tuple[str, ...]:
    key = ("lines", path)
    if key not in graph.memo:
        graph.memo[key] = tuple((graph.repository.read(path) or b"").decode("utf-8", "replace").split("\n"))
    return graph.memo[key]  # type: ignore[return-value]  # the memo holds anything
