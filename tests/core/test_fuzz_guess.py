"""What GNU `patch` would do with hunks that do not fit: asked of the program itself."""

import difflib
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from regraft.core.fuzz_guess import guesses
from regraft.core.patch_read import read_patch_text

TOLD = re.compile(r"Hunk #(\d+) succeeded at (\d+) with fuzz (\d+)")


def asked(folder: Path, content: str, patch: str) -> list[tuple[int, int, int]]:
    (folder / "a.txt").write_text(content)
    argv = ["patch", "-p1", "--force", "--dry-run", "a.txt"]
    done = subprocess.run(argv, cwd=folder, input=patch, capture_output=True, text=True, check=False)
    return [(int(at), int(line), int(fuzz)) for at, line, fuzz in TOLD.findall(done.stdout)]


def case(seed: int) -> tuple[str, str, list[int]]:
    """A file that moved on, a patch for the old one, and the hunks that do not fit."""
    pick = random.Random(seed)
    old = [f"line {at if pick.random() < 0.7 else at % 4}\n" for at in range(pick.randint(8, 30))]
    mine, now = [*old], [*old]
    for at in sorted({pick.randrange(len(old)) for _ in range(pick.randint(1, 2))}, reverse=True):
        mine[at : at + pick.randint(0, 1)] = [f"mine {at}\n" for _ in range(pick.randint(1, 3))]
        near = min(max(at + pick.choice([-3, -2, 2, 3, 4]), 0), len(now) - 1)
        now[near] = "theirs\n"
    patch = "".join(difflib.unified_diff(old, mine, "a/a.txt", "b/a.txt"))
    text, content = read_patch_text(patch.encode(), exists=b"a.txt".__eq__), "".join(now)
    lines = content.encode().split(b"\n")
    hunks = text.sections[0].hunks
    sides = [[line[1:] for line in hunk.body if line[:1] in (b" ", b"-")] for hunk in hunks]
    fits = [any(lines[at : at + len(side)] == side for at in range(len(lines))) for side in sides]
    return content, patch, [number for number, one in enumerate(fits, 1) if not one]


@pytest.mark.skipif(shutil.which("patch") is None, reason="asks GNU patch")
def test_line_and_fuzz_are_what_the_program_says(tmp_path: Path) -> None:
    agreed = 0
    for seed in range(60):
        content, patch, failing = case(seed)
        hunks = read_patch_text(patch.encode(), exists=b"a.txt".__eq__).sections[0].hunks
        if len(hunks) != 1 or not failing:  # what an earlier hunk of a file keeps from a later one is no matter here
            continue
        found = [(one.index, one.line, one.fuzz) for one in guesses(content.encode(), hunks, failing)]
        assert found == asked(tmp_path, content, patch), (seed, content, patch)
        agreed += bool(found)
    assert agreed > 10
