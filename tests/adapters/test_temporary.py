import os
import stat
import tempfile
from pathlib import Path

import pytest

from regraft.adapters import temporary
from regraft.adapters.temporary import TemporaryFolder


def test_a_folder_is_private_and_goes_away_with_all_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("kept")
    with TemporaryFolder("x-") as folder:
        assert folder.parent == tmp_path.resolve()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "a/b").mkdir(parents=True)
        (folder / "a/b/file").write_text("x")
        (folder / "a/link").symlink_to(tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept/file").read_text() == "kept"


def test_a_folder_that_is_gone_already_is_no_trouble() -> None:
    with TemporaryFolder("x-") as folder:
        folder.rmdir()


@pytest.mark.parametrize("place", ["nowhere", "file", "relative"])
def test_a_place_that_is_not_fit_is_not_taken(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", "./relative" if place == "relative" else str(tmp_path / place))
    monkeypatch.chdir(tmp_path)
    expected = tempfile.gettempdir()
    with TemporaryFolder("x-") as folder:
        assert folder.parent == Path(expected).resolve()


def test_a_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with temporary.file() as stream:
        stream.write(b"text")
        stream.seek(0)
        assert stream.read() == b"text"
        assert os.listdir(tmp_path) == []
