"""Wheels and source distributions, read without extracting; and archives that mean harm."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from regraft.adapters import release_tree
from regraft.adapters.release_tree import packed_files
from regraft.errors import OutsideError


def wheel(path: Path, files: dict[str, bytes], modes: dict[str, int] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            one = zipfile.ZipInfo(name)
            one.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(one, data, zipfile.ZIP_DEFLATED)
    return path


def member(
    name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
) -> tuple[tarfile.TarInfo, bytes]:
    one = tarfile.TarInfo(name)
    one.size, one.type, one.linkname, one.mode = len(data), kind, link, mode
    return one, data


def sdist(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for one, data in members:
            archive.addfile(one, io.BytesIO(data))
    return path


def read(path: Path) -> dict[bytes, tuple[str, bytes | None]]:
    return {one.path: (one.mode, one.content) for one in packed_files(path, path.name)}


def refused(path: Path) -> str:
    with pytest.raises(OutsideError) as caught:
        read(path)
    assert caught.value.code == "bad-archive"
    return caught.value.message


def test_the_paths_of_a_wheel_are_those_in_site_packages(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": b"1\n",
        "a/run.sh": b"#!\n",
        "a-1.0.dist-info/RECORD": b"",
        "a-1.0.data/purelib/b.py": b"2\n",
        "a-1.0.data/platlib/c/d.so": b"3",
        "a-1.0.data/scripts/tool": b"4",
        "a/": b"",
    }
    found = read(wheel(tmp_path / "a-1.0-py3-none-any.whl", files, {"a/run.sh": 0o100755}))
    assert found == {
        b"a/__init__.py": ("100644", b"1\n"),
        b"a/run.sh": ("100755", b"#!\n"),
        b"a-1.0.dist-info/RECORD": ("100644", b""),
        b"b.py": ("100644", b"2\n"),
        b"c/d.so": ("100644", b"3"),
        b"a-1.0.data/scripts/tool": ("100644", b"4"),
    }


def test_the_top_folder_of_a_source_distribution_goes_and_links_stay_links(tmp_path: Path) -> None:
    path = sdist(
        tmp_path / "a-1.0.tar.gz",
        member("a-1.0", kind=tarfile.DIRTYPE),
        member("a-1.0/a.py", b"1\n"),
        member("a-1.0/run", b"2\n", mode=0o755),
        member("a-1.0/link", kind=tarfile.SYMTYPE, link="../../etc/passwd"),
        member("a-1.0/hard", kind=tarfile.LNKTYPE, link="a-1.0/a.py"),
        member("a-1.0/.git/config", b"[core]\n"),
    )
    assert read(path) == {
        b"a.py": ("100644", b"1\n"),
        b"run": ("100755", b"2\n"),
        b"link": ("120000", b"../../etc/passwd"),
        b"hard": ("100644", b"1\n"),
    }


def test_a_zip_may_be_a_source_distribution(tmp_path: Path) -> None:
    assert read(wheel(tmp_path / "a-1.0.zip", {"a-1.0/a.py": b"1"})) == {b"a.py": ("100644", b"1")}


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "a//b", "./a/b", "a\\..\\b", "a/./b"])
def test_a_wheel_whose_names_lead_out_is_refused(tmp_path: Path, name: str) -> None:
    assert "is no path inside it" in refused(wheel(tmp_path / "a-1.0-py3-none-any.whl", {name: b""}))


@pytest.mark.parametrize("name", ["a-1.0/../../x", "/a-1.0/x", "a-1.0/./x"])
def test_a_source_distribution_whose_names_lead_out_is_refused(tmp_path: Path, name: str) -> None:
    assert "is no path inside it" in refused(sdist(tmp_path / "a-1.0.tar.gz", member(name, b"")))


def test_devices_and_several_top_folders_are_refused(tmp_path: Path) -> None:
    assert "a device or a pipe" in refused(sdist(tmp_path / "a-1.0.tar.gz", member("a/x", kind=tarfile.FIFOTYPE)))
    two = sdist(tmp_path / "b-1.0.tar.gz", member("b/x"), member("c/x"))
    assert "several top folders" in refused(two)
    assert "beside its top folder" in refused(sdist(tmp_path / "c-1.0.tar.gz", member("setup.py")))
    nowhere = sdist(tmp_path / "d-1.0.tar.gz", member("d/x", kind=tarfile.LNKTYPE, link="/etc/passwd"))
    assert "damaged" in refused(nowhere)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.py", b"1")
        archive.writestr("a.py", b"2")
    assert "stands there twice" in refused(path)
    assert "is a file and a folder" in refused(wheel(tmp_path / "b-1.0-py3-none-any.whl", {"a": b"", "a/b": b""}))
    assert "stands there twice" in refused(wheel(tmp_path / "c-1.0-py3-none-any.whl", {"a/b": b"", "a": b""}))


@pytest.mark.parametrize("data", [b"", b"<html>", b"PK\x03\x04" + b"\0" * 40])
@pytest.mark.parametrize("name", ["a-1.0-py3-none-any.whl", "a-1.0.tar.gz"])
def test_what_is_no_archive_is_said_to_be_damaged(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert "it is damaged" in refused(tmp_path / name)


def test_an_archive_without_files_is_refused(tmp_path: Path) -> None:
    assert "holds no file" in refused(wheel(tmp_path / "a-1.0-py3-none-any.whl", {}))


def test_a_flipped_bit_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.py", b"the content")
    path.write_bytes(path.read_bytes().replace(b"the content", b"tha content"))
    assert "it is damaged: BadZipFile" in refused(path)


def test_half_of_a_source_distribution_is_seen(tmp_path: Path) -> None:
    path = sdist(tmp_path / "a-1.0.tar.gz", member("a/x", bytes(range(256)) * 400))
    path.write_bytes(path.read_bytes()[:-200])
    assert "it is damaged" in refused(path)


def test_what_is_too_large_to_keep_is_named_only(tmp_path: Path) -> None:
    path = tmp_path / "a-1.0-py3-none-any.whl"
    found = read(wheel(path, {"a.so": b"\0" * (release_tree.LARGEST + 1), "a.py": b"1"}))
    assert found == {b"a.so": ("100644", None), b"a.py": ("100644", b"1")}


def test_a_zip_that_says_it_is_huge_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a-1.0-py3-none-any.whl"
    wheel(path, {f"a{number}": b"x" for number in range(5)})
    huge = (1024 * 1024 * 1024).to_bytes(4, "little")
    data, at = bytearray(path.read_bytes()), 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:  # the size in each entry of the directory
        data[at + 24 : at + 28] = huge
        at += 4
    path.write_bytes(bytes(data))
    assert "it unpacks to more than" in refused(path)


def test_a_compressed_header_of_a_tar_that_would_fill_memory_is_refused(tmp_path: Path) -> None:
    """A pax header says how long it is, and is read in one piece."""
    header = tarfile.TarInfo("a/x")
    header.type, header.size = tarfile.XHDTYPE, 3 * 1024 * 1024 * 1024
    path = tmp_path / "a-1.0.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + b"\0" * 4096))
    assert "more at a time than any file may hold" in refused(path)


def test_a_tar_whose_files_are_together_too_large_is_refused(tmp_path: Path) -> None:
    header = tarfile.TarInfo("a/x")
    header.size = release_tree.TOTAL + 1
    path = tmp_path / "a-1.0.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + b"\0" * 4096))
    assert "it unpacks to more than" in refused(path)


@pytest.mark.parametrize(("at", "value"), [(8, 99), (6, 1)], ids=["a compression that is not here", "encrypted"])
def test_a_wheel_that_no_installer_could_open_is_refused(tmp_path: Path, at: int, value: int) -> None:
    """Both headers of a file say how it is compressed, and by a flag that it is encrypted."""
    path = wheel(tmp_path / "a-1.0-py3-none-any.whl", {"a.py": b"1\n"})
    data = bytearray(path.read_bytes())
    for signature, shift in ((b"PK\3\4", 0), (b"PK\1\2", 2)):
        data[data.index(signature) + shift + at] = value
    path.write_bytes(data)
    assert "a-1.0-py3-none-any.whl" in refused(path)
