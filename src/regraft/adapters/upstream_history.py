"""One upstream's history as the flows ask for it: `flows.ports.HistorySource`, over the cache or a folder."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Self

from regraft.adapters.first_parent import FirstParent
from regraft.adapters.git import Git
from regraft.adapters.object_reader import ObjectReader
from regraft.adapters.object_reads import ObjectReads
from regraft.adapters.upstream_cache import CachedUpstream, UpstreamCache, undecided
from regraft.core.objects import Blob, Commit
from regraft.core.patch_history import CommitObject, Line


class UpstreamHistory(ObjectReads):
    """To be used within `reading`: two git processes, and one more for each `line` and `renames`."""

    def __init__(self, git: Git, cache: UpstreamCache, upstream: CachedUpstream, reader: ObjectReader) -> None:
        self._cache = cache
        self._upstream = upstream
        super().__init__(reader, FirstParent(git, upstream.store, upstream.shallow))

    @classmethod
    @contextmanager
    def reading(cls, git: Git, cache: UpstreamCache, upstream: CachedUpstream) -> Iterator[Self]:
        with ObjectReader.over(git, upstream.store) as reader:
            yield cls(git, cache, upstream, reader)

    def line(  # noqa: PLR0913 - keyword-only but for what is asked
        self,
        tip: Commit,
        paths: Collection[bytes],
        *,
        last: int | None = None,
        since: Commit | None = None,
        known: Collection[Commit] = (),
        oids: Collection[str] = (),
    ) -> Line:
        return self._first_parent.line(tip, paths, last=last, since=since, known=known, oids=oids)

    def complete(self, blobs: Collection[str], helpful: Collection[str] = ()) -> None:
        if not self._upstream.partial:
            return
        missing = self._upstream.store.missing([Blob(one) for one in (*blobs, *helpful)])
        asked = set(blobs)
        needed = [one for one in missing if one in asked]
        self._cache.ask_for_blobs(self._upstream, needed, [one for one in missing if one not in asked])
        if lost := [oid for oid, data in self._reader.each(needed) if data is None]:
            raise undecided(lost, self._upstream.remote)

    def commit(self, oid: Commit) -> CommitObject:
        return self._reader.commit(oid)

    def find(self, oid: Commit) -> CommitObject | None:
        return self._reader.find(oid)
