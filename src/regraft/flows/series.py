"""Baked dependencies whose patches a series file lists: the order is declared there, and it is complete."""

from msgspec.structs import replace

from regraft.core.manifest import Baked, Manifest, PatchFormat
from regraft.core.patch_series import LIMIT, Order, read_series, unlisted
from regraft.errors import InputError, raise_all
from regraft.flows.ports import ProjectFiles

SHOWN = 5


def with_series(manifest: Manifest, files: ProjectFiles) -> Manifest:
    """The manifest with the patches of every series.

    Raises InputError or MistakesError: series-missing, series-mistake, patch-unlisted, and what reading a file raises.
    """
    images = {}
    mistakes: list[InputError] = []
    for name, image in manifest.images.items():
        filled = {}
        for dependency, one in image.carried.items():
            key = f"images.{name}.baked.{dependency}.series"
            filled[dependency] = _filled(one, one.series, files, key, mistakes) if one.series is not None else one
        images[name] = replace(
            image,
            baked={one: filled[one] for one in image.baked},
            packages={one: filled[one] for one in image.packages},
        )
    raise_all(mistakes)
    return replace(manifest, images=images)


def _filled(baked: Baked, series: str, files: ProjectFiles, key: str, mistakes: list[InputError]) -> Baked:
    place = files.place(series)
    try:
        data = files.read(series, LIMIT)
    except InputError as error:
        mistakes.append(error)
        return baked
    if data is None:
        hint = f"add the file, or list the patches with `patches` instead of {key}"
        mistakes.append(InputError("series-missing", "the project has no such series file", where=place, hint=hint))
        return baked
    order = read_series(data, series)
    mistakes += [InputError("series-mistake", one.message, where=f"{place}:{one.line}") for one in order.mistakes]
    _complete(order, series, files, mistakes)
    formats = {one.path: PatchFormat(strip=one.strip) for one in order.listed if one.strip is not None}
    return replace(baked, patches=tuple(one.path for one in order.listed), formats=formats)


def _complete(order: Order, series: str, files: ProjectFiles, mistakes: list[InputError]) -> None:
    folder = series.rpartition("/")[0]
    names = [f"{folder}/{name}" if folder else name for name in files.names(folder)]
    missing = unlisted(names, order, series)
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        message = f"does not list {', '.join(map(repr, missing[:SHOWN]))}{more}"
        hint = "list it where it is to be applied, comment it out there (`# name`), or delete the file"
        mistakes.append(InputError("patch-unlisted", message, where=files.place(series), hint=hint))
