"""A cancelled job: the private folder goes, and what was started goes with it."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regraft.cli.termination import Signals

MANIFEST = """\
[project]
name = "p"
[dependencies.eng]
url = "http://127.0.0.1:{port}/o/r"
branch = "main"
token-env = "TK"
[images.i]
[images.i.baked.eng]
path = "/x"
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_leaves_neither_a_token_nor_a_process(number: signal.Signals, code: int, tmp_path: Path) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:  # accepts, and never answers
        (tmp_path / "regraft.toml").write_text(MANIFEST.format(port=server.getsockname()[1]))
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(scratch), "TK": "s3cr3t"}
        argv = [sys.executable, "-m", "regraft", "plan", "--set", "ci_eng_pr=main"]
        process = subprocess.Popen(argv, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        connection, _ = server.accept()  # git is waiting for an answer now
        assert [*scratch.iterdir()] != []
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        connection.settimeout(10)
        while connection.recv(4096):  # ends when git is gone
            time.sleep(0.01)
        connection.close()
    assert process.returncode == code
    assert b"s3cr3t" not in err
    assert b"Traceback" not in err
    assert [*scratch.iterdir()] == []


AT_IMPORT = """
import os, signal, sys
from regraft.cli.main import main

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.exit(main(["check"]))
"""


@pytest.mark.parametrize("module", ["msgspec", "regraft.cli.boundary", "regraft.cli.check"])
def test_an_interrupt_while_python_imports_is_no_traceback(module: str, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    argv = [sys.executable, "-c", AT_IMPORT, module]
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 130
    assert done.stderr.endswith(b"interrupted\n")
    assert b"Traceback" not in done.stderr


def test_the_first_signal_interrupts_and_the_others_wait(capfd: pytest.CaptureFixture[str]) -> None:
    signals = Signals()
    with pytest.raises(KeyboardInterrupt):
        signals.take(signal.SIGINT, None)
    signals.take(signal.SIGTERM, None)
    signals.hold("giving back")
    signals.take(signal.SIGTERM, None)
    signals.take(signal.SIGHUP, None)
    assert capfd.readouterr().err == "stopping; wait, or kill -9 and `regraft restore`\ngiving back\n"


def test_once_signals_wait_the_first_one_waits_too(capfd: pytest.CaptureFixture[str]) -> None:
    signals = Signals()
    signals.hold("giving back")
    try:
        signals.take(signal.SIGINT, None)
    except KeyboardInterrupt:
        pytest.fail("it interrupted")
    assert capfd.readouterr().err == "giving back\n"
