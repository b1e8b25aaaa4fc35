"""What one command has to do with the patch: everything, one word of several, a pattern, or nothing that can be told."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from regraft.core.drop_target import Where, landing
from regraft.core.shell_values import Command, Word

Part = Literal["whole", "words", "none"]

STATE = frozenset({"cd", "pushd", "popd", "set", "shopt", "export", "declare", "readonly", "local", "umask", "shift"})
TESTS = frozenset({"[", "[[", "test"})
_TALK = frozenset({"echo", "printf", "true", ":", "command", "which", "type", "hash", *TESTS})
_ENDS = frozenset({"exit", "return", "false"})
_FILTERS = frozenset({"tee", "grep", "egrep", "head", "tail", "cat", "sed", "tr", "yes", "awk", "sort", "xargs"})
_LOOKS = frozenset({"ls", "dos2unix", "sha256sum", "sha1sum", "md5sum", "stat", "wc", "head", "file", "realpath"})
_PREFIXES = frozenset({"sudo", "command", "time", "exec", "nice"})
_QUIET_TARGETS = frozenset({"/dev/null", "/dev/stderr", "1", "2"})
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_APPLY_VALUES = frozenset(
    {"-p", "-C", "--directory", "--exclude", "--include", "--whitespace", "--build-fake-ancestor"}
)
PATCH_VALUES = frozenset({"-p", "-d", "-D", "-F", "-o", "-r", "-B", "-V", "-Y", "-z", "-g", "--directory", "--output", "--strip", "--fuzz"})  # fmt: skip


class Verdict(Struct, frozen=True):
    """`whole`: the command is about the patch alone. `words`: those of it go, and the rest of the command stays."""

    part: Part = "none"
    words: tuple[Word, ...] = ()
    globs: tuple[Word, ...] = ()


NOTHING = Verdict()
WHOLE = Verdict("whole")


def judge_command(command: Command, where: Where) -> Verdict:
    """What goes of a command, and what the shell knows after it: its folder, and where the patch stands."""
    words = bare_words(command.words)
    globs = tuple(word for word in words[1:] if word.glob and where.may_match(word.text))
    verdict = _assigned(command, where) if not words else _judged(words, command, where)
    _note_made(command, words, where, verdict)
    if words and words[0].text in ("cd", "pushd", "popd"):
        where.change_folder(next((one.text for one in words[1:] if not one.text.startswith("--")), None))
    return verdict if not globs or verdict.part != "none" else Verdict(globs=globs)


def bare_words(words: Sequence[Word]) -> Sequence[Word]:
    """A command's words without what only says how it is run: `sudo`, `time`."""
    while words and words[0].text in _PREFIXES and len(words) > 1:
        words = words[1:]
    return words


