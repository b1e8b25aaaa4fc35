"""Patches that the manifest gives by their address: from the cache, or from there, and never other bytes than are pinned.

CACHE/patches/sha256/HEX      the bytes, by their digest
"""

from collections.abc import Mapping

from regraft.adapters import files, http
from regraft.adapters.cache_folder import own_folder
from regraft.adapters.upstream_cache import cache_folder_of
from regraft.core.hashing import sha256
from regraft.core.patch_address import PatchAddress, next_address, parse_address
from regraft.errors import InputError, OutsideError, RegraftError

REDIRECTS = 5

_MOVED = frozenset({301, 302, 303, 307, 308})
_HEADERS = {"user-agent": "regraft", "accept-encoding": "identity"}


class PinnedPatches:
    """The bytes behind an address of the manifest. `offline`: only those that are in the cache."""

    def __init__(self, environ: Mapping[str, str], *, offline: bool = False, timeout: float = 30) -> None:
        self._cache = cache_folder_of(environ)
        self._offline = offline
        self._timeout = timeout

    def __call__(self, address: str, limit: int) -> bytes | None:
        """At most `limit` bytes with the pinned digest; None where they are not in the cache and nobody is asked.

        Raises InputError `bad-address`; OutsideError: `other-bytes` (what came is not what is pinned) and `patch-not-fetched`
        (nothing came); RefusedError `cache-not-ours`.
        """
        try:
            wanted = parse_address(address)
        except ValueError as error:
            raise InputError("bad-address", str(error)) from None
        kept = self._kept(wanted, limit)
        if kept is not None or self._offline:
            return kept
        data = self._fetched(wanted, limit)
        files.write(own_folder(self._cache, "patches", "sha256") / wanted.sha256, data)
        return data

    def _kept(self, wanted: PatchAddress, limit: int) -> bytes | None:
        """What the cache has; damaged bytes count as none."""
        path = self._cache / "patches" / "sha256" / wanted.sha256
        if not path.is_file():
            return None
        own_folder(self._cache, "patches", "sha256")  # nobody else may write there
        data = files.read(path, limit)
        return data if sha256(data) == wanted.sha256 else None

    def _fetched(self, wanted: PatchAddress, limit: int) -> bytes:
        try:
            answer = self._got(wanted.url, limit)
        except RegraftError as error:
            raise _not_fetched(wanted, error.message) from None
        if answer.status != http.OK:
            raise _not_fetched(wanted, f"the server answers {answer.status}")
        found = sha256(answer.body)
        if found != wanted.sha256:
            message = f"what is there has the sha256 {found}, and {wanted.sha256} is pinned"
            hint = (
                "somebody changed it, or the server makes it anew each time: look at it, then pin the new digest, or"
                " carry the patch as a file of the project"
            )
            raise OutsideError("other-bytes", message, where=wanted.url, hint=hint)
        return answer.body

    def _got(self, url: str, limit: int) -> http.Response:
        """The last answer. Nothing is sent that the next server should not see."""
        for _ in range(REDIRECTS):
            answer = http.send("GET", url, headers=_HEADERS, limit=limit, timeout=self._timeout)
            if answer.status not in _MOVED:
                return answer
            try:
                url = next_address(url, answer.headers.get("location", ""))
            except ValueError as error:
                raise OutsideError("redirect", str(error)) from None
        raise OutsideError("redirect", f"it leads from one address to the next more than {REDIRECTS} times")


def _not_fetched(wanted: PatchAddress, why: str) -> OutsideError:
    hint = (
        "a run without a network needs it in the cache (REGRAFT_CACHE): any command that reads the patch puts it"
        " there; or carry it as a file of the project"
    )
    message = f"the patch is not in the cache, and it could not be fetched: {why}"
    return OutsideError("patch-not-fetched", message, where=wanted.url, hint=hint)
