"""A baseline is copied, damaged in every way that an install knows, and given back; a walker of its own compares."""

import contextlib
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from regraft.adapters import record_file
from regraft.adapters.copying import Contents
from regraft.adapters.giving_back import GivingBack
from regraft.adapters.snapshot import Snapshot
from regraft.core.journal import Subject
from regraft.core.tree_record import Change, changes
from regraft.errors import OutsideError, RefusedError

GIT_ENV = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",  # to look must not renew the index
    **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}
Pictures = Callable[..., dict[bytes, tuple[object, ...]]]

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount, or become somebody else")


def git(folder: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=folder, env=GIT_ENV, capture_output=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr.decode())
    return done.stdout


@dataclass
class Machine:
    """`checkout` is a git repository on a branch, with an edit in the index and one that is not; `site` and `scripts`
    are an environment's; `elsewhere` is nobody's business."""

    root: Path
    checkout: Path
    site: Path
    scripts: Path
    elsewhere: Path
    state: Path
    picture: Pictures

    @property
    def subjects(self) -> list[Subject]:
        return [
            Subject("checkout", str(self.checkout)),
            Subject("environment", str(self.site)),
            Subject("environment", str(self.scripts)),
        ]

    def see(self) -> tuple[object, ...]:
        status = git(self.checkout, "status", "--porcelain=v2", "--branch", "--ignored", "-z")
        return self.picture(self.checkout, self.site, self.scripts), status

    def snapshot(self) -> Snapshot:
        return Snapshot(self.state)


ODD = os.fsdecode(b"odd-\xff\xfe")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("machine")
    checkout = root / "src"
    (checkout / "pkg/deep").mkdir(parents=True)
    (checkout / "pkg/__init__.py").write_text("V = 1\n")
    (checkout / "pkg/deep/mod.py").write_text("A = 1\n")
    (checkout / "tool.sh").write_text("#!/bin/sh\n")
    (checkout / "tool.sh").chmod(0o755)
    (checkout / "link").symlink_to("pkg/deep/mod.py")
    (checkout / "folder-link").symlink_to("pkg")
    (checkout / ".gitignore").write_text("build/\n*.so\n_version.py\n")
    git(root, "init", "--quiet", str(checkout))
    git(checkout, "symbolic-ref", "HEAD", "refs/heads/baked")
    git(checkout, "add", "-A")
    git(checkout, "commit", "--quiet", "-m", "one")
    git(checkout, "branch", "objects/other")
    (checkout / "pkg/deep/mod.py").write_text("A = 2\n")
    git(checkout, "add", "pkg/deep/mod.py")
    (checkout / "pkg/__init__.py").write_text("V = 2\n")
    (checkout / "build").mkdir()
    (checkout / "build/x.o").write_bytes(bytes(range(256)) * 5000)
    (checkout / "pkg/_version.py").write_text("version = '1'\n")
    (checkout / "untracked.txt").write_text("mine\n")
    (checkout / "dangling").symlink_to("nowhere")
    (checkout / "empty").mkdir()
    (checkout / ODD).mkdir()
    (checkout / ODD / "new\nline %41").write_text("x")
    (checkout / "read-only").mkdir()
    (checkout / "read-only/file").write_text("r")
    (checkout / "read-only/file").chmod(0o400)
    (checkout / "read-only").chmod(0o555)
    (checkout / "set-id").write_text("s")
    (checkout / "set-id").chmod(0o4755)
    site = root / "venv/lib/site-packages"
    site.mkdir(parents=True)
    (site / "one-1.0.dist-info").mkdir()
    (site / "one-1.0.dist-info/RECORD").write_text("one.py,,\n")
    (site / "one.py").write_text("ONE = 1\n")
    (site / "twin.py").write_text("TWIN = 1\n")
    os.link(site / "twin.py", site / "other_twin.py")
    scripts = root / "venv/bin"
    scripts.mkdir()
    (scripts / "one").write_text("#!python\n")
    (scripts / "one").chmod(0o755)
    (root / "elsewhere").mkdir()
    (root / "elsewhere/precious").write_text("do not touch")
    return root


@pytest.fixture
def machine(template: Path, tmp_path: Path, picture: Pictures) -> Machine:
    root = tmp_path / "machine"
    subprocess.run(["cp", "-a", str(template), str(root)], check=True)
    return _at(root, tmp_path / "state", picture)


def _at(root: Path, state: Path, picture: Pictures) -> Machine:
    state.mkdir(mode=0o700)
    return Machine(
        root, root / "src", root / "venv/lib/site-packages", root / "venv/bin", root / "elsewhere", state, picture
    )


def _rewrite_in_place(m: Machine) -> None:
    for path, text in ((m.site / "one.py", "ONE = 9\n"), (m.checkout / "pkg/deep/mod.py", "A = 9\n")):
        with path.open("r+") as stream:
            stream.write(text)


def _rewrite_and_set_the_time_back(m: Machine) -> None:
    path = m.site / "one.py"
    old = path.stat()
    path.write_text("ONE = 9\n")
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))


