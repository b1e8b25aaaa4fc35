"""Upstream history, where somebody has it at hand."""

from dataclasses import dataclass
from pathlib import Path

from regraft.adapters.git import At, Git

LIMIT = 200


@dataclass(frozen=True, slots=True)
class Between:
    """First-parent commits after `before` up to `after`, newest first, as (hash, subject), at most `LIMIT`.

    `known` is False where the repository does not hold both, or one is no ancestor of the other (`diverged`).
    """

    commits: tuple[tuple[str, str], ...]
    known: bool
    diverged: bool = False


class History:
    """The history in one repository on this machine, read without its own configuration's hooks or filters."""

    def __init__(self, git: Git, repository: Path) -> None:
        self._git = git
        self._repository = repository.absolute()
        git.trust(self._repository)

    def between(self, before: str, after: str) -> Between:
        arguments = ["rev-list", "--left-right", "--count", f"{before}...{after}", "--"]
        counted = self._git.run(arguments, At(cwd=self._repository))
        if counted.returncode != 0:
            return Between((), known=False)
        behind, _, _ = counted.stdout.decode().partition("\t")
        log = ["log", "--first-parent", f"--max-count={LIMIT}", "-z", "--format=%H %s", f"{before}..{after}", "--"]
        listed = self._git.run(log, At(cwd=self._repository))
        if listed.returncode != 0:
            return Between((), known=False)
        lines = listed.stdout.decode("utf-8", "replace").split("\0")
        commits = tuple((line[:40], line[41:]) for line in lines if line)
        return Between(commits, known=True, diverged=behind != "0")
