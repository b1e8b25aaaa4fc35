"""The clones that scripts make, and whether what they check out has a hash for a name."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from regraft.core.image_scripts import Script
from regraft.core.image_values import Place
from regraft.core.patterns import regex
from regraft.core.shell_values import Word
from regraft.core.shell_walk import UNKNOWN, Seen

HASH = regex(r"[0-9a-f]{7,64}")
VERSION = regex(r"v?\d+(?:\.\d+)+\S*")

_VALUES = frozenset(
    {
        *("-b", "--branch", "-o", "--origin", "--depth", "--reference", "--reference-if-able", "-c", "--config", "-j"),
        *("--jobs", "--filter", "--template", "-u", "--upload-pack", "--separate-git-dir", "--shallow-since"),
        *("--shallow-exclude", "--revision", "--server-option", "--bundle-uri", "--refmap", "--negotiation-tip"),
    }
)
_PLACES = frozenset({"-C", "-c", "--git-dir", "--work-tree"})


class Clone(Struct):
    """A checkout that a script makes at `folder` (absolute in the image). `ref` None: the default branch."""

    url: str
    folder: str
    place: Place
    stage: int
    ref: str | None = None
    argument: str | None = None  # the variable that the ref was written as
    fetched: str | None = None
    fetched_argument: str | None = None
    ref_place: Place | None = None

    @property
    def pinned(self) -> bool:
        return self.ref is not None and HASH.fullmatch(self.ref) is not None

    @property
    def known(self) -> bool:
        return self.ref is None or "$" not in self.ref


def clones(scripts: Iterable[Script]) -> list[Clone]:
    """Every checkout that is made, in order, with what it is at last."""
    found: list[Clone] = []
    for script in scripts:
        if b"git" in script.text:
            for seen in script.commands():
                _git(seen, script, found)
    return found


def _git(seen: Seen, script: Script, found: list[Clone]) -> None:
    words = [word for word in seen.command.words if word.text not in ("sudo", "command")]
    if not words or words[0].text.rpartition("/")[2] != "git":
        return
    at, folder = 1, seen.folder
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text == "-C" and at + 1 < len(words):
            folder = seen.path(seen.text(words[at + 1].text))
        at += 2 if words[at].text in _PLACES else 1
    verb, rest = (words[at].text, words[at + 1 :]) if at < len(words) else ("", [])
    place = script.place(seen.command.span.start)
    if verb == "clone":
        made = _clone(seen, rest, folder, place, script.stage.index)
        if made is not None:
            found.append(made)
        return
    if verb == "remote" and [word.text for word in rest[:1]] == ["add"]:
        positional = _positional(rest[1:])
        if len(positional) > 1 and _last(found, folder, script) is None:
            found.append(Clone(seen.text(positional[-1].text), folder, place, script.stage.index))
        return
    clone = _last(found, folder, script)
    if clone is not None:
        _move(clone, seen, verb, rest, place)


def _last(found: list[Clone], folder: str, script: Script) -> Clone | None:
    stages = {script.stage.index, *script.stage.needs}
    here = [one for one in found if one.stage in stages]
    exact = [one for one in here if folder == one.folder or folder.startswith(f"{one.folder}/")]
    if exact:
        return exact[-1]
    unclear = folder.startswith("$") or any(one.folder.startswith("$") for one in here)
    return here[-1] if here and unclear else None


def _positional(words: list[Word]) -> list[Word]:
    rest, waiting = [], iter(words)
    for word in waiting:
        if word.text == "--":
            break
        if word.text.startswith("-") and word.text != "-":
            if word.text in _VALUES:
                next(waiting, None)
        else:
            rest.append(word)
    return rest


def _option(words: list[Word], *names: str) -> str | None:
    for index, word in enumerate(words):
        if word.text in names and index + 1 < len(words):
            return words[index + 1].text
        for name in names:
            if name.startswith("--") and word.text.startswith(f"{name}="):
                return word.text[len(name) + 1 :]
    return None


def _clone(seen: Seen, words: list[Word], folder: str, place: Place, stage: int) -> Clone | None:
    positional = _positional(words)
    if not positional:
        return None
    url = seen.text(positional[0].text)
    name = url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    target = seen.text(positional[1].text) if len(positional) > 1 else name
    inside = seen.path(target) if not folder.startswith("$") else UNKNOWN
    written = _option(words, "-b", "--branch", "--revision")
    clone = Clone(url, inside, place, stage)
    _set(clone, seen, written, place)
    return clone


def _set(clone: Clone, seen: Seen, written: str | None, place: Place) -> None:
    clone.ref_place = place
    if written is None:
        clone.ref, clone.argument = None, None
        return
    clone.ref = seen.text(written)
    clone.argument = seen.argument(written)
    clone.ref = clone.ref.removeprefix("refs/heads/").removeprefix("refs/tags/") if clone.ref else None


def _move(clone: Clone, seen: Seen, verb: str, words: list[Word], place: Place) -> None:
    texts = [word.text for word in words]
    match verb:
        case "fetch":
            positional = _positional(words)
            written = positional[1].text if len(positional) > 1 else None
            if written is not None:
                clone.fetched = seen.text(written).lstrip("+").partition(":")[0]
                clone.fetched_argument = seen.argument(written)
        case "pull":
            positional = _positional(words)
            _set(clone, seen, positional[1].text if len(positional) > 1 else clone.ref, place)
            if clone.pinned:
                clone.ref = None
        case "checkout" | "switch" | "reset":
            if "--" in texts or (verb == "reset" and "--hard" not in texts):
                return
            made = {"-b", "-B", "-c", "-C", "--orphan"} & set(texts)
            positional = [one for one in words if not one.text.startswith("-")][1 if made else 0 :]
            if not positional:
                return
            written = positional[0].text
            if written == "FETCH_HEAD" and clone.fetched is not None:
                clone.ref, clone.argument, clone.ref_place = clone.fetched, clone.fetched_argument, place
            elif written not in ("HEAD", "."):
                _set(clone, seen, written.removeprefix("origin/"), place)
        case _:
            pass


def moving(found: Iterable[Clone]) -> Iterator[Clone]:
    for clone in found:
        if not clone.pinned:
            yield clone
