"""The first-parent line of a range, and what the paths hold at its tip: of what is remembered, only what came on top is asked for."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from regraft.core.history_view import known_at
from regraft.core.objects import Commit
from regraft.core.patch_history import Line, Touch, Version
from regraft.core.patch_memo import Recall
from regraft.flows.ports import HistorySource


class Ground(msgspec.Struct, frozen=True):
    """`known` is what `core.history_view.HistoryView` must know of the tip's tree. `fresh`: how many commits were asked for."""

    line: Line
    known: dict[bytes, Version]
    fresh: int = 0


def ground_of(  # noqa: PLR0913 - as for `patch_history.walk`
    source: HistorySource,
    tip: Commit,
    paths: Sequence[bytes],
    oids: frozenset[str],
    *,
    last: int | None,
    since: Commit | None,
    recall: Recall | None,
) -> Ground:
    key = hashlib.sha256(b"line\0" + msgspec.msgpack.encode((paths, sorted(oids)))).digest()
    old = _remembered(recall, key)
    found: Ground | None = None
    if old is not None:
        new = source.line(tip, paths, last=last, since=since, known=old.line.commits, oids=oids)
        line = _joined(new, old.line, last, since)
        if line is not None and new.beyond in old.line.commits:
            found = Ground(line, _moved_on(old, new), len(new.commits))
        elif line is not None:
            found = Ground(line, _looked_up(source, tip, paths, oids), len(new.commits))
    if found is None:
        line = source.line(tip, paths, last=last, since=since, oids=oids)
        found = Ground(line, _looked_up(source, tip, paths, oids), len(line.commits))
    if recall is not None and not found.line.cut:
        recall.put(key, msgspec.msgpack.encode(found))
    return found


def _looked_up(
    source: HistorySource, tip: Commit, paths: Sequence[bytes], oids: frozenset[str]
) -> dict[bytes, Version]:
    return known_at(source.commit(tip).tree, paths, oids, source)


def _remembered(recall: Recall | None, key: bytes) -> Ground | None:
    data = recall.get(key) if recall is not None else None
    if data is None:
        return None
    try:
        return msgspec.msgpack.decode(data, type=Ground)
    except msgspec.DecodeError:
        return None


def _moved_on(old: Ground, new: Line) -> dict[bytes, Version]:
    """What was known at the old tip, taken back to where the new commits begin, and on through these."""
    known = dict(old.known)
    assert new.beyond is not None
    at = old.line.commits.index(new.beyond)
    for touch in old.line.touches:
        if touch.position < at:
            _put(known, ((change.path, change.old) for change in touch.changes))
    for touch in reversed(new.touches):
        _put(known, ((change.path, change.new) for change in touch.changes))
    return known


def _put(known: dict[bytes, Version], changes: Iterable[tuple[bytes, Version | None]]) -> None:
    for path, version in changes:
        if version is None:
            known.pop(path, None)
        else:
            known[path] = version


def _joined(new: Line, old: Line, last: int | None, since: Commit | None) -> Line | None:
    """What came on top of what is remembered, cut to the range; None where it does not reach far enough back."""
    if new.beyond is None or new.beyond not in old.commits:
        return new if new.commits and last is not None and len(new.commits) == last else None
    at = old.commits.index(new.beyond)
    shift = len(new.commits) - at
    commits = (*new.commits, *old.commits[at:])
    end = len(commits)
    if since is not None:
        if since not in commits:
            return None
        end = commits.index(since)
    elif last is not None:
        if len(commits) < last and old.beyond is not None:
            return None
        end = min(end, last)
    elif old.beyond is not None:
        return None
    touches = (*new.touches, *_moved(old.touches, at, shift))
    beyond = commits[end] if end < len(commits) else old.beyond
    return Line(commits[:end], tuple(one for one in touches if one.position < end), beyond)


def _moved(touches: Iterable[Touch], at: int, shift: int) -> Iterator[Touch]:
    for one in touches:
        if one.position >= at:
            yield Touch(one.position + shift, one.commit, one.tree, one.date, one.subject, one.parents, one.changes)
