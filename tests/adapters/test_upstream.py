"""The scratch stores, the files that a filter left out, and what a failing server is called."""

import base64
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.git import Git
from regraft.adapters.upstream import GitUpstream
from regraft.core.objects import Blob, Commit
from regraft.core.resolution import Remote
from regraft.errors import InputError, OutsideError

TOKEN = "s3cret-t0ken"
BASIC = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
Open = Callable[..., GitUpstream]


@pytest.fixture
def open_upstream(machine: dict[str, str], tmp_path: Path, recording_git: Any) -> Iterator[Open]:
    opened: list[Git] = []

    def open_upstream(program: str = "", *, timeout: float = 60, **environ: str) -> GitUpstream:
        git = Git(machine, program=program or recording_git.program, timeout=timeout)
        opened.append(git)
        return GitUpstream(git, tmp_path / "project", environ)

    yield open_upstream
    for git in opened:
        git.__exit__(None, None, None)


@pytest.fixture
def upstream(open_upstream: Open) -> GitUpstream:
    return open_upstream()


@pytest.fixture
def remote(git_server: Any) -> Remote:
    return Remote(f"{git_server.url}/sgl-project/sglang")


def fails(call: Callable[..., object], *arguments: object) -> OutsideError:
    with pytest.raises(OutsideError) as caught:
        call(*arguments)
    assert caught.value.hint
    return caught.value