def _replace_whole_tree(m: Machine) -> None:
    shutil.rmtree(m.checkout)
    m.checkout.mkdir(mode=0o700)
    (m.checkout / "another").write_text("x")
    (m.checkout / ".git").mkdir()
    (m.checkout / ".git/HEAD").write_text("x")
    # What git stored is not given back: put it where it was.
    shutil.copytree(m.root.parent / "objects", m.checkout / ".git/objects")


def _folder_becomes_link(m: Machine) -> None:
    shutil.rmtree(m.checkout / "pkg")
    (m.checkout / "pkg").symlink_to(m.elsewhere)


def _new_repository_inside(m: Machine) -> None:
    git(m.checkout, "init", "--quiet", "inner")
    (m.checkout / "inner/f").write_text("x")
    git(m.checkout / "inner", "add", "f")


def _switch_branch(m: Machine) -> None:
    git(m.checkout, "checkout", "--quiet", "--force", "-b", "else")
    git(m.checkout, "commit", "--quiet", "--allow-empty", "-m", "two")
    git(m.checkout, "update-ref", "refs/regraft/sglang", "HEAD")
    git(m.checkout, "pack-refs", "--all")
    git(m.checkout, "branch", "-D", "objects/other")


def _close_folders(m: Machine) -> None:
    (m.checkout / "pkg/deep/mod.py").unlink()
    (m.checkout / "pkg/deep").chmod(0o555)
    (m.checkout / "read-only").chmod(0o755)
    (m.checkout / "read-only/file").unlink()
    (m.checkout / "read-only/second").write_text("")


def _new_specials(m: Machine) -> None:
    os.mkfifo(m.checkout / "pipe")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(m.checkout / "socket"))


def _break_twins(m: Machine) -> None:
    (m.site / "twin.py").unlink()
    (m.site / "twin.py").write_text("TWIN = 2\n")


def _permissions(m: Machine) -> None:
    (m.checkout / "tool.sh").chmod(0o644)
    (m.checkout / "set-id").chmod(0o755)
    (m.checkout / "empty").chmod(0o2777)
    (m.site / "one.py").chmod(0)


def _types(m: Machine) -> None:
    (m.checkout / "link").unlink()
    (m.checkout / "link").write_text("a file now")
    (m.checkout / "tool.sh").unlink()
    (m.checkout / "tool.sh").symlink_to("pkg")
    (m.checkout / "untracked.txt").unlink()
    (m.checkout / "untracked.txt").mkdir()
    (m.checkout / "untracked.txt/inside").write_text("x")
    (m.checkout / "empty").rmdir()
    (m.checkout / "empty").write_text("x")
    (m.checkout / "dangling").unlink()
    (m.checkout / "dangling").symlink_to("elsewhere")
    shutil.rmtree(m.checkout / ODD)
    os.mkfifo(m.checkout / ODD)


def _install(m: Machine) -> None:
    shutil.rmtree(m.site / "one-1.0.dist-info")
    (m.site / "two-2.0.dist-info").mkdir()
    (m.site / "two-2.0.dist-info/RECORD").write_text("")
    (m.site / "__pycache__").mkdir()
    (m.site / "__pycache__/one.cpython-311.pyc").write_bytes(b"stale")
    (m.scripts / "one").unlink()
    (m.scripts / "uno").write_text("#!python\n")
    (m.site / "one.py").unlink()
    (m.checkout / "pkg/_version.py").write_text("version = '2'\n")
    (m.checkout / "build/x.o").write_bytes(b"")
    (m.checkout / ".git/index.lock").write_text("")


def _no_environment(m: Machine) -> None:
    shutil.rmtree(m.root / "venv")


DAMAGES = [
    _rewrite_in_place,
    _rewrite_and_set_the_time_back,
    _folder_becomes_link,
    _new_repository_inside,
    _switch_branch,
    _close_folders,
    _new_specials,
    _break_twins,
    _permissions,
    _types,
    _install,
    _no_environment,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__.strip("_"))
def test_everything_is_given_back(machine: Machine, damage: Callable[[Machine], None]) -> None:
    before = machine.see()
    elsewhere = machine.picture(machine.elsewhere)
    machine.snapshot().take(machine.subjects)
    assert machine.see() == before, "to copy changes nothing"
    damage(machine)
    assert machine.picture(machine.checkout, machine.site, machine.scripts) != before[0], "the damage is none"
    assert machine.snapshot().give_back() == ()
    assert machine.see() == before
    assert machine.picture(machine.elsewhere) == elsewhere


def test_a_tree_that_was_replaced_whole_is_given_back(machine: Machine) -> None:
    shutil.copytree(machine.checkout / ".git/objects", machine.root.parent / "objects")
    before = machine.see()
    machine.snapshot().take(machine.subjects)
    _replace_whole_tree(machine)
    assert machine.snapshot().give_back() == ()
    assert machine.see() == before


