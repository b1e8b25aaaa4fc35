"""The planned tree, put into checkouts of every kind, by files alone: what the checkout's own repository says is not asked."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from regraft.adapters.checkout import CheckoutFolders
from regraft.adapters.git import Git
from regraft.adapters.places import Places
from regraft.adapters.scratch import Scratch
from regraft.adapters.tree_writer import TreeFolders
from regraft.core.apply_values import Target, Written
from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.observation import CarriedPatch
from regraft.core.resolution import Remote
from regraft.errors import RegraftError

ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}

PATCH = b"""\
--- a/pkg/core.py
+++ b/pkg/core.py
@@ -1,2 +1,2 @@
 one = 1
-two = 2
+two = 22
"""


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    done = subprocess.run(argv, env=ENV, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def commit(folder: Path, files: dict[str, bytes] | None = None) -> Commit:
    write(folder, files or {})
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "c")
    return Commit(git(folder, "rev-parse", "HEAD"))


FILES = {
    "pkg/__init__.py": b"",
    "pkg/core.py": b"one = 1\ntwo = 2\n",
    "pkg/gone/old.py": b"old\n",
    "pkg/run.sh": b"#!/bin/sh\n",
    "plain": b"a file\n",
    "data/deep/x": b"x\n",
    ".gitignore": b"*.so\n__pycache__/\n*.pyc\n",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An upstream of two commits, tagged v1 and v2, in which every kind of path changes."""
    folder = tmp_path_factory.mktemp("template") / "upstream"
    folder.mkdir()
    git(folder, "init", "-q")
    write(folder, FILES)
    (folder / "link").symlink_to("plain")
    (folder / "pkg/run.sh").chmod(0o755)
    commit(folder)
    git(folder, "tag", "v1")
    for name in ("plain", "data", "pkg/gone", "link"):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    (folder / "link").write_bytes(b"no link any more\n")
    (folder / "data").symlink_to("pkg")
    (folder / "pkg/run.sh").chmod(0o644)
    (folder / "pkg/new.sh").write_bytes(b"#!/bin/sh\nnew\n")
    (folder / "pkg/new.sh").chmod(0o755)
    commit(folder, {"plain/is/a/folder.py": b"p = 1\n", "pkg/core.py": b"one = 1\ntwo = 2\nthree = 3\n"})
    git(folder, "tag", "v2")
    return folder


@dataclass
class World:
    upstream: Path
    checkout: Path
    tool: TreeFolders
    aside: Path

    def target(self, name: str = "v2", *patches: bytes) -> Target:
        """The tree is made with git itself, in a clone of its own."""
        made = self.aside.parent / f"made-{name}-{len(patches)}"
        git(self.upstream.parent, "clone", "-q", str(self.upstream), str(made))
        git(made, "checkout", "-q", "--detach", name)
        pin = git(made, "rev-parse", "HEAD")
        for number, patch in enumerate(patches):
            (made / ".git" / f"{number}.patch").write_bytes(patch)
            git(made, "apply", "--index", f".git/{number}.patch")
        tree = git(made, "write-tree")
        carried = tuple(CarriedPatch(f"{n}.patch", Sha256("0" * 64), data) for n, data in enumerate(patches))
        return Target("lib", str(self.checkout), Remote(str(self.upstream)), Commit(pin), Tree(tree), carried)

    def put(self, target: Target) -> Written:
        self.tool.fetch(target)
        self.tool.prove(target)
        return self.tool.write(target, str(self.aside))

    def status(self) -> list[str]:
        return git(self.checkout, "status", "--porcelain").splitlines()

    def tree(self) -> str:
        """What git makes of the tracked files on the disk, with an index of its own."""
        env = {**ENV, "GIT_INDEX_FILE": str(self.aside.parent / "index-of-test")}
        for arguments in (["read-tree", "HEAD"], ["add", "-A"], ["write-tree"]):
            done = subprocess.run(["git", *arguments], cwd=self.checkout, env=env, check=True, capture_output=True)
        return done.stdout.decode().strip()


MakeWorld = Callable[..., World]


@pytest.fixture
def make(template: Path, tmp_path: Path) -> Iterator[MakeWorld]:
    """A world whose checkout is a clone of the upstream at v1, with these options of `git clone`."""
    upstream = Path(shutil.copytree(template, tmp_path / "upstream", symlinks=True))
    with Git(ENV) as program:

        def made(*options: str, at: str = "v1", root: Path | None = None) -> World:
            checkout = tmp_path / "checkout"
            git(tmp_path, "clone", "-q", *options, f"file://{upstream}", str(checkout))
            if at != "HEAD":
                git(checkout, "checkout", "-q", "-B", "work", git(upstream, "rev-parse", at))
            places = Places(tmp_path, root)
            tool = TreeFolders(CheckoutFolders(program, places), places, Scratch(program, tmp_path, ENV))
            return World(upstream, checkout, tool, tmp_path / "aside")

        yield made


