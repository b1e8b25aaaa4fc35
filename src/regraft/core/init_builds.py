"""Image builds and pushes in a workflow's commands: from which folder, under which names, and what is run by its name."""

import posixpath
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from regraft.core.drop_target import resolved
from regraft.core.init_command import run_command
from regraft.core.init_expand import Copied, Files, Value
from regraft.core.init_shell import Shell
from regraft.core.init_values import Held, Place
from regraft.core.init_words import Parted, parted
from regraft.core.patterns import regex
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Command, commands_of

WORKSPACE = "$:workspace"  # the folder that a job begins in
_TAKING = frozenset({"-t", "--tag", "-f", "--file", "--target", "--build-arg", "--platform", "--label", "--cache-from", "--cache-to", "--progress", "--secret", "--ssh", "-o", "--output", "--build-context", "--network", "--builder", "--iidfile", "--metadata-file", "--isolation", "--layers"})  # fmt: skip
_BUILDERS = frozenset({"docker", "podman", "buildah", "nerdctl"})
_PREFIXES = frozenset({"sudo", "time", "command", "exec", "env"})
_TAGS, _ARGS = ("-t", "--tag"), ("--build-arg",)
_REMOTE = regex(r"(?:[A-Za-z][\w+.-]*://|git@|github\.com/).*", 16)  # DOTALL
_PUSHES = regex(r".*\b(?:type=registry|push=true)\b.*", 16)  # DOTALL


class Made(Struct, frozen=True):
    """One build. `file` and `context` are paths of the project, None where nobody can tell; `at` is the line's offset."""

    at: int
    file: str | None
    context: str | None
    target: str | None
    tags: tuple[str, ...]
    arguments: tuple[str, ...]
    pushes: bool


class Script(Struct):
    """What the commands of one `run:` do with images. `pushed` and `ran` are names as they are written, with their offset."""

    made: list[Made] = field(default_factory=list)
    pushed: list[str] = field(default_factory=list)
    ran: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)


def below(folder: str, top: str) -> str | None:
    """A folder of a job as one of the project, whose checkout is at `top`; None where it is none, or cannot be told."""
    base = f"{WORKSPACE}/{top}".rstrip("/")
    rest = "" if folder == base else folder[len(base) + 1 :] if folder.startswith(f"{base}/") else None
    return None if rest is None or "$" in rest or "`" in rest or ".." in rest.split("/") else rest


def read_builds(script: bytes, variables: Mapping[str, str], folder: str, top: str, tracked: frozenset[str]) -> Script:
    """Follow a script from `folder`, with its changes of folder; `top` is where the project's checkout is."""
    found = Script()
    visited: set[int] = set()

    def run(shell: Shell, command: Command) -> bool | None:
        words = _words(shell, command)
        if not words or words[0].text.rpartition("/")[2] not in _BUILDERS:
            return run_command(shell, command)
        visited.add(command.span.start)
        _read(found, command, words, shell, top)
        return True

    known: dict[str, str | None] = {"GITHUB_WORKSPACE": WORKSPACE, **variables}
    files = Files(tracked, [Copied(f"{WORKSPACE}/{top}".rstrip("/"), "")])
    shell = Shell(Held(""), files, folder, known, lambda at: Place("", at), run, lambda _: None)
    shell.script(script, lambda at: Place("", at))
    block = read_shell(script)
    every = list(commands_of(block)) if block is not None else []
    moves = any(one.name in {"cd", "pushd"} for one in every)
    shell.folder = "$:unknown" if moves else folder  # of what stands in a function, or in a branch that was not taken
    for one in every:
        if one.span.start not in visited:
            words = _words(shell, one)
            if words and words[0].text.rpartition("/")[2] in _BUILDERS:
                _read(found, one, words, shell, top)
    return found


def _words(shell: Shell, command: Command) -> list[Value]:
    words = [shell.value(word) for word in command.words]
    while len(words) > 1 and (
        words[0].text in _PREFIXES or (words[0].text.isidentifier() is False and "=" in words[0].text)
    ):
        words = words[1:]
    return words


def _read(found: Script, command: Command, words: Sequence[Value], shell: Shell, top: str) -> None:
    texts = [word.text for word in words]
    action = next((at for at, text in enumerate(texts[1:4], 1) if text in {"build", "bud", "push", "run"}), None)
    match texts[action] if action is not None else "":
        case "build" | "bud" if action is not None:
            found.made.append(_made(command, parted(words[action + 1 :], _TAKING, "tfo"), shell, top))
        case "push" if action is not None:
            found.pushed += [text for text in texts[action + 1 :] if not text.startswith("-")][:1]
        case "run" if action is not None:
            found.ran.append((command.span.start, tuple(texts[action + 1 :])))


def _made(command: Command, options: Parted, shell: Shell, top: str) -> Made:
    def project(text: str) -> str | None:
        return below(resolved(shell.folder, text), top)

    told = [one.text for one in options.operands if one.known or len(options.operands) == 1]
    given, operand = options.last("-f", "--file"), told[-1] if told else "."
    remote = _REMOTE.fullmatch(operand) is not None
    read = next((one.target for one in command.redirects if one.operator == "<" and one.target is not None), None)
    context = None if operand == "-" or remote else project(operand)
    if read is not None and (operand == "-" or (given is not None and given.text == "-")):
        file = project(shell.value(read).text)
    elif given is not None:
        file = None if remote else project(given.text)
    else:
        file = None if context is None else posixpath.join(context, "Dockerfile")
    target = options.last("--target")
    outputs = [value.text for name, value in options.options if name in {"-o", "--output"} and value is not None]

    def values(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value.text for name, value in options.options if name in names and value is not None)

    more = ("$",) if len(told) < len(options.operands) else ()  # `docker build $OPTIONS .` may pass anything
    pushes = options.has("--push") or any(_PUSHES.fullmatch(one) for one in outputs)
    return Made(
        command.span.start,
        file,
        context,
        target.text if target else None,
        values(_TAGS),
        (*values(_ARGS), *more),
        pushes,
    )
