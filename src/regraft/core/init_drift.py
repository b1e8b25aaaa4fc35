"""What the builds of a Dockerfile, its environment and the jobs that run in its image say otherwise than the manifest."""

import posixpath
from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core.findings import Severity
from regraft.core.init_found import Found, clean_name
from regraft.core.init_images import published, taken
from regraft.core.init_values import Build, Checkout, Held, Place
from regraft.core.manifest import Baked, Image, Manifest
from regraft.core.spelling import nearest

# What a command says, and where it takes packages from while an image is built, changes nothing of what it installs.
_ASIDE = frozenset({"-q", "--quiet", "-v", "-vv", "--verbose", "--no-cache-dir", "--no-index"})
_SOURCES = frozenset({"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host"})


class Drift(Struct, frozen=True):
    """One difference: `keys` below the image's table, and the line that says otherwise. `there`: it is that line's finding."""

    rule: str
    keys: tuple[str, ...]
    message: str
    place: Place
    there: bool = False
    severity: Severity = "error"
    fix: str | None = None


def drifts(image: Image, held: Held, found: Found) -> Iterator[Drift]:
    """Everything of one image but its checkouts. A manifest may say more than the builds do; where they say otherwise, it is stale."""
    ways = found.workflows.built.get(held.dockerfile, [])
    if ways:
        yield from _built(image, held, ways)
        yield from _published(image, held, found, ways)
    elif held.context is not None and len(held.context.folders) == 1 and image.build.context != held.context.folders[0]:
        told = held.context.told
        message = f"{told.place} takes {told.text!r:.120}, which only lies in {held.context.folders[0] or 'the top'}"
        yield Drift("context-differs", ("context",), message, told.place)
    yield from _python_path(image, held)


def _built(image: Image, held: Held, ways: Sequence[Build]) -> Iterator[Drift]:
    """An image is one of the ways in which its Dockerfile is built; what a line does not tell may be anything."""
    first = ways[0].place
    own = image.build
    if not any(own.context == one.context or "context" in one.unsure for one in ways):
        message = f"{first} builds it from {ways[0].context or 'the top of the project'}"
        yield Drift("context-differs", ("context",), message, first)
    near = [one for one in ways if own.target == one.target or "target" in one.unsure]
    if not near:
        told = f"the stage {ways[0].target}" if ways[0].target is not None else "the last stage"
        yield Drift("target-differs", ("target",), f"{first} builds {told}", first)
        return
    differing = [list(_arguments(image, held, one)) for one in near]
    if all(differing):
        yield from min(differing, key=len)


def _arguments(image: Image, held: Held, way: Build) -> Iterator[Drift]:
    passed = dict(way.arguments)
    if any("$" in name for name in passed):
        return
    own = image.build.arguments
    for name in sorted(own.keys() | {one for one in passed if taken(one, held)}):
        if name in own and name not in passed:
            message = f"{way.place} does not pass {name}"
        elif passed[name] is None or own.get(name) == passed[name]:
            continue
        else:
            message = f"{way.place} passes {name}={passed[name]!s:.120}"
        yield Drift("build-args-differ", ("build-args",), message, way.place)


def _published(image: Image, held: Held, found: Found, ways: Sequence[Build]) -> Iterator[Drift]:
    every = [one for one in found.workflows.references if one.dockerfile == held.dockerfile]
    pushed = [one for one in every if published(found, one)]
    if image.repository is None or image.tag is None or any("tags" in one.unsure for one in ways):
        return
    if pushed and (image.repository, image.tag) not in {(one.repository, one.tag) for one in pushed}:
        key = "tag" if image.repository in {one.repository for one in pushed} else "repository"
        message = f"{pushed[0].place} publishes it as {pushed[0].repository}:{pushed[0].tag}"
        yield Drift("published-differs", (key,), message, pushed[0].place)


def _python_path(image: Image, held: Held) -> Iterator[Drift]:
    told = [one.text for one in held.python_path]
    own = [posixpath.normpath(one) for one in image.python_path]
    for one in held.python_path:
        if one.text not in own:
            yield Drift("python-path-differs", ("python-path",), f"{one.place} has {one.text} on PYTHONPATH", one.place)
            return
    if [one for one in own if one in told] != told:
        message = f"{held.python_path[0].place} has another order: {', '.join(told)}"
        yield Drift("python-path-differs", ("python-path",), message, held.python_path[0].place)


def install_drift(one: Checkout, baked: Baked) -> Iterator[Drift]:
    """Words that the Dockerfile's install commands have and the manifest's have not: it may add to them, as `--no-deps`."""
    if not baked.install or any(each.doubt is not None or each.argv[0] != "python" for each in one.installs):
        return
    known = {word for argv in baked.install for word in argv}
    if any(word not in known for each in one.installs for word in _telling(each.argv)):
        line = " ".join(one.installs[0].argv)
        message = f"{one.installs[0].place} installs it by `{line:.200}`"
        yield Drift("install-differs", ("install",), message, one.installs[0].place, severity="warning")


def _telling(argv: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(argv):
        if word not in _ASIDE | _SOURCES and (not at or argv[at - 1] not in _SOURCES):
            yield word


def suite_drift(manifest: Manifest, found: Found) -> Iterator[Drift]:
    """Jobs that run on an image of which the manifest lists suites, and are none of them."""
    images = {(one.repository, one.tag): one.name for one in manifest.images.values() if one.repository is not None}
    suites = {*manifest.suites}
    listed = {one.image for one in manifest.suites.values()}
    jobs = {clean_name(one.job) for one in found.workflows.references if one.job is not None}
    for one in found.workflows.references:
        image = images.get((one.repository, one.tag))
        name = clean_name(one.job or "") or "suite"
        if one.job is None or image not in listed or {name, f"{name}-{image}"[:64]} & suites:
            continue
        meant = nearest(name, [known for known in suites if known not in jobs])
        message = f"{one.job!r:.120} runs on {one.repository}:{one.tag}, and no suite of the manifest is called {name}"
        fix = f"is it {meant}?" if meant else None
        yield Drift("suite-undeclared", ("suites", name), message, one.place, there=True, fix=fix)
