"""What an image is built from: the files of a commit in a folder of their own, whatever lies in the work tree."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from regraft.adapters import project_tree
from regraft.adapters.git import At, Git
from regraft.adapters.temporary import TemporaryFolder
from regraft.core.objects import Commit, parse_commit
from regraft.errors import InputError, OutsideError


class ProjectCommits:
    """The commits of the project's repository."""

    def __init__(self, git: Git, root: Path) -> None:
        self._git = git
        found = project_tree.enclosing(root)
        self._folder, self._root = found.git.folder, found.root

    def parents(self, commit: Commit) -> tuple[Commit, ...]:
        """None of them where the history is cut off, and where the commit is not here."""
        done = self._git.run(["rev-list", "--parents", "--max-count=1", commit, "--"], At(git_dir=self._folder))
        words = done.stdout.decode("ascii", "replace").split()
        return tuple(parse_commit(word) for word in words[1:]) if done.returncode == 0 else ()

    @contextmanager
    def checked_out(self, commit: Commit) -> Iterator[Path]:
        """The project's folder, where the commit's files lie and nothing else, as git writes them; gone afterwards.

        Raises InputError `submodules`: what is in one is not in the commit. OutsideError.
        """
        with TemporaryFolder("regraft-context-") as folder:
            index = self._git.folder / "context-index"
            self._run(["read-tree", commit], index)
            listing = self._run(["ls-files", "--stage", "-z"], index)
            modules = [line.partition(b"\t")[2] for line in listing.split(b"\0") if line.startswith(b"160000 ")]
            if modules:
                message = "the commit has a submodule, whose files are not in it: an image of this commit cannot be built from it alone"
                raise InputError("submodules", message, where=os.fsdecode(modules[0]))
            self._run(["checkout-index", "--all", f"--prefix={folder}/"], index)
            yield folder / self._root

    def _run(self, arguments: Sequence[str], index: Path) -> bytes:
        done = self._git.run(["-c", "core.hooksPath=/dev/null", *arguments], At(git_dir=self._folder, index=index))
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise OutsideError("git-failed", f"git {arguments[0]} failed: {said!r:.300}")
        return done.stdout