def git_words(words: Sequence[Word]) -> int | None:
    """Where git's own command stands among the words after `git`."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _GIT_VALUES else 1
    return at if at < len(words) else None


def _judged(words: Sequence[Word], command: Command, where: Where) -> Verdict:
    name, rest = words[0].text.rpartition("/")[2], words[1:]
    read = any(one.operator == "<" and one.target and where.is_patch(one.target.text) for one in command.redirects)
    match name:
        case "git":
            return _git(rest, where, read=read)
        case "patch":
            return WHOLE if read or _patch(rest, where) else NOTHING
        case "rm" | "unlink" | "cat" | "chmod" | "chown" | "cp" | "mv" | "install" | "ln":
            return _files(name, rest, where)
        case _ if name in TESTS:
            operands = [one for one in rest if not one.text.startswith("-") and one.text not in ("!", "]", "]]")]
            return _all_or_none(operands, where)
        case _ if name in _LOOKS:
            return _all_or_none(operands_of(rest, frozenset()), where)
    return NOTHING


def _git(words: Sequence[Word], where: Where, *, read: bool) -> Verdict:
    at = git_words(words)
    if at is None or words[at].text not in ("apply", "am"):
        return NOTHING
    operands = operands_of(words[at + 1 :], _APPLY_VALUES)
    if not operands:
        return WHOLE if read else NOTHING
    inner = _from_folder(words[:at], where)
    found = [one for one in operands if inner.is_patch(one.text)]
    if len(found) == len(operands):
        return WHOLE
    return Verdict("words", tuple(found)) if found else NOTHING


def _from_folder(options: Sequence[Word], where: Where) -> Where:
    """`git -C FOLDER` reads its operands from there."""
    inner = where.inner()
    for option, value in pairwise(options):
        if option.text == "-C":
            inner.change_folder(value.text)
    return inner


def _patch(words: Sequence[Word], where: Where) -> bool:
    """`patch -i FILE`, or `patch ORIGINAL FILE`."""
    texts = [word.text for word in words]
    for at, text in enumerate(texts):
        name, equals, value = text.partition("=")
        if text in ("-i", "--input") and at + 1 < len(texts):
            return where.is_patch(texts[at + 1])
        if name == "--input" and equals:
            return where.is_patch(value)
        if text.startswith("-i") and len(text) > 2:
            return where.is_patch(text[2:])
    operands = operands_of(words, PATCH_VALUES)
    return len(operands) == 2 and where.is_patch(operands[1].text)


def reads_a_patch(command: Command) -> bool:
    """Whether a command in a pipe takes the patch from the one before it, or only passes text on."""
    words = [word for word in command.words if word.text not in _PREFIXES]
    if not words:
        return False
    name = words[0].text
    if name == "patch":
        return len(operands_of(words[1:], PATCH_VALUES)) < 2
    if name == "git" and len(words) > 1:
        at = next((index for index, word in enumerate(words) if word.text in ("apply", "am")), None)
        return at is not None and all(one.text == "-" for one in operands_of(words[at + 1 :], _APPLY_VALUES))
    return name in _FILTERS


def _files(name: str, words: Sequence[Word], where: Where) -> Verdict:
    """Commands over files: with the patch as all that they are about they go, else its word does."""
    operands = operands_of(words, frozenset())
    if name in ("chmod", "chown"):
        operands = operands[1:]
    if name in ("cp", "mv", "install", "ln"):
        if len(operands) < 2 or any(word.text in ("-t", "-m", "-o", "-g") for word in words):
            return NOTHING
        *operands, last = operands
        if any(where.is_patch(one.text) for one in operands) and name != "install":
            target = where.path(last.text)
            folder = last.text.endswith("/") or last.text in (".", "..") or len(operands) > 1
            where.places.update(landing(target, where.target.name, folder=folder))
    return _all_or_some(operands, where)


def _all_or_some(operands: Sequence[Word], where: Where) -> Verdict:
    found = [one for one in operands if where.is_patch(one.text)]
    if not found:
        return NOTHING
    return WHOLE if len(found) == len(operands) else Verdict("words", tuple(found))


def _all_or_none(operands: Sequence[Word], where: Where) -> Verdict:
    return WHOLE if operands and all(where.is_patch(one.text) for one in operands) else NOTHING


def _assigned(command: Command, where: Where) -> Verdict:
    """`PATCH=/p/a.patch` alone: from here on `$PATCH` is the patch, and the assignment goes with what uses it."""
    values = [(name, value) for name, value in command.assignments if value is not None]
    if not values or len(values) != len(command.assignments):
        return NOTHING
    if not all(where.is_patch(value.text) and not value.glob for _, value in values):
        return NOTHING
    where.places.update(f"${name}" for name, _ in values)
    return WHOLE


def _note_made(command: Command, words: Sequence[Word], where: Where, verdict: Verdict) -> None:
    """Remember the files that a script writes itself: a download, a diff. They are not the tracked patch."""
    targets = [one.target for one in command.redirects if one.operator in (">", ">>", "&>") and one.target is not None]
    if words and words[0].text in ("curl", "wget", "tee"):
        targets += [word for word in words[1:] if not word.text.startswith("-")]
    if verdict.part == "none":
        where.made.update(where.path(one.text) for one in targets)


def operands_of(words: Sequence[Word], values: frozenset[str]) -> list[Word]:
    """What is no option, and no value of one of those that take one."""
    return list(_operand_words(words, values))


def _operand_words(words: Sequence[Word], values: frozenset[str]) -> Iterator[Word]:
    taken = literal = False
    for word in words:
        if taken:
            taken = False
        elif literal or not word.text.startswith("-") or word.text == "-":
            yield word
        elif word.text == "--":
            literal = True
        else:
            taken = word.text in values


def idle(command: Command, *, ends: bool = False) -> bool:
    """Whether a command only talks or looks: without it the others do the same. With `ends`, `exit` counts too."""
    if command.assignments and not command.words:
        return False
    if any(one.operator not in ("<", ">&") and not _nowhere(one.target) for one in command.redirects):
        return False
    return command.name in _TALK or (ends and command.name in _ENDS)


def _nowhere(target: Word | None) -> bool:
    return target is not None and target.text in _QUIET_TARGETS


def state(command: Command) -> bool:
    """Whether a command changes nothing but the shell that runs it."""
    return command.name in STATE or (bool(command.assignments) and not command.words)
