"""How far an apply has come: what a restore reads, after whatever ended it. Needs no manifest.

An apply writes the journal before each kind of effect. In phase "recording" nothing of the image was changed yet, unless
`replaces` says that an earlier apply had been there.
"""

from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from regraft.core import document
from regraft.core.patterns import regex
from regraft.core.tree_record import clean, escape, unescape
from regraft.errors import InputError

SCHEMA = "regraft.journal/1"

_VERSION = regex(r"regraft\.journal/[0-9]{1,9}")

Phase = Literal["recording", "recorded", "writing", "installing", "verifying", "applied", "restoring"]
SubjectKind = Literal["checkout", "git-dir", "environment", "also"]


class _Head(Struct, frozen=True):
    schema: str


class Subject(Struct, frozen=True):
    """What is guarded: an absolute path of this machine, with everything below it where it is `recursive`."""

    kind: SubjectKind
    path: str
    recursive: bool = True


class Running(Struct, frozen=True):
    """A command that was started: the leader of `group`. `start_ticks` is field 22 of /proc/PID/stat."""

    pid: int
    group: int
    start_ticks: int
    argv: tuple[str, ...]


class Journal(Struct, frozen=True):
    """`run` is a random word that the commands of this apply have in their environment, as REGRAFT_RUN."""

    schema: str
    run: str
    phase: Phase
    plan: str  # its digest
    image: str
    root: str  # absolute, or "" where the machine itself is the image
    snapshot: bool
    started: str  # ISO 8601, UTC
    replaces: bool = False
    process: Running | None = None
    subjects: tuple[Subject, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether something of the image may have been changed."""
        return self.phase != "recording" or self.replaces


def encode_journal(journal: Journal) -> bytes:
    subjects = tuple(replace(one, path=escape(one.path)) for one in journal.subjects)
    process = journal.process
    if process is not None:
        process = replace(process, argv=tuple(clean(word) for word in process.argv))
    return document.encode(replace(journal, root=escape(journal.root), subjects=subjects, process=process))


def other_version(data: bytes) -> str | None:
    """The format of a journal that another version of regraft wrote; None: it is of this one, or no journal."""
    try:
        schema = msgspec.json.decode(data, type=_Head).schema
    except msgspec.MsgspecError:
        return None
    return schema if schema != SCHEMA and _VERSION.fullmatch(schema) else None


def decode_journal(data: bytes, name: str) -> Journal:
    """The journal in a file. Raises InputError: what `document.decode` raises, and wrong-shape for a path that is none."""
    found = document.decode(data, Journal, SCHEMA, name)
    try:
        subjects = tuple(replace(one, path=unescape(one.path)) for one in found.subjects)
        root = unescape(found.root)
    except ValueError as error:
        raise InputError("wrong-shape", f"not a {SCHEMA} document: {error}", where=name) from None
    for subject in subjects:
        if not subject.path.startswith("/") or "\0" in subject.path or ".." in subject.path.split("/"):
            raise InputError("wrong-shape", f"{clean(subject.path)!r:.200} is no absolute path", where=name)
    return replace(found, root=root, subjects=subjects)
