"""Fetches what a submodule points to, into the store of the run."""

from collections.abc import Sequence
from dataclasses import dataclass

from regraft.adapters.upstream import GitUpstream
from regraft.core.objects import Blob, Commit
from regraft.core.resolution import Remote


@dataclass(frozen=True, slots=True)
class SubmoduleFetcher:
    """The port `flows.submodules.FetchSubmodule`: without a token, since another repository chose the address."""

    upstream: GitUpstream

    def commit(self, url: str, commit: Commit) -> bool:
        return commit in self.upstream.fetch(Remote(url, None), [commit]).commits

    def blobs(self, url: str, blobs: Sequence[Blob]) -> None:
        self.upstream.fetch_blobs(url, None, blobs)
