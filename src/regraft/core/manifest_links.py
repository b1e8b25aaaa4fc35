"""What the tables of a manifest say about each other."""

from collections.abc import Mapping
from typing import Any

from regraft.core.manifest_walk import WRONG, Walk, dotted
from regraft.core.spelling import nearest
from regraft.core.toml_places import At, Path


def default_directive(dependency: str) -> str:
    """The key of a dependency that declares none; `.` and `_` are no characters of a key."""
    return f"ci-{dependency.replace('.', '-').replace('_', '-')}-pr"


def check_links(read: Mapping[str, Any], walk: Walk) -> None:
    """Add to `walk` what is wrong between tables that are each right. Raises TooManyError."""
    dependencies, images, suites = (_tables(read[key]) for key in ("dependencies", "images", "suites"))
    _directives(dependencies, images, walk)
    for name, image in images.items():
        path: Path = ("images", name)
        baked = _tables(image["baked"])
        if read["dependencies"] is not WRONG:
            for dependency in baked:
                _known(dependency, read["dependencies"], "dependency", (*path, "baked", dependency), "key", walk)
        packages = {one for one in baked if dependencies.get(one, {}).get("package") is not None}
        _for_patches_only((*path, "baked"), {one: baked[one] for one in packages}, walk)
        checkouts = {name: one for name, one in baked.items() if name not in packages}
        _answers(path, image["unnamed"], {one: dependencies[one] for one in checkouts if one in dependencies}, walk)
        _apart(path, checkouts, walk)
        for dependency, one in baked.items():
            _one_list((*path, "baked", dependency), one, walk)
    if read["images"] is not WRONG:
        for name, suite in suites.items():
            if suite["image"] is not WRONG:
                _known(suite["image"], read["images"], "image", ("suites", name, "image"), "value", walk)


def _tables(tables: Any) -> dict[str, dict[str, Any]]:
    """The tables that can be looked into."""
    return {} if tables is WRONG else {name: table for name, table in tables.items() if table is not WRONG}


def _known(name: str, declared: Mapping[str, Any], word: str, path: Path, at: At, walk: Walk) -> None:  # noqa: PLR0913, PLR0917
    if name in declared:
        return
    meant = nearest(name, declared)
    table = "dependencies" if word == "dependency" else "images"
    hint = f"write `{meant}`" if meant else f"declare it in [{table}.{dotted((name,))}]"
    walk.add(path, at, f"unknown-{word}", f"{dotted(path)}: there is no {word} {name!r:.120}", hint)


def _directives(dependencies: Mapping[str, Any], images: Mapping[str, Any], walk: Walk) -> None:
    """A key means one thing: one dependency, or the tag of the images that share it."""
    owners: dict[str, str] = {}
    for name, dependency in dependencies.items():
        path: Path = ("dependencies", name)
        key = dependency["directive"]
        if key is WRONG:
            continue
        place: tuple[Path, At] = (path, "table") if key is None else ((*path, "directive"), "value")
        _one_owner(key or default_directive(name), dotted(path), owners, place, walk)
    for name, image in images.items():
        key = image["tag-directive"]
        if isinstance(key, str) and owners.get(key, "").startswith("dependencies."):
            path = ("images", name, "tag-directive")
            _one_owner(key, dotted(path), owners, (path, "value"), walk)


def _one_owner(key: str, owner: str, owners: dict[str, str], place: tuple[Path, At], walk: Walk) -> None:
    first = owners.setdefault(key, owner)
    if first != owner:
        message = f"{owner}: the directive {key!r:.120} is that of {first} already"
        walk.add(*place, "duplicate-directive", message, "give one of them a `directive` of its own")


def _answers(path: Path, unnamed: Any, baked: Mapping[str, Any], walk: Walk) -> None:
    """A run must know what to do with each dependency that nobody names."""
    if unnamed is WRONG or not unnamed or "keep" in unnamed:
        return
    needed = {"lock": "lock", "head": "branch"}
    for name, dependency in baked.items():
        if all(dependency[needed[word]] is None for word in unnamed):
            keys = " or ".join(f"`{needed[word]}`" for word in unnamed)
            message = f"{dotted((*path, 'unnamed'))} has no answer for {name}, which declares no {keys}"
            hint = f'add {keys} to [{dotted(("dependencies", name))}], or "keep" here'
            walk.add((*path, "unnamed"), "value", "no-answer", message, hint)


def _apart(path: Path, baked: Mapping[str, Any], walk: Walk) -> None:
    """Two dependencies of one image share neither a checkout nor a distribution: each is proved by itself."""
    paths: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name, one in baked.items():
        inner = (*path, "baked", name)
        if one["path"] is not WRONG and paths.setdefault(one["path"], name) != name:
            message = f"{dotted((*inner, 'path'))} is that of {paths[one['path']]} already"
            walk.add((*inner, "path"), "value", "duplicate", message, "give each dependency its own checkout")
        distributions = [] if one["distributions"] is WRONG else one["distributions"]
        for distribution in distributions:
            if owners.setdefault(distribution, name) != name:
                message = f"{dotted((*inner, 'distributions'))}: {distribution!r:.120} is one of {owners[distribution]} already"
                walk.add((*inner, "distributions"), "value", "duplicate", message, "leave it where its files are")


def _one_list(path: Path, baked: Mapping[str, Any], walk: Walk) -> None:
    if baked["series"] not in (None, WRONG) and baked["patches"]:
        message = f"{dotted(path)} has a `series` and `patches`"
        walk.add((*path, "patches"), "key", "duplicate", message, "keep the one that its build goes by")


_OF_CHECKOUTS = ("install", "distributions", "imports", "locate", "not-installed", "rebuild-when")


def _for_patches_only(path: Path, packages: Mapping[str, Any], walk: Walk) -> None:
    """Nothing is installed from a package dependency: what says how would be believed in vain."""
    for name, one in packages.items():
        for key in _OF_CHECKOUTS:
            if one[key] not in ([], WRONG):
                message = f"{dotted((*path, name, key))} means nothing for a package: only patches are judged on it"
                walk.add((*path, name, key), "key", "excluded-key", message, f"take `{key}` out")
