"""The files of a wheel or a source distribution, read without extracting: the paths, modes and bytes that a tree is made of.

The archive is anybody's: nothing in it reaches the disk by its name, and its sizes are believed only as far as they are read.
"""

import bz2
import contextlib
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.trees import EXECUTABLE, FILE, LINK, shown
from regraft.errors import OutsideError

ENTRIES = 200_000
LARGEST = 64 * 1024 * 1024  # bytes of one file that is kept; larger ones are only named
TOTAL = 4 * 1024 * 1024 * 1024  # bytes of all files
LONGEST = 4_096  # bytes of a path

_LIBRARY = regex(rb"[^/]+\.data/(?:purelib|platlib)/(.+)")
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,  # a name that is no text, a size below zero
    RuntimeError,  # encrypted, or a compression that is not here
    LookupError,
    OverflowError,
)


class Packed(Struct, frozen=True):
    """One file. `content` is None for one that is larger than is kept. The content of a link is where it leads."""

    path: bytes
    mode: str
    content: bytes | None


def packed_files(archive: Path, filename: str) -> Iterator[Packed]:
    """Each file of the archive that has that name: of a wheel by its path in site-packages, of a source distribution by its
    path below the one top folder.

    What belongs to git itself (`.git`) is left out. Raises OutsideError `bad-archive`: damaged, no archive of that kind, a name
    that leads out or stands there twice, more than the bounds.
    """
    is_wheel = filename.endswith(".whl")
    is_zip = is_wheel or filename.endswith(".zip")
    guard = _Guard(filename)
    try:
        for one in _zip_entries(archive, guard) if is_zip else _tar_entries(archive, guard):
            path = one.path
            if not is_wheel:
                path = guard.below_top(path)
            elif match := _LIBRARY.fullmatch(path):
                path = match[1]
            if b".git" in path.lower().split(b"/"):
                continue
            guard.once(path)
            yield Packed(path, one.mode, one.content)
        guard.end()
    except _BROKEN as error:
        raise guard.bad(f"it is damaged: {type(error).__name__} {str(error)!r:.150}") from None


class _Guard:
    """What must hold of all entries together."""

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._entries = 0
        self._total = 0
        self._top: bytes | None = None
        self._paths: set[bytes] = set()
        self._folders: set[bytes] = set()

    def bad(self, why: str) -> OutsideError:
        hint = "tell whoever publishes it, or name another version"
        return OutsideError("bad-archive", f"{self._filename!r:.200} cannot be read: {why}", hint=hint)

    def entry(self, name: bytes, size: int) -> None:
        """One more entry of that name, with so many bytes as it says."""
        self._entries += 1
        if self._entries > ENTRIES:
            raise self.bad(f"it has more than {ENTRIES} entries")
        self._total += max(size, 0)
        if self._total > TOTAL:
            raise self.bad(f"it unpacks to more than {TOTAL} bytes")
        parts = name.removesuffix(b"/").split(b"/")
        odd = not name or len(name) > LONGEST or b"\\" in name or b"\0" in name
        if odd or any(part in {b"", b".", b".."} for part in parts):
            raise self.bad(f"{shown(name[:300])!r} is no path inside it")

    def below_top(self, path: bytes) -> bytes:
        top, slash, rest = path.partition(b"/")
        if not slash:
            raise self.bad(f"{shown(path)!r} stands beside its top folder")
        if self._top is None:
            self._top = top
        if top != self._top:
            raise self.bad(f"it has several top folders, {shown(self._top)!r} and {shown(top)!r}")
        return rest

    def once(self, path: bytes) -> None:
        if path in self._paths or path in self._folders:
            raise self.bad(f"{shown(path)!r} stands there twice")
        self._paths.add(path)
        folder = path.rpartition(b"/")[0]
        while folder and folder not in self._folders:
            if folder in self._paths:
                raise self.bad(f"{shown(folder)!r} is a file and a folder")
            self._folders.add(folder)
            folder = folder.rpartition(b"/")[0]

    def end(self) -> None:
        if not self._paths:
            raise self.bad("it holds no file")

    def content(self, stream: IO[bytes], said: int) -> bytes | None:
        """What one entry holds; None where that is more than is kept. Sizes that lie are an error."""
        if said > LARGEST:
            return None
        data = stream.read(said + 1)
        if len(data) != said:
            raise self.bad("an entry is not as long as it says")
        return data


