"""A snapshot that asks, when all is given back, whether each repository still has the commit that its HEAD names.

Objects are not saved: an apply only adds some, and keeps a ref on the baseline's commit. Somebody may have swept it away.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from regraft.adapters.checkout import CheckoutFolders, Opened
from regraft.adapters.git import Git
from regraft.adapters.places import Places
from regraft.adapters.snapshot import Snapshot
from regraft.core.journal import Subject
from regraft.core.tree_record import clean
from regraft.errors import OutsideError


class CheckedSnapshot(Snapshot):
    """`root` is what `--root` named, `environ` the environment that regraft was started with."""

    def __init__(self, state: Path, root: str | None, environ: Mapping[str, str]) -> None:
        super().__init__(state, root)
        self._environ = environ

    def give_back(self) -> tuple[str, ...]:
        named = super().give_back()
        stored = self._load()
        checkouts = [one for one in stored.head.roots if one.kind == "checkout"] if stored else []
        return (*named, *self._lost(checkouts))

    def _lost(self, checkouts: list[Subject]) -> Iterator[str]:
        places = Places(Path("/"), Path(self._root) if self._root is not None else None)
        try:
            with Git(self._environ) as git:
                folders = CheckoutFolders(git, places)
                for one in checkouts:
                    line = _line(folders.open(Path(one.path)))
                    if line is not None:
                        yield f"{clean(one.path)}: {line}"
        except OutsideError as error:
            yield f"whether the checkouts still have the commits of their HEAD could not be asked: {error.message}"


def _line(opened: Opened) -> str | None:
    head = opened.found.git.head() if opened.found.git is not None else None
    if head is None or opened.objects.tree_of(head) is not None:
        return None
    return f"HEAD names {head}, and its repository does not have that commit any more: somebody removed it since"
