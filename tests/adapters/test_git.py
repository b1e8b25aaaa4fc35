"""Git answers alike on every machine: whatever its user, its system and its environment are set to."""

import base64
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.git import At, Git
from regraft.errors import OutsideError

HOSTILE = """\
[core]
\tautocrlf = true
\thooksPath = {home}/hooks
\tattributesFile = {home}/attributes
\tfsmonitor = {home}/monitor
\tsshCommand = my-ssh
[apply]
\twhitespace = fix
[alias]
\tbanner = "!touch {home}/alias-ran"
[commit]
\tgpgSign = true
[user]
\tname = Somebody
\temail = somebody@example.org
[fetch]
\tprune = true
[credential]
\thelper =
\thelper = store
[http "https://proxied.example/"]
\tproxy = http://proxy.example:3128
\tsslVerify
[url "file://{srv}/"]
\tinsteadOf = https://mirror.example/
"""


@pytest.fixture
def hostile(machine: dict[str, str], tmp_path: Path) -> dict[str, str]:
    home = Path(machine["HOME"])
    (home / ".gitconfig").write_text(HOSTILE.format(home=home, srv=tmp_path / "srv"))
    (home / "attributes").write_text("* text=auto eol=crlf\n")
    (home / "hooks").mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        hook = home / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {home}/hook-ran\n")
        hook.chmod(0o755)
    return machine


@pytest.fixture(params=["as it is", "before 2.32"])
def git(request: pytest.FixtureRequest, hostile: dict[str, str], old_git: str) -> Iterator[Git]:
    program = old_git if request.param == "before 2.32" else "git"
    with Git(hostile, program=program, timeout=60) as git:
        yield git


def words(git: Git, *arguments: str, at: At | None = None, stdin: bytes = b"", **env: str) -> str:
    done = git.run(arguments, at or At(), stdin=stdin, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_checkout_writes_the_bytes_that_the_tree_holds_and_runs_no_hook(
    git: Git, make_repository: Any, hostile: dict[str, str], tmp_path: Path
) -> None:
    up = make_repository()
    commit = up.commit("main", {"unix.txt": "a\nb\n"})
    tree = tmp_path / "tree"
    tree.mkdir()
    git.trust(up.path)
    at = At(git_dir=up.path, work_tree=tree, index=tmp_path / "index")
    words(git, "read-tree", commit, at=at)
    words(git, "checkout-index", "--all", at=at)
    words(git, "update-ref", "refs/heads/mine", commit, at=at)
    assert (tree / "unix.txt").read_bytes() == b"a\nb\n"
    assert sorted(path.name for path in Path(hostile["HOME"]).iterdir()) == [".gitconfig", "attributes", "hooks"]


def test_a_patch_with_blanks_at_line_ends_is_applied_as_it_is(git: Git, make_repository: Any, tmp_path: Path) -> None:
    """`apply.whitespace=fix` on a machine would change the result."""
    up = make_repository()
    commit = up.commit("main", {"f": "one\n"})
    patch = b"--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n one\n+two  \n"
    at = At(git_dir=up.path, index=tmp_path / "index")
    words(git, "read-tree", commit, at=at)
    words(git, "apply", "--cached", at=at, stdin=patch)
    assert words(git, "cat-file", "blob", ":f", at=at) == "one\ntwo  \n"


def test_the_machines_settings_and_identity_are_not_seen(git: Git, make_repository: Any) -> None:
    up = make_repository()
    up.commit("main")
    listed = words(git, "config", "--list", at=At(git_dir=up.path))
    assert "somebody" not in listed.lower()
    assert "alias." not in listed
    assert "insteadof" not in listed
    assert "user.name=regraft" in listed
    assert git.run(["banner"]).returncode != 0


@pytest.mark.parametrize(
    "variables",
    [
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Env"},
        {"GIT_CONFIG_PARAMETERS": "'user.name=Env'"},
        {"GIT_AUTHOR_NAME": "Env", "GIT_COMMITTER_NAME": "Env"},
        {"GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent"},
        {"GIT_NAMESPACE": "elsewhere", "GIT_OBJECT_DIRECTORY": "/nonexistent", "GIT_REPLACE_REF_BASE": "refs/heads/"},
        {"GIT_TRACE": "1", "GIT_EXTERNAL_DIFF": "false", "GIT_PAGER": "false", "LC_ALL": "de_DE.UTF-8"},
        {"XDG_CONFIG_HOME": "/nonexistent", "LANG": "de_DE.UTF-8", "LANGUAGE": "de"},
    ],
)
def test_the_machines_variables_change_nothing(
    machine: dict[str, str], make_repository: Any, variables: dict[str, str]
) -> None:
    up = make_repository()
    commit = up.commit("main")
    with Git({**machine, **variables}) as git:
        git.trust(up.path)
        done = git.run(["var", "GIT_COMMITTER_IDENT"], At(git_dir=up.path))
        assert done.stdout.startswith(b"regraft <regraft@localhost>")
        assert done.stderr == b""
        assert words(git, "rev-parse", "refs/heads/main", at=At(git_dir=up.path)).strip() == commit
        said = git.run_remote(["ls-remote", "--", f"file://{up.path}"], url="")
        assert commit in said.stdout.decode()


@pytest.mark.parametrize("git", ["as it is"], indirect=True)  # before 2.32 git itself reads the user's file, too
def test_what_reaches_a_remote_is_carried_and_nothing_else(git: Git) -> None:
    listed = git.run_remote(["config", "--list"], url="https://h/o/r").stdout.decode()
    assert "credential.helper=\ncredential.helper=store\n" in listed
    assert "http.https://proxied.example/.proxy=http://proxy.example:3128" in listed
    assert "insteadof=https://mirror.example/" in listed
    assert listed.index("core.sshcommand=ssh -o BatchMode=yes") < listed.index("core.sshcommand=my-ssh")
    assert "alias." not in listed
    assert "somebody" not in listed.lower()
    verify = git.run_remote(["config", "--type=bool", "http.https://proxied.example/.sslVerify"], url="https://h/o/r")
    assert verify.stdout == b"true\n"


def test_a_url_that_the_machine_redirects_is_redirected(git: Git, make_repository: Any) -> None:
    commit = make_repository("o/r").commit("main")
    url = "https://mirror.example/o/r"
    done = git.run_remote(["ls-remote", "--heads", "--", url], url=url)
    assert done.stdout.decode() == f"{commit}\trefs/heads/main\n"
    assert git.run(["ls-remote", "--heads", "--", url]).returncode != 0


def test_settings_from_the_environment_are_carried_too(machine: dict[str, str], make_repository: Any) -> None:
    up = make_repository("o/r")
    commit = up.commit("main")
    variables = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{up.path.parent}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://o.example/",
    }
    with Git({**machine, **variables}) as git:
        done = git.run_remote(["ls-remote", "--heads", "--", "https://o.example/r"], url="https://o.example/r")
    assert done.stdout.decode().startswith(commit)


