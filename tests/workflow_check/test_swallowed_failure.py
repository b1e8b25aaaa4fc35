"""Scripts whose failing commands leave the step green, and neighbours that somebody meant."""

from collections.abc import Callable
from textwrap import indent

import pytest

RULE = "swallowed-failure"


def repository(script: str, shell: str = "", **files: str) -> dict[str, str]:
    step = f"      - run: |\n{indent(script, ' ' * 10)}\n" + (f"        shell: {shell}\n" if shell else "")
    text = f"on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n{step}"
    return {"ci.yml": text, **files}


ERRORS = {
    "a chain in the middle": "cd /opt/up\ngit fetch origin && git checkout $REF && pip install -e .\necho done",
    "a chain in the middle of a branch": 'if [ -n "$REF" ]; then\n  git fetch origin "$REF" && git checkout FETCH_HEAD\n  pip install -e .\nfi',
    "a chain in a function": 'use() {\n  git fetch origin "$1" && git checkout FETCH_HEAD\n  echo on "$1"\n}\nuse main',
    "a build before its tests": "make all && make check\necho done",
    "a chain in a loop": "for d in a b; do\n  git checkout v1 && git apply x.patch\n  echo $d\ndone",
    "tests into tee": "pytest -x tests | tee log.txt",
    "tests into tee, with words before": "cd tests\nPYTHONPATH=. timeout 600 python3 -m pytest -q 2>&1 | tee ../log.txt\nls",
    "a build into a filter": "make -j8 2>&1 | grep -v warning",
    "a script of tests into tee": "bash scripts/run_tests.sh 2>&1 | tee out.txt",
    "tests of cargo into tee": "cargo test --all | tee out.txt",
    "npm test into cat": "npm test | cat",
    "tests in a container into tee": "docker exec ci bash -lc 'cd /x && pytest tests' | tee log",
    "a patch that may not apply, with words": "git apply fix.patch || echo 'already there'\nmake",
    "a patch that may not apply": "git apply fix.patch || true",
    "a patch in a group": 'patch -p1 < fix.patch || { echo "no"; }\nls',
    "a named ref that may not be there": 'git checkout "$REF" || echo "no such ref"\nls',
    "a checkout in another shell": "docker exec ci bash -c 'cd /x; git checkout b; pip install .'\nls",
    "a checkout in another shell, at the end": "docker exec ci bash -c 'cd /x; git checkout b; pip install .'",
    "a checkout in lines for another shell": 'sudo -u ci bash -lc "\n  cd /x\n  git checkout "$REF"\n  make\n"',
    "tests in another shell": "sh -c 'pytest a; pytest b'",
    "tests in what a shell reads": "bash <<'EOF'\npytest a\npytest b\nEOF",
    "a checkout in what a container's shell reads": "docker exec -i ci bash -x <<EOF > log\ncd /x\ngit checkout $REF\nmake\nEOF",
    "a checkout on another machine": "ssh -p 22 gpu 'cd /x; git checkout b; make'",
    "a chain in another shell": "bash -ec 'git fetch && git checkout b && make\nls'",
    "tests in another shell whose failure is asked for": "if ! docker exec ci bash -c 'pytest a; pytest b'; then exit 1; fi",
    "a function that is a condition": "f() {\n  git fetch\n  git checkout b\n  pip install .\n}\nif f; then echo yes; else exit 1; fi",
    "a function with another way": "f() { git checkout b; pip install .; }\nf || exit 1\nls",
    "a function that is negated": "f() { git checkout b; pip install .; }\nif ! f; then exit 1; fi",
    "a function before others": "f() { git checkout b; pip install .; }\nf && echo yes",
    "a group with another way": "(\n  cd x\n  git checkout b\n  make\n) || exit 1",
    "a group in a condition": "if { git checkout b; make; }; then echo yes; fi",
    "a ref whose failure is called an error": 'if ! git checkout "$REF"; then\n  echo "::error::no $REF"\nfi\npip install .',
    "tests whose failure is called an error": "if pytest; then\n  echo good\nelse\n  echo '::error::bad' >&2\nfi",
    "tests in the background": "pytest tests/a &\npytest tests/b\nwait\necho done",
    "tests in a loop in the background": "for d in a b; do\n  pytest $d &\ndone\nwait",
    "a subshell of tests in the background": "(cd x && pytest) &\nwait",
    "tests into tee in a loop whose output goes elsewhere": "for d in a b; do pytest $d | tee $d.txt; done > log",
    "a chain in a condition whose output goes elsewhere": "if true; then\n  git fetch && git checkout b && make\n  ls\nfi > log",
    "tests in a subshell into tee": "( cd x; pytest ) 2>&1 | tee log",
    "a named ref of an expression": "git checkout ${{ inputs.ref }} || true\nls",
}
WARNINGS = {
    "an update before an install": "apt-get update && apt-get install -y x\nls",
    "an export of what was asked": "export SHA=$(git ls-remote origin main)\necho $SHA",
    "a local of what was asked": "f() {\n  local sha=$(curl -fsS https://example.com/x)\n  echo $sha\n}\nf",
    "an output of what was asked": 'echo "sha=$(gh api repos/o/r/commits/main --jq .sha)" >> $GITHUB_OUTPUT',
    "outputs in a group": '{\n  echo "sha=$(git ls-remote origin main | cut -f1)"\n} >> "$GITHUB_OUTPUT"',
    "a program into tee": "python bench.py | tee log",
    "an install in another shell": "docker exec ci bash -c 'pip install .; python x.py'",
    "a build in the background": "make all &\nmake docs\nwait",
    "a ref whose failure is told": 'if ! git checkout "$REF"; then echo "no $REF"; fi\npip install .',
    "an install of what is tested then": "pip install -e . || true\npytest",
    "an install of a branch that is tested then": "pip install git+https://github.com/o/r@$REF || echo no\npytest tests",
    "an answer in a pipe": "TAG=$(curl -s https://example.com/x | jq -r .tag_name)\ngit clone --branch $TAG x",
    "an answer in two pipes": 'SHA=$(git ls-remote o main | cut -f1 | head -1)\necho "sha=$SHA" >> $GITHUB_OUTPUT',
}
SILENT = {
    "a shell of its own with -e": "docker exec ci bash -ec 'cd /x; git checkout b; pip install .'\nls",
    "a shell of its own with -euo": "docker exec ci bash -euo pipefail -c 'git checkout b; pytest | tee log'",
    "a shell of its own with its option in a word": "docker exec ci bash -o errexit -c 'git checkout b; make'",
    "a shell of its own that sets it": "bash -lc 'set -e; cd /x; git checkout b; pip install .'",
    "a shell of its own with a chain": "docker exec ci bash -c 'cd /x && git checkout b && pip install .'\nls",
    "a shell of its own with words alone": "bash -c 'cd x; echo a; pytest'",
    "a shell of its own that gives a status": "bash -c 'pytest a; rc=$?; cat log; exit $rc'",
    "a shell of its own that may fail": "docker exec ci bash -c 'git checkout b; make' || true",
    "a shell of its own in which it may fail": "docker exec ci bash -c 'git pull || true; make'",
    "what a shell reads, with -e": "bash -e <<'EOF'\ngit checkout b\nmake\nEOF",
    "what a shell reads, which sets it": "docker exec -i ci bash -s x <<'EOF'\nset -euo pipefail\ngit checkout b\nmake\nEOF",
    "what no shell reads": "cat <<'EOF' > run.sh\ngit checkout b\nmake\nEOF",
    "a shell that runs a file": "bash x.sh <<EOF\ngit checkout b\nmake\nEOF",
    "packages of the system in another shell": "docker run x bash -c 'apt-get update; apt-get install -y git; make'",
    "waiting in another shell": "timeout 60 bash -c 'until nc -z localhost 80; do sleep 1; done'",
    "a function that is called": "f() { git checkout b; pip install .; }\nf\nls",
    "a function that ends in a chain": "f() { git fetch && git checkout b && make; }\nf || exit 1",
    "a function that says no": "f() {\n  git checkout b || return 1\n  make\n}\nif f; then ls; fi",
    "a function that may fail": "f() { git checkout b; make; }\nf || true",
    "a function that asks": "f() { [ -f x ]; grep -q y x; }\nif f; then make; fi",
    "a group that may fail": "{ git checkout b; make; } || echo no",
    "tests in the background whose number is waited for": "pytest a &\npid=$!\npytest b\nwait $pid",
    "tests in the background, and each": "pytest a & pids=$!\nfor p in $(jobs -p); do wait $p; done",
    "tests in the background with a log that is looked at": "pytest a > a.log &\nwait\n! grep FAILED a.log",
    "tests in the background with another way": "(pytest a || touch failed) &\nwait\n[ ! -f failed ]",
    "a server in the background": "python -m http.server &\npytest\nkill %1\nwait",
    "an answer in a pipe that is looked at": 'TAG=$(curl -s https://x.y/z | jq -r .t)\nif [ -z "$TAG" ]; then exit 1; fi',
    "an answer in a pipe whose last part asks": "TAG=$(curl -s https://x.y/z | grep tag)\necho $TAG",
    "an answer in a pipe with pipefail": "set -o pipefail\nTAG=$(curl -s https://x.y/z | jq -r .t)\necho $TAG",
    "a plain package in another shell": "bash -c 'pip install asv; python -m asv run'",
    "tests whose failure is told, and ends it": "if ! pytest; then\n  echo bad\n  exit 1\nfi",
    "tests whose failure is handed on": 'if pytest; then echo yes; else echo "ok=false" >> $GITHUB_OUTPUT; fi',
    "a ref whose failure takes another": 'if ! git checkout "$REF"; then echo no; git checkout main; fi\nmake',
    "a ref that is asked about": 'if ! git rev-parse --verify "$REF"; then echo no; fi\nmake',
    "an install of what may be missing": "pip install numba || true\npytest",
    "an install that nothing tests": "pip install -e . || true\npip list",
    "an install with another way": "pip install -e . || pip install -e . --no-deps\npytest",
    "a comment that says so": "# don't fail where it cannot be installed\npip install x && python -c 'import x'\nls",
    "a chain at the end": "cd x\ngit fetch origin && git checkout $REF && pip install -e .",
    "a chain that ends the step": "git fetch origin && git checkout $REF || exit 1\necho done",
    "a chain that begins with a probe": '[ -n "$REF" ] && git checkout "$REF"\necho done',
    "an option probe": 'test "$A" = b && ARGS="$ARGS -x" && make x\npytest',
    "a chain that begins with grep": "grep -q x file && git checkout y && make\necho done",
    "a chain that begins with command -v": "command -v ccache && make setup && make x\necho done",
    "a chain that begins with git": "git diff --quiet && git checkout x && make\necho done",
    "a chain that begins with a negated probe": "! git rev-parse --verify x && git checkout y && make\necho done",
    "a chain in a condition": "if git fetch origin && git checkout $REF; then\n  echo yes\nelse\n  exit 1\nfi\necho done",
    "a chain that is handled": "git fetch origin && git checkout $REF || { echo no; exit 1; }\necho done",
    "a chain in a subshell": "(cd x && git checkout $REF && make)\necho done",
    "a chain whose status is asked": "set +e\ngit fetch && git checkout $REF && make\nrc=$?\nif [ $rc -ne 0 ]; then exit 1; fi",
    "words before an exit": 'echo "::error::no" && exit 1\nmake',
    "another try": "for i in 1 2 3; do\n  git pull --rebase && git push && break\n  sleep 5\ndone",
    "a flag": "git fetch origin x && git checkout x && there=1\necho $there",
    "small steps": "mkdir -p build && cd build\ncmake ..",
    "pipefail": "set -o pipefail\npytest | tee log",
    "all options": "set -euxo pipefail\npytest | tee log\necho done",
    "the status of a part": "pytest | tee log\nexit ${PIPESTATUS[0]}",
    "the status of a part, later": "pytest | tee log\nrc=${PIPESTATUS[0]}\necho $rc\ntest $rc -eq 0",
    "tests in a substitution": "N=$(pytest --collect-only -q | tail -1)\necho $N",
    "a list of tests": "pytest --collect-only -q | head\nctest -N | tail -1\nmake -n | head",
    "a version": "pytest --version | head -1",
    "a consumer that judges": "go test -json ./... | tparse -all",
    "words into tests": "echo y | make install",
    "a log that is looked at": "pytest | tee log\nif grep -q FAILED log; then exit 1; fi",
    "a log that is looked at in the end": "pytest | tee log\n! grep -q FAILED log",
    "a plain true": "pytest flaky || true\ndocker rm -f x || true",
    "an apply that is reversed": "git apply -R fix.patch || true\ngit am --abort || true",
    "a patch that is asked about": "git apply --check fix.patch && git apply fix.patch || echo there",
    "a patch with another way": "git apply fix.patch || git apply --3way fix.patch",
    "a ref with another way": "git checkout $REF || git checkout main",
    "a file from git": "git checkout -- file.txt || true",
    "a plain assignment": "SHA=$(git ls-remote origin main)\necho $SHA",
    "an export that is looked at": 'export SHA=$(git ls-remote origin main)\n[ -n "$SHA" ] || exit 1',
    "an export of what is here": "export SHA=$(git rev-parse HEAD)",
    "words to the log": 'echo "now $(curl -s https://example.com)"',
    "the background": "make serve | tee log &\nsleep 1\npytest",
    "a function that nobody calls": "f() {\n  pytest | tee log\n}\necho",
    "all in a row": "git fetch origin\ngit checkout $REF\npip install -e .\npytest",
    "a here-document": "cat <<'EOF' > run.sh\ngit fetch && git checkout x && make\nls\nEOF\nls",
    "off, and asked": "set +e\npytest a\nfirst=$?\npytest b\nsecond=$?\nexit $((first + second))",
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, found: Callable) -> None:
    assert [one.severity for one in found(repository(ERRORS[name]), RULE)] == ["error"]


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings(name: str, found: Callable) -> None:
    assert [one.severity for one in found(repository(WARNINGS[name]), RULE)] == ["warning"]


