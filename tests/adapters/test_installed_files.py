"""A record is read again only where its stat may be that of another content."""

import os
import time
from pathlib import Path

import pytest

from regraft.adapters.installed_files import InstalledFiles
from regraft.core.observation import Installed


def installed(folder: Path) -> Installed:
    return Installed("lib", "1", (), "dist-info", str(folder.parent), str(folder), True, None)


def test_a_record_that_was_written_again_is_read_again_whatever_its_times_say(tmp_path: Path) -> None:
    info = tmp_path / "lib-1.dist-info"
    info.mkdir()
    record = info / "RECORD"
    record.write_text("a.py,,\n")
    old = time.time_ns() - 3_600_000_000_000
    os.utime(record, ns=(old, old))
    files = InstalledFiles()
    assert files.of(installed(info)) == (str(tmp_path / "a.py"),)
    record.write_text("b.py,,\n")
    os.utime(record, ns=(old, old))
    assert files.of(installed(info)) == (str(tmp_path / "b.py"),)


def test_a_record_that_came_or_went_is_seen(tmp_path: Path) -> None:
    info = tmp_path / "lib-1.dist-info"
    info.mkdir()
    files = InstalledFiles()
    assert files.of(installed(info)) == ()
    (info / "RECORD").write_text("a.py,,\n")
    assert files.of(installed(info)) == (str(tmp_path / "a.py"),)
    (info / "RECORD").unlink()
    assert files.of(installed(info)) == ()


def test_what_is_known_for_certain_is_not_read_again() -> None:
    """The record of a distribution that came with this environment is older than any slack."""
    info = next(Path(pytest.__file__).parent.parent.glob("pytest-*.dist-info"))
    files = InstalledFiles()
    assert files.of(installed(info)) is files.of(installed(info))
