import os
import socket
from pathlib import Path

import pytest

from regraft.adapters.project_files import ProjectFolder
from regraft.errors import InputError, OutsideError
from regraft.flows.ports import ProjectFiles


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "docker").mkdir(parents=True)
    (folder / "docker" / "a.patch").write_bytes(b"one\r\n\xff")
    (tmp_path / "secret").write_bytes(b"outside")
    return folder


def code_of(root: Path, path: str, limit: int = 100) -> str:
    with pytest.raises(InputError) as caught:
        ProjectFolder(root).read(path, limit)
    return caught.value.code


def test_it_reads_bytes_as_they_are(root: Path) -> None:
    files: ProjectFiles = ProjectFolder(root)
    assert files.read("docker/a.patch", 6) == b"one\r\n\xff"


@pytest.mark.parametrize("path", ["absent", "docker/absent", "docker/a.patch/below", "x" * 300])
def test_what_is_not_there_is_none(root: Path, path: str) -> None:
    assert ProjectFolder(root).read(path, 100) is None


def test_a_link_inside_the_project_is_followed(root: Path) -> None:
    (root / "link").symlink_to("docker/a.patch")
    (root / "folder").symlink_to("docker")
    assert ProjectFolder(root).read("link", 100) == b"one\r\n\xff"
    assert ProjectFolder(root).read("folder/a.patch", 100) == b"one\r\n\xff"


def test_the_project_itself_may_be_reached_through_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert ProjectFolder(tmp_path / "alias").read("docker/a.patch", 100) == b"one\r\n\xff"


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "../absent", "../project-beside/x"])
def test_a_link_that_leads_out_is_refused(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    assert code_of(root, "link") == "outside-project"


def test_a_folder_that_leads_out_is_refused(root: Path) -> None:
    (root / "folder").symlink_to("..")
    assert code_of(root, "folder/secret") == "outside-project"


@pytest.mark.parametrize("path", ["../secret", "docker/../../secret", "/etc/passwd", "a\0b"])
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    assert code_of(root, path) == "outside-project"


def test_only_regular_files_are_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe")
    (root / "circle").symlink_to("circle")
    monkeypatch.chdir(root)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert {path: code_of(root, path) for path in ("pipe", "docker", "circle", "socket", "")} == dict.fromkeys(
            ("pipe", "docker", "circle", "socket", ""), "not-a-file"
        )


def test_a_file_over_the_limit_is_refused(root: Path) -> None:
    assert code_of(root, "docker/a.patch", 5) == "too-large"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_the_outside_world(root: Path) -> None:
    (root / "docker" / "a.patch").chmod(0)
    with pytest.raises(OutsideError) as caught:
        ProjectFolder(root).read("docker/a.patch", 100)
    assert caught.value.code == "cannot-read"


def test_a_project_that_is_no_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        ProjectFolder(tmp_path / "absent")
    assert caught.value.code == "no-project"