@pytest.mark.parametrize("name", SILENT)
def test_what_is_meant(name: str, found: Callable) -> None:
    assert [(one.line, one.message) for one in found(repository(SILENT[name]), RULE)] == []


def test_shell_bash_has_pipefail(found: Callable) -> None:
    assert found(repository("pytest | tee log", "bash"), RULE) == []
    assert [one.severity for one in found(repository("pytest | tee log", "sh"), RULE)] == ["error"]


def test_a_shell_that_stops_at_nothing(found: Callable) -> None:
    script = "pytest tests/a\npytest tests/b"
    (one,) = found(repository(script, "bash -l {0}"), RULE)
    assert (one.severity, one.line) == ("error", 8)
    assert found(repository(script, "bash -el {0}"), RULE) == []
    assert found(repository("pip list\npytest tests/a", "bash -l {0}"), RULE) == []
    assert found(repository("set -e\npytest tests/a\npytest tests/b", "bash {0}"), RULE) == []


def test_a_script_of_the_repository(found: Callable) -> None:
    fails = "#!/bin/bash\npytest tests/a\necho done\n"
    (one,) = found(repository("./ci/x.sh", **{"ci/x.sh": fails}), RULE)
    assert (one.path, one.line, one.severity) == ("ci/x.sh", 2, "error")
    assert any(two.path == ".github/workflows/ci.yml" for two in one.witnesses)
    assert found(repository("bash -e ci/x.sh", **{"ci/x.sh": fails}), RULE) == []
    assert found(repository("bash ci/x.sh", **{"ci/x.sh": f"set -e\n{fails}"}), RULE) == []


