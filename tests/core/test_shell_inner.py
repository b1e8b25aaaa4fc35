"""Compared with what real shells do with the scripts that are given to them."""

import shutil
import subprocess

import pytest

from regraft.core.shell_failure import outcome
from regraft.core.shell_inner import Inner, inner_script
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import all_commands

# `NOPE` is a program that is not there. The status is that of the one command.
GIVEN = [
    "bash -c 'NOPE; true'",
    "bash -c 'NOPE'",
    "bash -c 'true; NOPE'",
    "bash -ec 'NOPE; true'",
    "bash -c -e 'NOPE; true'",
    "bash -e -c 'NOPE; true'",
    "bash -o errexit -c 'NOPE; true'",
    "bash -euo pipefail -c 'NOPE | cat; true'",
    "bash -ec 'NOPE | cat; true'",
    "bash -c 'set -e; NOPE; true'",
    "bash -c 'set -e\nNOPE\ntrue'",
    "bash -c 'NOPE && true'",
    "bash -c 'true && NOPE && true; true'",
    "bash -ec 'true && NOPE && true; true'",
    "bash -ec 'true && NOPE && true'",
    "bash -c 'NOPE || exit 1; true'",
    "bash -ec 'f() { NOPE; true; }; f || exit 1'",
    "bash -ec 'f() { NOPE; true; }; f'",
    "bash -ec 'if { NOPE; true; }; then true; fi'",
    "bash -ec 'NOPE & wait'",
    "sh -c 'NOPE; true'",
    "sh -ec 'NOPE; true'",
    'sh -c "NOPE \\"a b\\"; true"',
    'bash -e -c "NOPE \\$HOME; true"',
    "env A=1 bash -c 'NOPE; true'",
    "env A=1 bash -ec 'NOPE; true'",
    "timeout 9 sh -c 'NOPE; true'",
    "bash <<'EOF'\nNOPE\ntrue\nEOF",
    "bash <<EOF\nNOPE\nEOF",
    "bash -e <<EOF\nNOPE\ntrue\nEOF",
    "bash -s a b <<'EOF'\nset -e\nNOPE\ntrue\nEOF",
    "bash -es a <<'EOF'\nNOPE\ntrue\nEOF",
    "sh -s <<EOF\nNOPE \\$1\ntrue\nEOF",
]
NONE = ["bash x.sh", "bash x.sh <<EOF\nNOPE\nEOF", "cat <<EOF\nNOPE\nEOF", "echo bash -c 'NOPE'", "bash -c $X", "bash"]


def inner_of(script: str) -> Inner | None:
    block = read_shell(script.encode())
    assert block is not None
    return inner_script(script.encode(), next(all_commands(block)))


@pytest.mark.parametrize("script", GIVEN)
def test_the_shell_agrees(script: str) -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    status = subprocess.run(["bash", "-eo", "pipefail", "-c", script], capture_output=True, check=False).returncode
    inner = inner_of(script)
    assert inner is not None
    failing = [one for one in all_commands(inner.block) if one.name == "NOPE"]
    assert outcome(inner.block, failing, inner.shell)[0] == ("stops" if status else "goes-on")
    at = inner.at(failing[0].span.start)
    assert script.encode()[at : at + 4] == b"NOPE"


@pytest.mark.parametrize("script", NONE)
def test_what_gives_no_script_to_a_shell(script: str) -> None:
    assert inner_of(script) is None


def test_a_place_behind_words_in_quotes() -> None:
    script = 'docker exec c bash -c "cd \\"$D\\" && x; NOPE"'
    inner = inner_of(script)
    assert inner is not None
    (one,) = [each for each in all_commands(inner.block) if each.name == "NOPE"]
    assert inner.at(one.span.start) == script.index("NOPE")
    assert inner.how == "docker … bash -c"
