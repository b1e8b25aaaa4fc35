"""Every shell script of a repository's workflows, read once: of steps, of actions, and files that these run.

Expressions are masked by `${____}` of the same length, which reads as a variable and has no name, so that an offset in
the masked text is one in the file.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from regraft.core.shell_options import Shell
from regraft.core.shell_text import block_of, syntax_tree
from regraft.core.shell_values import Block
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_shells import options, options_of, shell_of
from regraft.core.workflow_values import Action, Job, Place, Step, Value, Workflow


class Script(Struct, frozen=True, eq=False):
    """`job` is None in an action, `step` None in a file. `shell`: the options in force when it begins.

    `data` is the masked text, in which spans of `block` lie. `root` is tree-sitter's tree of the same.
    `dialect` is `bash`, `sh`, …; `ends` are where its lines but the first begin, `file_lines` the lines of a workflow.
    """

    path: str
    job: Job | None
    step: Step | None
    shell: Shell
    data: bytes
    block: Block
    root: Any
    value: Value | None = None
    dialect: str = "bash"
    ends: tuple[int, ...] = ()
    file_lines: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Where it stands, in words."""
        name = self.step.name.text.value if self.step is not None and self.step.name is not None else None
        return f"the step `{name[:60]}`" if name else "this step" if self.step is not None else "this script"

    def text(self, start: int, stop: int) -> str:
        """As it is written, with its expressions, on one line."""
        if self.value is None:
            found = self.data[start:stop].decode("utf-8", "replace")
        else:
            found = self.value.text.value[self.chars(start) : self.chars(stop)]
        found = " ".join(found.split())
        return found if len(found) <= 90 else f"{found[:90]}…"

    def place(self, at: int) -> Place:
        """The file's line and column of a byte of `data`."""
        row = bisect_right(self.ends, at)
        column = len(self.data[self.ends[row - 1] if row else 0 : at].decode("utf-8", "replace")) + 1
        if self.value is None:
            return Place(self.path, row + 1, column)
        text = self.value.text
        if not text.block:
            return Place(self.path, text.place.line, text.place.column + (self.chars(at) if row == 0 else 0))
        line = text.first + row
        stop = self.ends[row] - 1 if row < len(self.ends) else len(self.data)
        start = self.ends[row - 1] if row else 0
        own = len(self.data[start:stop].decode("utf-8", "replace").rstrip())
        written = self.file_lines[line - 1].rstrip() if line <= len(self.file_lines) else ""
        return Place(self.path, line, column + max(0, len(written) - own))

    def chars(self, at: int) -> int:
        """The character of the script, as it is written, at a byte of `data`."""
        return len(self.data[:at].decode("utf-8", "replace"))


def scripts(graph: Graph) -> tuple[Script, ...]:
    """Of every step that runs one in a shell, in the order of the files. What cannot be read as one is left out."""
    found: tuple[Script, ...] = kept(graph, "scripts", lambda: tuple(_all(graph)))
    return found


def job_scripts(graph: Graph, path: str, job: Job | None) -> tuple[Script, ...]:
    """Those of one job, or of an action."""

    def all_of_them() -> dict[tuple[str, str | None], list[Script]]:
        by: dict[tuple[str, str | None], list[Script]] = {}
        for one in scripts(graph):
            by.setdefault((one.path, one.job.name if one.job is not None else None), []).append(one)
        return by

    return tuple(kept(graph, "scripts by job", all_of_them).get((path, job.name if job is not None else None), ()))


def file_script(graph: Graph, path: str, arguments: Shell | None) -> Script | None:
    """A tracked file as a script. `arguments`: what the program that runs it was told; None: its own first line tells."""
    key = ("file script", path, None if arguments is None else (arguments.errexit, arguments.pipefail))
    found: Script | None = kept(graph, key, lambda: _file(graph, path, arguments))
    return found


def kept(graph: Graph, key: object, make: Callable[[], Any]) -> Any:
    """What was found out once about a graph."""
    if key not in graph.memo:
        graph.memo[key] = make()
    return graph.memo[key]


def masked(value: Value) -> str:
    """The script with its expressions as variables without a name; those that cannot be parsed too."""
    text = value.text.value
    if "${{" not in text:
        return text
    pieces, at = [], 0
    while (start := text.find("${{", at)) >= 0:
        stop = _end(text, start)
        pieces += [text[at:start], "${", "_" * (stop - start - 3), "}"]
        at = stop
    return "".join([*pieces, text[at:]])


def _end(text: str, start: int) -> int:
    """After the `}}` of the expression that begins there; quotes in it may hold others."""
    at, quoted = start + 3, False
    while at < len(text):
        if text[at] == "'":
            quoted = not quoted
        elif not quoted and text.startswith("}}", at):
            return at + 2
        at += 1
    plain = text.find("}}", start)
    return plain + 2 if plain >= 0 else len(text)


def _all(graph: Graph) -> Iterator[Script]:
    repository = graph.repository
    for workflow in repository.workflows.values():
        for job in workflow.jobs.values():
            yield from _of(graph, workflow, job, job.steps)
    for action in repository.actions.values():
        yield from _of(graph, action, None, action.steps)


def _of(graph: Graph, file: Workflow | Action, job: Job | None, steps: tuple[Step, ...]) -> Iterator[Script]:
    for step in steps:
        if step.run is None:
            continue
        line = shell_of(file if isinstance(file, Workflow) else None, job, step)
        shell = options_of(line) if line is not None else None
        if line is None or shell is None:
            continue
        data = masked(step.run).encode("utf-8", "surrogateescape")
        read = _read(graph, data)
        if read is not None:
            dialect = line.program.rpartition("/")[2]
            lines = lines_of(graph, file.path)
            yield Script(file.path, job, step, shell, data, *read, step.run, dialect, _ends(data), lines)


def _file(graph: Graph, path: str, arguments: Shell | None) -> Script | None:
    data = graph.repository.read(path)
    if data is None:
        return None
    first = data.partition(b"\n")[0].decode("utf-8", "replace") if data.startswith(b"#!") else ""
    words = first[2:].split()
    if words and words[0].rpartition("/")[2] == "env":
        words = [one for one in words[1:] if not one.startswith("-S")]
    program = words[0].rpartition("/")[2] if words else "bash" if path.endswith((".sh", ".bash")) else ""
    read = _read(graph, data) if program in ("bash", "sh", "dash") else None
    if read is None:
        return None
    shell = arguments if arguments is not None else options(words[1:])
    return Script(path, None, None, shell, data, *read, None, program, _ends(data))


def _read(graph: Graph, data: bytes) -> tuple[Block, Any] | None:
    def read() -> tuple[Block, Any] | None:
        root = syntax_tree(data)
        block = None if root is None else block_of(root, len(data))
        return None if block is None else (block, root)

    found: tuple[Block, Any] | None = kept(graph, ("script", data), read)
    return found


def _ends(data: bytes) -> tuple[int, ...]:
    """Where each line but the first begins."""
    found, at = [], data.find(b"\n")
    while at >= 0:
        found.append(at + 1)
        at = data.find(b"\n", at + 1)
    return tuple(found)


def lines_of(graph: Graph, path: str) -> tuple[str, ...]:
    """The lines of a tracked file."""
    found: tuple[str, ...] = kept(
        graph,
        ("lines", path),
        lambda: tuple((graph.repository.read(path) or b"").decode("utf-8", "replace").split("\n")),
    )
    return found