def test_the_place_and_the_words(found: Callable) -> None:
    (one,) = found(repository(ERRORS["a chain in the middle"]), RULE)
    assert (one.path, one.line, one.column) == (".github/workflows/ci.yml", 9, 11)
    assert "`git checkout $REF`" in one.message
    assert one.fix is not None
    assert [two.line for two in one.witnesses] == [10]


def test_one_finding_for_one_chain(found: Callable) -> None:
    script = "git fetch && git checkout $A && pip install x | tee log\nls"
    assert len(found(repository(script), RULE)) == 1


def test_a_matrix_that_runs_a_script_once(found: Callable) -> None:
    files = {"ci/x.sh": "pytest | tee log\n"}
    text = repository("bash ci/x.sh\nbash ci/x.sh", **files)
    assert len(found(text, RULE)) == 1


def test_a_shell_that_stops_at_nothing_keeps_the_old_checkout(found: Callable) -> None:
    (one,) = found(repository("cd up\ngit checkout $REF\npip install -e .", "bash -l {0}"), RULE)
    assert (one.severity, one.line) == ("error", 9)
    assert len(found(repository("cd x && git checkout $REF && pip install -e .\nls", "bash -l {0}"), RULE)) == 1
    (two,) = found(repository("pip install -e .\npython bench.py", "bash -l {0}"), RULE)
    assert two.severity == "warning"
    assert found(repository("cd up\ngit checkout $REF", "bash -l {0}"), RULE) == []


