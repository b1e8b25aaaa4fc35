"""Compares a git tree with files: entry by entry, and by the hash of the whole.

Paths are POSIX, relative to the checkout; bytes that are not UTF-8 stand in them as surrogates (`os.fsdecode`).
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from regraft.core.objects import Tree
from regraft.core.observation import Difference, DifferenceKind
from regraft.core.patterns import regex
from regraft.core.trees import EXECUTABLE, FILE, LINK, SUBMODULE

MODULES = (".py", ".so", ".pyd", ".pth", ".pyc")

_KINDS = {FILE: "file", EXECUTABLE: "file", LINK: "symbolic link", SUBMODULE: "submodule"}
_POINTER = regex(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]+\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n"
)
_IDENT = regex(rb"\$Id:[^$\n]*\$")


class Entry(Struct, frozen=True):
    """`mode` as in a tree object, `hash` of a blob, or of a submodule's commit."""

    mode: str
    hash: str


class Odd(Struct, frozen=True):
    """What stands on the disk where no entry can be made of it: a folder, a socket, a file that may not be read."""

    what: str
    readable: bool = True


def compare(expected: Mapping[str, Entry], found: Mapping[str, Entry | Odd]) -> tuple[Difference, ...]:
    """Each expected path that is not on the disk as it should be, sorted."""
    differences = (_difference(path, expected[path], found.get(path)) for path in sorted(expected))
    return tuple(one for one in differences if one is not None)


def _difference(path: str, expected: Entry, found: Entry | Odd | None) -> Difference | None:
    def differs(kind: DifferenceKind, detail: str) -> Difference:
        return Difference(clean_text(path), kind, detail)

    if found is None:
        if expected.mode == SUBMODULE:
            return differs("submodule-empty", "the submodule is not checked out")
        return differs("missing", "is not there")
    if isinstance(found, Odd):
        return differs(
            "type" if found.readable else "unreadable", f"a {_KINDS[expected.mode]} by the plan, {found.what}"
        )
    if found == expected:
        return None
    if expected.mode == SUBMODULE == found.mode:
        return differs("submodule", f"at {found.hash}, and the plan's is {expected.hash}")
    if _KINDS[found.mode] != _KINDS[expected.mode]:
        return differs("type", f"a {_KINDS[expected.mode]} by the plan, and a {_KINDS[found.mode]} on the disk")
    if found.hash != expected.hash:
        return differs("modified", "other content")
    lost = expected.mode == EXECUTABLE
    return differs("mode", "lost its executable bit" if lost else "is executable, and is not by the plan")


def tree_hash(entries: Mapping[str, Entry], *, sha256: bool = False) -> Tree:
    """The hash of the tree object that git writes for these entries."""
    root: dict[bytes, object] = {}
    for path, entry in entries.items():
        *folders, name = path.encode("utf-8", "surrogateescape").split(b"/")
        level = root
        for folder in folders:
            child = level.setdefault(folder, {})
            if not isinstance(child, dict):
                raise ValueError(f"{path!r} lies below a file")  # noqa: TRY004 - the value is wrong, not a type
            level = child
        level[name] = entry
    return Tree(_write(root, sha256=sha256).hex())


def _write(level: Mapping[bytes, object], *, sha256: bool) -> bytes:
    rows = []
    for name, entry in level.items():
        if isinstance(entry, Entry):
            rows.append((name, entry.mode.encode("ascii"), bytes.fromhex(entry.hash)))
        else:
            assert isinstance(entry, dict)
            rows.append((name + b"/", b"40000", _write(entry, sha256=sha256)))
    rows.sort()
    body = b"".join(b"%s %s\0%s" % (mode, name.rstrip(b"/"), value) for name, mode, value in rows)
    return object_hash("tree", len(body), [body], sha256=sha256)


def object_hash(kind: str, size: int, pieces: Iterable[bytes], *, sha256: bool) -> bytes:
    """The name of a git object of `size` bytes, given piece by piece."""
    import hashlib  # noqa: PLC0415 - brings OpenSSL, and a cold gate mostly names no object

    digest = hashlib.sha256() if sha256 else hashlib.sha1(usedforsecurity=False)
    digest.update(f"{kind} {size}\0".encode("ascii"))
    for piece in pieces:
        digest.update(piece)
    return digest.digest()


def pointer(data: bytes) -> tuple[str, int] | None:
    """(sha256, size) of the content that a git-lfs pointer stands for."""
    match = _POINTER.fullmatch(data)
    return (match[1].decode("ascii"), int(match[2])) if match else None


def stored_form(data: bytes, attributes: Mapping[str, str]) -> bytes | None:
    """What git would store for these bytes by its built-in filters, or None where none of them is asked for.

    `attributes` are the answers of `git check-attr`: "set", "unset", "unspecified" or a value.
    """
    asked = False
    encoding = attributes.get("working-tree-encoding", "unspecified")
    if encoding not in {"unspecified", "unset", "set"}:
        try:
            data = data.decode(encoding).encode("utf-8")
        except (LookupError, ValueError):
            return None
        asked = True
    text = attributes.get("text", "unspecified")
    if text in {"set", "auto"} or (text == "unspecified" and attributes.get("eol") in {"lf", "crlf"}):
        data = data.replace(b"\r\n", b"\n")
        asked = True
    if attributes.get("ident") == "set":
        data = _IDENT.sub(b"$Id$", data)
        asked = True
    return data if asked else None


def source_folders(paths: Iterable[str]) -> frozenset[str]:
    """The folders that hold Python modules; "" is the root."""
    return frozenset(path.rpartition("/")[0] for path in paths if path.endswith(MODULES))


def is_importable(path: str, sources: frozenset[str], roots: frozenset[str]) -> bool:
    """Whether an import could come upon the file at `path`.

    It could in a folder that an import searches (`roots`), and in or below a folder that holds tracked modules: but not
    merely because there is a `setup.py` in the checkout's root.
    """
    folder, _, name = path.rpartition("/")
    if not name.endswith(MODULES) or "__pycache__" in folder.split("/"):
        return False
    if folder in roots:
        return True
    while folder:
        if folder in sources:
            return True
        folder = folder.rpartition("/")[0]
    return False


def clean_text(path: str) -> str:
    """The path, with an escape for each byte that is not UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
