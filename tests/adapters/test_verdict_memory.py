"""What is remembered on disk: all or nothing, never wrong, and dropped where anything is the matter with it."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from regraft.adapters import verdict_memory
from regraft.adapters.verdict_memory import VerdictMemory, engine_digest

KEY, OTHER = b"k" * 32, b"o" * 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "verdicts.sqlite"


def remember(path: Path, **values: bytes) -> None:
    with VerdictMemory.at(path) as memory:
        for key, value in values.items():
            memory.put(key.encode() * 32, value)


def recall(path: Path, key: bytes = KEY) -> bytes | None:
    with VerdictMemory.at(path) as memory:
        return memory.get(key)


def test_what_was_put_is_there_in_the_same_run_and_in_the_next(path: Path) -> None:
    with VerdictMemory.at(path) as memory:
        assert memory.get(KEY) is None
        memory.put(KEY, b"one")
        assert memory.get(KEY) == b"one"
    remember(path, o=b"")
    assert (recall(path), recall(path, OTHER)) == (b"one", b"")


def test_a_run_that_fails_leaves_nothing(path: Path) -> None:
    def fail() -> None:
        with VerdictMemory.at(path) as memory:
            memory.put(KEY, b"one")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert recall(path) is None


@pytest.mark.parametrize("damage", [b"", b"no database at all", b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_file_is_dropped_and_made_again(path: Path, damage: bytes) -> None:
    path.write_bytes(damage)
    assert recall(path) is None
    remember(path, k=b"one")
    assert recall(path) == b"one"


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_file_that_was_damaged_in_the_middle_gives_no_wrong_verdict(path: Path, place: float) -> None:
    with VerdictMemory.at(path) as memory:
        for number in range(500):
            memory.put(number.to_bytes(32, "big"), b"value of %d" % number)
    data = bytearray(path.read_bytes())
    at = int(len(data) * place)
    data[at : at + 200] = os.urandom(200)
    path.write_bytes(data)
    with VerdictMemory.at(path) as memory:
        for number in range(500):
            assert memory.get(number.to_bytes(32, "big")) in (None, b"value of %d" % number)


def test_one_flipped_bit_of_a_value_is_no_verdict(path: Path) -> None:
    remember(path, k=b"applies applies applies")
    data = path.read_bytes()
    at = data.index(b"applies applies")
    path.write_bytes(data[:at] + b"b" + data[at + 1 :])
    assert recall(path) is None


def test_a_value_under_another_s_key_is_no_verdict(path: Path) -> None:
    remember(path, k=b"one")
    database = sqlite3.connect(path)
    database.execute("UPDATE remembered SET key = ?", (OTHER,))
    database.commit()
    database.close()
    assert recall(path, OTHER) is None


def test_a_file_of_another_version_is_dropped(path: Path) -> None:
    remember(path, k=b"one")
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    assert recall(path) is None
    remember(path, k=b"two")
    assert recall(path) == b"two"


def test_where_it_cannot_be_written_nothing_is_remembered_and_nothing_fails(tmp_path: Path) -> None:
    remember(tmp_path / "no" / "such" / "folder" / "file", k=b"one")
    folder = tmp_path / "verdicts.sqlite"
    folder.mkdir()
    remember(folder, k=b"one")
    assert recall(folder) is None


def test_while_somebody_else_writes_one_goes_on_without(path: Path) -> None:
    remember(path, k=b"one")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    wait, verdict_memory.WAIT = verdict_memory.WAIT, 0.05
    try:
        remember(path, o=b"two")
    finally:
        verdict_memory.WAIT = wait
        holder.execute("ROLLBACK")
        holder.close()
    assert recall(path) == b"one"


WRITER = """\
import sys
from pathlib import Path
from regraft.adapters.verdict_memory import VerdictMemory
for turn in range(20):
    with VerdictMemory.at(Path(sys.argv[1])) as memory:
        for number in range(50):
            memory.put((turn * 50 + number).to_bytes(32, "big"), b"value of %d" % (turn * 50 + number))
"""


def test_two_at_once_and_one_that_is_killed_leave_whole_values(path: Path) -> None:
    argv = [sys.executable, "-c", WRITER, str(path)]
    pair = [subprocess.Popen(argv) for _ in range(2)]
    victim = subprocess.Popen(argv)
    try:
        victim.wait(0.15)
    except subprocess.TimeoutExpired:
        victim.kill()
    victim.wait()
    assert [process.wait() for process in pair] == [0, 0]
    with VerdictMemory.at(path) as memory:
        assert all(memory.get(number.to_bytes(32, "big")) == b"value of %d" % number for number in range(1000))


def test_the_longest_unused_go_first(path: Path) -> None:
    remember(path, k=b"one", o=b"two", p=b"three", q=b"four")
    database = sqlite3.connect(path)
    database.execute("UPDATE remembered SET used = used - 9")
    database.commit()
    database.close()
    assert recall(path) == b"one"  # which is a use of it
    limit, verdict_memory.LIMIT = verdict_memory.LIMIT, 4
    try:
        remember(path, r=b"five")
    finally:
        verdict_memory.LIMIT = limit
    assert recall(path) == b"one"
    assert recall(path, b"r" * 32) == b"five"
    assert sum(recall(path, key * 32) is not None for key in (b"o", b"p", b"q")) == 1


def test_another_engine_has_another_digest() -> None:
    assert len(engine_digest()) == 32
    assert engine_digest() == engine_digest()
