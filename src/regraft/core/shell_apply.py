"""Commands that apply a patch: which files they take, and where."""

from collections.abc import Iterator

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.shell_programs import started, unwrapped
from regraft.core.shell_values import Command, Word

_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_APPLY_VALUES = frozenset(
    {"-p", "-C", "--directory", "--exclude", "--include", "--whitespace", "--build-fake-ancestor"}
)
_PATCH_VALUES = frozenset(
    [
        "-p",
        "--strip",
        "-d",
        "--directory",
        "-i",
        "--input",
        "-o",
        "--output",
        "-B",
        "-D",
        "-F",
        "--fuzz",
        "-g",
        "-r",
        "--reject-file",
        "-V",
        "-Y",
        "-z",
    ]
)
_PATCH = frozenset({"patch", "gpatch"})
_PROGRAMS = frozenset({"git", "xargs", "find", *_PATCH})
_LOOKS_LIKE = regex(r"-p\d+|--strip.*|-i.*|--input.*")


class Apply(Struct, frozen=True):
    """`files` as written; `folder` is that of `-C` or `-d`, as written. `input`: the patch comes from elsewhere, a pipe."""

    tool: str  # `git apply`, `git am`, `patch`
    files: tuple[Word, ...]
    folder: Word | None = None
    asks: bool = False  # `--check`, `--dry-run`, `--stat`: nothing is changed
    back: bool = False  # `-R`


def apply_of(command: Command) -> Apply | None:
    """What a command applies, or None where it applies nothing."""
    if [word.text[:2] for word in command.words[:2]] in (["co", "-v"], ["co", "-V"]):
        return None  # `command -v`
    run = started(command.words, _PROGRAMS)
    if not run:
        return None
    words = [*run]
    name = words[0].text.rpartition("/")[2]
    stdin = tuple(one.target for one in command.redirects if one.operator == "<" and one.target is not None)
    if name == "git":
        return _git(words[1:], stdin)
    if name in _PATCH and (stdin or len(unwrapped(command.words)) == len(words) or _is_patch(words)):
        return _patch(words[1:], stdin)
    if name in ("xargs", "find"):
        return _through(words)
    return None


def _is_patch(words: list[Word]) -> bool:
    """Whether it is the program, where what runs it is not known: `make patch` is none."""
    return any(_LOOKS_LIKE.fullmatch(word.text) for word in words)


def _git(words: list[Word], stdin: tuple[Word, ...]) -> Apply | None:
    folder, at = None, 0
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text == "-C" and at + 1 < len(words):
            folder = words[at + 1]
        at += 2 if words[at].text in _GIT_VALUES else 1
    verb = words[at].text if at < len(words) else ""
    if verb not in ("apply", "am"):
        return None
    options, files = _split(words[at + 1 :], _APPLY_VALUES if verb == "apply" else frozenset())
    if verb == "am" and any(one in options for one in ("--abort", "--continue", "--skip", "--quit")):
        return None
    shows = {"--check", "--stat", "--numstat", "--summary"} & options and "--apply" not in options
    files = [one for one in files if one.text not in ("-", ":::")]
    return Apply(f"git {verb}", (*files, *stdin), folder, bool(shows), bool({"-R", "--reverse"} & options))


def _patch(words: list[Word], stdin: tuple[Word, ...]) -> Apply | None:
    options, positional = _split(words, _PATCH_VALUES)
    if {"--version", "--help", "-v"} & options:
        return None
    given = [*_values(words, "-i", "--input"), *positional[1:2], *stdin]
    folder = next(iter(_values(words, "-d", "--directory")), None)
    short = [one for one in options if not one.startswith("--") and one[:2] not in _PATCH_VALUES]
    back = "--reverse" in options or any("R" in one for one in short)
    return Apply("patch", tuple(given), folder, "--dry-run" in options or "-C" in options, back)


def _through(words: list[Word]) -> Apply | None:
    """`xargs git apply`, `find … -exec git apply {} ;`: what they take is not known."""
    for index, word in enumerate(words[1:], 1):
        if word.text in ("git", *_PATCH):
            rest = words[index + 1 :]
            if word.text in _PATCH or any(one.text in ("apply", "am") for one in rest[:4]):
                return Apply(f"{words[0].text} {word.text}", ())
    return None


def _split(words: list[Word], values: frozenset[str]) -> tuple[set[str], list[Word]]:
    options, rest = set(), []
    waiting = iter(words)
    for word in waiting:
        if word.text == "--":
            rest += list(waiting)
        elif word.text.startswith("-") and word.text != "-":
            options.add(word.text)
            if word.text in values:
                next(waiting, None)
        else:
            rest.append(word)
    return options, rest


def _values(words: list[Word], short: str, long: str) -> Iterator[Word]:
    for index, word in enumerate(words):
        if word.text in (short, long) and index + 1 < len(words):
            yield words[index + 1]
        elif word.text.startswith(f"{long}="):
            yield Word(word.span, word.text[len(long) + 1 :], word.glob, word.plain)
        elif word.text.startswith(short) and len(word.text) > len(short):
            yield Word(word.span, word.text[len(short) :], word.glob, word.plain)
