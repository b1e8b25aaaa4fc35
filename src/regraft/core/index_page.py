"""What an index says of one package: the simple repository API as JSON (PEP 691) and as HTML (PEP 503), and names of files."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

import msgspec

from regraft.core.objects import Sha256, parse_sha256
from regraft.core.release_versions import IndexFile

JSON = "application/vnd.pypi.simple.v1+json"
ACCEPT = f"{JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"

_LONGEST = 2_000  # characters of a URL


class BadPageError(ValueError):
    """The page is not what its type says; the text says why."""


def read_page(body: bytes, content_type: str, url: str) -> tuple[IndexFile, ...]:
    """The files of a page that came from `url` (which relative links start from). Raises BadPageError."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == JSON:
        return tuple(_from_json(body, url))
    if kind in {"text/html", "application/vnd.pypi.simple.v1+html", ""}:
        return tuple(_from_html(body, url))
    raise BadPageError(f"it is {kind[:80]!r}, and neither JSON nor HTML of a package index")


def without_credentials(url: str) -> str:
    """The same URL without `user:password@`, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _from_json(body: bytes, url: str) -> Iterator[IndexFile]:
    try:
        page = msgspec.json.decode(body)
    except ValueError as error:
        raise BadPageError(f"it is no JSON: {str(error)[:150]}") from None
    meta = page.get("meta") if isinstance(page, dict) else None
    version = meta.get("api-version") if isinstance(meta, dict) else None
    if not isinstance(version, str) or version.partition(".")[0] != "1":
        raise BadPageError(f"its version of the API is {version!r:.40}, and 1 is understood")
    files = page.get("files")
    if not isinstance(files, list):
        raise BadPageError("it has no list of files")
    for one in files:
        if not isinstance(one, dict) or not isinstance(one.get("filename"), str) or not isinstance(one.get("url"), str):
            raise BadPageError("a file in it has no name or no address")
        hashes = one.get("hashes")
        digest = hashes.get("sha256") if isinstance(hashes, dict) else None
        yanked = one.get("yanked", False)
        reason = yanked if isinstance(yanked, str) else "" if yanked else None
        size = one.get("size")
        found = _file(url, one["url"], one["filename"], digest, _text(one.get("requires-python")), reason)
        yield msgspec.structs.replace(found, size=size) if isinstance(size, int) else found


def _from_html(body: bytes, url: str) -> Iterator[IndexFile]:
    reader = _Anchors(url)
    reader.feed(body.decode("utf-8", "replace"))
    reader.close()
    if reader.version is not None and reader.version.partition(".")[0] != "1":
        raise BadPageError(f"its version of the API is {reader.version!r:.40}, and 1 is understood")
    for attributes in reader.found:
        href, _, fragment = (attributes.get("href") or "").partition("#")
        name = unquote(urlsplit(href).path.rpartition("/")[2])
        digest = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
        if name:
            yanked = attributes.get("data-yanked", "") or "" if "data-yanked" in attributes else None
            yield _file(reader.base, href, name, digest, attributes.get("data-requires-python"), yanked)


def _file(  # noqa: PLR0913, PLR0917 - the columns of an index
    base: str, href: str, name: str, digest: object, requires: str | None, yanked: str | None
) -> IndexFile:
    try:
        address = urldefrag(urljoin(base, href)).url
    except ValueError:
        raise BadPageError(f"{href!r:.120} is no address") from None
    if len(address) > _LONGEST:
        raise BadPageError("an address in it is too long")
    sha256: Sha256 | None = None
    if digest is not None:
        try:
            sha256 = parse_sha256(digest.lower() if isinstance(digest, str) else "")
        except ValueError:
            raise BadPageError(f"{digest!r:.80} is no sha256") from None
    return IndexFile(name, address, sha256, None, requires, yanked)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


class _Anchors(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.base = url
        self.version: str | None = None
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "a" and attributes.get("href"):
            self.found.append(attributes)
        elif tag == "base" and attributes.get("href"):
            self.base = urljoin(self.base, attributes["href"] or "")
        elif tag == "meta" and attributes.get("name") == "pypi:repository-version":
            self.version = attributes.get("content")