def test_what_takes_up_the_file_sees_the_failure(found: Callable) -> None:
    script = "python ci/test_report.py -o report.html\nmkdir out\nmv report.html out/"
    assert found(repository(script, "bash -l {0}"), RULE) == []
    assert len(found(repository(f"{script}\nls", "bash -l {0}"), RULE)) == 1


def test_the_place_in_a_script_for_another_shell(found: Callable) -> None:
    (one,) = found(repository("docker exec ci bash -c '\n  cd /x\n  git checkout b\n  make\n'"), RULE)
    assert (one.line, one.column) == (10, 13)
    assert "`git checkout b`" in one.message
    assert "`docker … bash -c`" in one.message
    assert [(two.line, two.message) for two in one.witnesses] == [
        (11, "then `make` runs in that shell, and its status counts")
    ]
    (two,) = found(repository('sudo bash -c "cd \\"$D\\"; git checkout \\"$B\\"; make"'), RULE)
    assert (two.line, two.column) == (8, 36)


def test_an_answer_in_a_pipe_under_shell_bash(found: Callable) -> None:
    script = "TAG=$(curl -sf https://example.com/x | jq -r .tag_name)\necho $TAG"
    assert found(repository(script, "bash"), RULE) == []
    assert len(found(repository(script, "sh"), RULE)) == 1


