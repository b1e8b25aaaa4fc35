"""Throw-away upstreams: real repositories, with a branch that moves and pull requests that a forge would serve.

Every commit has fixed people and times, so that the hashes are the same on each machine.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from regraft.adapters import files

DATA = Path(__file__).parent / "data"

Git = Callable[..., str]
"""`git(*arguments, cwd=PATH)` -> what it printed, trimmed; it raises where git fails."""


def lay(folder: Path, *sources: str) -> None:
    """Put the files of `data/SOURCE` into `folder`, later sources over earlier ones."""
    for source in sources:
        root = DATA / source
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                files.write(folder / path.relative_to(root), path.read_bytes())


def identity(home: Path) -> Mapping[str, str]:
    """An environment in which git knows nobody of this machine."""
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        **{f"GIT_{who}_NAME": "Demo" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "demo@example.org" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_DATE": "2026-01-05T12:00:00Z" for who in ("AUTHOR", "COMMITTER")},
    }


def make_engine(git: Git, work: Path, bare: Path) -> None:
    """`engine`: pull request 12 changes a file that a carried patch edits, and 13 moves that file away."""
    begin(git, work, "Begin engine", "backend", "engine/base")
    _commit(git, work, "Batch sixteen requests", "engine/main")
    git("checkout", "--quiet", "-b", "pull-12", cwd=work)
    _commit(git, work, "Pad with the library's ceiling", "engine/pull-12")
    git("checkout", "--quiet", "-b", "pull-13", "main", cwd=work)
    (work / "src/engine/hardware").mkdir()
    git("mv", "src/engine/kernels.py", "src/engine/hardware/kernels.py", cwd=work)
    _commit(git, work, "Keep what depends on the hardware in one folder")
    _publish(git, work, bare, pulls=(12, 13))


def make_trainer(git: Git, work: Path, bare: Path) -> None:
    """`trainer`: its branch has moved since the image was built, which must not matter to anybody."""
    begin(git, work, "Begin trainer", "backend", "trainer/base")
    _commit(git, work, "Square the differences", "trainer/main")
    _publish(git, work, bare, pulls=())


def begin(git: Git, work: Path, message: str, *sources: str) -> None:
    """A repository on `main` whose first commit holds these files."""
    work.mkdir(parents=True)
    git("init", "--quiet", cwd=work)
    git("symbolic-ref", "HEAD", "refs/heads/main", cwd=work)
    _commit(git, work, message, *sources)


def _commit(git: Git, work: Path, message: str, *sources: str) -> None:
    lay(work, *sources)
    git("add", "--all", cwd=work)
    git("commit", "--quiet", "--message", message, cwd=work)


def _publish(git: Git, work: Path, bare: Path, *, pulls: tuple[int, ...]) -> None:
    """What a forge serves: the branch, and each pull request below `refs/pull/`; wants by hash and filters allowed."""
    bare.mkdir(parents=True)
    git("init", "--quiet", "--bare", cwd=bare)
    git("symbolic-ref", "HEAD", "refs/heads/main", cwd=bare)
    for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git("config", setting, "true", cwd=bare)
    heads = [f"refs/heads/pull-{number}:refs/pull/{number}/head" for number in pulls]
    git("push", "--quiet", str(bare), "refs/heads/main:refs/heads/main", *heads, cwd=work)