def test_every_kind_of_change_is_written_and_git_sees_nothing_to_say(make: MakeWorld) -> None:
    world = make()
    written = world.put(world.target())
    checkout = world.checkout
    assert world.tree() == git(world.upstream, "rev-parse", "v2^{tree}")
    assert world.status() == []
    assert git(checkout, "rev-parse", "HEAD") == git(world.upstream, "rev-parse", "v2")
    assert git(checkout, "rev-parse", "refs/regraft/lib") == git(world.upstream, "rev-parse", "v2")
    assert subprocess.run(["git", "-C", str(checkout), "symbolic-ref", "-q", "HEAD"], check=False).returncode == 1
    assert (checkout / "data").is_symlink()
    assert not (checkout / "pkg/gone").exists()
    assert os.access(checkout / "pkg/new.sh", os.X_OK)
    assert (checkout / "pkg/run.sh").stat().st_mode & 0o111 == 0
    assert written.removed == ("data/deep/x", "pkg/gone/old.py", "plain")
    assert "pkg/core.py" in written.written
    assert "pkg/__init__.py" not in written.written


def test_git_status_shows_the_carried_patches_and_nothing_else(make: MakeWorld) -> None:
    world = make()
    patch = PATCH.replace(b"@@ -1,2 +1,2 @@", b"@@ -1,3 +1,3 @@") + b" three = 3\n"
    world.put(world.target("v2", patch))
    assert world.status() == ["M pkg/core.py"]  # the first column, a blank, is taken off
    assert b"two = 22" in (world.checkout / "pkg/core.py").read_bytes()


def test_a_second_time_writes_no_file(make: MakeWorld) -> None:
    world = make()
    target = world.target()
    world.put(target)
    assert world.put(target) == Written((), (), (), ())


def test_the_same_in_a_shallow_clone_which_stays_shallow(make: MakeWorld) -> None:
    world = make("--depth=1", "--branch=v1", at="HEAD")
    world.put(world.target())
    assert world.tree() == git(world.upstream, "rev-parse", "v2^{tree}")
    assert git(world.checkout, "rev-list", "--count", "HEAD") == "1"
    assert world.status() == []
    git(world.checkout, "fsck", "--connectivity-only")


def test_the_same_in_a_clone_of_one_branch_without_tags_and_the_tags_come_along(make: MakeWorld) -> None:
    world = make("--single-branch", "--no-tags")
    git(world.upstream, "checkout", "-q", "--detach", "v2")
    commit(world.upstream, {"pkg/core.py": b"three\n"})
    git(world.upstream, "tag", "-a", "-m", "t", "v3")
    git(world.upstream, "checkout", "-q", "-b", "side")
    commit(world.upstream, {"pkg/core.py": b"four\n"})
    world.put(world.target("side"))
    assert git(world.checkout, "describe", "--tags") == git(world.upstream, "describe", "--tags")
    assert git(world.checkout, "describe", "--tags").startswith("v3-1-g")


def test_the_same_in_a_clone_without_blobs(make: MakeWorld) -> None:
    world_config = make("--filter=blob:none", "--no-checkout", at="HEAD")
    git(world_config.upstream, "config", "uploadpack.allowFilter", "true")
    shutil.rmtree(world_config.checkout)
    world = make("--filter=blob:none", "--no-checkout", at="HEAD")
    git(world.checkout, "checkout", "-q", "-B", "work", "v1")
    promised = git(world.checkout, "rev-list", "--objects", "--missing=print", "v2")
    assert "?" in promised, "the clone must lack some files, else this shows nothing"
    world.put(world.target())
    assert world.tree() == git(world.upstream, "rev-parse", "v2^{tree}")


def test_the_same_in_a_linked_worktree(make: MakeWorld, tmp_path: Path) -> None:
    world = make()
    other = tmp_path / "worktree"
    git(world.checkout, "worktree", "add", "-q", "-b", "other", str(other), "v1")
    assert (other / ".git").is_file()
    main_head = git(world.checkout, "rev-parse", "HEAD")
    main = world.checkout
    world.checkout = other
    world.put(world.target())
    assert world.tree() == git(world.upstream, "rev-parse", "v2^{tree}")
    assert world.status() == []
    assert git(main, "rev-parse", "HEAD") == main_head
    assert git(main, "symbolic-ref", "HEAD") == "refs/heads/work"


