"""The rule of `image check` about commits: what patches are applied to, and what a lock records."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from regraft.core.findings import Finding
from regraft.core.git_clones import HASH, clones
from regraft.core.image_applies import Applied
from regraft.core.image_rules import finding
from regraft.core.image_values import Place
from regraft.core.image_view import View
from regraft.core.trees import printable

Locks = Mapping[str, tuple[str, str, Place]]  # dependency -> url, commit, the file that says so


class _Pin(Struct, frozen=True):
    url: str
    ref: str
    pinned: bool
    place: Place
    patches: frozenset[str]

    @property
    def said(self) -> str:
        return self.ref[:12] if HASH.fullmatch(self.ref) else printable(self.ref, 60)


def pins(views: Iterable[tuple[View, list[Applied]]], locks: Iterable[tuple[str, Locks]]) -> Iterator[Finding]:
    """A patch that two builds apply to different commits, and a lock that says another commit than the build.

    `locks` come with the Dockerfile that they are for.
    """
    found = _found(views)
    for dockerfile, some in locks:
        for name, (url, commit, place) in some.items():
            for pin in found.get(_plain(url), ()):
                if pin.pinned and pin.place.path == dockerfile and not commit.startswith(pin.ref):
                    message = f"{name} is built at {pin.said}, and the lock records {commit[:12]}"
                    yield finding(
                        "pin-differs", pin.place, message, "let both name the same commit", ((place, "the lock"),)
                    )
    for some_pins in found.values():
        for index, pin in enumerate(some_pins):
            other = next((one for one in some_pins[:index] if one.patches & pin.patches and _differ(one, pin)), None)
            if other is not None:
                shared = min(other.patches & pin.patches)
                message = f"{printable(shared)} is applied to {pin.said} here, and to {other.said} elsewhere"
                fix = "build the same commit, or carry a patch of its own for each"
                yield finding("pin-differs", pin.place, message, fix, ((other.place, f"to {other.said}"),))


def _found(views: Iterable[tuple[View, list[Applied]]]) -> dict[str, list[_Pin]]:
    found: dict[str, list[_Pin]] = {}
    for view, applied in views:
        for clone in clones(view.followed.scripts):
            if clone.ref is not None and "$" not in clone.ref:
                url = _plain(clone.url)
                own = [one for one in applied if _within(one.folder, clone.folder)]
                patches = frozenset(path for one in own for path in one.paths)
                pin = _Pin(url, clone.ref, clone.pinned, clone.ref_place or clone.place, patches)
                found.setdefault(url, []).append(pin)
    return found


def _differ(one: _Pin, other: _Pin) -> bool:
    """Two commits, or two names; a commit and a name may be the same."""
    if one.pinned and other.pinned:
        return not one.ref.startswith(other.ref) and not other.ref.startswith(one.ref)
    return not one.pinned and not other.pinned and one.ref != other.ref


def _within(folder: str, clone: str) -> bool:
    return folder == clone or folder.startswith(f"{clone}/")


def _plain(url: str) -> str:
    return url.rstrip("/").removesuffix(".git").lower().replace("git@github.com:", "https://github.com/")
