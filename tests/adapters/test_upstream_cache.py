"""Upstreams that are kept from run to run: fetched once, never checked out, whole after every end."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from regraft.adapters.cache_folder import locked
from regraft.adapters.git import Git
from regraft.adapters.object_reader import ObjectReader
from regraft.adapters.upstream_cache import CachedUpstream, UpstreamCache, cache_folder_of
from regraft.core.objects import Blob, Commit
from regraft.core.resolution import Remote
from regraft.errors import InputError, OutsideError, RefusedError


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str, stdin: bytes = b"") -> str: ...
    def commit(self, ref: str, files: dict[str, str] | None = None, *, parent: str | None = None) -> str: ...
    def ref(self, name: str, target: str) -> None: ...
    def drop(self, name: str) -> None: ...


class Server(Protocol):
    url: str
    require: str | None
    authorizations: list[str | None]
    delay: float


class Recording(Protocol):
    program: str

    @property
    def calls(self) -> list[list[str]]: ...
    def count(self, command: str) -> int: ...


Make = Callable[..., Repository]
NAME = "sgl-project/sglang"


@pytest.fixture
def git(machine: dict[str, str]) -> Iterator[Git]:
    with Git(machine) as git:
        yield git


@pytest.fixture
def cache(git: Git, tmp_path: Path) -> UpstreamCache:
    return UpstreamCache(git, tmp_path / "cache", tmp_path, {"TOKEN": "secret"})


def blob_of(git: Git, upstream: CachedUpstream, ref: str, path: bytes) -> tuple[str, bytes | None]:
    with ObjectReader.over(git, upstream.store) as reader:
        version = reader.version(reader.commit(upstream.refs[ref]).tree, path)
        assert version is not None
        return version.oid, reader.blob(version.oid)


def test_a_second_opening_fetches_what_is_new_and_forgets_what_is_gone(
    make_repository: Make, git_server: Server, cache: UpstreamCache
) -> None:
    repository = make_repository(NAME)
    first = repository.commit("main", {"f": "one\n"})
    repository.ref("refs/heads/gone", first)
    remote = Remote(f"{git_server.url}/{NAME}")
    opened = cache.open(remote)
    assert opened.refs == {"refs/heads/main": first, "refs/heads/gone": first}
    assert opened.partial
    second = repository.commit("main", {"f": "two\n"})
    repository.git("tag", "-a", "-m", "t", "v1", second)
    repository.git("update-ref", "-d", "refs/heads/gone")
    assert cache.open(remote, refresh=False).refs == opened.refs
    assert cache.open(remote).refs == {"refs/heads/main": second, "refs/tags/v1": second}
    forced = repository.commit("main", {"f": "three\n"}, parent=first)
    assert cache.open(remote).refs["refs/heads/main"] == forced


def test_files_come_in_one_batch_when_they_are_needed(
    make_repository: Make, git_server: Server, machine: dict[str, str], tmp_path: Path, recording_git: Recording
) -> None:
    repository = make_repository(NAME)
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.commit("main", {"f": "one\n", "g": "two\n"})
    with Git(machine, program=recording_git.program) as git:
        cache = UpstreamCache(git, tmp_path / "cache", tmp_path, {})
        upstream = cache.open(Remote(f"{git_server.url}/{NAME}"))
        (f, nothing), (g, _) = (blob_of(git, upstream, "refs/heads/main", name) for name in (b"f", b"g"))
        assert nothing is None
        before = recording_git.count("fetch")
        with ObjectReader.over(git, upstream.store) as reader:
            cache.fetch_blobs(upstream, [Blob(f), Blob(g), Blob(f)])
            assert (reader.blob(f), reader.blob(g)) == (b"one\n", b"two\n")  # by the process that already ran
        assert recording_git.count("fetch") == before + 1
        assert not any(call[0] in ("checkout", "clone", "read-tree") for call in recording_git.calls)
    with Git(machine) as later:
        again = UpstreamCache(later, tmp_path / "cache", tmp_path, {}).open(Remote(f"{git_server.url}/{NAME}"))
        assert blob_of(later, again, "refs/heads/main", b"f") == (f, b"one\n")


def test_a_file_that_nobody_has_is_said_to_be_missing(
    make_repository: Make, git_server: Server, cache: UpstreamCache
) -> None:
    repository = make_repository(NAME)
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.commit("main", {"f": "one\n"})
    upstream = cache.open(Remote(f"{git_server.url}/{NAME}"))
    with pytest.raises(OutsideError) as caught:
        cache.fetch_blobs(upstream, [Blob("1" * 40)])
    assert caught.value.code == "missing-blobs"
    assert "cannot decide: blob missing" in caught.value.message


def test_a_path_is_read_where_it_is_and_not_written_to(
    make_repository: Make, git: Git, cache: UpstreamCache, tmp_path: Path, picture: Callable[..., object]
) -> None:
    repository = make_repository(NAME)
    commit = repository.commit("main", {"f": "one\n"})
    work = tmp_path / "work"
    subprocess.run(["git", "clone", "--quiet", str(repository.path), str(work)], check=True)
    for path in (repository.path, work):
        before = picture(path)
        upstream = cache.open(Remote(str(path)))
        assert upstream.refs == {"refs/heads/main": commit}
        assert not upstream.partial
        assert blob_of(git, upstream, "refs/heads/main", b"f")[1] == b"one\n"
        assert picture(path) == before
    assert cache.open(Remote("work")).refs == {"refs/heads/main": commit}  # relative to the project


def test_a_folder_without_a_repository_is_an_error_of_the_input(cache: UpstreamCache, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        cache.open(Remote(str(tmp_path)))
    assert caught.value.code == "not-a-repository"


def test_pull_refs_come_when_they_are_asked_for(
    make_repository: Make, git_server: Server, cache: UpstreamCache
) -> None:
    repository = make_repository(NAME)
    repository.commit("main")
    head = repository.commit("refs/pull/12/head", {"f": "pull\n"})
    for remote in (Remote(f"{git_server.url}/{NAME}"), Remote(str(repository.path))):
        assert "refs/pull/12/head" not in cache.open(remote).refs
        found = cache.open(remote, extra=["refs/pull/12/head"])
        assert found.refs["refs/pull/12/head"] == head
        assert [tip.name for tip in found.tips] == ["refs/heads/main"]


def test_a_token_goes_to_the_server_and_nowhere_else(
    make_repository: Make, git_server: Server, cache: UpstreamCache, tmp_path: Path
) -> None:
    make_repository(NAME).commit("main")
    git_server.require = "Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0"
    assert "refs/heads/main" in cache.open(Remote(f"{git_server.url}/{NAME}", "TOKEN")).refs
    held = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert b"secret" not in held
    assert b"eC1hY2Nlc3" not in held


def test_without_a_network_what_was_fetched_is_there_or_it_is_said(cache: UpstreamCache) -> None:
    with pytest.raises(OutsideError) as caught:
        cache.open(Remote("https://example.org/o/r"), refresh=False)
    assert caught.value.code == "not-cached"


def test_what_a_killed_fetch_left_is_no_trouble(
    make_repository: Make, git_server: Server, cache: UpstreamCache, git: Git
) -> None:
    repository = make_repository(NAME)
    repository.commit("main", {"f": "one\n"})
    remote = Remote(f"{git_server.url}/{NAME}")
    store = cache.open(remote).folder
    (store / "commits.git/objects/pack/tmp_pack_abc").write_bytes(b"half a pack")
    (store / "commits.git/refs/heads/main.lock").write_bytes(b"")
    (store / "commits.git/packed-refs.lock").write_bytes(b"")
    (store / "commits.git/config").write_bytes(b'[remote "x"]\n\tpromisor = tr')
    (store / ".files.git.0123").mkdir()
    newer = repository.commit("main", {"f": "two\n"})
    assert cache.open(remote).refs == {"refs/heads/main": newer}
    assert not list(store.rglob("*.lock"))
    assert not list(store.rglob("tmp_pack*"))
    assert sorted(path.name for path in store.iterdir()) == ["commits.git", "files.git", "lock"]


OPENER = """\
import os, sys
from pathlib import Path
from regraft.adapters.git import Git
from regraft.adapters.upstream_cache import UpstreamCache
from regraft.core.resolution import Remote
with Git(dict(os.environ)) as git:
    print(UpstreamCache(git, Path(sys.argv[1]), Path("/"), {}).open(Remote(sys.argv[2])).refs["refs/heads/main"])