def in_store(upstream: GitUpstream, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = ["git", "--git-dir", str(upstream.store), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# --- the store ---


def test_files_are_left_out_until_one_batch_brings_them(
    upstream: GitUpstream, make_repository: Any, remote: Remote, recording_git: Any
) -> None:
    up = make_repository()
    commit = up.commit("main", {"a": "a\n", "b": "b\n", "c": "c\n"})
    blobs = [Blob(up.git("rev-parse", f"{commit}:{name}")) for name in "abc"]
    assert upstream.fetch(remote, [commit]).filtered
    assert [in_store(upstream, "cat-file", "-e", blob).returncode for blob in blobs] == [1, 1, 1]
    upstream.fetch_blobs(remote.url, None, [blobs[0], blobs[2], blobs[0]])
    assert [in_store(upstream, "cat-file", "-e", blob).returncode for blob in blobs] == [0, 1, 0]
    assert recording_git.count("fetch") == 2
    upstream.fetch_blobs(remote.url, None, [])
    assert recording_git.count("fetch") == 2


def test_what_would_only_help_comes_in_the_same_batch_or_is_gone_without(
    upstream: GitUpstream, make_repository: Any, remote: Remote, recording_git: Any
) -> None:
    up = make_repository()
    before = up.commit("main", {"a": "a\n", "b": "b\n"})
    commit = up.commit("main", {"a": "A\n", "b": "B\n"})
    a, b, old_a, old_b = (
        Blob(up.git("rev-parse", name)) for name in (f"{commit}:a", f"{commit}:b", f"{before}:a", f"{before}:b")
    )
    upstream.fetch(remote, [commit])
    upstream.fetch_blobs(remote.url, None, [a], [old_a])
    assert [in_store(upstream, "cat-file", "-e", blob).returncode for blob in (a, old_a)] == [0, 0]
    assert recording_git.count("fetch") == 2
    upstream.fetch_blobs(remote.url, None, [b], [Blob("1" * 40), old_b, Blob("2" * 40)])
    assert [in_store(upstream, "cat-file", "-e", blob).returncode for blob in (b, old_b)] == [0, 0]
    assert recording_git.count("fetch") == 5
    upstream.fetch_blobs(remote.url, None, [], [Blob(f"{digit}" * 40) for digit in range(3, 9)])
    assert recording_git.count("fetch") == 9


def test_a_file_that_the_server_does_not_have_is_no_silence(
    upstream: GitUpstream, make_repository: Any, remote: Remote
) -> None:
    make_repository().commit("main")
    assert fails(upstream.fetch_blobs, remote.url, None, ["1" * 40]).code == "missing-blobs"


@pytest.mark.parametrize("filters", ["true", "false"])
def test_files_are_had_from_a_server_that_hands_out_tips_only(
    upstream: GitUpstream, make_repository: Any, git_server: Any, remote: Remote, filters: str
) -> None:
    git_server.protocol = 0
    up = make_repository()
    up.git("config", "uploadpack.allowFilter", filters)
    commit = up.commit("main", {"a": "a\n"})
    blob = Blob(up.git("rev-parse", f"{commit}:a"))
    upstream.fetch(remote, [commit])
    upstream.fetch_blobs(remote.url, None, [blob])
    assert in_store(upstream, "cat-file", "blob", blob).stdout == "a\n"


@pytest.mark.parametrize("refused", ["tree", "blob:none"])
def test_a_server_that_refuses_a_filter_outright_is_asked_without(
    upstream: GitUpstream, make_repository: Any, remote: Remote, refused: str
) -> None:
    up = make_repository()
    up.git("config", f"uploadpackfilter.{refused}.allow", "false")
    old = up.commit("main")
    new = up.commit("main")
    assert upstream.reachable(remote, [Commit(old)]).found == {old}
    assert upstream.fetch(remote, [new]).commits[new] == (new, up.tree(new))


def test_a_missing_file_is_not_fetched_by_itself(upstream: GitUpstream, make_repository: Any, remote: Remote) -> None:
    up = make_repository()
    commit = up.commit("main", {"a": "a\n"})
    upstream.fetch(remote, [commit])
    assert "promisor" not in (upstream.store / "config").read_text()
    assert in_store(upstream, "cat-file", "blob", f"{commit}:a").returncode != 0


def test_two_repositories_share_the_store(upstream: GitUpstream, make_repository: Any, git_server: Any) -> None:
    one, two = make_repository("a/one"), make_repository("b/two")
    first = one.commit("refs/pull/1/head", {"f": "1\n"})
    second = two.commit("refs/pull/1/head", {"f": "2\n"})
    for name, commit in (("a/one", first), ("b/two", second), ("a/one", first)):
        fetched = upstream.fetch(Remote(f"{git_server.url}/{name}"), ["refs/pull/1/head"])
        assert fetched.commits["refs/pull/1/head"][0] == commit
    assert in_store(upstream, "cat-file", "-t", first).stdout == "commit\n"


def test_commits_that_were_fetched_are_no_proof_that_a_ref_leads_to_them(
    upstream: GitUpstream, make_repository: Any, remote: Remote
) -> None:
    up = make_repository()
    tip = up.commit("main")
    stray = Commit(up.git("commit-tree", "-m", "stray", f"{tip}^{{tree}}"))
    assert stray in upstream.fetch(remote, [stray]).commits  # protocol 2 hands out what no ref leads to
    assert upstream.reachable(remote, [stray, Commit(tip)]).found == {tip}


def test_several_missing_ones_do_not_stop_the_rest(upstream: GitUpstream, make_repository: Any, remote: Remote) -> None:
    commit = make_repository().commit("refs/pull/2/head")
    wants = ["refs/pull/1/head", "refs/pull/2/head", "1" * 40, "2" * 40]
    fetched = upstream.fetch(remote, wants)
    assert fetched.missing == {"refs/pull/1/head", "1" * 40, "2" * 40}
    assert fetched.commits["refs/pull/2/head"][0] == commit
    assert upstream.fetch(remote, ["refs/pull/1/head"]).missing == {"refs/pull/1/head"}


def test_a_commit_that_tips_do_not_lead_to_is_missing_from_a_server_that_hands_out_tips_only(
    upstream: GitUpstream, make_repository: Any, git_server: Any, remote: Remote
) -> None:
    git_server.protocol = 0
    tip = make_repository().commit("main")
    fetched = upstream.fetch(remote, [tip, "1" * 40])
    assert fetched.missing == {"1" * 40}
    assert set(fetched.commits) == {tip}


def test_a_users_settings_and_hooks_do_not_reach_the_store_of_an_older_git(
    open_upstream: Open, make_repository: Any, remote: Remote, machine: dict[str, str], old_git: str
) -> None:
    home = Path(machine["HOME"])
    (home / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {home}\n[fetch]\n\tprune = true\n[transfer]\n\tfsckObjects = true\n[protocol]\n\tversion = 0\n"
    )
    hook = home / "reference-transaction"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    up = make_repository()
    old = up.commit("main")
    up.commit("main")
    fetched = open_upstream(old_git).fetch(remote, [old])
    assert set(fetched.commits) == {old}
    assert fetched.notes == ()  # by protocol 2


def test_the_tip_of_the_default_branch_is_asked_for_by_head(upstream: GitUpstream, make_repository: Any) -> None:
    up = make_repository()
    assert upstream.head(Remote("../srv/sgl-project/sglang")) is None
    commit = up.commit("main")
    assert upstream.head(Remote("../srv/sgl-project/sglang")) == commit


# --- local upstreams ---


@pytest.mark.parametrize(
    "form", ["../srv/{0}", "{1}/srv/{0}", "file://{1}/srv/{0}", "../srv/{0}.git", "../srv/../srv/{0}/"]
)
def test_a_path_is_an_upstream_and_is_filtered_as_one(
    upstream: GitUpstream, make_repository: Any, tmp_path: Path, form: str
) -> None:
    up = make_repository("o/r.git" if ".git" in form else "o/r")
    commit = up.commit("main")
    remote = Remote(form.format("o/r", tmp_path))
    assert [tip.commit for tip in upstream.ls_remote(remote)] == [commit]
    fetched = upstream.fetch(remote, [commit])
    assert (set(fetched.commits), fetched.filtered, fetched.notes) == ({commit}, True, ())


@pytest.mark.parametrize("folder", ["with blank", "100%41", "a#b?c", "ünï", "-dash", "a:b", "$(id)", "it's"])
def test_a_paths_characters_are_its_own(upstream: GitUpstream, make_repository: Any, folder: str) -> None:
    up = make_repository(f"{folder}/r")
    commit = up.commit("main")
    assert [tip.commit for tip in upstream.ls_remote(Remote(f"../srv/{folder}/r"))] == [commit]


@pytest.mark.parametrize("age", ["as it is", "before 2.32"])
def test_a_clone_with_a_work_tree_and_a_shallow_one_are_upstreams(
    open_upstream: Open, make_repository: Any, tmp_path: Path, old_git: str, age: str
) -> None:
    up = make_repository()
    old = up.commit("main")
    tip = up.commit("main")
    clone = tmp_path / "srv" / "clone"
    command = ["git", "clone", "--quiet", "--depth=1", "--branch=main", f"file://{up.path}", str(clone)]
    subprocess.run(command, check=True, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    subprocess.run(["git", "config", "uploadpack.allowFilter", "true"], cwd=clone, check=True)
    remote = Remote("../srv/clone")
    upstream = open_upstream(old_git if age == "before 2.32" else "", timeout=10)
    assert set(upstream.fetch(remote, [tip]).commits) == {tip}
    assert upstream.reachable(remote, [Commit(old), Commit(tip)]).found == {tip}


def test_a_local_upstream_of_another_user_is_read(upstream: GitUpstream, make_repository: Any) -> None:
    up = make_repository()
    commit = up.commit("main")
    try:
        subprocess.run(["chown", "-R", "12345:12345", str(up.path)], check=True, capture_output=True)
    except subprocess.CalledProcessError:
        pytest.skip("only root can give a repository away")
    remote = Remote("../srv/sgl-project/sglang")
    assert [tip.commit for tip in upstream.ls_remote(remote)] == [commit]
    assert set(upstream.fetch(remote, [commit]).commits) == {commit}


def test_a_sha256_repository_is_refused_by_name(upstream: GitUpstream, tmp_path: Path) -> None:
    path = tmp_path / "srv" / "sha256"
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    made = subprocess.run(["git", "init", "-q", "--object-format=sha256", str(path)], env=env, check=False)
    if made.returncode != 0:
        pytest.skip("this git makes no sha256 repository")
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "x"]
    subprocess.run(commit, cwd=path, env=env, check=True)
    with pytest.raises(InputError) as caught:
        upstream.fetch(Remote("../srv/sha256"), ["refs/heads/main", "refs/heads/master"])
    assert caught.value.code == "sha256-repository"


# --- logins ---


def test_a_token_reaches_its_server_and_no_command_line(
    open_upstream: Open, make_repository: Any, git_server: Any, recording_git: Any
) -> None:
    git_server.require = BASIC
    up = make_repository()
    commit = up.commit("main", {"a": "a\n"})
    upstream = open_upstream(TOKEN_VARIABLE=f" {TOKEN}\n")
    remote = Remote(f"{git_server.url}/sgl-project/sglang", "TOKEN_VARIABLE")
    assert [tip.commit for tip in upstream.ls_remote(remote)] == [commit]
    upstream.fetch(remote, [commit])
    upstream.fetch_blobs(remote.url, "TOKEN_VARIABLE", [Blob(up.git("rev-parse", f"{commit}:a"))])
    assert TOKEN not in recording_git.log.read_text()
    assert set(git_server.authorizations) == {BASIC}


@pytest.mark.parametrize(
    "case",
    [
        (None, {}, "name a variable that holds a token in `token-env`"),
        ("MY_TOKEN", {}, "MY_TOKEN, which `token-env` names, is not set here"),
        ("MY_TOKEN", {"MY_TOKEN": ""}, "MY_TOKEN, which `token-env` names, is not set here"),
        ("MY_TOKEN", {"MY_TOKEN": "wr0ng-s3cret"}, "whether the token in MY_TOKEN is valid"),
    ],
)
@pytest.mark.parametrize("answer", [401, 403, 404])
def test_a_refused_login_names_the_variable_and_shows_no_token(
    open_upstream: Open, git_server: Any, case: tuple[str | None, dict[str, str], str], answer: int
) -> None:
    token_env, environ, hint = case
    git_server.require, git_server.status = (BASIC, None) if answer == 401 else (None, answer)
    upstream = open_upstream(**environ)
    error = fails(upstream.ls_remote, Remote(f"{git_server.url}/o/private", token_env))
    assert error.code == ("no-such-repository" if answer == 404 else "authentication-failed")
    assert hint in str(error.hint)
    assert error.where == f"{git_server.url}/o/private"
    assert "wr0ng-s3cret" not in str(error)
    assert base64.b64encode(b"x-access-token:wr0ng-s3cret").decode() not in str(error)


def test_private_and_missing_look_alike_and_both_are_said(upstream: GitUpstream, remote: Remote) -> None:
    error = fails(upstream.ls_remote, remote)
    assert error.code == "no-such-repository"
    assert "knows no such repository, or does not show it without a login" in error.message


# --- the outside world ---


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_that_is_ill_is_down(upstream: GitUpstream, git_server: Any, remote: Remote, status: int) -> None:
    git_server.status = status
    assert fails(upstream.ls_remote, remote).code == "upstream-down"


def test_a_server_that_is_not_there_is_down(upstream: GitUpstream) -> None:
    assert fails(upstream.fetch, Remote("http://127.0.0.1:1/o/r"), ["refs/pull/1/head"]).code == "upstream-down"


def test_a_server_that_hangs_up_is_down(upstream: GitUpstream) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        listening.settimeout(0)
        listening.close()
        assert fails(upstream.ls_remote, Remote(f"http://127.0.0.1:{port}/o/r")).code == "upstream-down"


def test_a_server_that_is_slow_is_not_waited_for(open_upstream: Open, git_server: Any, remote: Remote) -> None:
    git_server.delay = 30
    error = fails(open_upstream(timeout=0.5).ls_remote, remote)
    assert (error.code, error.where) == ("upstream-slow", remote.url)


def test_a_web_page_is_no_repository(upstream: GitUpstream, git_server: Any, remote: Remote) -> None:
    git_server.status = 200
    assert fails(upstream.ls_remote, remote).code == "not-a-repository"


@pytest.mark.parametrize("what", ["nothing", "folder", "file", "dangling"])
def test_a_path_without_a_repository_is_named(upstream: GitUpstream, tmp_path: Path, what: str) -> None:
    path = tmp_path / "there"
    if what in {"folder", "dangling"}:
        path.mkdir()
    if what == "dangling":
        (path / ".git").write_text("gitdir: /nonexistent\n")
    if what == "file":
        path.write_text("x")
    error = fails(upstream.ls_remote, Remote("../there"))
    assert error.code == "not-a-repository"
    assert error.where == "../there"


@pytest.mark.parametrize(
    "case",
    [
        ("echo 'error: file write error: No space left on device' >&2; exit 128", "disk-full"),
        ("echo \"fatal: detected dubious ownership in repository at '/x'\" >&2; exit 128", "dubious-ownership"),
        ("echo 'fatal: unable to access x: SSL certificate problem: expired' >&2; exit 128", "tls-failed"),
        ("kill -9 $$", "git-failed"),
        (f"echo 'fatal: sent {TOKEN}' >&2; exit 128", "git-failed"),
    ],
)
def test_what_git_fails_with_has_a_name(
    open_upstream: Open, make_repository: Any, remote: Remote, tmp_path: Path, case: tuple[str, str]
) -> None:
    script, code = case
    program = tmp_path / "failing"
    program.write_text(f'#!/bin/sh\nif [ "$1" = fetch ]; then {script}; fi\nexec git "$@"\n')
    program.chmod(0o755)
    make_repository().commit("main")
    upstream = open_upstream(str(program), MY_TOKEN=TOKEN)
    upstream.ls_remote(remote)
    error = fails(upstream.fetch, Remote(remote.url, "MY_TOKEN"), ["refs/heads/main"])
    assert error.code == code
    assert TOKEN not in str(error)


def test_git_is_looked_at_once_and_before_anything_else(
    upstream: GitUpstream, make_repository: Any, remote: Remote, recording_git: Any
) -> None:
    commit = make_repository().commit("main")
    assert recording_git.calls == []
    upstream.ls_remote(remote)
    upstream.fetch(remote, [commit])
    assert recording_git.calls[0] == ["--version"]
    assert recording_git.count("--version") == 1
