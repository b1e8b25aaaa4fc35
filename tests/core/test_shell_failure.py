"""Compared with what a real shell does, where it is at hand."""

import shutil
import subprocess

import pytest

from regraft.core.shell_failure import outcome
from regraft.core.shell_options import Shell
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import all_commands

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
    # what leads to it need not do well
    "! true || APPLY; true",
    "true && APPLY && true || exit 3",
    "[ -n '' ] || APPLY",
    "[ -n '' ] || APPLY || true",
    "if [ -n '' ]; then true; else APPLY; fi",
    "false || APPLY || exit 1; true",
    # who says no to a failure by a name of its own
    'die() { echo "$1"; exit 1; }\nAPPLY || die bad\ntrue',
    "warn() { echo no; }\nAPPLY || warn\ntrue",
    "APPLY || exit $?",
    "f() { APPLY || return $?; true; }\nf || exit $?; true",
    "APPLY || exec false",
    "exec APPLY-NOT-THERE 2>/dev/null; APPLY",
    "( APPLY || kill $$ ) ; true",
    # functions that are given it
    'run() { "$@"; }\nrun APPLY\ntrue',
    'run() { "$@"; }\nrun APPLY || exit 1\ntrue',
    'try() { "$@" || exit 1; }\ntry APPLY\ntrue',
    'try() { echo "$@"; "$@" || { echo no; return 1; }; }\ntry APPLY\ntrue',
    'try() { "$@" || echo no; }\ntry APPLY',
    # conditions let go of `set -e`
    "set -e\nmain() { APPLY; true; }\nmain",
    "set -e\nmain() { APPLY; true; }\nif main; then true; fi",
    "set -e\nmain() { APPLY; true; }\nmain || true",
    "set -e\nmain() { APPLY; true; }\n! main; true",
    # substitutions
    "X=$(APPLY)",
    "X=$(APPLY); true",
    "set -e; X=$(APPLY); true",
    "echo $(APPLY)",
    "export X=$(APPLY)",
    "X=$(APPLY || true)",
    "X=$(APPLY) || exit 1; true",
    "if X=$(APPLY); then true; fi",
    # loops
    "printf 'a\\n' | while read p; do APPLY $p || exit 1; done",
    "for p in a; do APPLY; done > /dev/null",
    "for p in a; do APPLY || exit 1; done > /dev/null; true",
    "if APPLY; then true; fi > /dev/null",
    "for p in a b c; do APPLY && break; done",
    "for L in a b c; do APPLY || echo $L; done",
    "for p in a b c; do APPLY || break; done",
    "for p in a b c; do APPLY || continue; true; done",
    "for p in a b c; do APPLY || { echo no; break; }; false; done",
    "until APPLY; do break; done",
    "until APPLY; do exit 1; done",
    "while APPLY; do true; done",
    "while ! APPLY; do exit 1; done; true",
    # traps
    "trap 'exit 0' EXIT; APPLY",
    "trap 'echo bye' EXIT; APPLY",
    "trap 'echo bye' EXIT; APPLY; true",
    "trap 'exit 3' EXIT; APPLY; true",
    "trap 'exit 0' EXIT; trap - EXIT; APPLY",
    "trap 'exit 1' ERR\nAPPLY\ntrue",
    "trap 'exit 1' ERR\nAPPLY || true",
    "trap 'exit 1' ERR\nif APPLY; then true; fi",
    "trap 'echo no' ERR\nAPPLY\ntrue",
    "trap 'exit 1' ERR\nf() { APPLY; true; }\nf",
    "set -E; trap 'exit 1' ERR\nf() { APPLY; true; }\nf",
    "trap 'exit 1' ERR\n( APPLY; true )",
    "set -E; trap 'echo x; exit 4' ERR\n( APPLY; true ); true",
    "die() { exit 1; }; trap die ERR\nAPPLY\ntrue",
    "trap 'exit 1' ERR; trap - ERR\nAPPLY\ntrue",
    "APPLY & wait",
    "APPLY & true & wait; true",
    "( true; APPLY ) & wait",
    "for p in a b; do APPLY & done; wait",
    "f() { APPLY; true; }\nf && true\ntrue",
    "f() { APPLY; true; }\nif ! f; then exit 1; fi",
    "f() { set -e; APPLY; true; }\nf || exit 1",
    "( set -e; APPLY; true ) || exit 1",
    "{ APPLY; true; } || exit 1",
    "if { APPLY; true; }; then true; else exit 1; fi",
    "X=$(APPLY | cat)\ntrue",
    "{ APPLY; true; } > /dev/null",
    "for p in a; do APPLY | cat; done > /dev/null",
    "( true; APPLY ) 2>&1 | cat",
    "APPLY && true 2>&1 | cat",
    "true && APPLY > /dev/null | cat",
    "APPLY || true 2>&1 | cat",
]
BASH_ONLY = ("pipefail", "function ", "ERR")

