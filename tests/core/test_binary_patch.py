"""Binary content of patches, against what git writes."""

import subprocess
from pathlib import Path

import pytest

from regraft.core.binary_patch import apply_part, decode
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import BinaryPart, BinaryPatch

OLD = b"\x89\0" + bytes(range(256)) * 40
LARGE = OLD[:5000] + b"in the middle\0" + OLD[5000:] + OLD[:100]


def by_git(folder: Path, old: bytes, new: bytes) -> BinaryPatch:
    for side, content in {"a": old, "b": new}.items():
        (folder / side).mkdir()
        (folder / side / "i").write_bytes(content)
    argv = ["git", "diff", "--no-index", "--no-prefix", "--binary", "--full-index", "a/i", "b/i"]
    text = subprocess.run(argv, cwd=folder, capture_output=True, check=False).stdout
    read = read_patch_text(text, strip=1, exists=lambda _: True)
    assert not read.problems
    binary = read.sections[0].binary
    assert binary is not None
    return binary


@pytest.mark.parametrize(
    ("old", "new", "method"),
    [
        (OLD, LARGE, "delta"),
        (LARGE, OLD, "delta"),
        (b"\0", OLD[::-1], "literal"),
        (OLD + LARGE * 20, LARGE * 20, "delta"),
    ],
)
def test_what_git_wrote_leads_there_and_back(old: bytes, new: bytes, method: str, tmp_path: Path) -> None:
    binary = by_git(tmp_path, old, new)
    assert binary.forward.method == method
    assert apply_part(binary.forward, old) == new
    assert binary.reverse is not None
    assert apply_part(binary.reverse, new) == old


def test_a_delta_is_refused_on_other_content(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="made for 10242 bytes, and the file has 10243"):
        apply_part(by_git(tmp_path, OLD, LARGE).forward, OLD + b"x")


@pytest.mark.parametrize(
    ("lines", "size", "why"),
    [
        ((b"zcm",), 3, "another length than it says"),
        ((b"",), 3, "another length than it says"),
        ((b"D12345",), 3, "compressed bytes are damaged"),
        ((), 3, "does not hold"),
        ((), 1 << 40, "at most"),
    ],
)
def test_damaged_content_is_refused(lines: tuple[bytes, ...], size: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(BinaryPart(1, "literal", size, lines))


def test_a_small_patch_cannot_ask_for_a_large_memory(tmp_path: Path) -> None:
    part = by_git(tmp_path, b"\0", b"\0" * 1_000_000).forward
    assert decode(part) == b"\0" * 1_000_000
    with pytest.raises(ValueError, match="does not hold the 1000 bytes"):
        decode(BinaryPart(part.line, part.method, 1000, part.lines))