def test_a_dirty_index_is_replaced(make: MakeWorld) -> None:
    world = make()
    (world.checkout / "pkg/core.py").write_bytes(b"staged\n")
    git(world.checkout, "add", "pkg/core.py")
    git(world.checkout, "rm", "-q", "--cached", "plain")
    world.put(world.target())
    assert world.status() == []
    assert world.tree() == git(world.upstream, "rev-parse", "v2^{tree}")


def test_untracked_files_are_set_aside_and_ignored_ones_stay(make: MakeWorld) -> None:
    world = make()
    write(world.checkout, {"notes/a.txt": b"mine\n", "pkg/_C.so": b"built\n", "pkg/extra.py": b"mine too\n"})
    written = world.put(world.target())
    assert written.aside == ("notes/a.txt", "pkg/extra.py")
    assert (world.aside / "lib/notes/a.txt").read_bytes() == b"mine\n"
    assert not (world.checkout / "notes").exists()
    assert (world.checkout / "pkg/_C.so").read_bytes() == b"built\n"


@pytest.mark.parametrize("path", ["third", "pkg/new.sh", "plain/is", "data/new"])
def test_an_untracked_repository_is_left_whole_or_refused_by_its_name(make: MakeWorld, path: str) -> None:
    world = make()
    if path == "plain/is":
        (world.checkout / "plain").unlink()
    nested = world.checkout / path
    nested.mkdir(parents=True)
    git(nested, "init", "-q")
    commit(nested, {"module.py": b"mine = 1\n"})
    write(nested, {"notes": b"untracked\n"})
    target = world.target()
    before = {one: one.read_bytes() for one in world.checkout.rglob("*") if one.is_file()}
    if path == "third":
        assert world.put(target).aside == ()
        assert git(nested, "status", "--porcelain") == "?? notes"
        assert git(nested, "show", "HEAD:module.py") == "mine = 1"
    else:
        with pytest.raises(RegraftError) as caught:
            world.put(target)
        assert caught.value.code == "in-the-way"
        assert repr(path) in caught.value.message
        now = {one: one.read_bytes() for one in world.checkout.rglob("*") if one.is_file()}
        assert {one: data for one, data in now.items() if one in before} == before
        assert not world.aside.exists()


def test_an_ignored_file_in_the_way_of_a_folder_is_set_aside(make: MakeWorld) -> None:
    world = make()
    git(world.upstream, "checkout", "-q", "--detach", "v2")
    commit(world.upstream, {"built.so/inner.py": b"1\n"})
    git(world.upstream, "tag", "v3")
    git(world.upstream, "add", "-f", "built.so/inner.py")
    git(world.upstream, "commit", "-q", "--amend", "-m", "forced")
    git(world.upstream, "tag", "-f", "v3")
    (world.checkout / "built.so").symlink_to("/etc")
    world.put(world.target("v3"))
    assert (world.checkout / "built.so/inner.py").read_bytes() == b"1\n"
    assert not Path("/etc/inner.py").exists()
    assert (world.aside / "lib/built.so").is_symlink()


