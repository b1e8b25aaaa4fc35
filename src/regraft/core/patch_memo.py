"""Judges a series over and over, on worlds that hardly differ, and does each piece of it once.

A piece is a group of sections that hang together, on exactly what its paths hold. Pieces are remembered within a run, and by
whoever is given as `recall` from run to run.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from regraft.core.checkout_tree import object_hash
from regraft.core.file_state import FileVerdict
from regraft.core.history_view import HistoryView
from regraft.core.patch_text import PatchText, Section
from regraft.core.patch_verdict import PatchVerdict, judge_group, judge_patch
from regraft.core.removal import blob_oid
from regraft.core.series_state import SeriesVerdict, judge_series
from regraft.core.tree_view import Made, Overlay, View

LARGEST = 256 * 1024  # bytes of a piece that is remembered from run to run

_Identity = tuple[str, str] | None


class Recall(Protocol):
    """What was remembered under a key, from run to run."""

    def get(self, key: bytes, /) -> bytes | None: ...
    def put(self, key: bytes, value: bytes, /) -> None: ...


class _Remembered(msgspec.Struct, array_like=True):
    missed: tuple[str, ...]
    files: tuple[FileVerdict, ...]


_decoder = msgspec.msgpack.Decoder(_Remembered)
_encoder = msgspec.msgpack.Encoder()


class Series:
    """The patches of one series. `engine` tells one version of this program's judgement from another."""

    def __init__(self, texts: Sequence[PatchText], engine: bytes = b"", recall: Recall | None = None) -> None:
        self.texts = tuple(texts)
        self._engine = engine
        self._recall = recall
        self._number = {id(text): number for number, text in enumerate(self.texts)}
        self._paths = [paths_of([text]) for text in self.texts]
        # A deletion is looked for under other names too, in whatever the other patches make.
        self._deleted = [deleted_in(text.sections) for text in self.texts]
        self._shared = frozenset(paths_of(self.texts)) if any(self._deleted) else _shared(self._paths)
        self._patches: dict[object, PatchVerdict] = {}
        self._groups: dict[object, Sequence[FileVerdict]] = {}
        self._digest: bytes | None = None
        self._digests: dict[tuple[int, int], bytes] = {}
        self._names: dict[bytes, str] = {}
        self.judged = 0  # groups that were not remembered

    @property
    def recall(self) -> Recall | None:
        return self._recall

    @property
    def digest(self) -> bytes:
        """Of the patches and of the engine."""
        if self._digest is None:
            self._digest = hashlib.sha256(self._engine + _encoder.encode(self.texts)).digest()
        return self._digest

    def judge(self, view: HistoryView) -> SeriesVerdict:
        """The results of files that no other patch touches are without content."""
        return judge_series(self.texts, view, judge=self._patch)

    def _patch(self, text: PatchText, view: View) -> PatchVerdict:
        number = self._number[id(text)]
        key = (id(text), self._state(self._paths[number], self._deleted[number], view))
        found = self._patches.get(key)
        if found is None:
            found = self._patches[key] = judge_patch(text, view, judge=self._group)
        return found

    def _state(self, paths: Sequence[bytes], deleted: frozenset[str], view: View) -> tuple[object, ...]:
        """All that judging these paths can depend on. `deleted`: names of the blobs that are deleted there."""
        overlay, under = _layers(view)
        if not overlay:
            held: list[object] = list(map(under.known.get, paths))
        else:
            held = [self._identity(view, path) if path in overlay else under.known.get(path) for path in paths]
        if None not in held:
            return tuple(held)
        absent = [path for path, one in zip(paths, held, strict=True) if one is None]
        related = sorted(
            (other, made is None)
            for other, made in overlay.items()
            if any(other.startswith(path + b"/") or path.startswith(other + b"/") for path in absent)
        )
        return (*held, under.extras, under.hints, tuple(related), self._twins(deleted, view))

    def _twins(self, deleted: frozenset[str], view: View) -> tuple[bytes, ...]:
        """Where else stands what is deleted: in files that other patches name, and as these leave them."""
        if not deleted:
            return ()
        overlay, under = _layers(view)
        held: dict[bytes, _Identity] = {**under.known, **{path: self._identity(view, path) for path in overlay}}
        names = tuple(deleted)
        return tuple(sorted(path for path, one in held.items() if one is not None and one[1].startswith(names)))

    def _identity(self, view: View, path: bytes) -> _Identity:
        entry = view.entry(path)
        if entry is None:
            return None
        if entry.oid:
            return entry.mode, entry.oid
        content = view.content(entry)
        if content not in self._names:
            self._names[content] = object_hash("blob", len(content), [content], sha256=view.sha256).hex()
        return entry.mode, self._names[content]

    def _group(
        self, text: PatchText, group: Sequence[int], view: View, vacated: frozenset[bytes]
    ) -> Sequence[FileVerdict]:
        sections = [text.sections[number] for number in group]
        paths = sorted({path for one in sections for path in (one.path, one.old_path)})
        state = self._state(paths, deleted_in(sections), view)
        key = (id(text), group[0], state)
        found = self._groups.get(key)
        if found is None:
            under = _layers(view)[1]
            lasting = self._recall is not None and not (None in state and under.hints)  # a hint is about the whole tree
            shared = not self._shared.isdisjoint(paths)
            name = self._key(text, group, state, vacated, shared=shared) if lasting else None
            found = self._recalled(name, under) if name is not None else None
            if found is None:
                missed, found = self._fresh(text, group, view, vacated, shared=shared)
                self._keep(name, missed, found)
            self._groups[key] = found
        return found

    def _fresh(
        self, text: PatchText, group: Sequence[int], view: View, vacated: frozenset[bytes], *, shared: bool
    ) -> tuple[set[str], Sequence[FileVerdict]]:
        """With the blobs that were looked for in vain. What becomes of files that other patches touch too is needed later."""
        under = _layers(view)[1]
        self.judged += 1
        before, under.missed = under.missed, set()
        files = judge_group(text, group, view, vacated)
        missed, under.missed = under.missed, before | under.missed
        return missed, files if shared else [_without_content(one) for one in files]

    def _keep(self, key: bytes | None, missed: set[str], files: Sequence[FileVerdict]) -> None:
        if self._recall is not None and key is not None:
            data = _encoder.encode(_Remembered(tuple(sorted(missed)), tuple(files)))
            if len(data) <= LARGEST:
                self._recall.put(key, data)

    def _recalled(self, key: bytes, under: HistoryView) -> Sequence[FileVerdict] | None:
        assert self._recall is not None
        data = self._recall.get(key)
        if data is None:
            return None
        try:
            found = _decoder.decode(data)
        except msgspec.DecodeError:
            return None
        # What was not here then, and is now, might prove more.
        return None if any(under.blob(name) is not None for name in found.missed) else found.files

    def _key(
        self,
        text: PatchText,
        group: Sequence[int],
        state: tuple[object, ...],
        vacated: frozenset[bytes],
        *,
        shared: bool,
    ) -> bytes:
        """What is kept without content, since no other patch of the series asks for it, is nothing to another series that does."""
        place = (id(text), group[0])
        if place not in self._digests:
            sections = [text.sections[number] for number in group]
            said = _encoder.encode((sections, text.bare, text.merges, sorted(vacated)))
            self._digests[place] = hashlib.sha256(self._engine + said).digest()
        plain = [sorted(one) if isinstance(one, frozenset) else one for one in state]
        return hashlib.sha256(self._digests[place] + _encoder.encode((shared, plain))).digest()


