"""Which commands of a Dockerfile run GNU `patch`, and on what."""

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from regraft.core.dockerfile_text import Instruction, read_dockerfile
from regraft.core.drop_command import PATCH_VALUES, bare_words, git_words, operands_of
from regraft.core.fuzz_guess import FUZZ
from regraft.core.patterns import regex
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Command, Word, commands_of

MOST = 9  # lines of context that are left out in a guess

_FUZZ = regex(r"(?:-F|--fuzz=)(.+)")
_NUMBER = regex(r"[0-9]{1,9}")
_BATCH = regex(r"-[a-zA-Z]*t|--batch")
_INPUT = regex(r"(?:-i|--input=)(.+)")


class Run(Struct, frozen=True):
    """One `patch`. `fuzz`: the most lines of context that it leaves out. `file`: the name of the carried patch that it reads; None
    where it does not say. `batch`: it takes out what it finds to be there already.
    """

    line: int
    fuzz: int
    file: str | None
    batch: bool


class Applied(Struct, frozen=True):
    """`others` are the names of files that `git apply` or `git am` takes."""

    runs: tuple[Run, ...]
    others: frozenset[str]

    def on(self, name: str) -> list[Run]:
        """Those that may apply the patch of that name: they say so, or they do not tell and nothing else takes it."""
        own = [run for run in self.runs if run.file == name]
        if own or name in self.others:
            return own
        return [run for run in self.runs if run.file is None]


def applied_by(data: bytes, names: Collection[str]) -> Applied:
    """What a Dockerfile applies, of carried patches with these names; a file of another name may be any of them."""
    runs: list[Run] = []
    others: set[str] = set()
    for one in read_dockerfile(data).instructions:
        for words, read in _commands(one, data) if one.keyword == "RUN" else ():
            name = words[0].text.rpartition("/")[2] if words else ""
            if name == "patch":
                file = _file_of(words[1:], read)
                texts = [word.text for word in words[1:]]
                batch = any(map(_BATCH.fullmatch, texts))
                runs.append(Run(one.line, _fuzz(texts), file if file in names else None, batch))
            elif name == "git" and (at := git_words(words[1:])) is not None and words[1 + at].text in ("apply", "am"):
                others |= {word.text.rpartition("/")[2] for word in (*words[2 + at :], *read)}
    return Applied(tuple(runs), frozenset(others))


def _commands(one: Instruction, data: bytes) -> Iterator[tuple[Sequence[Word], Sequence[Word]]]:
    """(words, files that are read) of each."""
    strings = one.strings
    if strings is not None:
        yield bare_words([Word(word.span, word.text) for word in strings]), ()
        return
    for script in [data[doc.body.start : doc.body.stop] for doc in one.heredocs] or [one.text]:
        block = read_shell(script)
        for command in commands_of(block) if block is not None else ():
            yield bare_words(command.words), _read(command)


def _read(command: Command) -> list[Word]:
    return [one.target for one in command.redirects if one.operator == "<" and one.target is not None]


def _file_of(words: Sequence[Word], read: Sequence[Word]) -> str | None:
    """The name of the file that a `patch` reads."""
    texts = [word.text for word in words]
    for at, text in enumerate(texts):
        if text in ("-i", "--input"):
            return texts[at + 1].rpartition("/")[2] if at + 1 < len(texts) else None
        if match := _INPUT.fullmatch(text):
            return str(match[1]).rpartition("/")[2]
    operands = operands_of(words, PATCH_VALUES)
    if len(operands) == 2:
        return operands[1].text.rpartition("/")[2]
    return read[-1].text.rpartition("/")[2] if read else None


def _fuzz(options: Sequence[str]) -> int:
    """What `-F` says, in each of its forms, the last of them; what cannot be read counts as what is done unasked."""
    value = None
    for at, text in enumerate(options):
        if text in ("-F", "--fuzz"):
            value = options[at + 1] if at + 1 < len(options) else None
        elif match := _FUZZ.fullmatch(text):
            value = match[1]
    return min(int(value), MOST) if value is not None and _NUMBER.fullmatch(value) else FUZZ