# The truth is one of the two, and a script that may ask for it is not accused.
ASKING = [
    "FAIL=0; for p in a b; do APPLY $p || FAIL=1; done; test $FAIL = 0",
    "FAIL=0; for p in a b; do APPLY $p || FAIL=1; done; if [ $FAIL -ne 0 ]; then exit 1; fi",
    'ok=1; APPLY || ok=; [ "$ok" ]',
    'APPLY && OK=1; [ "$OK" ] || exit 1',
    'if APPLY; then ok=1; fi; [ -n "$ok" ]',
    'note() { FAIL=1; }; APPLY || note; [ -z "$FAIL" ]',
    "ok=true; APPLY || ok=false; $ok",
    "APPLY; rc=$?; true; exit $rc",
    "APPLY; rc=$?; [ $rc -eq 0 ]",
    "rc=0; APPLY || rc=$?; case $rc in 0) ;; *) exit 1;; esac",
    "APPLY; test $? -eq 0",
    "APPLY & wait $!",
    "set -e; X=$(APPLY; true)",
    'die() { exit "${2:-1}"; }; APPLY || die bad',
    "f=0; APPLY || f=$((f + 1)); [ $f -eq 0 ]",
]
FOREIGN = ["APPLY || die bad", ". ./lib.sh; APPLY || stop_here bad"]


def judged(script: str, shell: Shell | None = None) -> str:
    block = read_shell(script.encode())
    assert block is not None
    failing = [one for one in all_commands(block) if "APPLY" in [word.text for word in one.words]]
    return outcome(block, failing, shell or Shell())[0]


@pytest.mark.parametrize("line", ["bash", "bash -e", "bash -eo pipefail", "sh", "sh -e"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_shell_agrees(script: str, line: str) -> None:
    """`APPLY` fails there: the status of the whole is what a build or a step sees."""
    program, *options = line.split()
    if shutil.which(program) is None:
        pytest.skip(f"no {program}")
    if program == "sh" and any(one in script for one in BASH_ONLY):
        return
    argv = [program, *options, "-c", f"APPLY() {{ return 1; }}\n{script}"]
    status = subprocess.run(argv, capture_output=True, check=False).returncode
    shell = Shell(errexit=bool(options), pipefail="pipefail" in options)
    assert judged(script, shell) == ("stops" if status else "goes-on")


@pytest.mark.parametrize("script", [*ASKING, *FOREIGN])
def test_a_script_that_may_ask_later_is_not_accused(script: str) -> None:
    assert judged(script) == "unclear"


def test_a_status_that_is_kept_and_never_asked_for_is_lost() -> None:
    assert judged("APPLY; rc=$?; true; exit 0") == "goes-on"
    assert judged("APPLY || FAIL=1; true") == "goes-on"
    assert judged("VERSION=2; APPLY; OTHER=3; [ -n $VERSION ] && [ -n $OTHER ]") == "goes-on"


def test_an_apply_that_nothing_reaches_is_not_accused() -> None:
    assert judged("f() { APPLY; true; }") == "unclear"
    assert judged("f() { APPLY; true; }; f() { true; }; f") == "unclear"


def test_functions_that_call_each_other_without_end_are_given_up() -> None:
    calls = "\n".join(f"f{one}() {{ f{one + 1}; f{one + 1}; }}" for one in range(60))
    assert judged(f"f60() {{ APPLY; true; }}\n{calls}\nf0") in ("unclear", "goes-on")
    assert judged(f"f60() {{ true; }}\n{calls}\nf0; APPLY; true") == "unclear"
    assert judged("f() { f; }; f; APPLY; true") == "goes-on"


def test_files_that_are_read_in_are_a_part_of_the_script() -> None:
    def of(script: str, **files: str) -> str:
        blocks = {name: read_shell(text.encode()) for name, text in files.items()}
        block = read_shell(script.encode())
        assert block is not None
        sourced = {id(one): blocks[one.words[1].text] for one in all_commands(block) if one.name == "."}
        everything = [block, *(one for one in blocks.values() if one is not None)]
        failing = [one for each in everything for one in all_commands(each) if one.name == "APPLY"]
        return outcome(block, failing, Shell(), {at: one for at, one in sourced.items() if one is not None})[0]

    assert of("set -e; . lib; true", lib="APPLY\ntrue") == "stops"
    assert of(". lib; true", lib="APPLY\ntrue") == "goes-on"
    assert of(". lib; APPLY; true", lib="set -e") == "stops"
    assert of(". lib; APPLY || die no; true", lib="die() { exit 1; }") == "stops"
    assert of(". lib; true", lib="APPLY || return 1") == "goes-on"
    assert of(". lib; true", lib="APPLY || exit 1") == "stops"
    assert of(". lib; put", lib="put() { APPLY; true; }") == "goes-on"


def test_a_loop_ends_as_its_last_turn_does() -> None:
    assert judged("for p in a b; do APPLY $p; done") == "goes-on"
    assert judged("for p in a b; do APPLY ${p}.patch; done") == "goes-on"
    assert judged("for p in a b; do APPLY < /p/$p; done > log") == "goes-on"
    assert judged("for p in a b; do APPLY $pq; done") == "stops"
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