def test_giving_back_twice_writes_nothing(machine: Machine) -> None:
    machine.snapshot().take(machine.subjects)
    _install(machine)
    assert machine.snapshot().give_back() == ()
    inodes = {path: os.lstat(path).st_ino for path in machine.picture(machine.checkout, machine.site)}
    before = machine.see()
    assert machine.snapshot().give_back() == ()
    assert machine.see() == before
    assert {path: os.lstat(path).st_ino for path in machine.picture(machine.checkout, machine.site)} == inodes


@pytest.mark.parametrize("ahead", [-7200, 0, 7200])
def test_a_changed_clock_hides_no_edit(machine: Machine, ahead: int) -> None:
    path = machine.site / "one.py"
    moment = path.stat().st_mtime + ahead
    os.utime(path, (moment, moment))
    machine.snapshot().take(machine.subjects)
    path.write_text("ONE = 9\n")
    os.utime(path, (moment, moment))
    assert machine.snapshot().give_back() == ()
    assert path.read_text() == "ONE = 1\n"


@pytest.mark.slow
def test_an_edit_of_an_old_file_is_seen_by_its_change_time_alone(machine: Machine) -> None:
    import time

    path = machine.site / "one.py"
    moment = path.stat().st_mtime - 7200
    os.utime(path, (moment, moment))
    time.sleep(2.5)
    record = machine.snapshot().take(machine.subjects)
    seen = machine.snapshot().scan(machine.subjects, content=False)
    with path.open("r+") as stream:
        stream.write("ONE = 9\n")
    os.utime(path, (moment, moment))
    assert changes(seen, machine.snapshot().changed_since(seen, machine.subjects)) == (Change(str(path), "touched"),)
    after = machine.snapshot().changed_since(record, machine.subjects)
    assert changes(record, after) == (Change(str(path), "content"),)
    assert after.entries[str(machine.site / "twin.py")].sha256 is None, "what its stat proves is not read"
    assert machine.snapshot().give_back() == ()
    assert path.read_text() == "ONE = 1\n"


def test_a_fresh_interpreter_sees_the_old_code_again(machine: Machine) -> None:
    """Same size, same second: byte code of the new file must not pass for that of the old one."""

    def value() -> str:
        argv = [sys.executable, "-c", "import one; print(one.ONE)"]
        env = {"PYTHONPATH": str(machine.site)}
        return subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout.strip()

    assert value() == "1"
    machine.snapshot().take(machine.subjects)
    moment = (machine.site / "one.py").stat().st_mtime
    (machine.site / "one.py").write_text("ONE = 2\n")
    shutil.rmtree(machine.site / "__pycache__")
    os.utime(machine.site / "one.py", (moment, moment))
    assert value() == "2"
    assert machine.snapshot().give_back() == ()
    assert value() == "1"


def test_byte_code_of_the_baseline_counts_again(machine: Machine) -> None:
    """It names the modification time of its source: with another one it would be made again, in an image that is read-only."""
    old = (machine.site / "one.py").stat().st_mtime_ns
    machine.snapshot().take(machine.subjects)
    (machine.site / "one.py").write_text("ONE = 11\n")
    os.utime(machine.site / "one.py", (1, 1))
    assert machine.snapshot().give_back() == ()
    assert (machine.site / "one.py").stat().st_mtime_ns == old


# The first baseline stays.


def test_a_second_take_keeps_the_first_and_adds_what_is_new(machine: Machine) -> None:
    before = machine.picture(machine.checkout, machine.site)
    machine.snapshot().take(machine.subjects[:1])
    (machine.checkout / "untracked.txt").write_text("changed by the first apply")
    (machine.checkout / "came").write_text("with the first apply")
    record = machine.snapshot().take(machine.subjects[:2])
    assert str(machine.checkout / "came") not in record.entries
    (machine.site / "one.py").unlink()
    assert machine.snapshot().give_back() == ()
    assert machine.picture(machine.checkout, machine.site) == before


def test_a_subject_around_an_earlier_one_does_not_take_its_place(machine: Machine) -> None:
    before = machine.picture(machine.root / "venv")
    machine.snapshot().take([Subject("environment", str(machine.site))])
    (machine.site / "one.py").write_text("changed by the first apply")
    (machine.site / "came.py").write_text("with the first apply")
    machine.snapshot().take([Subject("also", str(machine.root / "venv"))])
    assert machine.snapshot().give_back() == ()
    assert machine.picture(machine.root / "venv") == before


# What cannot be given back is named.


def _content_of(machine: Machine, path: Path) -> Path:
    import hashlib

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return machine.state / "snapshot/content" / digest