def _zip_entries(archive: Path, guard: _Guard) -> Iterator[Packed]:
    with zipfile.ZipFile(archive) as opened:
        for one in opened.infolist():
            name = one.filename.encode("utf-8", "surrogateescape")
            guard.entry(name, one.file_size)
            if one.is_dir():
                continue
            with opened.open(one) as stream:
                content = guard.content(stream, one.file_size)
            mode = EXECUTABLE if (one.external_attr >> 16) & 0o111 and not _is_link(one) else FILE
            yield Packed(name, mode, content)


def _is_link(one: zipfile.ZipInfo) -> bool:
    """Installers write what a link of a wheel holds as a plain file."""
    return stat.S_ISLNK(one.external_attr >> 16)


def _tar_entries(archive: Path, guard: _Guard) -> Iterator[Packed]:
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(archive.open("rb"))
        unpacked = stack.enter_context(_unpacked(stream))
        opened = stack.enter_context(tarfile.TarFile(fileobj=_Bounded(unpacked, guard)))
        for one in opened:
            name = one.name.encode("utf-8", "surrogateescape")
            if one.isdir() and name in {b"", b"."}:
                continue
            name = name.removeprefix(b"./")
            guard.entry(name, one.size if one.isreg() else 0)
            if one.isdir():
                continue
            if one.issym():
                yield Packed(name, LINK, one.linkname.encode("utf-8", "surrogateescape"))
            elif one.isreg() or one.islnk():
                yield _tar_file(opened, one, name, guard)
            else:
                raise guard.bad(f"{shown(name)!r} is a device or a pipe")


def _unpacked(stream: IO[bytes]) -> IO[bytes]:
    """The bytes of the tar itself, whichever way it is compressed. `tarfile` would read the first header without our bounds."""
    begins = stream.read(2)
    stream.seek(0)
    if begins == b"\x1f\x8b":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream, mode="rb"))
    if begins == b"BZ":
        return cast("IO[bytes]", bz2.BZ2File(stream))
    return cast("IO[bytes]", lzma.open(stream)) if begins == b"\xfd7" else stream


def _tar_file(opened: tarfile.TarFile, one: tarfile.TarInfo, name: bytes, guard: _Guard) -> Packed:
    """A hard link is what it names, which stands before it."""
    found = one
    if one.islnk():
        found = opened.getmember(one.linkname)
        if not found.isreg():
            raise guard.bad(f"{shown(name)!r} is a hard link to no file")
        guard.entry(name, found.size)
    stream = opened.extractfile(found)
    assert stream is not None
    with stream:
        content = guard.content(stream, found.size)
    return Packed(name, EXECUTABLE if found.mode & 0o111 else FILE, content)


class _Bounded(io.RawIOBase):
    """A stream that neither hands out more at a time than is kept of a file, nor goes further than the bound."""

    def __init__(self, stream: IO[bytes], guard: _Guard) -> None:
        self._stream = stream
        self._guard = guard

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= LARGEST + 1024:
            raise self._guard.bad("it asks for more at a time than any file may hold")
        data = self._stream.read(size)
        if self._stream.tell() > TOTAL + ENTRIES * 1024:
            raise self._guard.bad(f"it unpacks to more than {TOTAL} bytes")
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence != 0 or offset > TOTAL + ENTRIES * 1024:
            raise self._guard.bad(f"it unpacks to more than {TOTAL} bytes")
        return self._stream.seek(offset)

    def tell(self) -> int:
        return self._stream.tell()
