"""What the hash of an image's inputs cannot cover: what its Dockerfile gets from elsewhere by a name that may move."""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from regraft.core.dockerfile_args import FRONTEND
from regraft.core.git_clones import HASH, clones, moving
from regraft.core.image_arguments import misused, unfit
from regraft.core.image_pip import pip_loose
from regraft.core.image_scripts import DEEPEST, MOST, Script
from regraft.core.image_values import Loose, Place
from regraft.core.image_view import View, bases, unvalued
from regraft.core.patterns import regex
from regraft.core.shell_programs import started
from regraft.core.shell_walk import Seen
from regraft.core.trees import printable

Read = Callable[[str], bytes | None]

_FULL_HASH = regex(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_ADDRESS = regex(r"(?:https?|ftp)://\S+")
_PROVES = frozenset(f"{name}sum" for name in ("sha256", "sha512", "sha384", "sha1", "md5", "b2")) | {"shasum"}
_PIP = frozenset({"pip", "pip3"})
_GETS = frozenset({"curl", "wget", "aria2c"})
_NAMED = frozenset({"base", "clone", "pip"})


def loose_of(view: View, read: Read) -> tuple[Loose, ...]:
    """All of it, in the order of the stages; what is found twice at one place is said once."""
    found = [
        *_arguments(view),
        *_bases(view),
        *_platforms(view),
        *_frontend(view),
        *_context(view),
        *_remotes(view),
        *_clones(view),
        *_scripts(view, read),
    ]
    return tuple(dict.fromkeys(_fit(found, view)))


def _fit(found: Iterable[Loose], view: View) -> Iterator[Loose]:
    """Say which arguments the build cannot be handed what they resolve to: some use takes no commit, or means another thing."""
    found = [*found]
    meant: dict[str, set[str | None]] = {}
    for one in found:
        if one.argument is not None and one.kind in _NAMED:
            meant.setdefault(one.argument, set()).add(one.url or one.ref)
    bad = misused(view) if meant else {}
    for one in found:
        name = one.argument if one.kind in _NAMED else None
        if name in bad:
            yield replace(one, unfit=f"{name} is used at {bad[name]} where no commit and no digest can stand")
        elif name is not None and len(meant[name]) > 1:
            yield replace(one, unfit=f"{name} stands for one thing here, and for another elsewhere")
        else:
            yield one


def _arguments(view: View) -> Iterator[Loose]:
    for name, place in unvalued(view):
        what = f"ARG {name} has no value here: what the build passes decides"
        pin = f"[images.{view.recipe.image}] build-args = {{ {name} = … }}"
        yield Loose("argument", what, pin, place, argument=name)


def _bases(view: View) -> Iterator[Loose]:
    for base in bases(view):
        place = Place(view.recipe.dockerfile, base.line)
        if "@sha256:" not in base.text and not base.unknown:
            tag = "" if ":" in base.text.rpartition("/")[2] else ", which means `latest`"
            what = f"{printable(base.text)} is a tag{tag}"
            why = unfit(base.used[-1]) if base.used and base.argument is None else None
            yield Loose("base", what, f"{base.text}@sha256:…", place, ref=base.text, argument=base.argument, unfit=why)


def _platforms(view: View) -> Iterator[Loose]:
    for base in bases(view):
        if base.pattern is not None and "@sha256:" not in base.text:
            what = f"{printable(base.text)} is another image on each platform"
            pin = "one stage a platform, each with a digest: FROM …@sha256:… AS base-amd64, and FROM base-$TARGETARCH"
            yield Loose("base", what, pin, Place(view.recipe.dockerfile, base.line))


def _frontend(view: View) -> Iterator[Loose]:
    """The image that reads the Dockerfile."""
    said = next((one for one in view.stages.directives if one.name == "syntax"), None)
    text = view.recipe.arguments.get(FRONTEND, said.value if said else None)
    if text is not None and "@sha256:" not in text:
        what = f"{printable(text)}, which reads the Dockerfile, is a tag"
        place = Place(view.recipe.dockerfile, said.line if said else None)
        yield Loose("base", what, f"{text}@sha256:…", place)


def _context(view: View) -> Iterator[Loose]:
    if view.everything is not None and view.history:
        what = "the whole build context is copied: `.git` and what lies there untracked are in it, and in no hash"
        yield Loose("context", what, "write .git into .dockerignore, and copy what is needed by name", view.everything)
    elif view.everything is not None:
        what = "the whole build context is copied: what lies there untracked is in it, and in no hash"
        yield Loose("context", what, "copy what is needed by name", view.everything)
    if view.history_taken is not None:
        what = "`.git` is handed to the build: what is told from it (a version, a commit) is in no hash"
        yield Loose("context", what, "pass the version as a build argument", view.history_taken)


def _remotes(view: View) -> Iterator[Loose]:
    for one in view.remotes:
        url, _, ref = one.url.partition("#")
        if url.endswith(".git") or url.startswith("git"):
            if not HASH.fullmatch(ref.partition(":")[0]) and not one.checksum:
                what = f"ADD of {printable(url)} at {printable(ref) or 'its default branch'}"
                yield Loose("clone", what, f"{url}#<full commit>", one.place, url, ref.partition(":")[0] or None)
        elif not one.checksum and not _FULL_HASH.search(url):
            yield Loose("download", f"ADD of {printable(url)}", "ADD --checksum=sha256:…", one.place, url)


def _clones(view: View) -> Iterator[Loose]:
    for clone in moving(clones(view.followed.scripts)):
        place, name, through = clone.ref_place or clone.place, clone.at.argument, clone.at.through
        why = unfit(through) if through and name is None else None
        if clone.known:
            at = f"at {printable(clone.ref)}" if clone.ref else "at its default branch"
            value = f", the value of {through}" if name else f", by {through}" if through else ""
            pin = f"--build-arg {name}=<full commit>" if name else "check out a full commit"
            what = f"clone of {printable(clone.url)} {at}{value}"
            yield Loose("clone", what, pin, place, clone.url, clone.ref, name, unfit=why)
        else:
            what = f"clone of {printable(clone.url)} at {printable(clone.ref or '')}, which has no value here"
            yield Loose("clone", what, f"{name or 'it'} = <full commit>", place, argument=name)


def _scripts(view: View, read: Read) -> Iterator[Loose]:
    if view.followed.bounded:
        what = f"scripts are followed {DEEPEST} deep, and at most {MOST}: there are more"
        yield Loose("script", what, "run fewer scripts", Place(view.recipe.dockerfile))
    for script in view.followed.scripts:
        if script.block is None:
            yield Loose("script", "a script that cannot be read", "mend its syntax", script.place(0))
            continue
        checked = any(_proves(seen) for seen in script.commands(inner=True))
        for seen in script.commands(inner=True):
            yield from _command(seen, script, read, checked=checked)


def _proves(seen: Seen) -> bool:
    words = [word.text for word in seen.command.words]
    name = words[0].rpartition("/")[2] if words else ""
    if name in _PROVES:
        return any(word in ("--check", "--status") or (word.startswith("-") and "c" in word) for word in words[1:])
    return (name == "gpg" and "--verify" in words) or name in ("cosign", "gpgv")


def _command(seen: Seen, script: Script, read: Read, *, checked: bool) -> Iterator[Loose]:
    place = script.place(seen.command.span.start)
    words = [word.text for word in started(seen.command.words, _GETS)]
    if words and not checked:
        yield from _download(seen, words, place)
    words = [word.text for word in started(seen.command.words, {"git"})]
    if "submodule" in words and "update" in words and "--remote" in words:
        yield Loose("clone", "submodules at the tips of their branches", "leave --remote out", place)
    words = [word.text for word in seen.command.words]
    if "install" in words and any(word.rpartition("/")[2] in _PIP for word in words[: words.index("install")]):
        yield from pip_loose(seen, words[words.index("install") + 1 :], script, read)


def _download(seen: Seen, words: list[str], place: Place) -> Iterator[Loose]:
    texts = [seen.text(word) for word in words[1:]]
    found = [text for text in texts if _ADDRESS.fullmatch(text)]
    for text in found:
        if not _FULL_HASH.search(text):
            yield Loose("download", f"download of {printable(text)}", "check it with `sha256sum -c`", place, text)
    if not found and (unknown := next((text for text in texts if "$" in text or "`" in text), None)):
        what = f"{words[0].rpartition('/')[2]} of {printable(unknown)}, which has no value here"
        yield Loose("download", what, "check it with `sha256sum -c`", place)