"""


def opener(tmp_path: Path, url: str, machine: dict[str, str]) -> "subprocess.Popen[bytes]":
    argv = [sys.executable, "-c", OPENER, str(tmp_path / "cache"), url]
    return subprocess.Popen(argv, env=machine, stdout=subprocess.PIPE, start_new_session=True)


@pytest.mark.parametrize("moment", [0.2, 0.35, 0.5])
def test_killed_at_any_moment_it_leaves_nothing_broken(  # noqa: PLR0917 - fixtures
    make_repository: Make,
    git_server: Server,
    tmp_path: Path,
    machine: dict[str, str],
    cache: UpstreamCache,
    moment: float,
) -> None:
    repository = make_repository(NAME)
    commit = repository.commit("main", {f"f{number}": f"{number}\n" * 50 for number in range(50)})
    git_server.delay = 0.03
    victim = opener(tmp_path, f"{git_server.url}/{NAME}", machine)
    time.sleep(moment)
    victim.kill()
    victim.communicate()
    git_server.delay = 0.0
    assert cache.open(Remote(f"{git_server.url}/{NAME}")).refs == {"refs/heads/main": commit}


def test_two_at_once_wait_for_each_other(
    make_repository: Make, git_server: Server, tmp_path: Path, machine: dict[str, str]
) -> None:
    commit = make_repository(NAME).commit("main")
    git_server.delay = 0.02
    both = [opener(tmp_path, f"{git_server.url}/{NAME}", machine) for _ in range(3)]
    assert [process.communicate()[0].decode().strip() for process in both] == [commit] * 3


def test_a_lock_that_is_held_too_long_is_said(
    make_repository: Make, git_server: Server, git: Git, tmp_path: Path
) -> None:
    make_repository(NAME).commit("main")
    remote = Remote(f"{git_server.url}/{NAME}")
    patient = UpstreamCache(git, tmp_path / "cache", tmp_path, {})
    held = threading.Event()
    free = threading.Event()

    def hold() -> None:
        with locked(patient._own(remote), 5):
            held.set()
            free.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    try:
        with pytest.raises(OutsideError) as caught:
            UpstreamCache(git, tmp_path / "cache", tmp_path, {}, wait=0.1).open(remote)
    finally:
        free.set()
        thread.join()
    assert caught.value.code == "locked"


def test_a_cache_that_others_may_write_to_is_refused(cache: UpstreamCache, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    with pytest.raises(RefusedError) as caught:
        cache.open(Remote("https://example.org/o/r"))
    assert caught.value.code == "cache-not-ours"


def test_the_cache_is_where_the_variables_say(tmp_path: Path) -> None:
    assert cache_folder_of({"REGRAFT_CACHE": "/c/x", "HOME": "/h"}) == Path("/c/x")
    assert cache_folder_of({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/regraft")
    assert cache_folder_of({"HOME": "/h"}) == Path("/h/.cache/regraft")
    assert cache_folder_of({"REGRAFT_CACHE": "c"}) == Path(os.getcwd(), "c")


def test_two_urls_have_two_folders(cache: UpstreamCache) -> None:
    names = {
        cache._own(Remote(url)).name for url in ("https://a.org/o/r", "https://b.org/o/r", "https://a.org/o/r.git")
    }
    assert len(names) == 3
    assert all(name.startswith("r-") for name in names)


def test_a_commit_is_a_commit(make_repository: Make, cache: UpstreamCache) -> None:
    """A branch that names a tree is no ref that anybody could follow."""
    repository = make_repository(NAME)
    commit = Commit(repository.commit("main"))
    repository.git("tag", "tree", f"{commit}^{{tree}}")
    assert [tip.commit for tip in cache.open(Remote(str(repository.path))).tips if tip.name == "refs/heads/main"] == [
        commit
    ]
