"""What `image check` says of a RUN, compared with what a real `sh` makes of it when `git apply` fails on one of two patches."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from regraft.core.image_check import Built, judge
from regraft.core.image_view import Recipe

PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
PROGRAMS = {
    "git": 'case "$*" in *1.patch*) exit 1;; *2.patch*) exit 0;; esac\ncase "$(cat)" in *ONE*) exit 1;; esac',
    "make": "exit 0",
    "tee": "cat > /dev/null",
    "sudo": 'exec "$@"',
    "time": 'exec "$@"',
}

RUNS = [
    "git apply /p/1.patch",
    "git apply /p/1.patch || true",
    "git apply /p/1.patch; make",
    "set -e; git apply /p/1.patch; make",
    "set -e; set +e; git apply /p/1.patch; make",
    "git apply /p/1.patch | tee log",
    "set -e; for f in /p/*.patch; do git apply $f; done",
    "for f in /p/*.patch; do git apply $f; done",
    "for f in /p/*.patch; do git apply $f || exit 1; done",
    "for f in /p/*.patch; do git apply $f || break; done",
    "for f in /p/*.patch; do git apply $f && echo ok; done",
    "set -e; for f in /p/*.patch; do git apply $f && echo ok; done",
    "set -e; for f in /p/*.patch; do git apply $f && echo ok; done; make",
    "while read f; do git apply /p/$f; done < /p/series",
    "set -e; while read f; do git apply /p/$f; done < /p/series",
    "while read f; do git apply /p/$f || exit 1; done < /p/series",
    "ls /p/*.patch | while read f; do git apply $f; done",
    "ls /p/*.patch | while read f; do git apply $f || exit 1; done",
    "ls /p/*.patch | while read f; do git apply $f || exit 1; done; make",
    "set -e; ls /p/*.patch | while read f; do git apply $f; done; make",
    "find /p -name '*.patch' -exec git apply {} \\;",
    "find /p -name '*.patch' -exec git apply {} +",
    "find /p -name '*.patch' | xargs -n1 git apply",
    "find /p -name '*.patch' | xargs -n1 git apply || true",
    "if git apply --check /p/1.patch; then git apply /p/1.patch; fi",
    "if git apply --check /p/1.patch; then git apply /p/1.patch; else echo no; fi",
    "if git apply --check /p/1.patch; then git apply /p/1.patch; else exit 1; fi",
    "if ! git apply /p/1.patch; then echo no; exit 1; fi",
    "if ! git apply /p/1.patch; then echo no; fi",
    "git apply /p/1.patch || { echo no; exit 1; }",
    "git apply /p/1.patch || (echo no; exit 1)",
    "git apply /p/1.patch || echo no && exit 1",
    "git apply /p/1.patch && make || echo failed",
    "git apply /p/1.patch || git apply --3way /p/1.patch",
    "(git apply /p/1.patch; make)",
    "(set -e; git apply /p/1.patch; make) || true",
    "(set -e; git apply /p/1.patch; make) && echo done",
    "git apply /p/1.patch & wait",
    'f() { git apply "$1" || return 1; }; f /p/1.patch; make',
    'f() { git apply "$1"; }; f /p/1.patch || true',
    'f() { git apply "$1"; echo done; }; f /p/1.patch',
    'f() { git apply "$1"; echo done; }; f /p/1.patch && make',
    'set -e; f() { git apply "$1"; echo done; }; f /p/1.patch',
    'set -e; f() { git apply "$1"; echo done; }; f /p/1.patch || exit 1',
    "! git apply /p/1.patch",
    "set -e; ! git apply /p/1.patch; make",
    "git apply /p/1.patch; test $? -eq 0",
    "git apply /p/1.patch; if [ $? -ne 0 ]; then exit 1; fi",
    "git apply /p/1.patch; rc=$?; make; exit $rc",
    "git apply /p/1.patch; rc=$?; make; exit 0",
    "X=$(git apply /p/1.patch)",
    "X=$(git apply /p/1.patch); make",
    "set -e; X=$(git apply /p/1.patch); make",
    "echo $(git apply /p/1.patch)",
    "export X=$(git apply /p/1.patch)",
    "case a in a) git apply /p/1.patch ;; esac; make",
    "case a in a) git apply /p/1.patch ;; esac",
    "git apply /p/1.patch 2>/dev/null || :",
    "git apply /p/1.patch || exit 0",
    "git apply /p/1.patch && true; true",
    "trap 'exit 0' EXIT; git apply /p/1.patch",
    "set -e; git apply /p/1.patch || true; make",
    "set -e; { git apply /p/1.patch; make; } || true",
    "set -e; { git apply /p/1.patch; make; } || exit 1",
    "set -e; if true; then git apply /p/1.patch; make; fi",
    "set -e; if git apply /p/1.patch; then make; fi",
    "set -e; git apply /p/1.patch && make; echo",
    "set -e; git apply /p/1.patch && make",
    "set -e; time git apply /p/1.patch; make",
    "sudo git apply /p/1.patch; make",
    "[ -f /p/1.patch ] && git apply /p/1.patch",
    "[ -f /p/1.patch ] && git apply /p/1.patch; make",
    "test ! -f /p/1.patch || git apply /p/1.patch",
    "cat /p/1.patch | git apply -; make",
    "cat /p/1.patch | git apply -",
    "git apply - < /p/1.patch || true",
    "for f in 1 2; do git apply /p/$f.patch; done",
    "set -e; for f in 1 2; do cat /p/$f.patch | git apply; done",
    "for f in 1 2; do (git apply /p/$f.patch) || exit 1; done",
    "(for f in 1 2; do git apply /p/$f.patch || exit 1; done); make",
    "until git apply /p/1.patch; do break; done",
    "git apply /p/1.patch; exit",
    "git apply /p/1.patch || die",
    "git apply /p/1.patch || make",
    "set -o errexit; git apply /p/1.patch; make",
    "git apply --reject /p/1.patch; exit 0",
    "set -eu; git apply /p/1.patch; make",
    "set -ex && git apply /p/1.patch && make",
    "set -ex && git apply /p/1.patch; make",
    "set +e; git apply /p/1.patch; set -e; make",
    "cd /p && git apply 1.patch || echo skip && make",
    "git apply /p/1.patch && make && cd / ; echo done",
    "timeout 10 git apply /p/1.patch; make",
    "env A=b git apply /p/1.patch; make",
    "command git apply /p/1.patch; make",
    "nice -n 5 git apply /p/1.patch || true",
    "timeout 10 git apply /p/1.patch || true",
    "bash -c 'git apply /p/1.patch || true'",
    "A=1 git apply /p/1.patch || true",
    "git -C / apply /p/1.patch || true",
    "{ git apply /p/1.patch || echo x; } >&2",
    "git apply /p/1.patch >log 2>&1 || cat log",
    "git apply /p/1.patch >log 2>&1 || (cat log && false)",
    "for f in /p/*.patch; do if git apply --check $f; then git apply $f; else echo bad; exit 1; fi; done",
    "for f in /p/*.patch; do git apply --check $f && git apply $f || exit 1; done",
    "for f in /p/*.patch; do git apply $f || { echo bad; FAIL=1; }; done; exit $FAIL",
    'for f in /p/*.patch; do git apply $f || FAIL=1; done; [ -z "$FAIL" ]',
    "for f in /p/*.patch; do git apply $f || FAIL=1; done; echo done",
    "git apply --reverse --check /p/1.patch || git apply /p/1.patch",
    "grep -q marker /etc/hosts || git apply /p/1.patch",
    '[ -n "$SKIP" ] || git apply /p/1.patch',
    '[ -z "$SKIP" ] && git apply /p/1.patch',
    "if ! grep -q marker /etc/hosts; then git apply /p/1.patch; fi",
    "if grep -q marker /etc/hosts; then echo already; else git apply /p/1.patch; fi",
    "if git apply --check --reverse /p/1.patch; then echo already; else git apply /p/1.patch; fi",
    "set -e; if git apply --check --reverse /p/1.patch; then echo already; elif git apply --check /p/1.patch; then git apply /p/1.patch; else exit 1; fi",
    "set -e; if git apply --check --reverse /p/1.patch; then echo already; elif git apply --check /p/1.patch; then git apply /p/1.patch; else echo bad; fi",
    "set -e; if git apply --check --reverse /p/1.patch 2>/dev/null; then echo already; else git apply /p/1.patch; fi; make",
    'for f in /p/*.patch; do [ -e "$f" ] || continue; git apply "$f" || exit 1; done',
    'set -e; for f in /p/*.patch; do [ -e "$f" ] || continue; git apply "$f"; done; make',
    'set -e; for f in /p/*.patch; do case "$f" in *2.patch) continue;; esac; git apply "$f"; done; make',
    'set -e; for f in /p/*.patch; do test -f "$f" && git apply "$f"; done; make',
    'FAIL=0; for f in /p/*.patch; do git apply "$f" || FAIL=1; done; test $FAIL = 0',
    'FAIL=0; for f in /p/*.patch; do git apply "$f" || FAIL=1; done; if [ $FAIL -ne 0 ]; then exit 1; fi',
    'ok=1; git apply /p/1.patch || ok=; [ "$ok" ]',
    "git apply /p/1.patch || false",
    "git apply /p/1.patch || return 1",
    "git apply /p/1.patch || kill $$",
    "git apply /p/1.patch || (echo bad >&2 && exit 1)",
    "git apply /p/1.patch || { cat /p/1.patch; false; }",
    "exec git apply /p/1.patch",
    "git apply /p/1.patch || exec false",
    "set -e; (cd /; git apply /p/1.patch); make",
    "(cd / && git apply /p/1.patch) && make",
    "cd / && git apply /p/1.patch && cd - && make",
    "set -e; pushd() { cd $1; }; pushd /; git apply /p/1.patch; make",
    "set -e; { cat /p/1.patch; } | git apply; make",
    "echo a | grep -q a && git apply /p/1.patch",
    "echo a | grep -q b && git apply /p/1.patch; make",
    "which git >/dev/null || exit 1; git apply /p/1.patch",
    "for i in 1 2 3; do git apply /p/1.patch && break; done",
    "for i in 1 2 3; do git apply /p/1.patch && break || sleep 0; done",
    'git apply --check /p/1.patch && git apply /p/1.patch && echo ok || echo "skipped"',
    "git apply --check /p/1.patch || exit 1; git apply /p/1.patch; make",
    "set -e; git apply --check /p/1.patch && git apply /p/1.patch; make",
    "set -e; ! git apply --check /p/1.patch || git apply /p/1.patch; make",
    "set -e; git apply --3way /p/1.patch || git apply --reject /p/1.patch || true; make",
    "git apply -v /p/1.patch || (git apply -R --check /p/1.patch && echo already)",
    "while ! git apply /p/1.patch; do exit 1; done",
]

# A RUN, and the script /p/s.sh that it starts.
STARTED = [
    ("bash /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("bash -e /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("bash /p/s.sh", "set -e\ngit apply /p/1.patch\nmake\n"),
    ("sh /p/s.sh", "#!/bin/sh -e\ngit apply /p/1.patch\nmake\n"),
    ("/p/s.sh", "#!/bin/sh -e\ngit apply /p/1.patch\nmake\n"),
    ("/p/s.sh", "#!/usr/bin/env bash\ngit apply /p/1.patch\nmake\n"),
    ("set -e; . /p/s.sh; make", "git apply /p/1.patch\nmake\n"),
    ("set -e; . /p/s.sh", "git apply /p/1.patch\nmake\n"),
    (". /p/s.sh", "set -e\ngit apply /p/1.patch\nmake\n"),
    (". /p/s.sh; git apply /p/1.patch; make", "set -e\n"),
    (". /p/s.sh && git apply /p/1.patch; make", "x=1\n"),
    ("bash /p/s.sh || true", "set -e\ngit apply /p/1.patch\n"),
    ("bash /p/s.sh && make", "git apply /p/1.patch || exit 3\nmake\n"),
    ("bash /p/s.sh; make", "set -e\ngit apply /p/1.patch\n"),
    ("bash /p/s.sh", "git apply /p/1.patch || { echo no; exit 0; }\n"),
    ("bash /p/s.sh", "git apply /p/1.patch || { echo no; exit; }\n"),
    ("bash /p/s.sh", "git apply /p/1.patch\nrc=$?\nif [ $rc -ne 0 ]; then\n echo bad\n exit $rc\nfi\nmake\n"),
    ("bash /p/s.sh", "git apply /p/1.patch\nif [ $? -ne 0 ]; then\n echo bad\nfi\nmake\n"),
    ("bash /p/s.sh", 'trap "exit 1" ERR\ngit apply /p/1.patch\nmake\n'),
    ("bash /p/s.sh", 'set -E\ntrap "echo x; exit 1" ERR\ngit apply /p/1.patch\nmake\n'),
    ("bash /p/s.sh", 'main() {\n set -e\n git apply /p/1.patch\n make\n}\nmain "$@"\n'),
    ("bash /p/s.sh", 'set -e\nmain() {\n git apply /p/1.patch\n make\n}\nmain "$@"\n'),
    ("bash /p/s.sh", "set -e\nmain() {\n git apply /p/1.patch\n make\n}\nif main; then make; fi\n"),
    ("bash /p/s.sh", 'die() { echo "$1"; exit 1; }\ngit apply /p/1.patch || die bad\nmake\n'),
    ("bash /p/s.sh", 'warn() { echo "$1"; }\ngit apply /p/1.patch || warn bad\nmake\n'),
    ("bash /p/s.sh", 'try() { "$@" || exit 1; }\ntry git apply /p/1.patch\nmake\n'),
    ("bash /p/s.sh", 'run() { "$@"; }\nrun git apply /p/1.patch\nmake\n'),
    (
        "bash /p/s.sh",
        'shopt -s nullglob\nset -eo pipefail\nfor f in /p/*.patch; do\n git apply "$f" 2>&1 | tee -a log\ndone\n',
    ),
    ("bash /p/s.sh", 'set -e\nfor f in /p/*.patch; do\n git apply "$f" 2>&1 | tee -a log\ndone\n'),
    ("bash -x /p/s.sh", "set -e\ngit apply /p/1.patch\nmake\n"),
    ("bash -o errexit /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("bash -euo pipefail /p/s.sh", "git apply /p/1.patch | tee\nmake\n"),
    ("cd /p && bash s.sh", "git apply 1.patch\nmake\n"),
    ("cd /p && ./s.sh", "#!/bin/bash\ngit apply 1.patch\nmake\n"),
    ("chmod +x /p/s.sh && /p/s.sh", "#!/bin/bash\nset -e\ngit apply /p/1.patch\nmake\n"),
    ("bash < /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("cat /p/s.sh | bash", "git apply /p/1.patch\nmake\n"),
    ("sudo bash /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("env A=1 bash /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("A=1 bash /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("time bash /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("exec bash /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("bash -- /p/s.sh", "git apply /p/1.patch\nmake\n"),
    ("(cd /p; sh ./s.sh)", "git apply 1.patch\nmake\n"),
    ("bash /p/s.sh &\nwait", "set -e\ngit apply /p/1.patch\n"),
    ("bash /p/s.sh /p/1.patch", 'git apply "$1"\nmake\n'),
    ("bash /p/s.sh", "P=/p\ngit apply $P/1.patch\nmake\n"),
    ("bash /p/s.sh", 'cd "$(dirname "$0")"\ngit apply 1.patch\nmake\n'),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Stands for `/`: two patches below `p`, and the programs."""
    (tmp_path / "p").mkdir()
    (tmp_path / "bin").mkdir()
    for name, text in {"1.patch": "ONE\n", "2.patch": "TWO\n", "series": "1.patch\n2.patch\n"}.items():
        (tmp_path / "p" / name).write_text(text)
    for name, text in PROGRAMS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def fails(root: Path, run: str, script: str) -> bool:
    """Whether the build stops there."""

    def placed(text: str) -> str:
        return (
            text.replace("/p/", f"{root}/p/")
            .replace("/p ", f"{root}/p ")
            .replace("=/p\n", f"={root}/p\n")
            .replace("cd /p;", f"cd {root}/p;")
        )

    (root / "p" / "s.sh").write_text(placed(script))
    (root / "p" / "s.sh").chmod(0o755)
    environment = {"PATH": f"{root}/bin:{os.defpath}", "HOME": str(root)}
    argv = ["/bin/sh", "-c", placed(run)]
    return (
        subprocess.run(
            argv, cwd=root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        ).returncode
        != 0
    )


def accused(track: Any, run: str, script: str) -> bool:
    text = (
        f"FROM scratch\nCOPY p /p\nRUN {run}\n" if "\n" not in run else f"FROM scratch\nCOPY p /p\nRUN <<E\n{run}\nE\n"
    )
    files = {"Dockerfile": text, "p/s.sh": script, "p/series": "1.patch\n2.patch\n"}
    patches = {f"p/{name}.patch": PATCH.replace("x.py", f"{name}.py") for name in (1, 2)}
    found = track({**files, **patches})
    findings = judge([Built(Recipe("i", "Dockerfile"))], found.tree, found.read)
    return any(one.rule == "apply-unchecked" for one in findings)


@pytest.mark.parametrize("run", RUNS)
def test_the_shell_agrees_about_what_a_run_swallows(track: Any, root: Path, run: str) -> None:
    assert accused(track, run, "") is not fails(root, run, "")


@pytest.mark.parametrize(("run", "script"), STARTED)
def test_the_shell_agrees_about_scripts_that_a_run_starts(track: Any, root: Path, run: str, script: str) -> None:
    if "bash" in run + script and shutil.which("bash") is None:
        pytest.skip("no bash")
    assert accused(track, run, script) is not fails(root, run, script)
