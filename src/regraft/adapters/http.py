"""The only module that speaks HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from regraft.errors import InputError, OutsideError

if TYPE_CHECKING:  # annotations only
    import ssl
    from collections.abc import Callable, Mapping

LIMIT = 32 * 1024 * 1024
OK = 200


class Response(Struct, frozen=True):
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes


def get(url: str, *, headers: Mapping[str, str], timeout: float = 30, ca: str | None = None) -> Response:
    """One GET, without following redirects; at most `LIMIT` bytes are read. `ca` is a file of authorities to trust instead.

    Raises InputError (plain-http) for a server that is not on this machine and not behind TLS, since a token may travel;
    OutsideError (no-answer, too-much-output).
    """
    return send("GET", url, headers=headers, timeout=timeout, ca=ca)


def send(  # noqa: PLR0913 - keyword-only but for what is asked
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    content: bytes | None = None,
    limit: int = LIMIT,
    timeout: float = 30,
    ca: str | None = None,
) -> Response:
    """As `get`, by any method, with `content` and with a limit of its own.

    An answer that comes in drops for longer than `timeout` seconds is `no-answer` too.
    """
    body = bytearray()
    end = time.monotonic() + timeout

    def take(piece: bytes) -> None:
        body.extend(piece)
        if time.monotonic() > end:
            raise OutsideError("no-answer", f"no whole answer within {timeout:g} seconds", where=_server(url))

    answer = _exchange(
        url, lambda _: take, method=method, content=content, headers=headers, limit=limit, timeout=timeout, ca=ca
    )
    return Response(answer.status, answer.headers, bytes(body))


def stream(  # noqa: PLR0913 - keyword-only but for what goes where
    url: str,
    sink: Callable[[bytes], object],
    *,
    headers: Mapping[str, str],
    limit: int,
    timeout: float = 30,
    ca: str | None = None,
) -> Response:
    """As `get`, with the body of an answer 200 handed to `sink` piece by piece; no other body is kept."""
    return _exchange(
        url, lambda status: sink if status == OK else None, headers=headers, limit=limit, timeout=timeout, ca=ca
    )


def _exchange(  # noqa: PLR0913 - keyword-only but for what goes where
    url: str,
    place: Callable[[int], Callable[[bytes], object] | None],
    *,
    headers: Mapping[str, str],
    limit: int,
    timeout: float,
    ca: str | None,
    method: str = "GET",
    content: bytes | None = None,
) -> Response:
    """`place` tells by the status where the body goes; None: it is not read."""
    _checked(url)
    plain = urlsplit(url).scheme == "http"  # and on this machine: reading the authorities takes longer than its answer
    trusted = not plain if ca is None else _trust(ca)
    import httpx2  # noqa: PLC0415 - 160 ms that only a run with a token needs

    try:
        with httpx2.stream(
            method, url, headers=dict(headers), content=content, timeout=timeout, verify=trusted
        ) as answer:
            found = {name.lower(): value for name, value in answer.headers.items()}
            sink = place(answer.status_code)
            size = 0
            for chunk in answer.iter_bytes() if sink is not None else ():
                assert sink is not None
                size += len(chunk)
                if size > limit:
                    raise OutsideError("too-much-output", f"more than {limit} bytes came back", where=url)
                sink(chunk)
            return Response(answer.status_code, found, b"")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        text = str(error)
        secret = any(value in text for value in headers.values())  # a library may quote the header that it refuses
        raise OutsideError(
            "no-answer",
            f"no answer: {type(error).__name__}{'' if secret else ': ' + text[:200]}",
            where=_server(url),
            hint="look whether the server answers, then run again",
        ) from None


def _server(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}"


def _checked(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InputError("bad-url", f"{url!r:.200} is no URL") from None
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise InputError("plain-http", f"{url!r:.200} is not https", hint="give its https address")


def _trust(ca: str) -> ssl.SSLContext:
    import ssl  # noqa: PLC0415 - only where a file is named

    try:
        return ssl.create_default_context(cafile=ca)
    except OSError:
        hint = "look at `cert` in pip's configuration, and at PIP_CERT"
        raise OutsideError("bad-certificates", "the authorities cannot be read", where=ca, hint=hint) from None
