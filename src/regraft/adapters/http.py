"""The only module that speaks HTTP."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from regraft.errors import InputError, OutsideError

LIMIT = 32 * 1024 * 1024


class Response(Struct, frozen=True):
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes


def get(url: str, *, headers: Mapping[str, str], timeout: float = 30) -> Response:
    """One GET, without following redirects; at most `LIMIT` bytes are read.

    Raises InputError (plain-http) for a server that is not on this machine and not behind TLS, since a token may travel;
    OutsideError (no-answer, too-much-output).
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InputError("bad-url", f"{url!r:.200} is no URL") from None
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise InputError("plain-http", f"{url!r:.200} is not https", hint="give the API's https address")
    import httpx2  # noqa: PLC0415 - 160 ms that only a run with a token needs

    try:
        with httpx2.stream("GET", url, headers=dict(headers), timeout=timeout) as answer:
            body = bytearray()
            for chunk in answer.iter_bytes():
                body += chunk
                if len(body) > LIMIT:
                    raise OutsideError("too-much-output", f"more than {LIMIT} bytes came back", where=url)
            found = {name.lower(): value for name, value in answer.headers.items()}
            return Response(answer.status_code, found, bytes(body))
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        text = str(error)
        secret = any(value in text for value in headers.values())  # a library may quote the header that it refuses
        raise OutsideError(
            "no-answer",
            f"no answer: {type(error).__name__}{'' if secret else ': ' + text[:200]}",
            where=f"{parts.scheme}://{parts.hostname}",
            hint="look whether the server answers, then run again",
        ) from None
