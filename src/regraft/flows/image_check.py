"""What is wrong in how a project's images are built."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.findings import Finding
from regraft.core.image_check import Built, judge
from regraft.core.image_values import Place
from regraft.core.lock import read_lock
from regraft.core.manifest import Image, Manifest
from regraft.core.patch_address import is_address
from regraft.errors import InputError
from regraft.flows.image_inputs import SourceFiles, recipe_of


class ImageCheck(Struct, frozen=True):
    """`looked_at` counts what was judged, by its name in the plural."""

    findings: tuple[Finding, ...]
    looked_at: dict[str, int]

    @property
    def failed(self) -> bool:
        return any(one.severity == "error" for one in self.findings)


def image_check(images: list[Image], manifest: Manifest, files: SourceFiles, place: Callable[[str], str]) -> ImageCheck:
    """Judge how images are built, from the files that are tracked; `place` is `ProjectFiles.place`.

    Raises OutsideError where one cannot be read.
    """
    built = [_built(image, manifest, files) for image in images if image.dockerfile is not None]
    asked = {image.name for image in images}
    rest = [one for one in manifest.images.values() if one.name not in asked and one.dockerfile is not None]
    others = [_built(image, manifest, files) for image in rest]
    findings = tuple(_placed(one, place) for one in judge(built, files.tree, files.read, others))
    return ImageCheck(findings, {"images": len(built), "tracked files": len(files.tree)})


def _placed(finding: Finding, place: Callable[[str], str]) -> Finding:
    witnesses = tuple(replace(one, path=place(one.path)) for one in finding.witnesses)
    return replace(finding, path=place(finding.path), witnesses=witnesses)


def _built(image: Image, manifest: Manifest, files: SourceFiles) -> Built:
    locks = {}
    for name in image.baked:
        dependency = manifest.dependencies[name]
        if dependency.lock is not None:
            try:
                commit = read_lock(files.read(dependency.lock.file), dependency.lock)
            except InputError:  # `regraft check` says that
                continue
            locks[name] = (dependency.url, str(commit), Place(dependency.lock.file))
    carried = (path for baked in image.carried.values() for path in baked.patches)
    patches = tuple(dict.fromkeys(path for path in carried if not is_address(path)))
    build = image.build
    return Built(recipe_of(image, files), patches, build.inputs, build.inputs_within, build.generated, locks)
