"""What was judged before, remembered on disk: by content, so that the next night costs only what is new.

One sqlite file for each upstream. A key is a digest of everything that a verdict depends on, the program's own judgement
included; so nothing in here is ever out of date, and whatever is wrong with the file, it is dropped and made again.
Every value carries a digest of itself and its key: a flipped bit is a verdict that is not remembered.
"""

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import regraft
from regraft.adapters import files
from regraft.core import patch_history
from regraft.errors import OutsideError

VERSION = 1
LIMIT = 200_000  # verdicts
LARGEST = 64 * 1024 * 1024  # bytes of the file
WAIT = 2.0  # seconds for another process that writes

_TABLES = """\
CREATE TABLE IF NOT EXISTS remembered (key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
"""


def engine_digest() -> bytes:
    """Of the source of everything that judges: verdicts of another engine are none."""
    digest = hashlib.sha256(f"{regraft.__version__} {VERSION}".encode())
    for path in sorted(Path(patch_history.__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


class VerdictMemory:
    """`get` and `put` by key. What is put is on disk, all of it or nothing, when the block is left without an error."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: sqlite3.Connection | None = None
        self._fresh: dict[bytes, bytes] = {}
        self._used: list[bytes] = []
        self.found = 0

    @classmethod
    @contextmanager
    def at(cls, path: Path) -> Iterator[Self]:
        """The memory in a file, which need not be there. Where it cannot be used (a full disk, no permission), nothing is
        remembered, and that is no error.
        """
        memory = cls(path)
        memory._open()
        try:
            yield memory
            memory._save()
        finally:
            memory._close()

    def get(self, key: bytes) -> bytes | None:
        if key in self._fresh:
            return self._fresh[key]
        if self._database is None:
            return None
        try:
            row = self._database.execute("SELECT value FROM remembered WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            self._trouble(error)
            return None
        if row is None or not isinstance(row[0], bytes) or row[0][:16] != _seal(key, row[0][16:]):
            return None
        self.found += 1
        self._used.append(key)
        return row[0][16:]

    def put(self, key: bytes, value: bytes) -> None:
        self._fresh[key] = value

    def _open(self) -> None:
        for _ in range(2):
            try:
                if self._path.exists() and self._path.stat().st_size > LARGEST:
                    self._drop()
                self._connect()
            except sqlite3.OperationalError:
                self._close()
                return
            except sqlite3.DatabaseError:
                self._drop()
            except OSError:
                return
            else:
                return

    def _connect(self) -> None:
        database = sqlite3.connect(self._path, timeout=WAIT, isolation_level=None)
        self._database = database
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError("of another version")
        if version == 0:
            database.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        database.execute("SELECT key FROM remembered LIMIT 1").fetchone()

    def _save(self) -> None:
        if self._database is None or not (self._fresh or self._used):
            return
        today = int(time.time() // 86_400)
        try:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(
                "INSERT OR REPLACE INTO remembered VALUES (?, ?, ?)",
                ((key, _seal(key, value) + value, today) for key, value in self._fresh.items()),
            )
            self._database.executemany(
                "UPDATE remembered SET used = ? WHERE key = ? AND used < ?", ((today, key, today) for key in self._used)
            )
            (count,) = self._database.execute("SELECT COUNT(*) FROM remembered").fetchone()
            if count > LIMIT:  # the longest unused go first
                oldest = "SELECT key FROM remembered ORDER BY used LIMIT ?"
                self._database.execute(f"DELETE FROM remembered WHERE key IN ({oldest})", (count - LIMIT * 3 // 4,))  # noqa: S608 - a constant
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            self._trouble(error)

    def _trouble(self, error: sqlite3.Error) -> None:
        """Somebody else writes, or the disk is full: go on without. Damage: away with the file."""
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        if damaged:
            self._drop()
        else:
            self._close()

    def _drop(self) -> None:
        self._close()
        for suffix in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(OutsideError):
                files.remove(self._path.with_name(self._path.name + suffix))

    def _close(self) -> None:
        if self._database is not None:
            with contextlib.suppress(sqlite3.Error):
                self._database.close()
            self._database = None


def _seal(key: bytes, value: bytes) -> bytes:
    return hashlib.sha256(key + value).digest()[:16]
