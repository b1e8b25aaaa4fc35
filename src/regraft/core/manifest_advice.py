"""What is allowed in a manifest and yet hardly meant."""

from collections.abc import Iterator
from typing import NamedTuple

from regraft.core.findings import Severity
from regraft.core.manifest import Baked, Command, Image, Manifest
from regraft.core.toml_places import At, Path

_OTHER_PYTHON = ("pip", "pip3", "python3", "uv")


class Advice(NamedTuple):
    path: Path
    at: At
    severity: Severity
    rule: str
    message: str
    fix: str | None = None


def advice(manifest: Manifest) -> Iterator[Advice]:
    """Warnings and notes on a manifest without mistakes."""
    if not manifest.dependencies and not manifest.packages:
        yield Advice((), "table", "note", "no-dependencies", "no dependency is declared: there is nothing to override")
    used = {dependency for image in manifest.images.values() for dependency in image.baked}
    for name, dependency in manifest.dependencies.items():
        path: Path = ("dependencies", name)
        if name not in used:
            yield Advice(
                path, "table", "note", "dependency-unused", f"no image bakes {name}: its directive reaches nothing"
            )
        for index, allowed in enumerate(dependency.allow):
            if not allowed.split("/")[0].strip("*"):
                message = f"{allowed} lets a pull request of {name} come from anybody's repository"
                yield Advice((*path, "allow", index), "value", "warning", "allow-anybody", message, "name the owners")
    for name in manifest.packages.keys() - {name for image in manifest.images.values() for name in image.packages}:
        message = f"no image holds {name}: no patch is judged on it"
        yield Advice(("dependencies", name), "table", "note", "dependency-unused", message)
    yield from _commands(manifest.install, ("project", "install"))
    for image in manifest.images.values():
        yield from _image(manifest, image)


def _image(manifest: Manifest, image: Image) -> Iterator[Advice]:
    path: Path = ("images", image.name)
    if not any(suite.image == image.name for suite in manifest.suites.values()):
        yield Advice(path, "table", "note", "image-without-suites", f"no suite runs on {image.name}")
    if not image.carried:
        yield Advice(path, "table", "note", "image-without-dependencies", f"{image.name} bakes no dependency")
    keep = image.unnamed.index("keep") if "keep" in image.unnamed else len(image.unnamed)
    for word in image.unnamed[keep + 1 :]:
        message = f"{word} is never asked: keep has an answer for everything"
        yield Advice(
            (*path, "unnamed"),
            "value",
            "warning",
            "unnamed-unreached",
            message,
            f"put {word} before keep, or take it out",
        )
    for baked in image.baked.values():
        yield from _baked(baked, (*path, "baked", baked.dependency))


def _baked(baked: Baked, path: Path) -> Iterator[Advice]:
    if not baked.imports and not baked.locate:
        message = f"nothing shows that a fresh interpreter finds {baked.dependency}"
        yield Advice(path, "table", "warning", "nothing-located", message, "name its modules in `imports` or `locate`")
    yield from _commands(baked.install, (*path, "install"))


def _commands(commands: tuple[Command, ...], path: Path) -> Iterator[Advice]:
    for index, command in enumerate(commands):
        if command[0] in _OTHER_PYTHON:
            message = f"{command[0]} is whichever one PATH finds; only `python` at the head is the image's interpreter"
            module = ["-m", "pip", *command[1:]] if command[0].startswith("pip") else list(command[1:])
            fix = (
                f'begin with "python", "{module[0]}"'
                if module and command[0] != "uv"
                else "name its target with --python"
            )
            yield Advice((*path, index), "value", "warning", "other-interpreter", message, fix)