def paths_of(texts: Iterable[PatchText]) -> tuple[bytes, ...]:
    """Every path that readable patches name, old or new, sorted."""
    return tuple(
        sorted(
            {
                path
                for text in texts
                if not text.problems
                for section in text.sections
                for path in (section.path, section.old_path)
            }
        )
    )


def deleted_in(sections: Iterable[Section]) -> frozenset[str]:
    """The names of the blobs that sections delete, or their beginnings: one that stands elsewhere may mean that the file was moved."""
    deletions = (one for one in sections if one.kind == "delete")
    names = (blob_oid(one.hunks, sha256=False) if one.hunks else one.old_oid or "" for one in deletions)
    return frozenset(name for name in names if name)


def _shared(paths: Sequence[Sequence[bytes]]) -> frozenset[bytes]:
    """Those that several patches name."""
    seen: set[bytes] = set()
    found: set[bytes] = set()
    for some in paths:
        found.update(seen.intersection(some))
        seen.update(some)
    return frozenset(found)


def _layers(view: View) -> tuple[dict[bytes, Made | None], HistoryView]:
    if isinstance(view, Overlay):
        below = view.under
        assert isinstance(below, HistoryView)
        return view.made, below
    assert isinstance(view, HistoryView)
    return {}, view


def _without_content(one: FileVerdict) -> FileVerdict:
    if not one.results:
        return one
    results = {path: None if made is None else Made(made.mode, b"") for path, made in one.results.items()}
    return msgspec.structs.replace(one, results=results)
