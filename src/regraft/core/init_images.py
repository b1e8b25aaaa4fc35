"""The table of one image, and the suites that run on it."""

from collections.abc import Mapping, Sequence

from regraft.core.dockerfile_args import BUILT_IN, PROXIES
from regraft.core.init_found import Found, clean_name
from regraft.core.init_manifest import Table, toml
from regraft.core.init_values import Held, Place, Reference

_SHOWN = 6


def image_table(found: Found, name: str, held: Held, names: Mapping[str, str]) -> Table:
    table = Table(("images", name))
    reference = _reference(found, name, held, names, table)
    if reference is not None:
        _tag_directive(found, table, names)
    table.put("dockerfile", held.dockerfile, None)
    _build(found, held, table)
    _python(held, table)
    paths = list(dict.fromkeys(one.text for one in held.python_path))
    if paths:
        table.put("python-path", paths, held.python_path[0].place)
    _environment(held, table)
    built = found.workflows.built
    if built and held.dockerfile not in built:
        other, place = next((path, ways[0].place) for path, ways in built.items())
        table.ask(
            "dockerfile", f"is it built at all? {place} builds {other}, and nothing here builds {held.dockerfile}"
        )
    for one in held.remarks:
        mine = any(one.text.startswith(f"{path}: ") for path in held.checkouts)
        if one.question and not mine:
            table.ask("baked", f"{one.text} ({one.place})")
        elif not mine:
            table.note(f"{one.place}: {one.text}")
    for outside in held.outside:
        where = f"{outside.patch.place} applies {outside.patch.path} in {outside.folder}, which no checkout here is"
        table.ask("baked", f"a patch of which package? {where}")
    return table


def _build(found: Found, held: Held, table: Table) -> None:
    """How a workflow builds it, as far as all ways to do so have that in common."""
    ways = found.workflows.built.get(held.dockerfile, [])
    build = found.workflows.build_of(held.dockerfile)
    if build is None:
        _context(held, table, None)
        return
    if "context" in build.unsure:
        _context(held, table, build.place)
    elif build.context:
        table.put("context", build.context, build.place)
    if "target" in build.unsure and not found.workflows.differ(held.dockerfile):
        table.ask("target", f"which stage? What {build.place} builds is not written there")
    elif build.target is not None:
        table.put("target", build.target, build.place)
    known = {name: value for name, value in build.arguments if value is not None and taken(name, held)}
    if known:
        table.put("build-args", known, build.place)
    if found.workflows.differ(held.dockerfile):
        places = ", ".join(dict.fromkeys(str(one.place) for one in ways[:_SHOWN]))
        text = f"which of the ways to build it is this image? {places} differ in arguments, target or context"
        table.ask("build-args", text)
        return
    unknown = [name for name, value in build.arguments if value is None and taken(name, held)]
    if unknown:
        table.ask(
            "build-args", f"which values do {', '.join(unknown)} have? {build.place} passes what is not written there"
        )


def taken(name: str, held: Held) -> bool:
    """Whether a build takes such an argument: one that no ARG declares is not used."""
    return name in held.declared or name in PROXIES or BUILT_IN.fullmatch(name) is not None


def _context(held: Held, table: Table, place: Place | None) -> None:
    """Where no workflow tells the context, or the line at `place` does not."""
    one = held.context
    if one is None and place is not None:
        table.ask("context", f"which folder? {place} builds it from one that is not written there")
    elif one is not None and len(one.folders) == 1:
        table.put("context", one.folders[0], f"{one.told.place} takes {one.told.text!r:.120}, which only lies there")
    elif one is not None:
        where = " and ".join(folder or "the project's top" for folder in one.folders)
        text = f"which folder? {where} both have what {one.told.place} takes ({one.told.text!r:.120})"
        table.ask("context", text, f"context = {toml(one.folders[-1])}")


