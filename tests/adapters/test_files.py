"""Files are written whole or not at all, where the path leads, and nothing but a regular file is replaced."""

import os
import stat
import threading
from pathlib import Path

import pytest

from regraft.adapters import files
from regraft.errors import InputError, OutsideError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        files.write(tmp_path / "deep/plan.json", b"x")
    finally:
        os.umask(old)
    assert mode(tmp_path / "deep/plan.json") == 0o600
    assert (tmp_path / "deep/plan.json").read_bytes() == b"x"


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    files.write(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", 0o640)


def test_a_link_is_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to("target")
    files.write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """`--output /dev/stdout` as root must not replace the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    files.write(pipe, b"plan")
    reader.join(10)
    assert got == [b"plan"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutsideError):
        files.write(tmp_path / "folder", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_full_disk_names_itself() -> None:
    with pytest.raises(OutsideError) as caught:
        files.write(Path("/dev/full"), b"x")
    assert caught.value.code == "disk-full"


def test_reading_is_bounded_and_what_is_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    assert files.read(tmp_path / "f", 5) == b"12345"
    for path, limit, code in ((tmp_path / "f", 4, "too-large"), (tmp_path, 4, "not-a-file"), (tmp_path / "x", 4, "no-such-file")):  # fmt: skip
        with pytest.raises(InputError) as caught:
            files.read(path, limit)
        assert caught.value.code == code
