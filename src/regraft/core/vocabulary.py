"""The directive keys that a manifest declares."""

from regraft.core.directives import Vocabulary
from regraft.core.manifest import Manifest


def vocabulary(manifest: Manifest) -> Vocabulary:
    tags: dict[str, frozenset[str]] = {}
    for image in manifest.images.values():
        if image.tag_directive is not None:
            tags[image.tag_directive] = tags.get(image.tag_directive, frozenset()) | {image.name}
    return Vocabulary(
        dependencies={dependency.directive: dependency.name for dependency in manifest.dependencies.values()},
        tags=tags,
        images={image.name: frozenset(image.baked) for image in manifest.images.values()},
        packages={package.directive: package.name for package in manifest.packages.values()},
    )
