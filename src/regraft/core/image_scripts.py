"""The scripts of a RUN: its text, its here-documents, the JSON form, and the files of the repository that it runs."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from regraft.core.dockerfile_args import Scope
from regraft.core.dockerfile_steps import Stage, Step
from regraft.core.image_values import Place
from regraft.core.shell_options import Shell
from regraft.core.shell_programs import started, unwrapped
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Block, Command, Pipeline, Word
from regraft.core.shell_walk import Seen, walk
from regraft.core.stage_files import StageFiles

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash", "ksh"})
DEEPEST = 6  # scripts that run scripts
MOST = 200  # scripts of one image
READS = frozenset({".", "source"})
_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


class Script(Struct, frozen=True):
    """A script as a shell reads it. `block` is None where it could not be read. `caller` ran it, where it is a file."""

    text: bytes
    block: Block | None
    path: str
    start: int  # the line of its first character
    offset: int | None  # where it stands in `step.data`, byte for byte; None: elsewhere, or with changes
    shell: Shell
    stage: Stage
    step: Step
    folder: str
    scope: Scope
    files: StageFiles
    caller: "tuple[Script, Command] | None" = None

    def place(self, at: int) -> Place:
        if self.offset is not None:
            return Place(self.path, self.step.data.count(b"\n", 0, self.offset + at) + 1)
        return Place(self.path, self.start + self.text.count(b"\n", 0, at))

    def order(self, at: int) -> tuple[int, ...]:
        """When what stands there runs, to be compared with others of the image."""
        if self.caller is None:
            return self.stage.index, self.step.line, self.start, at
        script, command = self.caller
        return (*script.order(command.span.start), at)

    def commands(self, *, inner: bool = False) -> Iterator[Seen]:
        """Every command; with `inner`, those in `$(…)` and `<(…)` too."""
        if self.block is not None:
            yield from walk(self.block, self.folder, self.scope, inner=inner)


class Followed(Struct):
    """All scripts of an image. `bounded`: there were more than are followed."""

    scripts: list[Script]
    bounded: bool = False


def shell_of(words: tuple[str, ...]) -> Shell | None:
    """The options of a shell's command line; None for what is no such shell."""
    if not words or words[0].rpartition("/")[2] not in SHELLS:
        return None
    shell = Shell()
    for index, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--"):
            shell.errexit |= "e" in word
            if word.endswith("o") and index + 1 < len(words):
                shell.pipefail |= words[index + 1] == "pipefail"
                shell.errexit |= words[index + 1] == "errexit"
    return shell


def scripts_of(path: str, stage: Stage, step: Step, files: StageFiles) -> Iterator[Script]:
    """The scripts that a RUN itself holds."""
    one, value = step.instruction, step.instruction.value

    def made(text: bytes, shell: Shell, start: int, offset: int | None) -> Script:
        block = read_shell(text)
        return Script(text, block, path, start, offset, shell, stage, step, step.folder, step.scope, files)

    own = step.line == one.line  # else it is an ONBUILD's, and its places are not the file's
    words = one.strings
    if words is not None:
        texts = tuple(word.text for word in words)
        shell = shell_of(texts)
        at = next((index for index, word in enumerate(texts) if index and word[:1] == "-" and word.endswith("c")), None)
        if shell is not None and at is not None and at + 1 < len(texts):
            yield made(texts[at + 1].encode("utf-8", "surrogateescape"), shell, step.line, None)
        else:
            quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in texts)
            yield made(quoted.encode("utf-8", "surrogateescape"), Shell(errexit=True), step.line, None)
        return
    shell = shell_of(step.shell)
    if shell is None:
        return
    if not one.heredocs:
        yield made(one.text, shell, step.line, value.start if own else None)
        return
    for doc in one.heredocs:
        body = step.body(doc)
        first = step.data.count(b"\n", 0, doc.body.start) + 1 if own else step.line
        runs = _reader(one.text, body, shell)
        if runs is not None:
            yield made(body, runs, first, None if doc.chomp or not own else doc.body.start)


def _reader(text: bytes, body: bytes, shell: Shell) -> Shell | None:
    """The shell that gets a here-document to run; None where another program gets it."""
    head = text.decode("utf-8", "surrogateescape").partition("<<")[0].split()
    if not head:
        if body.startswith(b"#!"):
            words = body[2:].split(b"\n", 1)[0].decode("utf-8", "surrogateescape").split()
            return shell_of(tuple(words[1:] if words and words[0].endswith("/env") else words))
        return Shell(shell.errexit, shell.pipefail)
    return shell_of(tuple(head))


def follow(first: Script, read: Callable[[str], bytes | None], found: Followed, depth: int = 0) -> None:
    """Add a script, and what it runs: files of the repository, and the strings that it gives a shell."""
    if depth > DEEPEST or len(found.scripts) >= MOST:
        found.bounded = True
        return
    found.scripts.append(first)
    for seen in first.commands():
        script = _string(seen, first) or _file(seen, first, read)
        if script is not None:
            follow(script, read, found, depth + 1)


