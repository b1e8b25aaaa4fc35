"""The package indexes of this machine: the files of a package with their digests, and the download of one of them."""

import base64
import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

import msgspec
from packaging.utils import canonicalize_name

from regraft.adapters import files, http
from regraft.core.index_page import ACCEPT, BadPageError, read_page, without_credentials
from regraft.core.objects import Sha256
from regraft.core.pip_settings import PipSettings, pip_settings
from regraft.core.release_versions import IndexFile, version_of
from regraft.errors import InputError, OutsideError

LIMIT = 1024 * 1024 * 1024  # bytes of one archive
CONFIG_LIMIT = 1024 * 1024
PAGE_LIMIT = 32 * 1024 * 1024
REDIRECTS = 5
CHUNK = 1024 * 1024

_MOVED = frozenset({301, 302, 303, 307, 308})
_ABSENT = frozenset({404, 410})
_REFUSED = frozenset({401, 403, 407})


class PackageIndex:
    """Asks every index that pip is set up with. What it raises names an index without its credentials."""

    def __init__(self, settings: PipSettings, project: Path) -> None:
        self._settings = settings
        self._project = project
        self._logins: dict[tuple[str, str], str] = {}  # by scheme and place

    @classmethod
    def of(cls, environ: Mapping[str, str], project: Path) -> "PackageIndex":
        """As pip is set up here. Raises InputError `bad-pip-config`."""
        texts = [
            (str(path), files.read(path, CONFIG_LIMIT).decode("utf-8", "replace"))
            for path in _config_files(environ)
            if path.is_file()
        ]
        return cls(pip_settings(texts, environ), project)

    def files(self, package: str) -> tuple[IndexFile, ...]:
        """Every file of the package; of two with one name the first index's.

        Raises InputError `no-such-package`; OutsideError: no-answer, index-refused, index-failed, index-shape.
        """
        found: dict[str, IndexFile] = {}
        asked = []
        for link in self._settings.links:
            for one in self._linked(link):
                if version_of(package, one.filename):
                    found.setdefault(one.filename, one)
        for index in self._settings.indexes:
            asked.append(without_credentials(index))
            page = self._page(f"{index}/{quote(canonicalize_name(package))}/")
            for one in page or ():
                found.setdefault(one.filename, msgspec.structs.replace(one, index=asked[-1]))
        if not found:
            places = ", ".join([*asked, *map(without_credentials, self._settings.links)]) or "no index"
            hint = "look at `package` in the manifest, and at `pip config list` here"
            raise InputError("no-such-package", f"nothing is known of it at {places[:600]}", where=package, hint=hint)
        return tuple(map(self._with_digest, found.values()))

    def fetch(self, file: IndexFile, target: IO[bytes]) -> Sha256:
        """Write the file's bytes to `target`, and give their digest, which is the one that the index lists.

        Raises OutsideError: no-answer, index-refused, index-failed, too-much-output, no-digest, other-digest.
        """
        local = self._path_of(file.url)
        if local is None and file.sha256 is None:
            message = f"the index lists no sha256 of {file.filename!r:.150}, so what comes cannot be checked"
            raise OutsideError("no-digest", message, where=file.index or None, hint="use an index that lists digests")
        digest = hashlib.sha256()

        def take(piece: bytes) -> None:
            digest.update(piece)
            target.write(piece)

        if local is not None:
            _copy(local, take)
        else:
            _judge(*self._get(file.url, take, {}, LIMIT))
        found = Sha256(digest.hexdigest())
        if file.sha256 is not None and found != file.sha256:
            message = f"{file.filename!r:.150} has the sha256 {found}, and the index lists {file.sha256}"
            hint = "somebody changed it on its way, or the index is wrong: do not install it"
            raise OutsideError("other-digest", message, where=without_credentials(file.url), hint=hint)
        return found

    def _page(self, url: str) -> tuple[IndexFile, ...] | None:
        """What an index has of a package; None for nothing."""
        local = self._path_of(url)
        if local is not None:
            page = local / "index.html" if local.is_dir() else local
            if page.is_file():
                return self._read(files.read(page, PAGE_LIMIT), "text/html", page.absolute().as_uri())
            return tuple(self._folder(local)) if local.is_dir() else None
        body = bytearray()
        answer, at = self._get(url, body.extend, {"accept": ACCEPT}, PAGE_LIMIT)
        if answer.status in _ABSENT:
            return None
        _judge(answer, at)
        return self._read(bytes(body), answer.headers.get("content-type", ""), at)

    def _read(self, body: bytes, content_type: str, url: str) -> tuple[IndexFile, ...]:
        try:
            return read_page(body, content_type, url)
        except BadPageError as error:
            hint = "look at `pip config list`: does the address lead to a package index?"
            raise OutsideError(
                "index-shape", f"the page cannot be read: {error}", where=without_credentials(url), hint=hint
            ) from None

    def _linked(self, link: str) -> Sequence[IndexFile]:
        local = self._path_of(link)
        if local is None and "://" not in link:
            local = self._project / Path(link).expanduser()
        if local is None:
            return self._page(link) or ()
        if local.is_dir():
            return tuple(self._folder(local))
        if local.suffix in {".html", ".htm"}:
            return self._page(local.absolute().as_uri()) or ()
        return (IndexFile(local.name, local.absolute().as_uri(), None),) if local.is_file() else ()

    def _folder(self, folder: Path) -> Iterator[IndexFile]:
        for path in sorted(folder.iterdir()):
            if path.is_file():
                yield IndexFile(path.name, path.absolute().as_uri(), None, index=folder.absolute().as_uri())

    def _with_digest(self, file: IndexFile) -> IndexFile:
        """A file on this machine is known by its bytes, so that it may change."""
        local = self._path_of(file.url) if file.sha256 is None else None
        if local is None:
            return file
        digest = hashlib.sha256()
        _copy(local, digest.update)
        return msgspec.structs.replace(file, sha256=Sha256(digest.hexdigest()))

    def _path_of(self, url: str) -> Path | None:
        """The path of a `file:` URL."""
        parts = urlsplit(url)
        return Path(unquote(parts.path)) if parts.scheme == "file" and parts.netloc in {"", "localhost"} else None

    def _get(
        self, url: str, sink: Callable[[bytes], object], headers: Mapping[str, str], limit: int
    ) -> tuple[http.Response, str]:
        """The last answer, and the address that gave it. Credentials go to the place that they were given for, and no other."""
        for _ in range(REDIRECTS):
            url, login = self._login(url)
            given = {**headers, "user-agent": "regraft", **({"authorization": login} if login else {})}
            answer = http.stream(
                url, sink, headers=given, limit=limit, timeout=self._settings.timeout, ca=self._settings.ca
            )
            if answer.status not in _MOVED or "location" not in answer.headers:
                return answer, url
            url = urljoin(url, answer.headers["location"])
        message = f"it leads from one address to the next more than {REDIRECTS} times"
        raise OutsideError("index-failed", message, where=without_credentials(url))

    def _login(self, url: str) -> tuple[str, str | None]:
        """The address without credentials, and the header that stands for those of its place."""
        parts = urlsplit(url)
        who, _, place = parts.netloc.rpartition("@")
        if who:
            name, _, word = who.partition(":")
            basic = base64.b64encode(f"{unquote(name)}:{unquote(word)}".encode()).decode("ascii")
            self._logins.setdefault((parts.scheme, place), f"Basic {basic}")
        return urlunsplit(parts._replace(netloc=place)), self._logins.get((parts.scheme, place))