@pytest.mark.parametrize("how", ["missing", "other bytes", "cut short"])
@pytest.mark.parametrize("damage", ["edited", "gone", "a folder now"])
def test_a_copy_that_is_damaged_is_named_and_the_rest_is_given_back(machine: Machine, how: str, damage: str) -> None:
    path = machine.checkout / "untracked.txt"
    copy = _content_of(machine, path)
    machine.snapshot().take(machine.subjects)
    path.unlink()
    if damage == "edited":
        path.write_text("other")
    elif damage == "a folder now":
        path.mkdir()
    (machine.site / "one.py").write_text("ONE = 9\n")
    if how == "missing":
        copy.unlink()
    else:
        copy.write_text("MINE\n" if how == "other bytes" else "m")
    named = machine.snapshot().give_back()
    assert len(named) == 1
    assert named[0].startswith(f"{path}: ")
    assert "its copy in the snapshot is missing or damaged" in named[0]
    assert (machine.site / "one.py").read_text() == "ONE = 1\n"
    if damage == "edited":
        assert path.read_text() == "other", "no damaged content is put in place"
    elif damage == "a folder now":
        assert path.is_dir(), "what stands there is not removed for nothing"


@pytest.mark.parametrize("cut", [0, 1, 80, -1, -70])
def test_a_damaged_list_changes_nothing(machine: Machine, cut: int) -> None:
    machine.snapshot().take(machine.subjects)
    record = machine.state / "snapshot/record"
    record.write_bytes(record.read_bytes()[:cut])
    (machine.site / "one.py").write_text("ONE = 9\n")
    after = machine.see()
    with pytest.raises(RefusedError) as caught:
        machine.snapshot().give_back()
    assert caught.value.code == "damaged-snapshot"
    assert machine.see() == after


def test_one_byte_in_the_list_is_noticed(machine: Machine) -> None:
    machine.snapshot().take(machine.subjects)
    record = machine.state / "snapshot/record"
    record.write_bytes(record.read_bytes().replace(b"one.py", b"One.py", 1))
    with pytest.raises(RefusedError):
        machine.snapshot().give_back()


def test_without_a_snapshot_that_is_said(machine: Machine) -> None:
    with pytest.raises(RefusedError) as caught:
        machine.snapshot().give_back()
    assert caught.value.code == "no-snapshot"


def test_specials_that_are_gone_are_named_and_those_that_stay_are_left(machine: Machine) -> None:
    for name in ("pipe", "replaced", "stays"):
        os.mkfifo(machine.checkout / name)
    machine.snapshot().take(machine.subjects)
    (machine.checkout / "pipe").unlink()
    (machine.checkout / "replaced").unlink()
    (machine.checkout / "replaced").write_text("x")
    named = machine.snapshot().give_back()
    assert [line.split(": ")[0] for line in named] == [
        str(machine.checkout / "pipe"),
        str(machine.checkout / "replaced"),
    ]
    assert "a fifo" in named[0]
    assert stat.S_ISFIFO((machine.checkout / "stays").stat().st_mode)


def test_objects_that_are_gone_are_named(machine: Machine) -> None:
    machine.snapshot().take(machine.subjects)
    shutil.rmtree(machine.checkout / ".git/objects")
    (named,) = machine.snapshot().give_back()
    assert named.startswith(f"{machine.checkout}/.git/objects: ")
    assert "not saved" in named
    assert not (machine.checkout / ".git/objects").exists()


def test_a_name_that_is_not_utf8_is_named_in_plain_text(machine: Machine) -> None:
    os.mkfifo(machine.checkout / os.fsdecode(b"p\xff\n"))
    machine.snapshot().take(machine.subjects)
    (machine.checkout / os.fsdecode(b"p\xff\n")).unlink()
    (named,) = machine.snapshot().give_back()
    named.encode()
    assert "p\\xff" in named


def test_nothing_is_written_through_a_link_that_came_above(machine: Machine) -> None:
    machine.snapshot().take(machine.subjects)
    shutil.rmtree(machine.root / "venv/lib")
    shutil.copytree(machine.elsewhere, machine.root / "other/site-packages")
    (machine.root / "venv/lib").symlink_to(machine.root / "other")
    before = machine.picture(machine.root / "other")
    (machine.checkout / "untracked.txt").unlink()
    (named,) = machine.snapshot().give_back()
    assert named.startswith(f"{machine.site}: a folder above it is a link now")
    assert machine.picture(machine.root / "other") == before
    assert (machine.checkout / "untracked.txt").exists()


# What is copied.


def test_a_links_target_is_guarded_too_and_only_the_link_is_walked_to(machine: Machine) -> None:
    real = machine.root / "data/src"
    real.parent.mkdir()
    machine.checkout.rename(real)
    machine.checkout.symlink_to(real)
    before = machine.picture(real, machine.checkout)
    machine.snapshot().take(machine.subjects[:1])
    (real / "untracked.txt").unlink()
    machine.checkout.unlink()
    machine.checkout.symlink_to("nowhere")
    assert machine.snapshot().give_back() == ()
    assert machine.picture(real, machine.checkout) == before