def _file(seen: Seen, first: Script, read: Callable[[str], bytes | None]) -> Script | None:
    called = _called(seen, first)
    if called is None:
        return None
    there, shell = called
    written = first.files.written(there)
    if written is not None:
        path, start = _dockerfile(first), written.line
        data: bytes | None = written.data
    else:
        path, start = first.files.at(there) or "", 1
        data = read(path)
    if any((one.path, one.start) == (path, start) and one.caller for one in _above(first)):
        return None
    if data is None or b"\0" in data[:1000]:
        return None
    if shell is None:
        words = data[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split() if data.startswith(b"#!") else ["sh"]
        shell = shell_of(tuple(words[1:] if words and words[0].endswith("/env") else words))
    if shell is None:
        return None
    return Script(
        data, read_shell(data), path, start, None, shell, first.stage, first.step,
        seen.folder, seen.scope, first.files, (first, seen.command),
    )  # fmt: skip


def _dockerfile(script: Script) -> str:
    return [*_above(script)][-1].path


def _string(seen: Seen, first: Script) -> Script | None:
    """The script in `bash -c '…'`, `su -c '…'` or `eval '…'`."""
    words: Sequence[Word] = seen.command.words
    if words and words[0].text == "eval":
        given, shell = words[1:], Shell(first.shell.errexit, first.shell.pipefail)
    else:
        run = started(words, SHELLS | {"su"})
        at = _command_string(run)
        given, shell = run[at : at + 1] if at else (), shell_of(tuple(word.text for word in run[:at])) or Shell()
    if not given:
        return None
    text, offset, span = _unquoted(given, seen), None, given[0].span
    raw = first.text[span.start : span.stop]
    if len(given) == 1 and raw[:1] == raw[-1:] and raw[:1] in (b"'", b'"') and _plain(raw):
        text, offset = raw[1:-1], first.offset + span.start + 1 if first.offset is not None else None
    start = first.start + first.text.count(b"\n", 0, span.start)
    return Script(
        text, read_shell(text), first.path, start, offset, shell, first.stage, first.step,
        seen.folder, seen.scope, first.files, (first, seen.command),
    )  # fmt: skip


def _command_string(words: Sequence[Word]) -> int | None:
    """Which of a shell's words is the string that it runs."""
    wanted, at = False, 1
    while at < len(words):
        text = words[at].text
        if text[:1] not in ("-", "+") or text in ("-", "--"):
            if wanted:
                return at
            if words[0].text.rpartition("/")[2] != "su":
                return None  # the name of a file
        elif not text.startswith("--"):
            wanted = wanted or "c" in text
            at += text.endswith("o")
        at += 1
    return None


def _plain(raw: bytes) -> bool:
    """Whether what stands in the quotes is the string: a line may go on in it."""
    inside = raw[1:-1]
    return raw[:1] not in inside and (raw[:1] == b"'" or b"\\" not in inside.replace(b"\\\n", b""))


def _unquoted(given: Sequence[Word], seen: Seen) -> bytes:
    whole = " ".join(seen.text(word.text) if word.text.startswith("$") else word.text for word in given)
    return whole.encode("utf-8", "surrogateescape")


def _above(script: Script) -> Iterator[Script]:
    here: Script | None = script
    while here is not None:
        yield here
        here = here.caller[0] if here.caller else None


def _called(seen: Seen, script: Script) -> tuple[str, Shell | None] | None:
    """The file of the image that a command runs as a shell script, and that shell where the command names it."""
    words = [seen.text(word.text) for word in started(seen.command.words, SHELLS) or unwrapped(seen.command.words)]
    if not words:
        return None
    name = words[0].rpartition("/")[2]
    shell: Shell | None = None
    places = [seen.path(words[0])]
    if name in SHELLS:
        rest = [index for index, word in enumerate(words) if index and not word.startswith(("-", "+"))]
        index = next((one for one in rest if words[one - 1] not in ("-o", "-eo", "-euo", "-euxo", "+o")), None)
        file = words[index] if index is not None else _input(seen)
        if file is None:
            return None
        places, shell = [seen.path(file)], shell_of(tuple(words[:index]))
    elif name in READS and len(words) > 1:
        places, shell = [seen.path(words[1])], Shell(script.shell.errexit, script.shell.pipefail)
    elif "/" not in words[0]:
        folders = [*seen.text("$PATH").split(":"), *_PATH]
        places = [f"{folder}/{words[0]}" for folder in folders if folder.startswith("/")]
    files = script.files
    path = next((one for one in places if files.at(one) is not None or files.written(one) is not None), None)
    return (path, shell) if path is not None else None


def _input(seen: Seen) -> str | None:
    """The file that a shell reads as its input: `bash < FILE`, `cat FILE | bash`."""
    for one in seen.command.redirects:
        if one.operator == "<" and one.target is not None:
            return seen.text(one.target.text)
    pipeline = next((one for one in reversed(seen.inside) if isinstance(one, Pipeline)), None)
    if pipeline is None:
        return None
    at = next((index for index, one in enumerate(pipeline.items) if one is seen.command), 0)
    before = pipeline.items[at - 1] if at else None
    if not isinstance(before, Command) or before.name != "cat" or len(before.words) != 2:
        return None
    return seen.text(before.words[1].text)
