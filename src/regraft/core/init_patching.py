"""What `git apply`, `git am`, `patch` and quilt bring into a checkout: which patch files, in which order, by which names."""

import posixpath
from collections.abc import Sequence

from msgspec.structs import replace

from regraft.core.init_expand import Value
from regraft.core.init_git import below, checkout_at, enclosing
from regraft.core.init_shell import SERIES, Shell
from regraft.core.init_values import Applied, Checkout, Outside, Place, Told
from regraft.core.init_words import Parted, parted
from regraft.core.shell_values import Command, Word
from regraft.core.spelling import nearest

_APPLY = frozenset({"-p", "-C", "--directory", "--exclude", "--include", "--whitespace", "--build-fake-ancestor"})
_AM = frozenset({*_APPLY, "--patch-format", "-S"})
_PATCH = frozenset(
    {
        *("-p", "-d", "-i", "-F", "-D", "-o", "-r", "-B", "-V", "-Y", "-z", "-g", "--directory", "--output"),
        *("--strip", "--fuzz", "--input", "--reject-file"),
    }
)
_CHECKS = ("--check", "--stat", "--numstat", "--summary")
_SITES = ("site-packages", "dist-packages")


def run_apply(shell: Shell, name: str, command: Command, rest: Sequence[Word], folder: str) -> bool | None:
    """`git apply` and `git am`, `rest` after that word. A check is taken to hold: the patch is carried since it fits."""
    place = shell.place(command.span.start)
    options = parted([shell.value(word) for word in rest if word.text != "|"], _APPLY if name == "apply" else _AM, "pC")
    if options.has(*_CHECKS):
        return not options.has("-R", "--reverse")
    if options.has("-R", "--reverse"):
        shell.ask("which patch is taken out again here, and where was it applied?", place)
        return True
    merges = options.has("-3", "--3way")
    strip = _strip(options, place, shell)
    inner = options.last("--directory")
    root = posixpath.normpath(inner.text) if inner is not None else ""
    named = [*_operands(rest, options), *_read(command)]
    _apply(shell, named, folder, place, Applied("", place, strip, "" if root == "." else root, merges))
    return True


def run_patch(shell: Shell, command: Command, rest: Sequence[Word]) -> bool | None:
    """`patch`, `rest` after that word."""
    place = shell.place(command.span.start)
    options = parted([shell.value(word) for word in rest if word.text != "|"], _PATCH, "pdiFDoRBVYzgr")
    if options.has("--dry-run"):
        return not options.has("-R", "--reverse")
    if options.has("-R", "--reverse"):
        shell.ask("which patch is taken out again here, and where was it applied?", place)
        return True
    inner = options.last("-d", "--directory")
    folder = shell.path(inner.text) if inner is not None else shell.folder
    given = options.last("-i", "--input")
    piped = any(word.text == "|" for word in rest)
    operands = _operands(rest, options)
    strip = _strip(options, place, shell)
    named = [*([_as_word(given)] if given is not None else []), *_read(command)]
    if piped:
        named += operands
    elif len(operands) == 2:  # `patch ORIGINAL PATCH` does not look at the names in the patch
        named.append(operands[1])
        folder = posixpath.dirname(shell.path(shell.value(operands[0]).text))
        strip = None
    if strip is None and len(operands) != 2:
        shell.ask("how many leading folders do its names have? `patch` is called without -p and uses base names", place)
    _apply(shell, named, folder, place, Applied("", place, strip))
    return True


def run_quilt(shell: Shell, words: Sequence[Value], place: Place) -> bool | None:
    """`quilt push -a` applies the series in `patches`, or in $QUILT_PATCHES."""
    if not words or words[0].text != "push":
        return True
    folder = shell.variables.get("QUILT_PATCHES") or "patches"
    found = shell.files.find(shell.path(f"{folder}/series"))
    one = enclosing(shell, shell.folder)
    if one is not None and found is not None:
        one.series = Told(found, place)
    else:
        shell.ask("which series file does quilt go by here? None of the project", place)
    return True


def _as_word(value: Value) -> Word:
    from regraft.core.spans import Span  # noqa: PLC0415 - a value type of its own

    return Word(Span(0, 0), value.text, plain=value.known)


def _operands(rest: Sequence[Word], options: Parted) -> list[Word]:
    """The words that are operands, as words: they may be patterns."""
    left = [one.text for one in (*options.operands, *options.after)]
    return [word for word in rest if word.text != "|" and not word.text.startswith("-") and _is_operand(word, left)]


def _is_operand(word: Word, left: list[str]) -> bool:
    return word.text in left or not word.plain


def _read(command: Command) -> list[Word]:
    return [one.target for one in command.redirects if one.operator == "<" and one.target is not None]


def _strip(options: Parted, place: Place, shell: Shell) -> int | None:
    given = options.last("-p", "--strip")
    if given is None:
        return None
    if given.text.isdecimal() and len(given.text) < 3:
        return int(given.text)
    shell.ask(f"how many leading folders do its names have? -p{given.text!r:.60} is no number", place)
    return None


def _apply(shell: Shell, named: Sequence[Word], folder: str, place: Place, like: Applied) -> None:
    if not named:
        shell.ask("which patch is applied here? It comes through a pipe, or from outside the project", place)
        return
    for word in named:
        for text, pattern in shell.listed(word):
            if SERIES in text:
                _series(shell, text, folder, place, like)
            elif (path := shell.files.find(shell.path(text))) is not None:
                one = replace(like, path=path, pattern=pattern or shell.pattern, doubt=shell.doubt)
                _carry(shell, one, folder)
            else:
                _not_there(shell, text, place)


def _carry(shell: Shell, patch: Applied, folder: str) -> None:
    one = enclosing(shell, folder)
    if one is None and any(part in _SITES for part in folder.split("/")):
        shell.held.outside.append(Outside(patch, folder))
        return
    if one is None:
        one = checkout_at(shell, folder, patch.place)
    root = "/".join(part for part in (below(one, folder), patch.root) if part)
    _add(one, replace(patch, root=root))


def _add(one: Checkout, patch: Applied) -> None:
    if not any(other.path == patch.path for other in one.patches):
        one.patches.append(patch)


def _series(shell: Shell, text: str, folder: str, place: Place, like: Applied) -> None:
    series = text.partition(SERIES)[2]
    one = enclosing(shell, folder) or checkout_at(shell, folder, place)
    one.series = Told(series, place)
    if like.strip not in (None, 1) or like.root:
        shell.ask(f"{series} would need `-p{like.strip}` in its lines: it is applied so here", place)


def _not_there(shell: Shell, text: str, place: Place) -> None:
    path = shell.path(text)
    missing = shell.files.missing(path)
    wanted = missing or path.rpartition("/")[2]
    tracked = sorted(one for one in shell.files.tracked if one.endswith((".patch", ".diff")))
    meant = nearest(wanted, tracked) or _by_name(wanted.rpartition("/")[2], tracked)
    hint = f"; the nearest name is {meant}" if meant else ""
    if "$" in text:
        shell.ask(f"which patch is {text!r:.200}? Its value is not in the repository", place)
    else:
        shell.ask(f"where is {wanted!r:.200}? The project has no such patch{hint}", place)


def _by_name(name: str, tracked: Sequence[str]) -> str | None:
    meant = nearest(name, [one.rpartition("/")[2] for one in tracked])
    return next((one for one in tracked if one.rpartition("/")[2] == meant), None) if meant else None
