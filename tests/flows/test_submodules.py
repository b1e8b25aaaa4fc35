"""Submodules of a pin, with real repositories: each at its commit, however deep, or a refusal by name."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

from regraft.adapters.git import Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.submodule_fetch import SubmoduleFetch
from regraft.adapters.upstream import GitUpstream
from regraft.core.objects import Blob, Commit
from regraft.core.resolution import Remote
from regraft.errors import InputError, MistakesError, OutsideError
from regraft.flows.submodules import Submodule, check_submodules

ABSENT = "1" * 40


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str, stdin: bytes = b"") -> str: ...
    def commit(self, ref: str, files: dict[str, str] | None = None, *, parent: str | None = None) -> str: ...
    def ref(self, name: str, target: str) -> None: ...


class MakeRepository(Protocol):
    def __call__(self, name: str = ...) -> Repository: ...


class Server(Protocol):
    url: str
    require: str | None
    authorizations: list[str | None]


def section(path: str, url: str, *more: str, name: str | None = None) -> str:
    return "\n\t".join([f'[submodule "{name or path}"]', f"path = {path}", f"url = {url}", *more]) + "\n"


def with_links(repository: Repository, modules: str | None, links: dict[str, str], *, mode: str = "100644") -> Commit:
    """A commit on main that holds a file, `.gitmodules` and gitlinks."""
    rows = [(mode, "blob", ".gitmodules", modules)] if modules is not None else []
    rows.append(("100644", "blob", "file", "content\n"))
    listing = b""
    for row_mode, kind, path, text in rows:
        oid = repository.git("hash-object", "-w", "--stdin", stdin=(text or "").encode())
        listing += f"{row_mode} {kind} {oid}\t{path}\0".encode()
    folders: dict[str, bytes] = {}
    for path, commit in links.items():
        folder, _, name = path.rpartition("/")
        folders[folder] = folders.get(folder, b"") + f"160000 commit {commit}\t{name}\0".encode()
    for folder, rows_below in folders.items():
        if folder:
            tree = repository.git("mktree", "-z", "--missing", stdin=rows_below)
            listing += f"040000 tree {tree}\t{folder}\0".encode()
        else:
            listing += rows_below
    tree = repository.git("mktree", "-z", "--missing", stdin=listing)
    name = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    commit = repository.git(*name, "commit-tree", "-m", "m", tree)
    repository.ref("refs/heads/main", commit)
    return Commit(commit)


@dataclass
class World:
    """An upstream that was fetched from a server, and the fetch that a gate uses."""

    url: str
    upstream: GitUpstream
    store: ObjectStore
    tried: list[str] = field(default_factory=list)

    def check(self, commit: Commit, name: str = "o/up", *, token_env: str | None = None) -> tuple[Submodule, ...]:
        remote = Remote(f"{self.url}/{name}", token_env)
        self.upstream.fetch(remote, [commit])
        return check_submodules(remote.url, commit, self.store, SubmoduleFetch(self.upstream, [remote]))


@pytest.fixture
def world(machine: dict[str, str], tmp_path: Path, git_server: Server) -> Iterator[World]:
    with Git(machine) as git:
        upstream = GitUpstream(git, tmp_path, {"TOKEN": "secret"})
        yield World(git_server.url, upstream, ObjectStore(git, upstream.store))


def allow_hashes(repository: Repository) -> Repository:
    repository.git("config", "uploadpack.allowReachableSHA1InWant", "true")
    return repository


def test_a_tree_without_submodules_asks_nobody(make_repository: MakeRepository, world: World) -> None:
    assert world.check(Commit(make_repository("o/up").commit("main"))) == ()


def test_submodules_within_submodules_by_relative_and_absolute_addresses(
    make_repository: MakeRepository, world: World
) -> None:
    up, inner, deep = (allow_hashes(make_repository(name)) for name in ("o/up", "o/inner", "p/deep"))
    deepest = Commit(deep.commit("main"))
    deep.commit("main")  # the commit that is wanted is no tip
    middle = with_links(inner, section("deep dir", "../../p/deep"), {"deep dir": deepest})
    commit = with_links(up, section("third/inner", f"{world.url}/o/inner"), {"third/inner": middle})
    assert world.check(commit) == (
        Submodule("third/inner", f"{world.url}/o/inner", middle),
        Submodule("third/inner/deep dir", f"{world.url}/p/deep", deepest),
    )


def test_a_commit_that_was_never_pushed_names_submodule_hash_and_address(
    make_repository: MakeRepository, world: World
) -> None:
    """https://github.com/gnudatalanguage/gdl/issues/1801: the commit existed in a fork only."""
    make_repository("o/sub").commit("main")
    only_there = make_repository("fork/sub").commit("main", {"x": "only in the fork"})
    commit = with_links(make_repository("o/up"), section("lib/sub", "../sub"), {"lib/sub": only_there})
    with pytest.raises(InputError) as caught:
        world.check(commit)
    assert caught.value.code == "submodule-missing"
    for part in ("'lib/sub'", only_there, f"{world.url}/o/sub"):
        assert part in caught.value.message


def test_everything_that_is_wrong_is_said_at_once_and_without_a_place_of_its_own(
    make_repository: MakeRepository, world: World
) -> None:
    make_repository("o/sub").commit("main")
    links = {"a": ABSENT, "b": "2" * 40, "c": ABSENT}
    commit = with_links(
        make_repository("o/up"), section("a", "../sub") + section("b", "../sub") + section("c", "ext::x"), links
    )
    with pytest.raises(MistakesError) as caught:
        world.check(commit)
    assert [(one.code, one.where) for one in caught.value.mistakes] == [
        ("submodule-missing", None),
        ("submodule-missing", None),
        ("submodule-refused", None),
    ]
    assert all(f"{world.url}/o/" in one.message for one in caught.value.mistakes)


