"""Registries of images, over the OCI distribution API: what a name stands for, without pulling a layer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urljoin, urlsplit

from regraft.adapters import http
from regraft.core.hashing import sha256
from regraft.core.image_published import Absent, Found, Part, Published, Unread
from regraft.core.image_reference import LOOPBACK, Digest, Reference, Repository, parse_digest
from regraft.core.quoting import quoted
from regraft.core.registry_answers import (
    ACCEPT,
    Descriptor,
    Index,
    Manifest,
    read_challenge,
    read_config,
    read_errors,
    read_manifest,
    read_token,
    retry_after,
)
from regraft.errors import InputError, OutsideError, RegraftError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from regraft.adapters.registry_logins import Login

MANIFEST_LIMIT = 4 * 1024 * 1024  # bytes, as the specification asks registries to take at most
CONFIG_LIMIT = 8 * 1024 * 1024
TOKEN_LIMIT = 1024 * 1024
REDIRECTS = 4
TRIES = 3  # of one question to a busy server

_MOVED = frozenset({301, 302, 303, 307, 308})
_REFUSED = frozenset({401, 403})
_ABSENT = 404
_BUSY = 429
_ACTIONS = {"GET": "pull", "DELETE": "pull,push,delete"}

Value = TypeVar("Value")


class Registry:
    """`patience` is how many seconds a busy server may let us wait in all, `timeout` how many one answer may take."""

    def __init__(
        self,
        login: Callable[[str], Login | None],
        *,
        timeout: float = 10,
        patience: float = 30,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._login = login
        self._timeout = timeout
        self._patience = patience
        self._sleep = sleep
        self._tokens: dict[tuple[str, str, str], str] = {}  # by registry, path and action: the Authorization header

    def find(self, reference: Reference) -> Found:
        """As `look`, with what it raises as a value: for those who go on without."""
        try:
            return self.look(reference) or Absent(reference.text)
        except RegraftError as error:
            return Unread(reference.text, error.code, str(error))

    def look(self, reference: Reference) -> Published | None:
        """The image behind a name with the configuration of each of its parts, or None where the registry has none.

        Raises OutsideError: registry-refused, registry-busy, registry-failed, registry-shape, registry-redirect,
        other-digest, reserved-name, no-answer, too-much-output.
        """
        if reference.repository.reserved:
            message = f"no server has a name like {quoted(reference.repository.host)}, so none is asked"
            raise OutsideError("reserved-name", message, where=reference.text)
        where = reference.text
        answer = self._get(reference.repository, f"manifests/{reference.name}", MANIFEST_LIMIT, where)
        if answer is None:
            return None
        digest = same_bytes(answer, reference.digest, where)
        document = read_answer(lambda: read_manifest(answer.body, answer.headers.get("content-type", "")), where)
        if isinstance(document, Manifest):
            part = self._part(reference.repository, digest, document, len(answer.body), where)
            parts: tuple[Part, ...] = (part,)
        else:
            parts = tuple(self._listed(reference.repository, one, where) for one in document.parts)
        return Published(where, digest, document.media_type, parts, answer.body)

    def _listed(self, repository: Repository, one: Descriptor, where: str) -> Part:
        answer = self._get(repository, f"manifests/{one.digest}", MANIFEST_LIMIT, where)
        if answer is None:
            raise OutsideError("registry-shape", f"the list names {one.digest}, and the registry has none", where=where)
        same_bytes(answer, one.digest, where)
        document = read_answer(lambda: read_manifest(answer.body, answer.headers.get("content-type", "")), where)
        if isinstance(document, Index):
            raise OutsideError("registry-shape", "the list lists another list", where=where)
        return self._part(repository, one.digest, document, len(answer.body), where)

    def _part(self, repository: Repository, digest: Digest, manifest: Manifest, size: int, where: str) -> Part:
        answer = self._get(repository, f"blobs/{manifest.config.digest}", CONFIG_LIMIT, where)
        if answer is None:
            message = f"the manifest names the configuration {manifest.config.digest}, and the registry has none"
            raise OutsideError("registry-shape", message, where=where)
        same_bytes(answer, manifest.config.digest, where)
        config = read_answer(lambda: read_config(answer.body), where)
        return Part(digest, config, manifest.media_type, size)

    def _get(self, repository: Repository, path: str, limit: int, where: str) -> http.Response | None:
        answer = self.ask("GET", repository, path, {"accept": ACCEPT}, None, limit, where)
        if answer.status == _ABSENT:
            return None
        if answer.status != http.OK:
            raise failure(answer, where)
        return answer

    def ask(  # noqa: PLR0913, PLR0917 - one request in all its parts
        self,
        method: str,
        repository: Repository,
        path: str,
        headers: Mapping[str, str],
        content: bytes | None,
        limit: int,
        where: str,
    ) -> http.Response:
        """The answer after logins, waits and redirects. Credentials go to the registry and to its token server only.

        `path` is below the repository's, or a whole address that the registry gave. Raises as `look`, but for the status.
        """
        key = (repository.registry, repository.path, _ACTIONS.get(method, "pull,push"))
        url = path if "://" in path else f"{repository.api}/{quote(path, safe='/:?=&%')}"
        own = urlsplit(url).netloc == urlsplit(repository.api).netloc
        answer = self._patient(method, url, headers, self._tokens.get(key) if own else None, content, limit, where)
        if answer.status == 401 and own:
            self._tokens[key] = self._authorize(answer, repository, key[2], where)
            answer = self._patient(method, url, headers, self._tokens[key], content, limit, where)
        for _ in range(REDIRECTS):
            if answer.status not in _MOVED or method != "GET":
                return answer
            url = next_address(url, answer.headers.get("location", ""), where)
            same = urlsplit(url).netloc == urlsplit(repository.api).netloc
            answer = self._patient(method, url, headers, self._tokens.get(key) if same else None, None, limit, where)
        if answer.status in _MOVED:
            message = f"it leads from one address to the next more than {REDIRECTS} times"
            raise OutsideError("registry-redirect", message, where=where)
        return answer

    def _patient(  # noqa: PLR0913, PLR0917 - as above
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        authorization: str | None,
        content: bytes | None,
        limit: int,
        where: str,
    ) -> http.Response:
        """Asked again where the server is busy and says for how long, if that is not too long."""
        given = {**headers, "user-agent": "regraft", **({"authorization": authorization} if authorization else {})}
        for last in (False,) * (TRIES - 1) + (True,):
            answer = _sent(method, url, given, content, limit, self._timeout, where)
            if answer.status != _BUSY:
                return answer
            seconds = retry_after(answer.headers.get("retry-after"), time.time())
            if last or seconds is None or seconds > self._patience:
                said = f"it says: again in {seconds:.0f} s" if seconds is not None else "it does not say until when"
                hint = "log in for a higher limit, or run again later"
                raise OutsideError("registry-busy", f"the registry answers 429: {said}", where=where, hint=hint)
            self._patience -= seconds
            self._sleep(seconds)
        raise AssertionError("the last try returns or raises")

    def _authorize(self, answer: http.Response, repository: Repository, action: str, where: str) -> str:
        """The Authorization header that a challenge asks for."""
        challenge = read_challenge(answer.headers.get("www-authenticate", ""))
        login = self._login(repository.registry)
        if challenge is None or (challenge.scheme == "basic" and login is None):
            raise failure(answer, where)
        if challenge.scheme == "basic":
            assert login is not None
            return login.basic
        realm = urlsplit(challenge.realm)
        if realm.scheme != "https" and not (repository.local and realm.hostname in LOOPBACK):
            message = f"it sends us for a token to {quoted(challenge.realm)}, which is not https"
            raise OutsideError("registry-shape", message, where=where)
        scope = challenge.scope or f"repository:{repository.path}:{action}"
        method, url, headers, content = _token_request(challenge.realm, challenge.service, scope, login)
        said = self._patient(method, url, headers, headers.get("authorization"), content, TOKEN_LIMIT, where)
        if said.status != http.OK:
            raise failure(said, where)
        return f"Bearer {read_answer(lambda: read_token(said.body), where)}"


def _token_request(
    realm: str, service: str, scope: str, login: Login | None
) -> tuple[str, str, dict[str, str], bytes | None]:
    """By name and password, by the token that stands for them, or as nobody."""
    pairs = [("service", service), ("scope", scope)]
    if login is not None and login.identity is not None:
        pairs += [("grant_type", "refresh_token"), ("refresh_token", login.identity), ("client_id", "regraft")]
        content = "&".join(f"{name}={quote(value, safe='')}" for name, value in pairs).encode()
        return "POST", realm, {"content-type": "application/x-www-form-urlencoded"}, content
    query = "&".join(f"{name}={quote(value, safe=':/,')}" for name, value in pairs if value)
    url = f"{realm}{'&' if urlsplit(realm).query else '?'}{query}"
    return "GET", url, {"authorization": login.basic} if login else {}, None


def _sent(  # noqa: PLR0913, PLR0917 - as above
    method: str, url: str, headers: Mapping[str, str], content: bytes | None, limit: int, timeout: float, where: str
) -> http.Response:
    try:
        return http.send(method, url, headers=headers, content=content, limit=limit, timeout=timeout)
    except InputError as error:  # an address that came from the server
        raise OutsideError(
            "registry-redirect", f"it leads to an address that is not asked: {error}", where=where
        ) from None


def next_address(url: str, target: str, where: str) -> str:
    """Where an answer of `url` leads to. Raises OutsideError `registry-redirect` where that is nothing to go to."""
    try:
        found = urljoin(url, target)
        parts = urlsplit(found)
        host = parts.hostname
    except ValueError:
        target, host = target[:200], None
    if not target or host is None:
        raise OutsideError("registry-redirect", f"it leads to {quoted(target)}, which is no address", where=where)
    plain = parts.scheme == "http" and host in LOOPBACK and urlsplit(url).hostname in LOOPBACK
    if parts.scheme != "https" and not plain:
        raise OutsideError("registry-redirect", f"it leads to {quoted(target)}, which is not https", where=where)
    return found


def same_bytes(answer: http.Response, expected: Digest | None, where: str) -> Digest:
    """The digest of what came, which is the one that was asked for and the one that the server says."""
    said = answer.headers.get("docker-content-digest")
    names = [expected] if expected else []
    if said is not None:
        names.append(read_answer(lambda: _digest(said), where))
    for name in names:
        if digest_of(answer.body, name.partition(":")[0]) != name:
            message = f"what came is not {name}: somebody changed it on its way, or the registry is wrong"
            raise OutsideError("other-digest", message, where=where)
    return expected or digest_of(answer.body, "sha256")


def digest_of(data: bytes, algorithm: str) -> Digest:
    if algorithm == "sha256":
        return Digest(f"sha256:{sha256(data)}")
    import hashlib  # noqa: PLC0415 - hardly any registry uses another

    return Digest(f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}")


def _digest(text: str) -> Digest:
    try:
        return parse_digest(text)
    except InputError as error:
        raise ValueError(error.message) from None


def read_answer(reader: Callable[[], Value], where: str) -> Value:
    try:
        return reader()
    except ValueError as error:
        hint = "look whether the address is a registry's"
        raise OutsideError(
            "registry-shape", f"the registry's answer cannot be read: {error}", where=where, hint=hint
        ) from None


def failure(answer: http.Response, where: str) -> OutsideError:
    said = read_errors(answer.body)
    message = f"the registry answers {answer.status}" + (f": {said}" if said else "")
    if answer.status in _REFUSED:
        hint = (
            "log in with `docker login`, and look whether there is such a repository: some registries tell nobody else"
        )
        return OutsideError("registry-refused", message, where=where, hint=hint)
    return OutsideError("registry-failed", message, where=where, hint="run again later")
