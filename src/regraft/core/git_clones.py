"""The clones that scripts make, and whether what they check out has a hash for a name."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from regraft.core.image_scripts import Script
from regraft.core.image_values import Place
from regraft.core.patterns import regex
from regraft.core.shell_programs import started
from regraft.core.shell_values import Word
from regraft.core.shell_walk import UNKNOWN, Seen

HASH = regex(r"(?!\d{7,39}\Z)[0-9a-f]{7,64}")  # a short one of digits alone is a date or a number
VERSION = regex(r"v?\d+(?:\.\d+)+\S*")

_VALUES = frozenset(
    {
        *("-b", "--branch", "-o", "--origin", "--depth", "--reference", "--reference-if-able", "-c", "--config", "-j"),
        *("--jobs", "--filter", "--template", "-u", "--upload-pack", "--separate-git-dir", "--shallow-since"),
        *("--shallow-exclude", "--revision", "--server-option", "--bundle-uri", "--refmap", "--negotiation-tip"),
    }
)
_PLACES = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_LOOKS = frozenset({"cherry-pick", "log", "merge", "rev-parse", "show"})
_MADE = frozenset({"-b", "-B", "-c", "-C", "--orphan"})  # what follows is a new branch's name


class Ref(Struct, frozen=True):
    """What a command names, with the variables filled in that are known; `text` None: the default branch.

    `argument` is the build argument that it is, where that is a word of its own and git takes a commit there; `through`
    one that it is made with. With `named`, only a branch or a tag can stand there.
    """

    text: str | None = None
    argument: str | None = None
    through: str | None = None
    named: bool = False


class Clone(Struct):
    """A checkout that a script makes at `folder` (absolute in the image)."""

    url: str
    folder: str
    place: Place
    stage: int
    at: Ref
    fetched: Ref | None = None
    ref_place: Place | None = None

    @property
    def ref(self) -> str | None:
        return self.at.text

    @property
    def pinned(self) -> bool:
        return self.ref is not None and not self.at.named and HASH.fullmatch(self.ref) is not None

    @property
    def known(self) -> bool:
        return self.ref is None or "$" not in self.ref


def clones(scripts: Iterable[Script]) -> list[Clone]:
    """Every checkout that is made, in order, with what it is at last."""
    found: list[Clone] = []
    for script in scripts:
        if b"git" in script.text:
            for seen in script.commands(inner=True):
                _git(seen, script, found)
    return found


def commit_words(seen: Seen) -> Iterator[str]:
    """The words of a git command, as written, in place of which a commit may stand."""
    parts = _parts(seen)
    if parts is None:
        return
    verb, words, _ = parts
    texts = [word.text for word in words]
    match verb:
        case "clone":
            revision = _option(words, "--revision")
            yield from () if revision is None else (revision,)
        case "fetch":
            yield from (word.text for word in _positional(words)[1:])
        case "checkout" | "reset" | "switch":
            detached = verb != "switch" or {"-d", "--detach"} & set(texts)
            if detached and not {"-t", "--track"} & set(texts):
                yield from (word.text for word in _commits(words)[:1])
        case _ if verb in _LOOKS:
            yield from (word.text for word in _positional(words))
        case _:
            pass


def _parts(seen: Seen) -> tuple[str, Sequence[Word], str] | None:
    """A git command's verb, what follows that, and the folder that it works in; None for another program."""
    words = started(seen.command.words, {"git"})
    if not words:
        return None
    at, folder = 1, seen.folder
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text == "-C" and at + 1 < len(words):
            folder = seen.path(seen.text(words[at + 1].text))
        at += 2 if words[at].text in _PLACES else 1
    return (words[at].text, words[at + 1 :], folder) if at < len(words) else ("", (), folder)


def _git(seen: Seen, script: Script, found: list[Clone]) -> None:
    parts = _parts(seen)
    if parts is None:
        return
    verb, rest, folder = parts
    place = script.place(seen.command.span.start)
    if verb == "clone":
        made = _clone(seen, rest, folder, place, script.stage.index)
        if made is not None:
            found.append(made)
        return
    if verb == "remote" and [word.text for word in rest[:1]] == ["add"]:
        positional = _positional(rest[1:])
        if len(positional) > 1 and _last(found, folder, script) is None:
            found.append(Clone(seen.text(positional[-1].text), folder, place, script.stage.index, Ref()))
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


def _positional(words: Sequence[Word]) -> list[Word]:
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


def _commits(words: Sequence[Word]) -> list[Word]:
    """What a `checkout`, `switch` or `reset` names, without the name of a branch that it makes."""
    before = words[: next((index for index, word in enumerate(words) if word.text == "--"), len(words))]
    made = _MADE & {word.text for word in before}
    return [one for one in before if not one.text.startswith("-")][1 if made else 0 :]


def _option(words: Sequence[Word], *names: str) -> str | None:
    for index, word in enumerate(words):
        if word.text in names and index + 1 < len(words):
            return words[index + 1].text
        for name in names:
            if name.startswith("--") and word.text.startswith(f"{name}="):
                return word.text[len(name) + 1 :]
    return None


def _clone(seen: Seen, words: Sequence[Word], folder: str, place: Place, stage: int) -> Clone | None:
    positional = _positional(words)
    if not positional:
        return None
    url = seen.text(positional[0].text)
    name = url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    target = seen.text(positional[1].text) if len(positional) > 1 else name
    inside = seen.path(target) if not folder.startswith("$") else UNKNOWN
    revision = _option(words, "--revision")
    written = _option(words, "-b", "--branch") if revision is None else revision
    return Clone(url, inside, place, stage, _ref(seen, written, named=revision is None), ref_place=place)


def _ref(seen: Seen, written: str | None, *, named: bool = False) -> Ref:
    """`named`: git takes no commit there."""
    if written is None:
        return Ref()
    text = seen.text(written).removeprefix("origin/").removeprefix("refs/heads/").removeprefix("refs/tags/")
    argument = None if named else seen.argument(written)
    return Ref(text or None, argument, argument or seen.through(written), named)


def _move(clone: Clone, seen: Seen, verb: str, words: Sequence[Word], place: Place) -> None:
    texts = [word.text for word in words]
    match verb:
        case "fetch":
            positional = _positional(words)
            if len(positional) > 1:
                clone.fetched = _ref(
                    seen, positional[1].text.lstrip("+").partition(":")[0], named=":" in positional[1].text
                )
        case "pull":
            positional = _positional(words)
            if len(positional) > 1:
                clone.at = _ref(seen, positional[1].text, named=True)
            elif clone.pinned:
                clone.at = Ref()
            clone.ref_place = place
        case "checkout" | "switch" | "reset":
            if "--" in texts or (verb == "reset" and "--hard" not in texts):
                return
            positional = _commits(words)
            if not positional:
                return
            written = positional[0].text
            if written == "FETCH_HEAD" and clone.fetched is not None:
                clone.at, clone.ref_place = clone.fetched, place
            elif written not in ("HEAD", "."):
                taken = written in commit_words(seen)
                clone.at, clone.ref_place = _ref(seen, written, named=not taken), place
        case _:
            pass


def moving(found: Iterable[Clone]) -> Iterator[Clone]:
    for clone in found:
        if not clone.pinned:
            yield clone
