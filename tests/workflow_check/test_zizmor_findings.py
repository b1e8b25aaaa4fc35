"""zizmor's own findings, read: from the real program, and what is no list of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regraft.core.zizmor_findings import read_zizmor
from regraft.errors import InputError

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
