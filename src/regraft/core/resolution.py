"""Which commit a ref means, judged from what a repository says of itself."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from regraft.core.objects import Commit, Tree, parse_commit
from regraft.core.patterns import regex
from regraft.core.plan import Note
from regraft.core.refs import HashRef, NameRef
from regraft.core.spelling import near
from regraft.errors import InputError

SHOWN = 5

_NAME = regex(r"refs/(?:heads|tags)/[^\x00-\x20\x7f~^:?*\[\\]+")
_WORDS = {"refs/heads/": "branch", "refs/tags/": "tag"}


class Remote(Struct, frozen=True):
    """A repository as the manifest's URL names it, and the environment variable that holds a token for it."""

    url: str
    token_env: str | None = None


class Tip(Struct, frozen=True):
    """A branch or a tag: its full name, the hash that the server lists, and the commit behind an annotated tag."""

    name: str
    listed: Commit
    commit: Commit


class Reach(Struct, frozen=True):
    """Those of the commits asked for that a branch, a tag or a pull ref leads to."""

    found: frozenset[Commit]
    notes: tuple[Note, ...] = ()


class Fetched(Struct, frozen=True):
    """What a fetch brought, by what was asked for (a full hash or a full ref name).

    `missing` are those that the server does not have, `others` those that are no commit, with their type.
    `filtered` says that files are missing and must be fetched when they are needed.
    """

    commits: dict[str, tuple[Commit, Tree]]
    missing: frozenset[str]
    others: dict[str, str]
    filtered: bool
    notes: tuple[Note, ...] = ()


class Pick(Struct, frozen=True):
    """`source` is what to fetch, a full hash or a full ref name. `listed` is False for a hash that is no tip."""

    source: str
    name: str | None
    listed: bool = True
    notes: tuple[Note, ...] = ()


class Place(Struct, frozen=True):
    """For messages: where the ref was written, and the repository's URL without credentials."""

    where: str
    url: str

    def error(self, code: str, message: str, hint: str | None = None) -> InputError:
        return InputError(code, message, where=self.where, hint=hint)


def parse_tips(listing: bytes) -> tuple[Tip, ...]:
    """The branches and tags in the output of `git ls-remote`. What is no ref name is left out."""
    listed: dict[str, Commit] = {}
    peeled: dict[str, Commit] = {}
    for line in listing.decode("utf-8", "surrogateescape").split("\n"):
        digits, tab, name = line.partition("\t")
        if not tab or not _NAME.fullmatch(name.removesuffix("^{}")):
            continue
        try:
            commit = parse_commit(digits)
        except ValueError:
            continue
        if name.endswith("^{}"):
            peeled[name.removesuffix("^{}")] = commit
        else:
            listed[name] = commit
    return tuple(Tip(name, commit, peeled.get(name, commit)) for name, commit in listed.items())


def parse_head(listing: bytes) -> Commit | None:
    """The commit of `HEAD` in the output of `git ls-remote`: the tip of the default branch."""
    for line in listing.decode("utf-8", "surrogateescape").split("\n"):
        digits, _, name = line.partition("\t")
        if name == "HEAD":
            try:
                return parse_commit(digits)
            except ValueError:
                return None
    return None


def pick_name(ref: NameRef, tips: Sequence[Tip], place: Place) -> Pick:
    """The branch or the tag. InputError: no-such-ref, ambiguous-ref, sha256-repository."""
    prefixes = {"branch": ("refs/heads/",), "tag": ("refs/tags/",)}.get(ref.kind, tuple(_WORDS))
    names = {prefix + ref.name for prefix in prefixes}
    found = [tip for tip in tips if tip.name in names]
    if len(found) > 1:
        raise _ambiguous(ref.name, [f"{tip.name} ({tip.commit})" for tip in found], found[0].name, place)
    if not found:
        raise _no_such_name(ref.name, prefixes, tips, place)
    _refuse_sha256(found[0].commit, place)
    return Pick(found[0].commit, found[0].name)


def pick_hash(ref: HashRef, tips: Sequence[Tip], place: Place) -> Pick:
    """The commit. InputError: ambiguous-ref, write-full-hash, not-a-commit, unreachable, sha256-repository."""
    named = [tip for tip in tips if tip.name.partition("/")[2].partition("/")[2] == ref.digits]
    if named:
        either = [f"{tip.name} ({tip.commit})" for tip in named]
        raise _ambiguous(ref.digits, [*either, f"a commit {ref.digits}"], named[0].name, place)
    return pick_commit(ref.digits, tips, place) if ref.full else _pick_short(ref.digits, tips, place)