def test_a_configuration_that_git_cannot_read_is_no_empty_one(machine: dict[str, str]) -> None:
    (Path(machine["HOME"]) / ".gitconfig").write_text("[broken\n")
    with Git(machine) as git, pytest.raises(OutsideError) as caught:
        git.run_remote(["ls-remote", "--", "https://h/o/r"], url="https://h/o/r")
    assert caught.value.code == "bad-git-config"


def test_a_token_is_in_no_file_and_on_no_command_line(machine: dict[str, str], recording_git: Any) -> None:
    home = Path(machine["HOME"])
    (home / ".gitconfig").write_text('[url "https://u:h1dden@h.example/"]\n\tinsteadOf = https://short.example/\n')
    with Git(machine, program=recording_git.program) as git:
        url = "https://h.example/o/r"
        listed = git.run_remote(["config", "--list", "--show-origin"], url=url, token="s3cret-t0ken").stdout.decode()
        [line] = [line for line in listed.splitlines() if "extraheader" in line]
        assert "http.https://h.example/.extraheader=Authorization: Basic " in line
        basic = line.rpartition(" ")[2]
        assert base64.b64decode(basic) == b"x-access-token:s3cret-t0ken"
        assert "url.https://u:h1dden@h.example/.insteadof=https://short.example/" in listed
        written = b"".join(path.read_bytes() for path in git.folder.rglob("*") if path.is_file())
        assert b"[core]" in written
        assert [word for word in ("s3cret", basic, "h1dden") if word.encode() in written] == []
        assert git.folder.stat().st_mode & 0o077 == 0
        assert "extraheader" not in git.run_remote(["config", "--list"], url=url).stdout.decode()
        assert "extraheader" not in words(git, "config", "--list")
    assert "s3cret" not in recording_git.log.read_text()


def test_settings_of_any_spelling_are_carried_as_they_are(machine: dict[str, str]) -> None:
    helper = '!f() { echo "it\'s"; }; f'
    config = Path(machine["HOME"]) / ".gitconfig"
    for key, value in (("credential.helper", helper), ("url.https://a/?b=c.insteadOf", "x:"), ("http.proxy", "a\nb")):
        env = {"PATH": machine["PATH"], "HOME": machine["HOME"]}
        subprocess.run(["git", "config", "--file", str(config), "--add", key, value], check=True, env=env)
    with config.open("a") as stream:
        stream.write("[http]\n\tsslVerify\n")
    with Git(machine) as git:
        listed = git.run_remote(["config", "--list", "--null"], url="https://h/o/r").stdout.decode().split("\0")
    wanted = {f"credential.helper\n{helper}", "url.https://a/?b=c.insteadof\nx:", "http.proxy\na\nb", "http.sslverify"}
    assert wanted - set(listed) == set()