def test_stale_byte_code_goes_so_that_a_file_of_the_same_size_and_second_is_imported_anew(make: MakeWorld) -> None:
    world = make()
    module = world.checkout / "pkg/core.py"
    run = ["python3", "-c", "import pkg.core, sys; sys.stdout.write(str(getattr(pkg.core, 'three', None)))"]
    python = {"cwd": world.checkout, "env": {"PATH": ENV["PATH"]}, "capture_output": True, "text": True}
    assert subprocess.run(run, check=True, **python).stdout == "None"
    stamp = module.stat()
    assert list((module.parent / "__pycache__").glob("core.*.pyc"))
    write(world.checkout, {"pkg/gone/__pycache__/old.cpython-311.pyc": b"x", "pkg/gone/old.pyc": b"x"})
    world.put(world.target())
    os.utime(module, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert subprocess.run(run, check=True, **python).stdout == "3"
    assert not (world.checkout / "pkg/gone").exists(), "what is left of a removed package would be a namespace package"


def test_nothing_that_the_checkout_configures_is_run(make: MakeWorld, tmp_path: Path) -> None:
    world = make()
    mark = tmp_path / "ran"
    hook = world.checkout / ".git/hooks/post-checkout"
    program = f"#!/bin/sh\necho \"$0\" >>'{mark}'\n"
    for path in (hook, world.checkout / ".git/hooks/reference-transaction", tmp_path / "evil"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(program)
        path.chmod(0o755)
    evil = str(tmp_path / "evil")
    for key in ("core.fsmonitor", "core.sshCommand", "filter.x.smudge", "filter.x.clean", "credential.helper"):
        git(world.checkout, "config", key, evil)
    git(world.checkout, "config", f"url.{tmp_path}/elsewhere.insteadOf", f"file://{world.upstream}")
    (world.checkout / ".git/info").mkdir(exist_ok=True)
    (world.checkout / ".git/info/attributes").write_text("* filter=x\n")
    target = world.target()
    world.put(target)
    assert not mark.exists()
    assert (world.checkout / "pkg/core.py").read_bytes() == b"one = 1\ntwo = 2\nthree = 3\n"


def test_a_file_that_is_shared_by_a_hard_link_is_replaced_and_not_rewritten(make: MakeWorld, tmp_path: Path) -> None:
    world = make()
    os.link(world.checkout / "pkg/core.py", tmp_path / "shared")
    world.put(world.target())
    assert (tmp_path / "shared").read_bytes() == FILES["pkg/core.py"]


def test_a_file_keeps_the_permissions_that_git_does_not_know(make: MakeWorld) -> None:
    world = make()
    (world.checkout / "pkg/core.py").chmod(0o664)
    world.put(world.target())
    assert (world.checkout / "pkg/core.py").stat().st_mode & 0o777 == 0o664


LINES = b"".join(b"n%d = 1\n" % number for number in range(9))


def merging(world: World) -> Target:
    """A patch of the fifth line, where upstream has changed the third since; git itself makes the tree."""
    git(world.upstream, "checkout", "-q", "--detach", "v2")
    before = commit(world.upstream, {"pkg/core.py": LINES})
    after = commit(world.upstream, {"pkg/core.py": LINES.replace(b"n2 = 1", b"n2 = 2")})
    git(world.upstream, "branch", "moved")
    made = world.aside.parent / "made-by-merge"
    git(world.upstream.parent, "clone", "-q", str(world.upstream), str(made))
    git(made, "checkout", "-q", "--detach", before)
    (made / "pkg/core.py").write_bytes(LINES.replace(b"n4 = 1", b"n4 = 4"))
    patch = subprocess.run(["git", "diff", "--full-index"], cwd=made, env=ENV, check=True, capture_output=True).stdout
    git(made, "checkout", "-q", "--force", "--detach", after)
    (made / ".git/p").write_bytes(patch)
    assert subprocess.run(["git", "apply", "--check", ".git/p"], cwd=made, env=ENV, check=False).returncode == 1
    git(made, "apply", "--3way", ".git/p")
    carried = CarriedPatch("p", Sha256("0" * 64), patch, merges=True)
    tree = Tree(git(made, "write-tree"))
    return Target("lib", str(world.checkout), Remote(f"file://{world.upstream}"), after, tree, (carried,))


@pytest.mark.parametrize("options", [(), ("--depth=1", "--branch=v2")], ids=["whole", "shallow"])
def test_a_patch_that_is_merged_makes_the_planned_tree(make: MakeWorld, options: tuple[str, ...]) -> None:
    """In a shallow clone the file that it was made on is fetched by its name."""
    world = make(*options, at="HEAD" if options else "v1")
    world.put(merging(world))
    assert (world.checkout / "pkg/core.py").read_bytes() == LINES.replace(b"n2 = 1", b"n2 = 2").replace(
        b"n4 = 1", b"n4 = 4"
    )
    assert world.status() == ["M pkg/core.py"]


def test_where_the_server_does_not_hand_out_what_it_was_made_on_nothing_is_written(make: MakeWorld) -> None:
    world = make("--depth=1", "--branch=v2", at="HEAD")
    target = merging(world)
    [patch] = target.patches
    assert patch.data is not None
    begin = patch.data.index(b"index ") + 6
    invented = patch.data[:begin] + b"1" * 40 + patch.data[begin + 40 :]
    error = refused(world, replace(target, patches=(replace(patch, data=invented),)))
    assert error.code == "patch-does-not-apply"
    assert "cannot be tried without the file that it was made on" in error.message
    assert world.status() == []


def test_a_patch_that_would_merge_is_exact_where_nothing_else_is_declared(make: MakeWorld) -> None:
    world = make()
    target = merging(world)
    [patch] = target.patches
    exact = replace(target, patches=(replace(patch, merges=False),))
    assert "does not apply" in refused(world, exact).message


def refused(world: World, target: Target) -> RegraftError:
    with pytest.raises(RegraftError) as caught:
        world.put(target)
    return caught.value


def test_a_commit_that_the_server_lost_is_said_and_nothing_is_written(make: MakeWorld) -> None:
    world = make()
    target = world.target()
    lost = Commit("1" * 40)
    error = refused(world, Target("lib", target.path, target.remote, lost, target.tree, ()))
    assert (error.code, error.exit_code) == ("commit-gone", 3)
    assert lost in error.message
    assert world.status() == []
    assert git(world.checkout, "rev-parse", "HEAD") == git(world.upstream, "rev-parse", "v1")


def test_a_patch_that_does_not_go_on_is_refused_before_a_file_is_written(make: MakeWorld) -> None:
    world = make()
    target = world.target()
    patch = CarriedPatch("p.patch", Sha256("0" * 64), PATCH.replace(b"two = 2\n", b"two = 3\n"))
    error = refused(world, Target("lib", target.path, target.remote, target.commit, target.tree, (patch,)))
    assert error.code == "patch-does-not-apply"
    assert world.status() == []


def test_patches_that_make_another_tree_than_the_planned_one_are_refused(make: MakeWorld) -> None:
    world = make()
    target = world.target()
    other = Tree(git(world.upstream, "rev-parse", "v1^{tree}"))
    error = refused(world, Target("lib", target.path, target.remote, target.commit, other, ()))
    assert (error.code, error.exit_code) == ("not-the-planned-tree", 1)


@pytest.mark.parametrize("state", ["absent", "no repository", "dangling"])
def test_what_is_no_repository_cannot_take_a_commit(make: MakeWorld, state: str) -> None:
    world = make()
    target = world.target()
    if state == "absent":
        shutil.rmtree(world.checkout)
    else:
        shutil.rmtree(world.checkout / ".git")
        if state == "dangling":
            (world.checkout / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert refused(world, target).code == "no-repository"


# Submodules


@pytest.fixture
def with_submodule(make: MakeWorld, tmp_path: Path) -> Callable[..., World]:
    """A checkout of v3, which has a submodule `sub`; v4 moves it, v5 adds another one."""

    def made(*, initialise: bool) -> World:
        inner = tmp_path / "inner"
        inner.mkdir()
        git(inner, "init", "-q")
        commit(inner, {"inner.py": b"v1\n"})
        upstream = tmp_path / "upstream"
        git(upstream, "submodule", "--quiet", "add", "../inner", "sub")
        commit(upstream)
        git(upstream, "tag", "v3")
        commit(inner, {"inner.py": b"version two\n"})
        git(upstream / "sub", "pull", "-q")
        commit(upstream)
        git(upstream, "tag", "v4")
        git(upstream, "submodule", "--quiet", "add", "../inner", "another")
        commit(upstream)
        git(upstream, "tag", "v5")
        world = make(at="v3")
        if initialise:
            git(world.checkout, "submodule", "--quiet", "update", "--init")
        return world

    return made


def test_a_submodule_follows_its_pin(with_submodule: Callable[..., World]) -> None:
    world = with_submodule(initialise=True)
    assert (world.checkout / "sub/inner.py").read_bytes() == b"v1\n"
    written = world.put(world.target("v4"))
    assert (world.checkout / "sub/inner.py").read_bytes() == b"version two\n"
    assert "sub/inner.py" in written.written
    assert world.status() == []
    assert git(world.checkout, "submodule", "status").split()[0] == git(world.upstream, "rev-parse", "v4:sub")


@pytest.mark.parametrize(("name", "initialise", "shown"), [("v4", False, "'sub'"), ("v5", True, "'another'")])
def test_a_submodule_that_moves_and_is_not_checked_out_is_refused_by_name(
    with_submodule: Callable[..., World], name: str, initialise: bool, shown: str
) -> None:
    world = with_submodule(initialise=initialise)
    error = refused(world, world.target(name))
    assert error.code == "submodule-not-initialised"
    assert shown in error.message


def test_a_submodule_that_was_never_checked_out_and_stays_is_left_alone(with_submodule: Callable[..., World]) -> None:
    world = with_submodule(initialise=False)
    git(world.upstream, "checkout", "-q", "--detach", "v3")
    write(world.upstream, {"pkg/core.py": b"other\n"})
    git(world.upstream, "commit", "-q", "-m", "c", "pkg/core.py")
    git(world.upstream, "tag", "v3b")
    world.put(world.target("v3b"))
    assert list((world.checkout / "sub").iterdir()) == []
    assert world.status() == []
