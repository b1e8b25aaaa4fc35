"""zizmor's own findings, read: from the real program, and what is no list of them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regraft.core.zizmor_findings import read_zizmor
from regraft.errors import InputError, MistakesError

WORKFLOW = """on: pull_request_target
jobs:
  greet:
    runs-on: ubuntu-latest
    permissions: {}
    steps:
      - run: echo "${{ github.event.pull_request.title }}"
"""


def test_what_the_real_program_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / ".github/workflows/ci.yml"
    path.parent.mkdir(parents=True)
    path.write_text(WORKFLOW)
    program = Path(sys.executable).with_name("zizmor")
    argv = [program, "--offline", "--format", "json", ".github/workflows"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False)
    found = {one.rule: one for one in read_zizmor(done.stdout, "zizmor.json")}
    injection = found["zizmor/template-injection"]
    assert (injection.severity, injection.path, injection.line) == ("error", ".github/workflows/ci.yml", 7)
    assert "zizmor/dangerous-triggers" in found


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'[{"ident": "x"}]', b"[" * 100_000])
def test_what_is_none_of_zizmors_findings_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError):
        read_zizmor(data, "zizmor.json")


def test_what_zizmor_was_told_to_ignore_is_left_out() -> None:
    assert read_zizmor(json.dumps([{"ignored": True}]).encode(), "zizmor.json") == ()


def place(row: Any, column: Any, path: str = ".github/workflows/ci.yml") -> dict[str, Any]:
    return {
        "ident": "x",
        "desc": "half \ud800",
        "determinations": {"severity": "High", "confidence": "High"},
        "locations": [
            {
                "symbolic": {"key": {"Local": {"given_path": path}}, "annotation": "a\udcff", "kind": "Primary"},
                "concrete": {"location": {"start_point": {"row": row, "column": column}}},
            }
        ],
    }


@pytest.mark.parametrize("number", [-1, -5, 1.5, float("inf"), float("nan"), 10**30, True, "3", None, [1]])
def test_a_row_or_column_that_is_none_is_an_error_of_the_finding_it_is_in(number: Any) -> None:
    given = [place(0, 0), place(number, 0), place(0, 0), place(0, number)]
    with pytest.raises(MistakesError) as caught:
        read_zizmor(json.dumps(given).encode(), "zizmor.json")
    said = [(one.code, one.message[:9]) for one in caught.value.mistakes]
    assert said == [("wrong-shape", "finding 2"), ("wrong-shape", "finding 4")]


def test_halves_of_characters_can_be_written_out() -> None:
    [one] = read_zizmor(json.dumps([place(0, 0, "a\ud800.yml")]).encode(), "zizmor.json")
    assert f"{one.rule}{one.message}{one.path}".encode()
    assert (one.line, one.column) == (1, 1)
