"""Fetches submodules by the same way as their upstreams."""

from collections.abc import Iterable, Sequence

from regraft.adapters.upstream import GitUpstream
from regraft.core.objects import Blob, Commit
from regraft.core.repository_url import parse_repository_url
from regraft.core.resolution import Remote


class SubmoduleFetch:
    """The port `FetchSubmodule`. A token that the manifest names for a server is used for that server, and no other."""

    def __init__(self, upstream: GitUpstream, known: Iterable[Remote]) -> None:
        self._upstream = upstream
        self._known = tuple(known)

    def commit(self, url: str, commit: Commit) -> bool:
        return commit in self._upstream.fetch(self._remote(url), [commit]).commits

    def blobs(self, url: str, blobs: Sequence[Blob]) -> None:
        remote = self._remote(url)
        self._upstream.fetch_blobs(remote.url, remote.token_env, blobs)

    def _remote(self, url: str) -> Remote:
        exact = (known for known in self._known if known.url == url)
        near = (known for known in self._known if known.token_env and _server(known.url) == _server(url) is not None)
        found = next(exact, None) or next(near, None)
        return Remote(url, found.token_env if found else None)


def _server(url: str) -> tuple[str, str] | None:
    """Scheme and host, of an HTTPS URL only: a token goes over no other."""
    parsed = parse_repository_url(url)
    scheme = url.partition("://")[0].lower()
    return (scheme, parsed.host) if scheme == "https" and parsed.host else None