def _judge(answer: http.Response, url: str) -> None:
    if answer.status == http.OK:
        return
    where = without_credentials(url)
    if answer.status in _REFUSED:
        hint = "look at the credentials in `pip config list` (a user and a password in the index's address)"
        raise OutsideError("index-refused", f"the index answers {answer.status}", where=where, hint=hint)
    raise OutsideError("index-failed", f"the index answers {answer.status}", where=where, hint="run again later")


def _copy(path: Path, take: Callable[[bytes], object]) -> None:
    try:
        with path.open("rb") as stream:
            size = 0
            while piece := stream.read(CHUNK):
                size += len(piece)
                if size > LIMIT:
                    raise OutsideError("too-much-output", f"it has more than {LIMIT} bytes", where=str(path))
                take(piece)
    except OSError as error:
        raise files.outside(error, str(path)) from None


def _config_files(environ: Mapping[str, str]) -> list[Path]:
    """Where pip looks, the weakest first. PIP_CONFIG_FILE=/dev/null: nowhere."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    shared = [Path(one, "pip", "pip.conf") for one in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":") if one]
    home = Path(environ.get("HOME") or Path.home())
    own = Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "pip", "pip.conf")
    found = [*reversed(shared), Path("/etc/pip.conf"), home / ".pip" / "pip.conf", own, Path(sys.prefix, "pip.conf")]
    return [*found, *([Path(named)] if named else [])]
