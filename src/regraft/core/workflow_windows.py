"""Scripts of PowerShell and cmd, line by line: a program that fails there stops nothing, and the next one's status counts.

PowerShell's `$ErrorActionPreference = 'stop'`, which the runner sets, is for its own commands, not for programs:
https://github.com/actions/runner-images/issues/6668. Only scripts of plain lines are read.
"""

from collections.abc import Iterator

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.shell_kinds import stripped
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Command
from regraft.core.workflow_graph import Graph, Site
from regraft.core.workflow_scripts import lines_of, masked
from regraft.core.workflow_swallowed import says_so, weight
from regraft.core.workflow_values import Data, Place, Text, Workflow

_SHELLS = frozenset({"pwsh", "powershell", "cmd"})
_WINDOWS = regex(r"windows-[a-z0-9.-]+")
_EXPRESSION = regex(r"\$\{_+\}")
_MORE = regex(r"(?im)[{}|;`^]|&&|\$\?|LASTEXITCODE|PSNative|ERRORLEVEL|@['\"]|^\s*(?:if|for|call|goto|exit|try)\b")
_PROGRAMS = frozenset({"git", "python", "python3", "pip", "pip3", "pytest", "cargo", "cmake", "ctest", "make", "ninja", "uv", "docker", "choco"})  # fmt: skip


class Passed(Struct, frozen=True):
    """A program whose failure is lost, as written; `then` is where the next program stands, whose status counts."""

    place: Place
    text: str
    then: Place
    next: str
    shell: str


def passed_over(graph: Graph) -> Iterator[Passed]:
    """For each script, the first program that matters and is not the last."""
    for site in graph.sites():
        shell = _shell(graph, site)
        if shell is not None:
            found = _of(graph, site, shell)
            if found is not None:
                yield found


def _shell(graph: Graph, site: Site) -> str | None:
    """The name of the shell, where it is one of Windows' own for sure."""
    step, job = site.step, site.job
    if step is None or step.run is None:
        return None
    file: Workflow | None = graph.repository.workflows.get(site.path)
    named = (step.shell, job.shell if job is not None else None, file.shell if file is not None else None)
    text = next((one.value.strip() for one in named if one is not None and one.value.strip()), None)
    if text is not None:
        return text.lower() if text.lower() in _SHELLS else None
    runs_on = job.data.get("runs-on") if job is not None else None
    return "pwsh" if runs_on is not None and _is_windows(runs_on) else None


def _is_windows(data: Data) -> bool:
    return isinstance(data.value, Text) and _WINDOWS.fullmatch(data.value.value.strip()) is not None


def _of(graph: Graph, site: Site, shell: str) -> Passed | None:
    assert site.step is not None  # `_shell` has looked
    assert site.step.run is not None  # likewise
    run = site.step.run
    script = _EXPRESSION.sub(lambda match: "x" * len(match[0]), masked(run))
    if "\n" not in script.strip() or _MORE.search(script):
        return None
    lost: tuple[int, str] | None = None
    at = 0
    for line in script.split("\n"):
        command = _program(line)
        if command is not None and lost is not None:
            text = run.text.value[lost[0] :].split("\n", 1)[0].strip()
            then = run.text.value[at:].split("\n", 1)[0].strip()
            return Passed(_place(graph, site, lost[0]), text[:90], _place(graph, site, at), then[:60], shell)
        if (
            command is not None
            and weight(command) == "error"
            and not says_so(script.encode(), len(script[:at].encode()))
        ):
            lost = at, line
        at += len(line) + 1
    return None


def _program(line: str) -> Command | None:
    """The program that a line runs, where it is one for sure."""
    block = read_shell(line.replace("\\", "/").encode("utf-8", "surrogateescape")) if line.strip() else None
    if block is None or len(block.items) != 1:
        return None
    command = block.items[0]
    words = stripped(command) if isinstance(command, Command) else ()
    name = words[0].text.removesuffix(".exe") if words else ""
    return command if isinstance(command, Command) and name in _PROGRAMS else None


def _place(graph: Graph, site: Site, at: int) -> Place:
    assert site.step is not None  # likewise
    assert site.step.run is not None  # likewise
    text = site.step.run.text
    line = text.line(at)
    lines = lines_of(graph, site.path)
    words = text.value[at:].split("\n", 1)[0].strip()
    column = lines[line - 1].find(words) + 1 if line <= len(lines) else 0
    return Place(site.path, line, column or text.place.column)