def pick_commit(digits: str, tips: Sequence[Tip], place: Place) -> Pick:
    """A full hash, whatever branches are called. InputError: not-a-commit, sha256-repository."""
    _refuse_sha256(digits, place)
    for tip in tips:
        if tip.listed == digits != tip.commit:
            message = f"{digits} is the annotated tag {tip.name!r:.200} of {place.url}, and no commit"
            raise place.error("not-a-commit", message, f"write its commit, {tip.commit}")
    return Pick(digits, None, listed=any(tip.commit == digits for tip in tips))


def _pick_short(digits: str, tips: Sequence[Tip], place: Place) -> Pick:
    hits = [tip for tip in tips if tip.commit.startswith(digits)]
    commits = sorted({tip.commit for tip in hits})
    if len(commits) > 1:
        either = [f"{tip.commit} ({tip.name})" for tip in hits]
        raise _ambiguous(digits, either, commits[0], place)
    if not commits:
        message = f"{digits} begins the hash of no branch and no tag of {place.url}"
        raise place.error("write-full-hash", message, "write the full hash: short ones are looked up among tips only")
    _refuse_sha256(commits[0], place)
    note = Note("notice", "short-hash", f"{digits} is taken as {commits[0]}, {hits[0].name!r:.200} of {place.url}")
    return Pick(commits[0], None, notes=(note,))


def unreachable(commit: Commit, tip: str | None, place: Place) -> InputError:
    """A commit that the server may hand out although no branch, tag or pull ref of the repository leads to it."""
    message = f"{commit} is in no branch, tag or pull request of {place.url}"
    return place.error(
        "unreachable", message, f"{tip}; or name a branch or a pull request that holds it" if tip else None
    )


def tip_of(branch: str | None, tips: Iterable[Tip]) -> str | None:
    """A sentence on where a branch is now, or None."""
    now = next((tip.commit for tip in tips if branch and tip.name == f"refs/heads/{branch}"), None)
    return f"the tip of {branch!r:.200} is {now}" if now else None


def _refuse_sha256(digits: str, place: Place) -> None:
    if len(digits) != 40:
        message = f"{digits} is the hash of a sha256 repository, which regraft does not read ({place.url})"
        raise place.error("sha256-repository", message, "name a sha1 repository")


def _ambiguous(text: str, either: Sequence[str], example: str, place: Place) -> InputError:
    shown = "; ".join(f"{one!s:.200}" for one in either[:SHOWN])
    message = f"{text!r:.200} means more than one thing in {place.url}: {shown}"
    return place.error("ambiguous-ref", message, f"write which, for example {example!s:.200}")


def _no_such_name(name: str, prefixes: Sequence[str], tips: Sequence[Tip], place: Place) -> InputError:
    kinds = " and no ".join(_WORDS[prefix] for prefix in prefixes)
    message = f"{place.url} has no {kinds} {name!r:.200}"
    names = [tip.name.partition("/")[2].partition("/")[2] for tip in tips]
    if not names:
        message = f"{message}: it has no branches and no tags at all"
        return place.error("no-such-ref", message, "look whether the URL is that of a git repository")
    below = sorted({one for one in names if one.startswith(f"{name}/")})
    if below:
        message = f"{message}, only names below it"
    elsewhere = [tip.name for tip in tips if tip.name in {prefix + name for prefix in _WORDS}]
    above = [one for one in names if name.startswith(f"{one}/")]
    close = (one for one in near(name, names, count=SHOWN) if one != name)
    meant = dict.fromkeys([*elsewhere, *_without_prefix(name, tips), *below, *above, *close])
    shown = ", ".join(f"{one!r:.200}" for one in [*meant][:SHOWN])
    return place.error("no-such-ref", message, f"did you mean {shown}?" if shown else "look at its branches and tags")


def _without_prefix(name: str, tips: Sequence[Tip]) -> list[str]:
    """What a name is beyond `origin/`, `heads/` or `tags/`, which are this clone's or git's words and no part of it."""
    full = {tip.name for tip in tips}
    first, _, rest = name.partition("/")
    if f"refs/{name}" in full:  # heads/main, tags/v1
        return [rest, f"refs/{name}"] if first == "tags" else [f"refs/{name}", rest]
    rests = (name.split("/", at)[-1] for at in (1, 2))  # remotes/origin/main as well
    return [rest for rest in rests if rest != name and any(prefix + rest in full for prefix in _WORDS)]