@pytest.mark.parametrize("url", ["ext::sh -c 'touch pwned'", "fd::17", "foo::bar", "foo://x/y"])
def test_a_url_cannot_choose_a_program_to_run(git: Git, url: str, tmp_path: Path) -> None:
    for run in (git.run(["ls-remote", "--", url]), git.run_remote(["ls-remote", "--", url], url=url)):
        assert run.returncode == 128
        assert b"not allowed" in run.stderr
    assert not list(git.folder.rglob("pwned"))


def test_a_local_call_fetches_nothing_behind_the_callers_back(git: Git, make_repository: Any, tmp_path: Path) -> None:
    """A partial clone would fetch what is missing: a verdict must not depend on a server."""
    up = make_repository()
    commit = up.commit("main", {"f": "x\n"})
    clone = tmp_path / "partial.git"
    command = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{up.path}", str(clone)]
    subprocess.run(command, check=True, env={"PATH": git._machine["PATH"], "HOME": "/nonexistent"})
    assert git.run(["cat-file", "blob", f"{commit}:f"], At(git_dir=clone)).returncode != 0


def test_a_local_call_speaks_to_no_server(git: Git, make_repository: Any) -> None:
    up = make_repository()
    up.commit("main")
    assert b"not allowed" in git.run(["ls-remote", "--", f"file://{up.path}"]).stderr


def test_a_repository_of_another_user_is_read_where_it_is_the_one_at_hand(
    git: Git, make_repository: Any, tmp_path: Path
) -> None:
    up = make_repository()
    commit = up.commit("main")
    try:
        for path in [up.path, *up.path.rglob("*")]:
            path.touch()
            subprocess.run(["chown", "12345:12345", str(path)], check=True, capture_output=True)
    except subprocess.CalledProcessError:
        pytest.skip("only root can give a repository away")
    at = At(cwd=up.path)
    assert b"dubious ownership" in git.run(["rev-parse", "refs/heads/main"], at).stderr
    link = tmp_path / "link"
    link.symlink_to(up.path)
    git.trust(link)
    assert words(git, "rev-parse", "refs/heads/main", at=at).strip() == commit
    done = git.run_remote(["ls-remote", "--", f"file://{link}"], url="")
    assert commit in done.stdout.decode()


def test_a_folder_inside_somebodys_repository_is_not_taken_for_it(
    machine: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = tmp_path / "around"
    around.mkdir()
    subprocess.run(
        ["git", "init", "--quiet", str(around)], check=True, env={"PATH": machine["PATH"], "HOME": "/nonexistent"}
    )
    (around / ".git" / "config").write_text(
        '[url "file:///"]\n\tinsteadOf = https://stolen.example/\n[core]\n\tbare=false\n'
    )
    monkeypatch.setenv("TMPDIR", str(around))
    with Git(machine) as git:
        assert git.folder.is_relative_to(around)
        assert git.run(["rev-parse", "--git-dir"]).returncode == 128
        assert b"stolen" not in git.run_remote(["config", "--list"], url="").stdout


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("git version 2.24.4", "old-git"),
        ("git version 1.9", "old-git"),
        ("gut version 2.40.0", "not-git"),
        ("", "not-git"),
    ],
)
def test_a_git_that_cannot_do_the_work_is_named(
    machine: dict[str, str], tmp_path: Path, answer: str, code: str
) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho '{answer}'\n")
    program.chmod(0o755)
    with Git(machine, program=str(program)) as git, pytest.raises(OutsideError) as caught:
        git.version()
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("answer", "version"), [("2.25.0", (2, 25, 0)), ("2.47.1.windows.2", (2, 47, 1)), ("3.0-rc1", (3, 0, 0))]
)
def test_versions_as_git_writes_them(
    machine: dict[str, str], tmp_path: Path, answer: str, version: tuple[int, ...]
) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho 'git version {answer}'\n")
    program.chmod(0o755)
    with Git(machine, program=str(program)) as git:
        assert git.version() == version


def test_a_missing_git_is_named(machine: dict[str, str], tmp_path: Path) -> None:
    with Git({**machine, "PATH": str(tmp_path)}) as git, pytest.raises(OutsideError) as caught:
        git.version()
    assert caught.value.code == "missing-program"


def test_two_at_once_have_folders_of_their_own_that_go_away(machine: dict[str, str]) -> None:
    with Git(machine) as one, Git(machine) as two:
        folders = {one.folder, two.folder}
        assert len(folders) == 2
    assert not any(folder.exists() for folder in folders)
