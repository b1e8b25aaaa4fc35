"""Install commands: heard line by line, bounded in time, and gone with all that they started when they are over."""

import dataclasses
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from regraft.adapters import proc
from regraft.adapters.install import InstallCommands
from regraft.adapters.installed_files import InstalledFiles
from regraft.adapters.places import Places
from regraft.core.apply_values import Ran, Step
from regraft.core.journal import Running
from regraft.core.manifest import Image
from regraft.core.observation import Installed
from regraft.errors import OutsideError

WORD = f"word-{os.getpid()}"  # what one run has marked, another one beside it must not end
IMAGE = Image(*("i", None, None, None, None, ("keep",), sys.executable, (), "report", (("MODE", "image"),), {}))


@dataclasses.dataclass
class Runner:
    root: Path
    lines: list[str] = dataclasses.field(default_factory=list)
    started: list[Running] = dataclasses.field(default_factory=list)
    before_start: Callable[[Running], None] | None = None

    def __call__(self, *argv: str, timeout: int = 30, managed: bool = False, lock: int | None = None) -> Ran:
        env = {"PATH": os.environ["PATH"], "PIP_TARGET": "/x"}
        commands = InstallCommands(env, Places(self.root / "project", self.root), self.lines.append)
        image = replace(IMAGE, python="/bin/python3", install_timeout=timeout)
        held = lock if lock is not None else os.open(self.root / "lock", os.O_CREAT | os.O_RDWR)

        def on_start(running: Running) -> None:
            self.started.append(running)
            if self.before_start:
                self.before_start(running)

        return commands.run(
            Step("lib", argv, "/src"),
            image,
            run=WORD,
            externally_managed=managed,
            lock=held,
            started=on_start,
        )


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    for name in ("src", "project"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(sys.executable)
    return Runner(tmp_path)


def alive(pid: int) -> bool:
    """Whether it runs, and is not only waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def test_it_runs_in_the_checkout_with_its_own_variables_and_both_streams_are_heard_in_order(runner: Runner) -> None:
    code = (
        "import os, sys; print(os.getcwd()); print(os.environ['MODE'], os.environ['REGRAFT_RUN']);"
        "print('PIP_TARGET' in os.environ, file=sys.stderr); print(os.environ.get('PIP_BREAK_SYSTEM_PACKAGES'))"
    )
    ran = runner("python", "-c", code, managed=True)
    assert ran.code == 0
    assert ran.tail == (str(runner.root / "src"), f"image {WORD}", "False", "1")
    assert runner.lines == [], "it ended well"
    assert ran.begin < ran.end


def test_the_exit_code_and_the_signal_are_told(runner: Runner) -> None:
    assert runner("sh", "-c", "exit 7").code == 7
    assert runner("sh", "-c", "kill -9 $$").code == -9


def test_the_process_is_made_known_while_it_runs(runner: Runner) -> None:
    def assert_running(running: Running) -> None:
        assert alive(running.pid)
        assert running.group == os.getpgid(running.pid) == running.pid != os.getpgid(0)
        assert running.start_ticks == int(Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()[19])

    runner.before_start = assert_running
    runner("sh", "-c", "sleep 0.2")
    assert runner.started[0].argv == ("sh", "-c", "sleep 0.2")


def test_it_inherits_the_lock(runner: Runner, tmp_path: Path) -> None:
    lock = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    ran = runner("python", "-c", f"import os; os.fstat({lock}); print('held')", lock=lock)
    assert ran.tail == ("held",)


@pytest.mark.slow
def test_past_its_time_the_whole_group_is_ended(runner: Runner, tmp_path: Path) -> None:
    child = tmp_path / "child"
    begin = time.monotonic()
    ran = runner("sh", "-c", f"sleep 60 & echo $! > {child}; sleep 60", timeout=1)
    assert ran.code is None
    assert time.monotonic() - begin < 10
    assert not alive(int(child.read_text()))


@pytest.mark.slow
def test_what_does_not_listen_to_a_polite_word_is_killed(runner: Runner) -> None:
    begin = time.monotonic()
    assert runner("sh", "-c", "trap '' TERM; while :; do sleep 0.1; done", timeout=1).code is None
    assert time.monotonic() - begin < 15
    assert not alive(runner.started[0].pid)


@pytest.mark.slow
def test_a_child_that_is_left_behind_is_not_waited_for_and_is_ended(runner: Runner, tmp_path: Path) -> None:
    child = tmp_path / "child"
    begin = time.monotonic()
    ran = runner("sh", "-c", f"sleep 60 & echo $! > {child}; echo done")
    assert (ran.code, ran.left_running, ran.tail) == (0, True, ("done",))
    assert time.monotonic() - begin < 10
    assert not alive(int(child.read_text()))


def test_nothing_is_left_running_by_a_command_that_leaves_nothing(runner: Runner) -> None:
    assert not runner("sh", "-c", "sleep 0.1 & wait").left_running


def test_an_interruption_ends_the_group_before_it_goes_on(runner: Runner) -> None:
    def interrupt(_: Running) -> None:
        raise KeyboardInterrupt

    runner.before_start = interrupt
    with pytest.raises(KeyboardInterrupt):
        runner("sleep", "60")
    assert not alive(runner.started[0].pid)


def test_much_output_a_progress_bar_and_bytes_that_are_no_text(runner: Runner) -> None:
    code = "import os; os.write(1, b'1%\\r2%\\r\\n' + b'x' * 200000 + b'\\n\\xff\\x1b[2J\\nend')"
    ran = runner("python", "-c", code)
    assert ran.tail[:2] == ("1%", "2%")
    assert len([line for line in ran.tail if set(line) == {"x"}]) > 1, "in pieces"
    assert ran.tail[-2:] == ("\\xff\x1b[2J", "end")
    assert max(map(len, ran.tail)) <= 2000


def test_of_a_command_that_failed_the_last_lines_are_told_and_of_another_one_none(runner: Runner) -> None:
    ran = runner("sh", "-c", "seq 1000")
    assert (runner.lines, len(ran.tail), ran.tail[-1]) == ([], 40, "1000")
    runner("sh", "-c", "seq 1000; exit 1")
    assert runner.lines == [str(number) for number in range(961, 1001)]


@pytest.mark.parametrize("how", ["holds the lock", "has the mark"])
def test_a_child_that_left_the_group_and_the_session_is_ended(runner: Runner, tmp_path: Path, how: str) -> None:
    lock = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    child = tmp_path / "child"
    words = {"holds the lock": ["env", "-u", "REGRAFT_RUN"], "has the mark": []}[how]
    keep = f", pass_fds=({lock},)" if how == "holds the lock" else ""
    start = f"subprocess.Popen({[*words, 'sleep', '60']!r}, start_new_session=True{keep}, stdout=-3, stderr=-3)"
    ran = runner("python", "-c", f"import subprocess; open({str(child)!r}, 'w').write(str({start}.pid))", lock=lock)
    assert (ran.code, ran.left_running) == (0, True)
    assert not alive(int(child.read_text()))


def test_it_is_ended_too_where_the_command_failed_or_was_interrupted(runner: Runner, tmp_path: Path) -> None:
    child = tmp_path / "child"
    start = "subprocess.Popen(['sleep', '60'], start_new_session=True)"
    code = f"import subprocess; open({str(child)!r}, 'w').write(str({start}.pid)); raise SystemExit(1)"
    assert runner("python", "-c", code).code == 1
    assert not alive(int(child.read_text()))


def test_those_that_start_anew_each_time_are_named() -> None:
    started: list[subprocess.Popen[bytes]] = []

    def find() -> set[int]:
        started.append(subprocess.Popen(["sleep", "60"], start_new_session=True))
        return {started[-1].pid}

    ended, left = proc.end_all(find)
    assert ended == {one.pid for one in started[:-1]}
    assert left == {started[-1].pid}
    for one in started:
        one.kill()
        one.wait()


def test_it_reads_nothing_from_the_terminal(runner: Runner) -> None:
    assert runner("cat", timeout=10).code == 0


@pytest.mark.parametrize(("argv", "code"), [(("no-such-program",), "missing-program"), (("/src",), "no-permission")])
def test_what_cannot_be_started_is_said(runner: Runner, argv: tuple[str, ...], code: str) -> None:
    program = str(runner.root / "src") if argv == ("/src",) else argv[0]
    with pytest.raises(OutsideError) as caught:
        runner(program)
    assert caught.value.code == code


# The files of a distribution


def distribution(folder: Path, kind: str) -> Installed:
    return Installed("lib", "1", (), kind, str(folder.parent), str(folder), True, None)  # type: ignore[arg-type]


def test_a_record_lists_files_also_outside_the_folder_of_packages(tmp_path: Path) -> None:
    info = tmp_path / "lib/site/lib-1.dist-info"
    info.mkdir(parents=True)
    (info / "RECORD").write_text('lib/__init__.py,sha256=x,1\n"lib/a,b.py",,\n../../bin/lib,,\n\n')
    assert InstalledFiles().of(distribution(info, "dist-info")) == (
        str(tmp_path / "lib/site/lib/__init__.py"),
        str(tmp_path / "lib/site/lib/a,b.py"),
        str(tmp_path / "bin/lib"),
    )


def test_an_old_install_lists_its_files_from_its_own_folder(tmp_path: Path) -> None:
    info = tmp_path / "lib-1.egg-info"
    info.mkdir()
    (info / "installed-files.txt").write_text("../lib/__init__.py\nPKG-INFO\n")
    found = InstalledFiles().of(distribution(info, "egg-info"))
    assert found == (str(tmp_path / "lib/__init__.py"), str(info / "PKG-INFO"))


def test_an_egg_link_is_one_file_and_a_record_that_is_not_there_lists_none(tmp_path: Path) -> None:
    link = tmp_path / "lib.egg-link"
    assert InstalledFiles().of(distribution(link, "egg-link")) == (str(link),)
    assert InstalledFiles().of(distribution(tmp_path / "lib-1.dist-info", "dist-info")) == ()