@pytest.mark.parametrize(
    ("script", "shell"),
    [
        ("pytest a\npytest b", "pwsh"),
        ("cd up\ngit checkout $env:REF\npip install -e .", "powershell"),
        ("git checkout ${{ github.head_ref }}\npython -m pip install .", "pwsh"),
        ("python -m pytest .\\tests\nWrite-Output done\ngit status", "pwsh"),
        ("pytest a\r\npytest b", "cmd"),
    ],
)
def test_a_program_that_fails_stops_nothing_on_windows(script: str, shell: str, found: Callable) -> None:
    (one,) = found(repository(script, shell), RULE)
    assert one.severity == "error"
    assert one.line in (8, 9)


@pytest.mark.parametrize(
    ("script", "shell"),
    [
        ("pytest a", "pwsh"),
        ("pytest a\nWrite-Output done", "pwsh"),  # the runner asks for the last program's status
        ("pip list\npytest a", "pwsh"),
        ("$PSNativeCommandUseErrorActionPreference = $true\npytest a\npytest b", "pwsh"),
        ("pytest a\nif ($LASTEXITCODE -ne 0) { exit 1 }\npytest b", "pwsh"),
        ("pytest a\nif (-not $?) { throw }\npytest b", "pwsh"),
        ("pytest a `\n  -x", "pwsh"),
        ("pytest a || exit /b 1\npytest b", "cmd"),
        ("pytest a\nif errorlevel 1 exit /b 1\npytest b", "cmd"),
        ("import pytest\npytest.main()", "python"),
        ("pytest a\npytest b", "bash"),
    ],
)
def test_what_is_seen_on_windows(script: str, shell: str, found: Callable) -> None:
    assert found(repository(script, shell), RULE) == []


