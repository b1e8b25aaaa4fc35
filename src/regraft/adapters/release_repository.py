"""Released files as git trees in a bare repository of the cache: what is judged on commits is judged on releases the same way.

Each file is a root commit under `refs/releases/SHA256`, made by one fast-import. Nothing is ever checked out or extracted, and the
archive itself is not kept: its digest is the name under which its tree is found again.
"""

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from msgspec import Struct

from regraft.adapters import files
from regraft.adapters.bare_repository import make_bare
from regraft.adapters.cache_folder import locked, own_folder, sweep
from regraft.adapters.git import At, Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.process import Completed
from regraft.adapters.release_tree import packed_files
from regraft.adapters.scratch_index import failure
from regraft.adapters.upstream_cache import WAIT
from regraft.core.objects import Commit, Sha256, Tree, parse_commit, parse_tree

_IMPORT = ("fast-import", "--quiet", "--done", "--date-format=raw")
_NAMED = 10_000  # paths of files that were too large, in the commit's message


class ReleaseTree(Struct, frozen=True):
    """`commit` is the root commit that holds it. `left_out` are the paths of files that are too large to be kept: nothing can be said of them."""

    commit: Commit
    tree: Tree
    left_out: frozenset[bytes]


class ReleaseRepository:
    """The releases of one package. `folder` is its own in the cache."""

    def __init__(self, git: Git, cache: Path, package: str, *, wait: float = WAIT) -> None:
        self._git = git
        self._wait = wait
        self.folder = own_folder(cache, "packages", package)
        self._repository = self.folder / "releases.git"
        with locked(self.folder, wait):
            self._made()
        self.objects = (self._repository / "objects",)
        self.store = ObjectStore.over(git, self.objects)

    def tree(self, sha256: Sha256, filename: str, fetch: Callable[[IO[bytes]], object]) -> ReleaseTree:
        """The tree of the file with that digest. `fetch` writes its bytes, checked, and is called where they are not here yet.

        Raises OutsideError: bad-archive, locked, disk-full, git-failed, and what `fetch` raises.
        """
        found = self._find(sha256)
        if found is not None:
            return found
        with locked(self.folder, self._wait):
            found = self._find(sha256)
            if found is not None:
                return found
            sweep(self._repository)
            try:
                with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".archive-") as archive:
                    fetch(archive)
                    archive.flush()
                    self._import(sha256, filename, Path(archive.name))
            except OSError as error:
                raise files.outside(error, str(self.folder)) from None
        found = self._find(sha256)
        assert found is not None
        return found

    def _made(self) -> None:
        try:
            for old in self.folder.glob(".archive-*"):
                old.unlink(missing_ok=True)
            if not (self._repository / "HEAD").is_file():
                make_bare(self._repository)
        except OSError as error:
            raise files.outside(error, str(self.folder)) from None

    def _find(self, sha256: Sha256) -> ReleaseTree | None:
        name = f"refs/releases/{sha256}"
        completed = self._git.run(
            ["for-each-ref", "--format=%(objectname)%00%(tree)%00%(contents)%00", "--", name],
            At(git_dir=self._repository),
        )
        if completed.returncode != 0:
            raise failure(completed)
        if not completed.stdout:
            return None
        commit, tree, message, _ = completed.stdout.decode("utf-8", "replace").split("\0")
        left_out = json.loads(message)["left_out"]
        return ReleaseTree(parse_commit(commit), parse_tree(tree), frozenset(bytes.fromhex(one) for one in left_out))

    def _import(self, sha256: Sha256, filename: str, archive: Path) -> None:
        """The message of a commit comes before its files: they go to a list of blobs first."""
        with self._git.piped(_IMPORT, At(git_dir=self._repository)) as pipe:
            left_out: list[bytes] = []
            listed: list[bytes] = []
            with suppress(BrokenPipeError):  # git gave up: it says why
                for mark, one in enumerate(packed_files(archive, filename), 1):
                    if one.content is None:
                        left_out.append(one.path)
                        continue
                    pipe.stdin.write(b"blob\nmark :%d\ndata %d\n%b\n" % (mark, len(one.content), one.content))
                    listed.append(b"M %b :%d %b\n" % (one.mode.encode("ascii"), mark, _quoted(one.path)))
                message = json.dumps({"left_out": [one.hex() for one in left_out[:_NAMED]]}).encode("ascii")
                pipe.stdin.write(
                    b"commit refs/releases/%b\ncommitter regraft <regraft@localhost> 0 +0000\ndata %d\n%b\n"
                    % (sha256.encode("ascii"), len(message), message)
                )
                pipe.stdin.writelines(listed)
                pipe.stdin.write(b"\ndone\n")
            code, said = pipe.end()
        if code != 0:
            raise failure(Completed(_IMPORT, code, b"", said))


def _quoted(path: bytes) -> bytes:
    """As fast-import takes any path: in quotes, what is not plain ASCII by its octal digits."""
    plain = (bytes([one]) if 32 <= one < 127 and one not in b'"\\' else b"\\%03o" % one for one in path)
    return b'"%b"' % b"".join(plain)