def test_a_record_that_names_a_place_outside_of_the_root_gives_nothing_back(machine: Machine, tmp_path: Path) -> None:
    """An install runs as the same user, and may write there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    snapshot = Snapshot(machine.state, str(machine.root))
    snapshot.take(machine.subjects[:1])
    [record] = machine.root.parent.rglob("record")
    stored = record_file.decode(record.read_bytes())
    roots = (*stored.head.roots, Subject("also", str(outside)))
    record.write_bytes(record_file.encode(replace(stored, head=replace(stored.head, roots=roots))))
    with pytest.raises(RefusedError) as caught:
        snapshot.give_back()
    assert caught.value.code == "not-guarded"
    assert (outside / "precious").read_text() == "x"


def test_a_link_out_of_the_root_is_refused(machine: Machine) -> None:
    (machine.root / "out").symlink_to("/etc")
    for path in ("out", "out/ssh"):
        with pytest.raises(RefusedError) as caught:
            Snapshot(machine.state, str(machine.root)).take([Subject("also", str(machine.root / path))])
        assert caught.value.code == "not-guarded"


def test_the_whole_machine_is_no_subject(machine: Machine) -> None:
    with pytest.raises(RefusedError):
        machine.snapshot().take([Subject("also", "/")])


def test_a_path_that_is_not_there_yet_is_removed_again(machine: Machine) -> None:
    path = machine.root / "later"
    machine.snapshot().take([Subject("also", str(path))])
    path.mkdir()
    (path / "file").write_text("")
    assert machine.snapshot().give_back() == ()
    assert not path.exists()


def test_one_file_may_be_a_subject(machine: Machine) -> None:
    machine.snapshot().take([Subject("also", str(machine.elsewhere / "precious"), recursive=False)])
    (machine.elsewhere / "precious").write_text("no")
    (machine.elsewhere / "second").write_text("not ours")
    assert machine.snapshot().give_back() == ()
    assert (machine.elsewhere / "precious").read_text() == "do not touch"
    assert (machine.elsewhere / "second").exists()


def test_a_state_folder_inside_a_subject_is_no_part_of_it(machine: Machine) -> None:
    state = machine.checkout / "state"
    state.mkdir(mode=0o700)
    snapshot = Snapshot(state)
    record = snapshot.take(machine.subjects)
    assert not any(path.startswith(str(state)) for path in record.entries)
    (machine.checkout / "untracked.txt").unlink()
    assert snapshot.give_back() == ()
    assert (state / "snapshot/record").exists()


def test_objects_are_not_copied_and_a_branch_of_that_name_is(machine: Machine) -> None:
    record = machine.snapshot().take(machine.subjects)
    folder = f"{machine.checkout}/.git"
    assert f"{folder}/objects" in record.entries
    assert not any(path.startswith(f"{folder}/objects/") for path in record.entries)
    assert f"{folder}/refs/heads/objects/other" in record.entries


def test_equal_files_are_kept_once(machine: Machine) -> None:
    machine.snapshot().take(machine.subjects)
    for number in range(3):
        (machine.elsewhere / f"same-{number}").write_bytes(b"q" * 10)
    count = len(list((machine.state / "snapshot/content").iterdir()))
    machine.snapshot().take([*machine.subjects, Subject("also", str(machine.elsewhere))])
    assert len(list((machine.state / "snapshot/content").iterdir())) == count + 2  # and `precious`


def test_half_a_copy_of_a_take_that_was_killed_is_copied_again(machine: Machine) -> None:
    copy = _content_of(machine, machine.checkout / "build/x.o")
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"half")
    machine.snapshot().take(machine.subjects)
    (machine.checkout / "build/x.o").unlink()
    assert machine.snapshot().give_back() == ()
    assert (machine.checkout / "build/x.o").stat().st_size == 256 * 5000


def test_a_worktree_comes_back_with_the_repository_behind_it(machine: Machine) -> None:
    tree = machine.root / "tree"
    git(machine.checkout, "worktree", "add", "--quiet", "-b", "lane", str(tree))
    common, own = machine.checkout / ".git", machine.checkout / ".git/worktrees/tree"
    subjects = [Subject("checkout", str(tree)), Subject("git-dir", str(own)), Subject("git-dir", str(common))]

    def see() -> tuple[object, ...]:
        status = git(tree, "status", "--porcelain=v2", "--branch", "--ignored", "-z")
        return machine.picture(tree, own, common), status

    before, main = see(), machine.picture(machine.checkout / "pkg")
    machine.snapshot().take(subjects)
    (tree / "pkg/__init__.py").write_text("V = 7\n")
    git(tree, "add", "-A")
    git(tree, "commit", "--quiet", "-m", "three")
    git(tree, "checkout", "--quiet", "--detach")
    git(tree, "update-ref", "refs/regraft/x", "HEAD")
    (common / "shallow").write_text("0" * 40)
    assert machine.snapshot().give_back() == ()
    assert see() == before
    assert machine.picture(machine.checkout / "pkg") == main


def test_a_scan_copies_nothing_and_finds_what_changed(machine: Machine) -> None:
    snapshot = machine.snapshot()
    before = snapshot.scan(machine.subjects, content=True)
    assert list(machine.state.iterdir()) == []
    _rewrite_in_place(machine)
    (machine.scripts / "new").write_text("")
    after = snapshot.changed_since(before, machine.subjects)
    assert changes(before, after) == (
        Change(str(machine.checkout / "pkg/deep/mod.py"), "content"),
        Change(str(machine.scripts / "new"), "new"),
        Change(str(machine.site / "one.py"), "content"),
    )


def test_a_scan_by_stat_reads_what_is_too_young_to_be_known_by_its_stat(machine: Machine) -> None:
    moment = (machine.site / "one.py").stat().st_mtime - 7200
    before = machine.snapshot().scan(machine.subjects, content=False)
    _rewrite_in_place(machine)
    os.utime(machine.site / "one.py", (moment, moment))
    kinds = {one.path: one.kind for one in changes(before, machine.snapshot().changed_since(before, machine.subjects))}
    assert kinds[str(machine.site / "one.py")] == "content"


# A disk that has not enough, a user who may not, a file that does not hold still.


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "regraft-test", folder], check=False)
    if done.returncode != 0:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@needs_root
def test_a_disk_that_is_too_small_is_said_before_anything_is_copied(machine: Machine, small_disk: Path) -> None:
    before = machine.see()
    with pytest.raises(OutsideError) as caught:
        Snapshot(small_disk).take(machine.subjects)
    assert caught.value.code == "disk-full"
    assert "needs 1.3 MB, and 1.0 MB is free" in caught.value.message
    assert list((small_disk / "snapshot/content").iterdir()) == []
    assert machine.see() == before


@needs_root
def test_a_disk_that_fills_up_while_a_baseline_is_given_back_is_named_and_then_mended(
    machine: Machine, small_disk: Path
) -> None:
    (small_disk / "big").write_bytes(b"b" * 500_000)
    (small_disk / "small").write_text("s")
    machine.snapshot().take([Subject("also", str(small_disk))])
    (small_disk / "big").unlink()
    (small_disk / "small").unlink()
    hog = machine.picture(small_disk)
    assert hog
    snapshot = Snapshot(machine.state)
    # A file that is open and has no name takes the space, and is no path that could be removed.
    with (small_disk / "hog").open("wb", buffering=0) as stream:
        (small_disk / "hog").unlink()
        with contextlib.suppress(OSError):
            while stream.write(b"h" * 4096):
                pass
        (named,) = [line for line in snapshot.give_back() if "big" in line]
    assert "No space left" in named
    assert snapshot.give_back() == ()
    assert (small_disk / "big").read_bytes() == b"b" * 500_000
    assert (small_disk / "small").read_text() == "s"


PROGRAM = """
import errno, os, sys
from pathlib import Path
from regraft.adapters.copying import Contents
from regraft.adapters.giving_back import GivingBack
from regraft.adapters.snapshot import Snapshot
from regraft.core.journal import Subject
from regraft.errors import RegraftError
os.setgid(65534); os.setuid(65534)
state, place, what = sys.argv[1:]
try:
    snapshot = Snapshot(Path(state))
    print(snapshot.take([Subject("checkout", place)]) and "taken" if what == "take" else snapshot.give_back())