def test_a_machine_with_windows_has_powershell(found: Callable) -> None:
    files = repository("pytest a\npytest b")
    assert found(files, RULE) == []
    (one,) = found({"ci.yml": files["ci.yml"].replace("ubuntu", "windows")}, RULE)
    assert (one.line, one.column) == (8, 11)
    assert [two.line for two in one.witnesses] == [9]


def test_a_chain_that_nobody_wrote_by_hand_is_not_judged(found: Callable) -> None:
    """Each of its commands would be held against all that follow."""
    chain = " && ".join(["make test"] * 20_000)
    text = (
        f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: |\n          {chain}\n          echo done\n"
    )
    assert found({"ci.yml": text}, RULE) == []


def lines(*script: str) -> dict[str, str]:
    """The first line is line 7."""
    block = "".join(f"          {line}\n" for line in script)
    return {"ci.yml": f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: |\n{block}"}


@pytest.mark.parametrize(
    "line",
    [
        "pip show torch >/dev/null 2>&1 && pip uninstall -y torch",
        "python -m pip show torch && python -m pip uninstall -y torch",
        "docker image inspect x >/dev/null 2>&1 && docker rmi x",
        "docker ps -q | grep -q . && docker rm -f x",
        'python3 -c "import sys; sys.exit(sys.version_info < (3, 9))" && echo new',
        "python -c 'import torch' 2>/dev/null && echo has",
        "curl -sf http://localhost/health && echo up",
        "git ls-remote --exit-code origin x && git fetch origin x",
    ],
)
def test_a_probe_is_no_failure(line: str, found: Callable) -> None:
    assert found(lines(line, "echo done"), RULE) == []


@pytest.mark.parametrize(
    "line",
    [
        "pip install torch >/dev/null && pytest tests",
        "git checkout $REF >/dev/null 2>&1 && pip install .",
        "curl -o x.tgz https://example.org/x.tgz && echo got",
        "./prepare.sh && echo ready",
    ],
)
def test_what_does_something_is_no_probe(line: str, found: Callable) -> None:
    assert [one.line for one in found(lines(line, "echo done"), RULE)] == [7]


def test_the_worst_of_a_shell_without_e_is_said(found: Callable) -> None:
    script = "cd friend\npip install -e . --no-deps\npytest friend\ncd .."
    lines = "".join(f"          {line}\n" for line in script.split("\n"))
    text = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - shell: bash -l {0}\n        run: |\n" + lines
    assert [(one.severity, one.line) for one in found({"ci.yml": text}, RULE)] == [("error", 10)]


@pytest.mark.parametrize(
    "script",
    [("set +e", "pytest tests", "echo done"), ("make build", "set +o errexit", "pytest tests", "cat log")],
)
def test_tests_after_the_shells_e_was_switched_off(script: tuple[str, ...], found: Callable) -> None:
    (one,) = found(lines(*script), RULE)
    assert (one.severity, one.line) == ("warning", 7 + script.index("pytest tests"))


@pytest.mark.parametrize(
    "script",
    [
        ("set +e", "pytest tests", "code=$?", "cat log", 'exit "$code"'),
        ("set +e", "pytest tests"),
        ("set +e", "pytest tests", "set -e", "echo done"),
        ("set +e", "ls x", "set -e", "pytest tests"),
        ("# flaky, only watched", "set +e", "pytest tests", "echo done"),
        ("set +e", "rm x", "echo done"),
    ],
    ids=[
        "keeps the status",
        "is the last",
        "switched on again",
        "only around a probe",
        "a comment says why",
        "no tests",
    ],
)
def test_an_e_that_is_switched_off_for_a_reason(script: tuple[str, ...], found: Callable) -> None:
    assert found(lines(*script), RULE) == []
