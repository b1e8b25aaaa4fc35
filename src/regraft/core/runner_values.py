"""What a run of a workflow's steps is given, and what it came to."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.runner_commands import Command
from regraft.errors import InputError

Outcome = Literal["success", "failure", "skipped"]

_PROGRAM = regex(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_BUILTIN = frozenset(
    [
        "[",
        ".",
        ":",
        "alias",
        "bg",
        "break",
        "case",
        "cd",
        "command",
        "continue",
        "declare",
        "do",
        "done",
        "echo",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fg",
        "for",
        "hash",
        "if",
        "jobs",
        "kill",
        "let",
        "local",
        "printf",
        "pwd",
        "read",
        "readonly",
        "return",
        "set",
        "shift",
        "source",
        "test",
        "then",
        "times",
        "trap",
        "true",
        "type",
        "ulimit",
        "umask",
        "unset",
        "wait",
        "while",
    ]
)


class Answer(Struct, frozen=True):
    """What a stub says to a call whose arguments begin with `arguments`."""

    arguments: tuple[str, ...] = ()
    code: int = 0
    stdout: str = ""
    stderr: str = ""


class Stub(Struct, frozen=True):
    """A program that records how it is called. The first answer that fits is given; without one it says nothing, and 0.

    `through`: where no answer fits, it runs the real program. `python -m NAME` is a call of it too.
    """

    name: str
    answers: tuple[Answer, ...] = ()
    through: bool = False


def checked_stub(stub: Stub) -> Stub:
    """The same. Raises InputError `bad-stub` for what no file on PATH can stand for."""
    if not _PROGRAM.fullmatch(stub.name):
        raise InputError("bad-stub", f"{stub.name!r:.80} is no name of a program", where="--stub")
    if stub.name in _BUILTIN:
        raise InputError("bad-stub", f"the shell has {stub.name!r} built in, and asks no program", where="--stub")
    for one in stub.answers:
        if not 0 <= one.code <= 255:
            raise InputError("bad-stub", f"{one.code} is no exit code", where=f"--stub {stub.name}")
        if any("\0" in text for text in (*one.arguments, one.stdout, one.stderr)):
            raise InputError("bad-stub", "an answer holds a NUL byte", where=f"--stub {stub.name}")
    return stub


class Call(Struct, frozen=True):
    """A call of a stub. `folder` is where. `stdin` is there where the arguments asked for it (`-`, `--password-stdin`)."""

    program: str
    arguments: tuple[str, ...]
    folder: str
    stdin: str | None = None


class Mapped(Struct, frozen=True):
    """A path of the image that was written in a script or a variable, and what stood for it."""

    path: str
    folder: str
    times: int


class StepResult(Struct, frozen=True):
    """`code`: None where no script ran. `why`: what failed or skipped it, apart from a script's exit code.

    `outcome` is before `continue-on-error`, `conclusion` after it. `outputs` are the step's; `env` and `paths` what it handed
    on to later ones. `steps`: of a composite action.
    """

    name: str
    id: str | None
    outcome: Outcome
    conclusion: Outcome
    line: int
    code: int | None = None
    why: str | None = None
    shell: str | None = None
    outputs: Mapping[str, str] = {}
    env: Mapping[str, str] = {}
    paths: tuple[str, ...] = ()
    summary: str = ""
    log: str = ""
    commands: tuple[Command, ...] = ()
    calls: tuple[Call, ...] = ()
    mapped: tuple[Mapped, ...] = ()
    steps: "tuple[StepResult, ...]" = ()
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return self.conclusion == "failure"

    def calls_of(self, program: str) -> tuple[tuple[str, ...], ...]:
        """The arguments of each call of a stub."""
        return tuple(one.arguments for one in self.calls if one.program == program)


class JobResult(Struct, frozen=True):
    """`notes`: what a runner would have done and this run did not."""

    workflow: str
    job: str
    result: Outcome
    outputs: Mapping[str, str] = {}
    steps: tuple[StepResult, ...] = ()
    notes: tuple[str, ...] = ()
    workspace: str = ""

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(call for step in self.steps for call in step.calls)

    def calls_of(self, program: str) -> tuple[tuple[str, ...], ...]:
        """The arguments of each call of a stub."""
        return tuple(one.arguments for one in self.calls if one.program == program)

    def step(self, name: str) -> StepResult:
        """The step of that id or name. Raises InputError `no-such-step`."""
        found = [one for one in self.steps if name in (one.id, one.name)]
        if len(found) != 1:
            known = ", ".join(one.id or one.name for one in self.steps)
            raise InputError("no-such-step", f"{len(found)} steps are called {name!r:.80}", hint=f"there is {known}")
        return found[0]


class Given(Struct, frozen=True):
    """What the run is told, as JSON values. `event` is the payload, `github` goes over what is made from it."""

    event_name: str | None = None
    event: Mapping[str, Any] = {}
    github: Mapping[str, Any] = {}
    inputs: Mapping[str, Any] = {}
    secrets: Mapping[str, str] = {}
    vars: Mapping[str, str] = {}
    needs: Mapping[str, Any] = {}
    matrix: Mapping[str, Any] = {}
    env: Mapping[str, str] = {}
    steps: Mapping[str, Mapping[str, str]] = {}  # outputs of steps that do not run here, by their ids
    uses: Mapping[str, Mapping[str, str]] = {}  # outputs of actions that do not run here, by `owner/name`


class Ran(Struct, frozen=True):
    """What became of one script. `code`: None where its time was up. `said` has the runner's files: output, env, path, summary."""

    code: int | None
    log: str
    said: Mapping[str, str]
    calls: tuple[Call, ...] = ()
    seconds: float = 0.0
    cut: bool = False  # the log, or one of the files, was longer than what is kept
