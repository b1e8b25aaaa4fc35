"""Upstream history, where somebody has it at hand."""

from pathlib import Path

from msgspec import Struct

from regraft.adapters.git import At, Git
from regraft.adapters.git_folder import GitFolder, find
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.places import Places
from regraft.errors import InputError

LIMIT = 200


class Between(Struct, frozen=True):
    """First-parent commits after `before` up to `after`, newest first, as (hash, subject), at most `LIMIT`.

    `known` is False where the repository does not hold both; `diverged` says that the first is no ancestor of the second.
    """

    commits: tuple[tuple[str, str], ...]
    known: bool
    diverged: bool = False


class History:
    """The objects of one repository on this machine, without its configuration: bare, or with a checkout."""

    def __init__(self, git: Git, repository: Path) -> None:
        places = Places(repository.absolute())
        bare = (repository / "objects").is_dir() and (repository / "HEAD").is_file()
        found = GitFolder(repository, repository) if bare else find(repository.absolute(), places).git
        if found is None:
            raise InputError("not-a-repository", "there is no git repository here", where=str(repository))
        shallow = found.common / "shallow"
        self._git = git
        self._store = ObjectStore.over(git, found.object_folders(places), shallow if shallow.is_file() else None)

    def between(self, before: str, after: str) -> Between:
        """What an update from one commit to another brings. Raises OutsideError where git failed."""
        at = At(git_dir=self._store.git_dir)
        counted = self._git.run(["rev-list", "--left-right", "--count", f"{before}...{after}", "--"], at)
        if counted.returncode != 0:
            return Between((), known=False)
        behind, _, _ = counted.stdout.decode().partition("\t")
        log = ["log", "--first-parent", f"--max-count={LIMIT}", "-z", "--format=%H %s", f"{before}..{after}", "--"]
        lines = self._git.run(log, at).stdout.decode("utf-8", "replace").split("\0")
        commits = tuple((commit, subject) for commit, _, subject in (line.partition(" ") for line in lines) if commit)
        return Between(commits, known=True, diverged=behind != "0")
