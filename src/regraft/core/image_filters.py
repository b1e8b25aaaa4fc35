"""The filters and hashes of workflows that build an image, against what feeds it: what changes, and nothing is built."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from regraft.core.findings import Finding
from regraft.core.image_rules import finding
from regraft.core.image_values import Place
from regraft.core.path_filters import Pattern, dead_filters, dead_globs, filtered, hashed
from regraft.core.workflow_triggers import Building, Hashed, Trigger, callers, read_buildings

_MANIFEST = "regraft.toml"
_SHOWN = 3
_WITNESSES = 50


class Fed(Struct, frozen=True):
    """An image, its Dockerfile, and what feeds it: path -> where it is used."""

    image: str
    dockerfile: str
    inputs: Mapping[str, Place | None]


def filter_findings(
    images: Iterable[Fed], paths: Iterable[str], read: Callable[[str], bytes | None]
) -> Iterator[Finding]:
    """By image. Nothing is said of an image that no workflow builds, as far as it can be followed."""
    tracked = tuple(paths)
    buildings = read_buildings(tracked, read)
    for fed in images:
        building = callers(buildings, fed.dockerfile, fed.image)
        if _MANIFEST in tracked and any(one.images is None or fed.image in one.images for one in building):
            fed = Fed(fed.image, fed.dockerfile, {**fed.inputs, _MANIFEST: None})  # noqa: PLW2901 - what regraft builds by
        for occasion in ("push", "pull_request"):
            yield from _of_occasion(fed, occasion, building)
        for one in building:
            yield from _dead(one, tracked)
            for each in one.hashes:
                yield from _of_hash(fed, one, each, tracked)


def _of_occasion(fed: Fed, occasion: str, building: Iterable[Building]) -> Iterator[Finding]:
    """An input counts as covered where one of the workflows starts for it."""
    started = [(one, each) for one in building for each in one.triggers if each.occasion == occasion]
    missed: dict[tuple[str, int], list[str]] = {}
    for path in fed.inputs:
        verdicts = [_starts(trigger, path) for _, trigger in started]
        if not verdicts or any(starts is not False for starts, _ in verdicts):
            continue
        of, trigger = started[0]
        why = verdicts[0][1]
        missed.setdefault((of.path, why.line if why else trigger.line), []).append(path)
    for (workflow, line), unseen in missed.items():
        shown = ", ".join(f"{path!r:.200}" for path in unseen[:_SHOWN])
        more = f" and {len(unseen) - _SHOWN} more" if len(unseen) > _SHOWN else ""
        message = f"{shown}{more} feed{'s' * (len(unseen) == 1)} {fed.image}, and on {occasion} no filter lets a change of it build it"
        yield finding("input-unwatched", Place(workflow, line), message, "let the filter match it", _used(fed, unseen))


def _used(fed: Fed, paths: Iterable[str]) -> tuple[tuple[Place, str], ...]:
    said = [(place, f"takes {path!r:.200}") for path in paths if (place := fed.inputs[path]) is not None]
    return tuple(said[:_WITNESSES])


def _starts(trigger: Trigger, path: str) -> tuple[bool | None, Pattern | None]:
    """Whether a change of that file alone starts it, and the pattern that settles that."""
    if trigger.paths is not None:
        return filtered(trigger.paths, path)
    if trigger.ignored is not None:
        matched, why = filtered(trigger.ignored, path)
        return (None if matched is None else not matched), why
    return True, None


def _dead(building: Building, tracked: tuple[str, ...]) -> Iterator[Finding]:
    for trigger in building.triggers:
        for one in dead_filters(trigger.paths or (), tracked):
            message = f"the filter {one.text!r:.200} matches no file that is tracked here: it lets nothing through"
            yield finding("filter-unmatched", Place(building.path, one.line), message, "mend it, or take it out")


def _of_hash(fed: Fed, building: Building, of: Hashed, tracked: tuple[str, ...]) -> Iterator[Finding]:
    """A hash is about an image where it stands in the step that builds it, or takes its Dockerfile in."""
    own = of.builds and fed.dockerfile in building.dockerfiles
    if not own and hashed(of.patterns, fed.dockerfile) is not True:
        return
    place = Place(building.path, of.line)
    unseen = [path for path in fed.inputs if hashed(of.patterns, path) is False]
    if unseen:
        shown = ", ".join(f"{path!r:.200}" for path in unseen[:_SHOWN])
        more = f" and {len(unseen) - _SHOWN} more" if len(unseen) > _SHOWN else ""
        message = f"{shown}{more} feed{'s' * (len(unseen) == 1)} {fed.image}, and this hashFiles leaves it out"
        fix = "hash it too, or take the hash that `regraft image inputs` prints"
        yield finding("input-unhashed", place, message, fix, _used(fed, unseen))
    for one in dead_globs(of.patterns, tracked):
        message = f"{one.text!r:.200} of this hashFiles matches no file that is tracked here"
        yield finding("filter-unmatched", place, message, "mend it, or take it out")