def _reference(found: Found, name: str, held: Held, names: Mapping[str, str], table: Table) -> Reference | None:
    """By the workflow that builds this Dockerfile; else by the image's name, where it is the only one that fits."""
    every = found.workflows.references
    built = _distinct([one for one in every if one.dockerfile == held.dockerfile])
    used = {(one.repository, one.tag) for one in every if one.job is not None}
    running = [one for one in built if (one.repository, one.tag) in used]
    why = ""
    sure = running if len(running) == 1 else built
    if built and not any(published(found, one) for one in sure):
        said = ", ".join(f"{one.repository}:{one.tag} ({one.place})" for one in sure[:_SHOWN])
        table.ask("repository", f"is it published, and under which name and tag? It is built as {said}, and not pushed")
        return None
    if not built:
        sure = _distinct([one for one in every if one.dockerfile is None and _fits(name, one, names)])
        why = f", by its name; no other image here is called {name}"
    if len(sure) == 1:
        table.put("repository", sure[0].repository, f"{sure[0].place}{why}")
        table.put("tag", sure[0].tag, f"{sure[0].place}")
        return sure[0] if {"repository", "tag"} <= {one.key for one in table.entries if one.value} else None
    wanted = sure or _distinct([one for one in every if one.job is not None])
    said = ", ".join(f"{one.repository}:{one.tag} ({one.place})" for one in wanted[:_SHOWN])
    table.ask("repository", f"under which name and tag is it published? {said or 'No workflow here names one'}")
    return None


def published(found: Found, one: Reference) -> bool:
    """Whether something pushes it, may push it (the name that a command has is not told), or runs in it."""
    names = found.workflows.pushed
    if one.pushed or {f"{one.repository}:{one.tag}", one.repository} & names or any("$" in name for name in names):
        return True
    same = [two for two in found.workflows.references if (two.repository, two.tag) == (one.repository, one.tag)]
    return any(two.job is not None or two.pushed for two in same)


def _distinct(references: Sequence[Reference]) -> list[Reference]:
    found: dict[tuple[str, str], Reference] = {}
    for one in references:
        found.setdefault((one.repository, one.tag), one)
    return list(found.values())


def _words(text: str) -> set[str]:
    return {*text.lower().replace("_", "-").replace(".", "-").replace("/", "-").replace(":", "-").split("-")}


def _fits(name: str, one: Reference, names: Mapping[str, str]) -> bool:
    words = _words(f"{one.repository.rpartition('/')[2]}:{one.tag}")
    others = [other for other in names.values() if other != name and _words(other) <= words]
    return name != "default" and _words(name) <= words and not others


def _tag_directive(found: Found, table: Table, names: Mapping[str, str]) -> None:
    keys = {key: place for key, place in found.workflows.directives.items() if key.endswith("tag")}
    if len(keys) == 1 and len(names) == 1:
        key, place = next(iter(keys.items()))
        table.put("tag-directive", key, place)
    elif keys:
        said = ", ".join(f"{key} ({place})" for key, place in keys.items())
        table.ask("tag-directive", f"is it of this image? {said}")


def _python(held: Held, table: Table) -> None:
    installs = [install for one in held.checkouts.values() for install in one.installs]
    told = {one.python: one.place for one in installs if one.python is not None}
    bare = [one for one in installs if one.python is None]
    if len(told) == 1 and not bare:
        python, place = next(iter(told.items()))
        table.put("python", python, place)
    elif installs:
        said = (
            ", ".join(f"{python} ({place})" for python, place in told.items())
            or f"{bare[0].place} takes whichever PATH finds"
        )
        table.ask("python", f"which interpreter? {said}")


def _environment(held: Held, table: Table) -> None:
    """Variables that stand before install commands."""
    found: dict[str, str] = {}
    place = None
    for one in held.checkouts.values():
        for install in one.installs:
            if any(found.get(key, value) != value for key, value in install.env):
                table.ask("env", f"which values? The commands at {place} and {install.place} differ")
                return
            found |= dict(install.env)
            place = install.place if install.env else place
    if found:
        table.put("env", found, place)


def suite_tables(found: Found, image: str, table: Table, before: Sequence[Table]) -> list[Table]:
    """The jobs that run in the image by its name and tag."""
    own = {one.key: one.value for one in table.entries}
    tables: list[Table] = []
    taken = {one.path[1] for one in before}
    for one in found.workflows.references:
        if one.job is None or (one.repository, one.tag) != (own.get("repository"), own.get("tag")):
            continue
        name = clean_name(one.job) or "suite"
        if any(other.path[1] == name for other in tables):
            continue
        name = name if name not in taken else f"{name}-{image}"[:64]
        suite = Table(("suites", name))
        suite.put("image", image, one.place)
        tables.append(suite)
        taken.add(name)
    return tables
