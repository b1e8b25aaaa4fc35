"""A manifest without mistakes, as the values that the rest of regraft works with."""

from collections.abc import Collection, Mapping
from typing import Any

from regraft.core.manifest import Baked, Build, Command, Dependency, Image, Lock, Manifest, Package, PatchFormat, Suite
from regraft.core.manifest_links import default_directive
from regraft.core.objects import Sha256


def build(read: Mapping[str, Any], sha256: Sha256) -> Manifest:
    """`read` is what `Walk.read` gave, without a mistake in it."""
    project, declared = read["project"], read["dependencies"]
    packages = {name: _package(name, table) for name, table in declared.items() if table["package"] is not None}
    return Manifest(
        name=project["name"],
        install=_commands(project["install"]),
        distributions=tuple(project["distributions"]),
        dependencies={name: _dependency(name, table) for name, table in declared.items() if name not in packages},
        images={name: _image(name, table, packages) for name, table in read["images"].items()},
        suites={name: Suite(name, table["image"]) for name, table in read["suites"].items()},
        sha256=sha256,
        packages=packages,
    )


def _package(name: str, table: Mapping[str, Any]) -> Package:
    return Package(name, table["package"], table["files"], table["directive"] or default_directive(name))


def _commands(commands: list[list[str]]) -> tuple[Command, ...]:
    return tuple(tuple(command) for command in commands)


def _dependency(name: str, table: Mapping[str, Any]) -> Dependency:
    lock = table["lock"]
    return Dependency(
        name=name,
        url=table["url"],
        branch=table["branch"],
        directive=table["directive"] or default_directive(name),
        allow=tuple(table["allow"]),
        token_env=table["token-env"],
        lock=None if lock is None else Lock(lock["file"], lock["key"]),
    )


def _image(name: str, table: Mapping[str, Any], packages: Collection[str]) -> Image:
    baked = {dependency: _baked(dependency, inner) for dependency, inner in table["baked"].items()}
    return Image(
        name=name,
        repository=table["repository"],
        tag=table["tag"],
        tag_directive=table["tag-directive"],
        dockerfile=table["dockerfile"],
        unnamed=tuple(table["unnamed"]),
        python=table["python"],
        python_path=tuple(table["python-path"]),
        requirements=table["requirements"],
        env=tuple(table["env"].items()),
        baked={dependency: one for dependency, one in baked.items() if dependency not in packages},
        packages={dependency: one for dependency, one in baked.items() if dependency in packages},
        install_timeout=table["install-timeout"],
        also_writes=tuple(table["also-writes"]),
        prefer=tuple(table["prefer"]),
        build=_build(table),
    )


def _build(table: Mapping[str, Any]) -> Build:
    return Build(
        context=table["context"] or "",
        target=table["target"],
        arguments=dict(table["build-args"]),
        inputs=tuple(table["inputs"]),
        inputs_within=tuple(table["inputs-within"]),
        generated=tuple(table["generated"]),
    )


def _baked(dependency: str, table: Mapping[str, Any]) -> Baked:
    return Baked(
        dependency=dependency,
        path=table["path"],
        install=_commands(table["install"]),
        distributions=tuple(table["distributions"]),
        imports=tuple(table["imports"]),
        locate=tuple(table["locate"]),
        not_installed=tuple(table["not-installed"]),
        rebuild_when=tuple(table["rebuild-when"]),
        local_edits=table["local-edits"],
        patches=tuple(one if isinstance(one, str) else one["file"] for one in table["patches"]),
        formats={one["file"]: _format(one) for one in table["patches"] if not isinstance(one, str)},
        series=table["series"],
        apply=table["apply"],
    )


def _format(table: Mapping[str, Any]) -> PatchFormat:
    pinned = table["sha256"]
    return PatchFormat(table["strip"], table["root"] or "", None if pinned is None else Sha256(pinned))
