"""The moving names that a build takes something from, each resolved once: branches to commits, tags of images to digests."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from regraft.core.image_labels import Pin, Pins, label_name
from regraft.core.image_published import Found, Published
from regraft.core.image_reference import Reference, parse_reference
from regraft.core.image_values import ImageInputs, Loose
from regraft.core.manifest import Image, Manifest
from regraft.core.objects import Commit
from regraft.core.quoting import quoted
from regraft.core.repository_url import parse_repository_url, public
from regraft.core.resolution import Remote, Tip
from regraft.errors import RegraftError


class Asking(Struct, frozen=True):
    """`head` is the tip of the default branch."""

    ls_remote: Callable[[Remote], Sequence[Tip]]
    head: Callable[[Remote], Commit | None]
    find: Callable[[Reference], Found]


def resolve_pins(inputs: ImageInputs, image: Image, manifest: Manifest, asking: Asking) -> Pins:
    """What the loose inputs of an image mean at this moment."""
    pins: dict[str, Pin] = {}
    unresolved, uncovered = [], []
    known = Asking(cache(asking.ls_remote), cache(asking.head), asking.find)

    for loose in inputs.loose:
        try:
            found = _pin(loose, image, manifest, known)
        except RegraftError as error:
            unresolved.append(f"{loose.place}: {loose.what}: {error}")
            continue
        if found is None:
            uncovered.append(f"{loose.place}: {loose.what} is not covered: {loose.pin}")
        elif isinstance(found, str):
            unresolved.append(f"{loose.place}: {loose.what}: {found}")
        else:
            name = next(one for one in _names(found.name) if one not in pins or pins[one].value == found.value)
            pins[name] = Pin(name, found.ref, found.value, found.argument)
            if loose.unfit is not None:
                uncovered.append(f"{loose.place}: {loose.what}: the build is not handed {found.value}: {loose.unfit}")
    return Pins(tuple(pins.values()), tuple(dict.fromkeys(unresolved)), tuple(dict.fromkeys(uncovered)))


def _names(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _pin(loose: Loose, image: Image, manifest: Manifest, asking: Asking) -> Pin | str | None:
    """The pin, or why there is none at this moment; None: there is nothing to be asked."""
    if loose.kind == "base" and loose.ref:
        return _base(loose, loose.ref, asking.find)
    if loose.kind not in {"clone", "pip"} or not loose.url:
        return None
    if "$" in loose.url or "`" in loose.url:
        return "its address has no value here"
    remote, name = _remote(loose.url, loose.argument, image, manifest)
    ref = f"{public(remote.url)}@{loose.ref or 'HEAD'}"
    if loose.resolved:
        return Pin(name, ref, loose.resolved, _handed(loose))
    if loose.ref is None:
        commit = asking.head(remote)
        return f"{public(remote.url)} has no default branch" if commit is None else Pin(name, ref, commit)
    wanted = (loose.ref,) if loose.ref.startswith("refs/") else (f"refs/heads/{loose.ref}", f"refs/tags/{loose.ref}")
    commits = {tip.commit for tip in asking.ls_remote(remote) if tip.name in wanted}
    if len(commits) != 1:
        state = "is a branch and a tag of different commits" if commits else "is no branch and no tag"
        return f"{quoted(loose.ref)} {state} of {public(remote.url)}"
    return Pin(name, ref, commits.pop(), _handed(loose))


def _handed(loose: Loose) -> str | None:
    return loose.argument if loose.unfit is None else None


def _base(loose: Loose, text: str, find: Callable[[Reference], Found]) -> Pin | str:
    if loose.resolved:
        return Pin(f"base-{label_name(text)}", text, loose.resolved.rpartition("@")[2], _handed(loose))
    found = find(parse_reference(text))
    if not isinstance(found, Published):
        return getattr(found, "message", "the registry has no such image")
    value = f"{parse_reference(text).repository.text}@{found.digest}" if _handed(loose) else found.digest
    return Pin(f"base-{label_name(text)}", text, value, _handed(loose))


def _remote(url: str, argument: str | None, image: Image, manifest: Manifest) -> tuple[Remote, str]:
    """As the manifest declares it, with its token, where it declares it; the name of the pin."""
    wanted = _same(url)
    for name in image.baked:
        dependency = manifest.dependencies[name]
        if _same(dependency.url) == wanted:
            return Remote(dependency.url, dependency.token_env), name
    return Remote(url), label_name(argument or wanted[1].rpartition("/")[2])


def _same(url: str) -> tuple[str | None, str]:
    parsed = parse_repository_url(url)
    return parsed.host, parsed.path.strip("/").removesuffix(".git").lower()
