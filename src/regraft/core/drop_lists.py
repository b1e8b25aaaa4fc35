"""What goes of a list of patches: an entry of the manifest, a line of a quilt series."""

import posixpath
import tomllib
from typing import Any

from regraft.core.drop_target import Target
from regraft.core.drop_values import FileCut
from regraft.core.spans import Edit, Span, edited, merged, without_item
from regraft.core.toml_places import TomlPlaces


def cut_manifest(data: bytes, target: Target) -> FileCut:
    """The patch's entries in each `patches` of `regraft.toml`; nothing where that is no TOML."""
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return FileCut()
    places = TomlPlaces(data)
    spans: list[Span] = []
    for keys, patches in _lists(document):
        gone = [index for index, one in enumerate(patches) if _file(one) == target.listed]
        whole = places.span(keys)
        items = [places.span((*keys, index)) for index in range(len(patches))]
        if gone and whole is not None and None not in items:
            spans += without_item(data, [Span(*one) for one in items if one is not None], gone, whole[1] - 1)
            patches[:] = [one for one in patches if _file(one) != target.listed]
    spans = merged(spans)
    after = edited(data, [Edit(span) for span in spans])
    try:
        same = tomllib.loads(after.decode("utf-8")) == document
    except ValueError:
        same = False
    return FileCut(tuple(spans)) if same else FileCut()


def _file(patch: Any) -> Any:
    """An entry is a path, or a table that says more of it."""
    return patch.get("file") if isinstance(patch, dict) else patch


def _lists(document: dict[str, Any]) -> list[tuple[tuple[str, ...], list[Any]]]:
    found: list[tuple[tuple[str, ...], list[Any]]] = []
    for image, table in _tables(document.get("images")):
        for dependency, baked in _tables(table.get("baked")):
            if isinstance(patches := baked.get("patches"), list):
                found.append((("images", image, "baked", dependency, "patches"), patches))
    return found


def _tables(value: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(key, one) for key, one in value.items() if isinstance(one, dict)] if isinstance(value, dict) else []


def cut_series(data: bytes, path: str, target: Target) -> FileCut:
    """The lines of a quilt series that name the patch; names are relative to the series' folder."""
    folder = posixpath.dirname(path)
    spans, at, others = [], 0, False
    for line in data.splitlines(keepends=True):
        name = line.split(b"#", 1)[0].split()
        if name:
            own = posixpath.normpath(posixpath.join(folder, name[0].decode("utf-8", "surrogateescape"))) == target.path
            others = others or not own
            if own:
                spans.append(Span(at, at + len(line)))
        at += len(line)
    return FileCut(tuple(merged(spans)), empty=bool(spans) and not others)