def test_a_submodule_of_a_submodule_is_named_by_its_whole_path(make_repository: MakeRepository, world: World) -> None:
    inner = make_repository("o/inner")
    make_repository("o/deep").commit("main")
    middle = with_links(inner, section("deep", "../deep"), {"deep": ABSENT})
    commit = with_links(make_repository("o/up"), section("inner", "../inner"), {"inner": middle})
    with pytest.raises(InputError) as caught:
        world.check(commit)
    assert "'inner/deep'" in caught.value.message


def test_a_server_that_has_no_such_repository_is_an_error_that_names_the_submodule(
    make_repository: MakeRepository, world: World
) -> None:
    commit = with_links(make_repository("o/up"), section("s", "../nowhere"), {"s": ABSENT})
    with pytest.raises(OutsideError) as caught:
        world.check(commit)
    assert "submodule 's'" in caught.value.message


@pytest.mark.parametrize(
    ("modules", "links", "says"),
    [
        (None, ["s"], ["'s'", "no section for it"]),
        (section("other", "../sub"), ["s"], ["no section for it"]),
        (section("s", "ext::sh -c touch%"), ["s"], ["helper program", "ext::sh"]),
        (section("s", "-u./payload"), ["s"], ["begins with a dash"]),
        (section("s", "../../../x"), ["s"], ["more steps up"]),
        (section("s", "/etc"), ["s"], ["path on this machine"]),
        (section("s", "../sub", "update = !touch /tmp/x"), ["s"], ["wants a command to be run"]),
        (section("s", "../sub", name="../../.git/hooks"), ["s"], ["is not one that git takes safely"]),
        (section("-s", "../sub"), ["-s"], ["begins with a dash"]),
        (section("s", "../sub", "url = ../other"), ["s"], ["two values for url"]),
        ("[broken\n", ["s"], ["'.gitmodules' of http", "cannot be read"]),
        (section("s", "ext::x") + section("t", "-t"), ["s", "t"], ["helper program", "begins with a dash"]),
    ],
)
def test_what_must_not_be_followed_is_refused_by_name(
    modules: str | None, links: list[str], says: list[str], make_repository: MakeRepository, world: World
) -> None:
    commit = with_links(make_repository("o/up"), modules, dict.fromkeys(links, ABSENT))
    with pytest.raises(InputError) as caught:
        world.check(commit)
    assert caught.value.code == "submodule-refused"
    assert isinstance(caught.value, MistakesError) == (len(links) > 1)
    for part in says:
        assert part in str(caught.value)


def test_gitmodules_that_is_a_link_is_refused(make_repository: MakeRepository, world: World) -> None:
    commit = with_links(make_repository("o/up"), "../../etc/passwd", {"s": ABSENT}, mode="120000")
    with pytest.raises(InputError) as caught:
        world.check(commit)
    assert "not a regular file" in caught.value.message


def test_a_section_that_git_never_updates_is_left_out(make_repository: MakeRepository, world: World) -> None:
    assert (
        world.check(with_links(make_repository("o/up"), section("s", "../sub", "update = none"), {"s": ABSENT})) == ()
    )


class Nothing:
    """A server that hands out whatever is asked for, without end: every commit is the same one with itself inside."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def commit(self, url: str, commit: Commit) -> bool:
        self.asked.append(f"{url} {commit}")
        return True

    def blobs(self, url: str, blobs: Sequence[Blob]) -> None:
        raise AssertionError((url, blobs))


def test_depth_and_number_are_bounded(make_repository: MakeRepository, machine: dict[str, str]) -> None:
    repository = make_repository("o/up")
    inner = Commit(repository.commit("main"))
    chain = [inner]
    for _ in range(10):
        chain.append(with_links(repository, section("s", "../up"), {"s": chain[-1]}))
    wide = {f"s{number}": inner for number in range(257)}
    many = with_links(repository, "".join(section(name, "../up") for name in wide), wide)
    with Git(machine) as git:
        store = ObjectStore(git, repository.path)
        fetch = Nothing()
        assert len(check_submodules("https://h/o/up", chain[8], store, fetch)) == 8
        assert fetch.asked == [f"https://h/o/up {commit}" for commit in reversed(chain[:8])]
        for commit in (chain[9], many):
            with pytest.raises(InputError) as caught:
                check_submodules("https://h/o/up", commit, store, Nothing())
            assert caught.value.code == "submodule-refused"


def test_a_token_goes_to_its_own_server_only(
    make_repository: MakeRepository, machine: dict[str, str], tmp_path: Path
) -> None:
    with Git(machine) as git:
        fetch = SubmoduleFetch(GitUpstream(git, tmp_path, {}), [Remote("https://h/o/up", "TOKEN")])
        named = {url: fetch._remote(url).token_env for url in ("https://h/o/up", "https://H/p/x", "https://other/o/up")}
        assert named == {"https://h/o/up": "TOKEN", "https://H/p/x": "TOKEN", "https://other/o/up": None}
        assert fetch._remote("http://h/o/up").token_env is None
        assert fetch._remote("ssh://h/o/up").token_env is None


def test_a_private_upstreams_gitmodules_is_fetched_with_its_token(
    make_repository: MakeRepository, world: World, git_server: Server
) -> None:
    commit = with_links(make_repository("o/up"), section("s", "../sub", "update = none"), {"s": ABSENT})
    git_server.require = "Basic " + base64.b64encode(b"x-access-token:secret").decode()
    assert world.check(commit, token_env="TOKEN") == ()
    with pytest.raises(OutsideError):
        world.check(commit)
