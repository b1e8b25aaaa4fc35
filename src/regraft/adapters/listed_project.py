"""A project's folder with the list of its files: what git tracks or would track there, else what lies there."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from regraft.adapters.git import At, Git
from regraft.adapters.project_files import ProjectFolder
from regraft.adapters.project_tree import enclosing
from regraft.errors import InputError, OutsideError

MOST = 200_000  # files
_NEUTRAL = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false")
_PASSED_OVER = frozenset({".git", "node_modules", "__pycache__"})


class ListedProject(ProjectFolder):
    """`regraft.flows.ports.ListedFiles`. Raises InputError `no-project`."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        super().__init__(root)
        self._environ = environ
        self.folder = self._root.name or "project"

    def paths(self) -> tuple[str, ...]:
        """Relative POSIX paths, sorted; links among them. Raises OutsideError where git failed."""
        try:
            found = enclosing(self._root)
        except InputError:
            return tuple(sorted(self._walk()))
        with Git(self._environ) as git:
            at = At(git_dir=found.git.folder, work_tree=found.top, cwd=self._root)
            argv = [*_NEUTRAL, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            done = git.run(argv, at)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise OutsideError("git-failed", f"git ls-files failed: {said!r:.300}", where=self.place("."))
        names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        if found.root and not any(names):  # a repository above that ignores this folder is not the project's
            return tuple(sorted(self._walk()))
        return tuple(sorted({name for name in names if name and self._is_listed(name)})[:MOST])

    def exists(self, path: str) -> bool:
        """Whether anything of that name is there, a link that leads nowhere included."""
        return os.path.lexists(self._root / path)

    def _is_listed(self, name: str) -> bool:
        """Whether a file is there, or a link that leads to none, or something that may not be looked at: who reads it hears why."""
        try:
            return stat.S_ISREG(os.stat(self._root / name).st_mode)  # noqa: PTH116 - Path.is_file hides what went wrong
        except PermissionError:
            return True
        except (OSError, ValueError):
            return os.path.lexists(self._root / name)

    def _walk(self) -> Iterator[str]:
        """Without the folders of programs that are installed there."""
        count = 0
        for folder, folders, names in os.walk(self._root):
            folders[:] = sorted(one for one in folders if one not in _PASSED_OVER)
            if "pyvenv.cfg" in names:
                folders.clear()
                continue
            for name in names:
                count += 1
                if count > MOST:
                    return
                yield (Path(folder) / name).relative_to(self._root).as_posix()