except RegraftError as error:
    print(error.code, error.where)
"""


@pytest.fixture
def as_nobody() -> Iterator[Callable[..., str]]:
    """Run a step as a user without rights, in a folder that such a user can reach."""
    import tempfile

    folders = [Path(text).resolve() for text in (tempfile.gettempdir(), "/tmp", "/var/tmp")]
    reached = [one for one in folders if all(parent.stat().st_mode & stat.S_IXOTH for parent in (one, *one.parents))]
    if not reached:
        pytest.skip("no folder for temporary files is open to other users")
    folder = Path(tempfile.mkdtemp(prefix="regraft-nobody-", dir=reached[0]))
    folder.chmod(0o755)
    (folder / "state").mkdir()
    (folder / "tree/closed").mkdir(parents=True)
    (folder / "tree/closed/file").write_text("one")
    (folder / "tree/own").write_text("own")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 65534, 65534)

    def run(what: str) -> str:
        # The interpreter is started by root, since nobody may not read where it lives, and then steps down.
        argv = [sys.executable, "-c", PROGRAM, str(folder / "state"), str(folder / "tree"), what]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    run.folder = folder  # type: ignore[attr-defined]
    yield run
    shutil.rmtree(folder)


@needs_root
def test_a_user_without_rights_gives_back_what_is_in_folders_that_were_closed(as_nobody: Callable[..., str]) -> None:
    tree = as_nobody.folder / "tree"  # type: ignore[attr-defined]
    (tree / "closed").chmod(0o555)
    assert as_nobody("take") == "taken"
    (tree / "closed/file").write_text("two")
    (tree / "closed/new").write_text("")
    (tree / "own").unlink()
    (tree / "more").mkdir()
    (tree / "more/file").write_text("")
    for path in (tree / "more/file", tree / "more"):
        os.chown(path, 65534, 65534)
    (tree / "more").chmod(0o500)
    assert as_nobody("back") == "()"
    assert (tree / "closed/file").read_text() == "one"
    assert sorted(path.name for path in tree.rglob("*")) == ["closed", "file", "own"]
    assert stat.S_IMODE((tree / "closed").stat().st_mode) == 0o555


@needs_root
def test_what_a_user_may_not_change_is_named(as_nobody: Callable[..., str]) -> None:
    tree = as_nobody.folder / "tree"  # type: ignore[attr-defined]
    assert as_nobody("take") == "taken"
    os.chown(tree / "closed", 0, 0)
    (tree / "closed").chmod(0o555)
    (tree / "closed/file").write_text("two")
    (tree / "own").unlink()
    said = as_nobody("back")
    assert f"{tree}/closed/file: its content was another: Permission denied" in said
    assert f"{tree}/closed: its permissions were 0755 before" in said
    assert (tree / "own").read_text() == "own", "the rest is given back"


@needs_root
@pytest.mark.parametrize(("path", "mode"), [("closed/file", 0o600), ("closed", 0o700)])
def test_what_may_not_be_read_is_not_taken_for_saved(as_nobody: Callable[..., str], path: str, mode: int) -> None:
    tree = as_nobody.folder / "tree"  # type: ignore[attr-defined]
    os.chown(tree / path, 0, 0)
    (tree / path).chmod(mode)
    assert as_nobody("take") == f"no-permission {tree / path}"


def test_a_file_that_somebody_writes_is_not_taken_for_saved(machine: Machine) -> None:
    path = machine.checkout / "log"
    path.write_bytes(b"x" * 20_000_000)
    ended = threading.Event()

    def write() -> None:
        with path.open("ab", buffering=0) as stream:
            while not ended.wait(0.001):
                stream.write(b"more")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(OutsideError) as caught:
            machine.snapshot().take(machine.subjects)
    finally:
        ended.set()
        writer.join()
    assert (caught.value.code, caught.value.where) == ("not-saved", str(path))
    with pytest.raises(RefusedError):
        machine.snapshot().give_back()


# What is newer than an apply.


def applied(m: Machine) -> Snapshot:
    """A baseline, what an install does, and the note of that."""
    m.snapshot().take(m.subjects)
    _install(m)
    (m.checkout / "pkg/__init__.py").write_text("V = 3\n")
    m.snapshot().note()
    return m.snapshot()


def test_right_after_the_note_nothing_is_newer(machine: Machine) -> None:
    assert machine.snapshot().newer() is None, "there is no note yet"
    snapshot = applied(machine)
    (machine.checkout / "pkg/__init__.py").touch()
    (machine.checkout / ".git/index").write_bytes(b"renewed, as `git status` does")
    (machine.checkout / ".git/FETCH_HEAD").write_text("asked")
    (machine.checkout / "pkg/__pycache__").mkdir()
    (machine.checkout / "pkg/__pycache__/deep.cpython-311.pyc").write_bytes(b"x")
    (machine.checkout / "empty folder").mkdir()
    (machine.checkout / "tool.sh").chmod(0o775)
    assert snapshot.newer() == ()


WORK: dict[str, tuple[Callable[[Machine], object], str, str]] = {
    "an edit of the same size": (lambda m: (m.checkout / "pkg/__init__.py").write_text("V = 4\n"), "pkg/__init__.py", "content"),
    "an edit of what the apply left alone": (lambda m: (m.checkout / "untracked.txt").write_text("more"), "untracked.txt", "content"),
    "a new file": (lambda m: (m.checkout / "new.txt").write_text(""), "new.txt", "new"),
    "a new link": (lambda m: (m.checkout / "new").symlink_to("nowhere"), "new", "new"),
    "a link elsewhere": (lambda m: ((m.checkout / "link").unlink(), (m.checkout / "link").symlink_to("pkg")), "link", "target"),
    "a link in place of a file": (lambda m: ((m.checkout / "tool.sh").unlink(), (m.checkout / "tool.sh").symlink_to("x")), "tool.sh", "type"),
    "a file that is gone": (lambda m: (m.checkout / "tool.sh").unlink(), "tool.sh", "gone"),
    "the right to execute": (lambda m: (m.checkout / "tool.sh").chmod(0o644), "tool.sh", "mode"),
    "a branch": (lambda m: git(m.checkout, "branch", "mine"), ".git/refs/heads/mine", "new"),
    "a name that is not UTF-8": (lambda m: (m.checkout / ODD / "x").write_text(""), f"{ODD}/x", "new"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_work_after_the_apply_is_found_and_its_copy_outlives_the_restore(machine: Machine, name: str) -> None:
    before = machine.see()
    snapshot = applied(machine)
    work, path, kind = WORK[name]
    work(machine)
    place = f"{machine.checkout}/{path}"
    found = snapshot.newer()
    assert found is not None
    assert Change(place, kind) in found  # type: ignore[arg-type]
    assert {one.path for one in found} - {place} <= {f"{machine.checkout}/.git/logs/refs/heads/mine"}
    made = os.readlink(place) if os.path.islink(place) else Path(place).read_bytes() if kind != "gone" else None
    kept = snapshot.keep(found, "r1")
    assert kept == snapshot.keep(found, "r1"), "once, however often"
    assert machine.snapshot().give_back() == ()
    assert machine.see() == before
    copy = f"{machine.state}/kept/r1{place}"
    assert os.path.lexists(copy) is (kind != "gone")
    if made is not None:
        assert (os.readlink(copy) if os.path.islink(copy) else Path(copy).read_bytes()) == made
        assert kept.folder == f"{machine.state}/kept/r1"


def test_what_a_restore_that_was_killed_has_given_back_is_not_newer(machine: Machine) -> None:
    snapshot = applied(machine)
    GivingBack(*_parts(machine)).run()
    (machine.site / ".regraft-0123456789ab-one.py").write_text("half a write")
    assert snapshot.newer() == ()


def _parts(m: Machine) -> tuple[Any, ...]:
    stored = record_file.read(m.state / "snapshot/record")
    assert stored is not None
    return stored.record, stored.head.roots, Contents(m.state / "snapshot/content"), str(m.state), lambda _: False


def test_a_second_version_of_a_kept_file_does_not_take_the_place_of_the_first(machine: Machine) -> None:
    snapshot = applied(machine)
    for text in ("one", "two"):
        (machine.checkout / "new.txt").write_text(text)
        snapshot.keep(snapshot.newer() or (), "r1")
    kept = Path(f"{machine.state}/kept/r1{machine.checkout}")
    assert {path.name: path.read_text() for path in kept.iterdir()} == {"new.txt": "one", "new.txt.1": "two"}


def test_a_run_by_an_evil_name_keeps_its_copies_in_the_state_folder(machine: Machine) -> None:
    snapshot = applied(machine)
    (machine.checkout / "new.txt").write_text("x")
    kept = snapshot.keep(snapshot.newer() or (), "../../evil")
    assert Path(kept.folder).parent == machine.state / "kept"


def test_with_the_baseline_given_back_the_note_is_gone(machine: Machine) -> None:
    snapshot = applied(machine)
    assert snapshot.give_back() == ()
    assert snapshot.newer() is None


@needs_root
def test_what_cannot_be_kept_stops_a_restore_before_anything_is_given_back(machine: Machine, tmp_path: Path) -> None:
    snapshot = applied(machine)
    (machine.checkout / "new.txt").write_text("x" * 3_000_000)
    found = snapshot.newer() or ()
    kept = machine.state / "kept"
    kept.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(kept)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        with pytest.raises(OutsideError) as caught:
            snapshot.keep(found, "r1")
    finally:
        subprocess.run(["umount", "-l", str(kept)], check=True)
    assert caught.value.code == "not-kept"
    assert (machine.checkout / "new.txt").exists()


@pytest.mark.parametrize("name", ["record", "left"])
def test_the_record_of_another_version_is_refused_by_that_name(machine: Machine, name: str) -> None:
    snapshot = applied(machine)
    path = machine.state / "snapshot" / name
    path.write_bytes(path.read_bytes().replace(b"regraft.snapshot/1", b"regraft.snapshot/2"))
    before = machine.see()
    with pytest.raises(RefusedError, match=r"its format is regraft\.snapshot/2") as caught:
        snapshot.newer()
    assert caught.value.code == "other-version"
    assert machine.see() == before


@needs_root
def test_on_a_full_disk_the_copies_themselves_are_put_back(tmp_path: Path, picture: Pictures) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk], check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        tree = disk / "tree"
        tree.mkdir()
        for name in ("one", "two"):
            (tree / name).write_bytes(os.urandom(400_000))
        (tree / "one").chmod(0o750)
        os.chown(tree / "one", 12, 34)
        os.utime(tree / "one", ns=(10**18, 10**18))
        before = picture(tree)
        snapshot = Snapshot(disk / "state")
        (disk / "state").mkdir()
        snapshot.take([Subject("checkout", str(tree))])
        for name in ("one", "two"):
            (tree / name).write_bytes(b"")
        with contextlib.suppress(OSError), (disk / "fill").open("wb", buffering=0) as stream:
            while True:
                stream.write(bytes(4096))
        assert Snapshot(disk / "state").give_back() == ()
        assert picture(tree) == before
        assert (tree / "one").stat().st_mtime_ns == 10**18
        assert Snapshot(disk / "state").give_back() == (), "the copies are there still"
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_copy_is_handed_over_once(tmp_path: Path) -> None:
    """Two files of the same content must not become one."""
    (tmp_path / "content").mkdir()
    (tmp_path / "a").write_bytes(b"same")
    contents = Contents(tmp_path / "content")
    digest = str(contents.put(str(tmp_path / "a")).sha256)
    assert contents.hand_over(digest, str(tmp_path / "b"), (1, 2))
    assert not contents.hand_over(digest, str(tmp_path / "c"), (1, 2))
    assert ((tmp_path / "b").read_bytes(), (tmp_path / "b").stat().st_mtime_ns) == (b"same", 2)
    assert not (tmp_path / "c").exists()
    assert {one.name for one in tmp_path.iterdir()} == {"a", "b", "content"}
