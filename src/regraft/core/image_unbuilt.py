"""Dockerfiles that no image of the manifest is built from, and that nothing else names."""

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping

from regraft.core.copy_sources import is_dockerfile
from regraft.core.findings import Finding
from regraft.core.image_rules import finding
from regraft.core.image_values import Place
from regraft.core.patterns import regex
from regraft.core.trees import Entry

Read = Callable[[str], bytes | None]

_ENDS = (".yml", ".yaml", ".sh", ".hcl", ".mk", ".toml", ".json", ".groovy", ".py")
_NAMES = frozenset({"Makefile", "justfile", "Jenkinsfile", "Justfile", "GNUmakefile"})
_COMMENT = regex(rb"(?m)^[ \t]*#.*$|[ \t]#[ \t].*$")
_INLINE = regex(rb"\bpaths(?:-ignore)?[ \t]*:[ \t]*\[[^\]]*\]")
_PATHS = regex(rb"(?m)^([ \t]*)paths(?:-ignore)?[ \t]*:[ \t]*\r?\n((?:(?:\1[ \t]*-[ \t].*|[ \t]*)\r?\n?)+)")


def unbuilt(known: Collection[str], tree: Mapping[str, Entry], read: Read) -> Iterator[Finding]:
    """`known` are the Dockerfiles of the manifest's images, of all of them."""
    others = [path for path in tree if is_dockerfile(path) and path not in known]
    if not others:
        return
    texts = [_said(path, read(path) or b"") for path in tree if _may_build(path)]
    for path in others:
        name, folder = posixpath.basename(path), posixpath.dirname(path)
        plain = name in ("Dockerfile", "Containerfile")
        wanted = [path, *([] if plain else [name]), *([folder] if plain and folder else [])]
        if plain and not folder:
            wanted = ["docker build", "docker buildx", "build-push-action"]
        if not any(word.encode("utf-8", "surrogateescape") in text for word in wanted for text in texts):
            message = "no image of the manifest is built from this, and no workflow, script or Makefile names it"
            yield finding("image-unbuilt", Place(path), message, "add it to the manifest, or remove it")


def _said(path: str, text: bytes) -> bytes:
    """Without comments, and without the filters of a workflow: what starts a run is not what the run builds."""
    if not path.endswith((".json", ".groovy")):
        text = _COMMENT.sub(b"", text)
    if path.endswith((".yml", ".yaml")):
        text = _PATHS.sub(b"", _INLINE.sub(b"", text))
    return text


def _may_build(path: str) -> bool:
    name = posixpath.basename(path)
    return name.endswith(_ENDS) or name in _NAMES
