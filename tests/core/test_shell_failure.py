"""Compared with what a real shell does, where it is at hand."""

import shutil
import subprocess

import pytest

from regraft.core.shell_failure import Shell, outcome
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import commands_of

SCRIPTS = [
    "APPLY",
    "APPLY || echo failed",
    "APPLY || true",
    "APPLY || exit 1",
    "APPLY || { echo no; exit 1; }",
    "APPLY || { echo no; }",
    "true && APPLY && true",
    "true && APPLY; echo done",
    "APPLY; true",
    "true; APPLY",
    "set -e; APPLY; true",
    "set -ex\nAPPLY\ntrue",
    "set -e; APPLY && true; true",
    "set -e; true && APPLY; true",
    "set -o errexit; APPLY; true",
    "set -e; set +e; APPLY; true",
    "APPLY | cat",
    "set -e; APPLY | cat; true",
    "true | APPLY",
    "! APPLY",
    "if APPLY; then true; else echo skipped; fi",
    "if APPLY; then true; else exit 1; fi",
    "if true; then APPLY; fi",
    "if ! APPLY; then exit 1; fi",
    "if ! APPLY; then echo no; fi",
    "( APPLY )",
    "( set -e; APPLY; true ); true",
    "( APPLY ) || exit 1",
    "{ APPLY; true; }",
    "for p in a; do APPLY; done",
    "for p in a; do APPLY || exit 1; done",
    "for p in a; do APPLY; true; done",
    "case x in x) APPLY ;; esac",
    "test -f /nowhere && exit 0; APPLY",
    "if [ -f /nowhere ]; then exit 0; fi; APPLY",
    "APPLY && true || false",
    "false || APPLY",
    "APPLY && true\ntrue",
    "true && APPLY && true\ntrue",
    "( APPLY && true )\ntrue",
    "{ APPLY && true; }\ntrue",
    "if true; then APPLY && true; fi\ntrue",
    "for p in a; do APPLY && true; done\ntrue",
    "f() { APPLY; true; }\nf",
    "f() { APPLY; true; }\nf\ntrue",
    "f() { true; APPLY; }\nf\ntrue",
    "f() { APPLY && true; }\nf\ntrue",
    "f() { APPLY && true; true; }\nf\ntrue",
    "f() { APPLY; true; }\nf || exit 1\ntrue",
    "f() { APPLY; true; }\nif f; then true; fi\ntrue",
    "f() { APPLY || return 1; true; }\nf\ntrue",
    "f() { APPLY || return; true; }\nf\ntrue",
    "f() { APPLY || return 0; true; }\nf\ntrue",
    "function f { set +e; APPLY; }\nf || true; APPLY; true",
    "( f() { APPLY; }; f ); true",
    "f() { APPLY; }\nf | cat\ntrue",
    "set -o pipefail\nAPPLY | cat\ntrue",
    "set -o pipefail\nAPPLY | cat && true\ntrue",
    "set -euo pipefail\ntrue | APPLY | cat\ntrue",
]


def judged(script: str, shell: Shell | None = None) -> str:
    block = read_shell(script.encode())
    assert block is not None
    failing = [one for one in commands_of(block) if one.name == "APPLY"]
    return outcome(block, failing, shell or Shell())[0]


@pytest.mark.parametrize("line", ["bash", "bash -e", "bash -eo pipefail", "sh -e"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_shell_agrees(script: str, line: str) -> None:
    """`APPLY` fails there: the status of the whole is what a build or a step sees."""
    program, *options = line.split()
    if shutil.which(program) is None:
        pytest.skip(f"no {program}")
    if program == "sh" and ("pipefail" in script or "function " in script):
        return
    argv = [program, *options, "-c", f"APPLY() {{ return 1; }}\n{script}"]
    status = subprocess.run(argv, capture_output=True, check=False).returncode
    shell = Shell(errexit=bool(options), pipefail="pipefail" in options)
    assert judged(script, shell) == ("stops" if status else "goes-on")


def test_a_loop_ends_as_its_last_turn_does() -> None:
    assert judged("for p in a b; do APPLY $p; done") == "goes-on"
    assert judged("for p in /patches/*.patch; do APPLY $p; done") == "goes-on"
    assert judged("for p in a b; do APPLY $p || exit 1; done") == "stops"
    assert judged("for p in a b; do APPLY $p; done", Shell(errexit=True)) == "stops"
    assert judged("while read p; do APPLY $p; done < list") == "goes-on"


def test_pipefail_counts() -> None:
    assert judged("APPLY | tee log") == "goes-on"
    assert judged("APPLY | tee log", Shell(pipefail=True)) == "stops"
    assert judged("set -o pipefail; APPLY | tee log") == "stops"
    assert judged("set -euo pipefail; APPLY | tee log; true") == "stops"


def test_who_asks_for_the_status_afterwards_is_not_accused() -> None:
    assert judged("APPLY; if [ $? -ne 0 ]; then exit 1; fi") == "unclear"
    assert judged("APPLY; if grep -rn '<<<<<<' .; then exit 1; fi") == "unclear"
    assert judged("APPLY; code=1; exit $code") == "unclear"


def test_a_second_try_of_the_same_patch_fails_too() -> None:
    assert judged("APPLY --check p && APPLY p || echo already there") == "goes-on"
    assert judged("APPLY p || APPLY --3way p") == "stops"
    assert judged("if APPLY --check p; then APPLY p; else echo skipped; fi") == "goes-on"


def test_functions_that_call_each_other_without_end_are_unclear() -> None:
    calls = "\n".join(f"f{at}() {{ f{at + 1}; f{at + 1}; }}" for at in range(40))
    assert judged(f"{calls}\nf40() {{ true; }}\nf0\nAPPLY || true") == "unclear"
