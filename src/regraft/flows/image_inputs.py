"""What feeds an image, read from a commit: never from the work tree."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from regraft.core.image_inputs import Added, inputs_of
from regraft.core.image_values import Place
from regraft.core.image_view import Recipe
from regraft.core.lock import read_lock
from regraft.core.patch_address import is_address
from regraft.errors import InputError, MistakesError, raise_all
from regraft.flows.project import open_manifest
from regraft.flows.tracked_files import TrackedFiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from regraft.core.image_values import ImageInputs
    from regraft.core.manifest import Image, Manifest
    from regraft.core.objects import Commit
    from regraft.core.trees import Entry


class SourceFiles(Protocol):
    """The tracked files of the project: as a commit has them, or as they lie in the work tree."""

    @property
    def commit(self) -> Commit: ...

    @property
    def top(self) -> bool:
        """Whether the project is the top of its repository."""

    @property
    def tree(self) -> Mapping[str, Entry]:
        """Every path, links and submodules among them."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, the target of a link; None where nothing is tracked there. OutsideError; InputError too-large."""


def image_inputs(image: Image, manifest: Manifest, files: SourceFiles) -> ImageInputs:
    """What feeds one image.

    Raises InputError: no-dockerfile, and everything that is wrong in the Dockerfile and in what it names, at once.
    """
    recipe = recipe_of(image, files)
    carried = [patch for baked in image.carried.values() for patch in baked.patches]
    added = Added(
        files=tuple(dict.fromkeys(patch for patch in carried if not is_address(patch))),
        patterns=image.build.inputs,
        generated=image.build.generated,
        pins=_pins(image, manifest, files),
        addresses=tuple(dict.fromkeys(filter(is_address, carried))),
    )
    return inputs_of(recipe, added, files.tree, files.read, files.commit)


@contextmanager
def of_revision(revision: str) -> Iterator[None]:
    """Say of each mistake in a commit's files which commit that is."""
    try:
        yield
    except InputError as error:
        mistakes = error.mistakes if isinstance(error, MistakesError) else [error]
        raise_all([_of(revision, one) for one in mistakes])


def _of(revision: str, error: InputError) -> InputError:
    where = f"{error.where} at {revision[:80]}" if error.where and error.where != "--at" else error.where
    return InputError(error.code, error.message, where=where, hint=error.hint)


def image_inputs_at(name: str, files: SourceFiles, manifest: Manifest) -> ImageInputs:
    """The same of the image of that name. Raises InputError: unknown-image, and what `image_inputs` raises."""
    if name not in manifest.images:
        raise InputError("unknown-image", f"the manifest at {files.commit[:12]} has no image {name!r:.80}")
    return image_inputs(manifest.images[name], manifest, files)


def manifest_of(files: SourceFiles) -> Manifest:
    """The manifest as it is among tracked files. Raises what `open_manifest` raises."""
    try:
        manifest, _ = open_manifest(TrackedFiles(files))
    except InputError as error:
        if error.code != "no-manifest":
            raise
        message = f"there is no {error.where} at {files.commit[:12]}"
        raise InputError("no-manifest", message, hint="commit it: the work tree does not count here") from None
    return manifest


def recipe_of(image: Image, files: SourceFiles) -> Recipe:
    """How an image is built. Raises InputError `no-dockerfile`."""
    if image.dockerfile is None:
        hint = f"name what it is built from: [images.{image.name}] dockerfile"
        raise InputError("no-dockerfile", f"the manifest names no Dockerfile of {image.name}", hint=hint)
    build = image.build
    context = "" if build.context == "." else build.context
    return Recipe(image.name, image.dockerfile, context, build.target, build.arguments, files.top)


def _pins(image: Image, manifest: Manifest, files: SourceFiles) -> dict[str, tuple[str, Place]]:
    found = {}
    for name in image.baked:
        lock = manifest.dependencies[name].lock
        if lock is not None:
            found[name] = (str(read_lock(files.read(lock.file), lock)), Place(lock.file))
    return found
