"""Refs to pins, over real repositories and a real server."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from regraft.adapters.git import Git
from regraft.adapters.upstream import GitUpstream
from regraft.core import remote_failures
from regraft.core.manifest import Dependency
from regraft.core.objects import Commit
from regraft.core.refs import HashRef, NameRef, PullRef, Ref, Repository
from regraft.errors import InputError, MistakesError, OutsideError
from regraft.flows.resolve import Pin, Wanted, resolve

OWN = Dependency(
    name="sglang",
    url="",
    branch="main",
    directive="ci-sglang-pr",
    allow=(),
    token_env=None,
    lock=None,
)
Resolve = Callable[..., list[Pin]]


def name(text: str, kind: str = "any") -> Ref:
    return Ref(text, NameRef(text, kind))


def pull(number: int, head: str | None = None) -> Ref:
    return Ref(f"#{number}", PullRef(number, head=head))


def digits(text: str) -> Ref:
    return Ref(text, HashRef(text))


@pytest.fixture
def upstream(machine: dict[str, str], recording_git: Any, tmp_path: Path) -> Iterator[GitUpstream]:
    with Git(machine, program=recording_git.program, timeout=60) as git:
        yield GitUpstream(git, tmp_path, machine)


@pytest.fixture
def ask(upstream: GitUpstream, request: pytest.FixtureRequest) -> Resolve:
    """Resolve refs, commits or None, all of one dependency; a `Wanted` stands for itself.

    Over HTTP where the test names the server, else from a path, which is quicker.
    """
    base = request.getfixturevalue("git_server").url if "git_server" in request.fixturenames else "srv"
    own = replace(OWN, url=f"{base}/sgl-project/sglang")

    def ask(*targets: Any, dependency: Dependency = own, also: str | None = None) -> list[Pin]:
        wanted = [
            one if isinstance(one, Wanted) else Wanted(dependency, one, f"body:{line}:1", also)
            for line, one in enumerate(targets, 1)
        ]
        return resolve(wanted, upstream)

    return ask


def refused(ask: Resolve, *targets: Any, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        ask(*targets, **options)
    return caught.value


def counts(recording_git: Any) -> tuple[int, int]:
    return recording_git.count("ls-remote"), recording_git.count("fetch")


# --- what is asked of a server, counted ---


def test_a_branch_costs_one_list_and_one_fetch(
    ask: Resolve, make_repository: Any, recording_git: Any, git_server: Any
) -> None:
    up = make_repository()
    up.commit("main")
    new = up.commit("feature/x", {"f": "1\n"})
    [pin] = ask(name("feature/x"))
    assert (pin.commit, pin.tree, pin.name) == (new, up.tree(new), "refs/heads/feature/x")
    assert pin.filtered
    assert counts(recording_git) == (1, 1)


def test_a_pull_request_costs_one_fetch_and_no_list(
    ask: Resolve, make_repository: Any, recording_git: Any, git_server: Any
) -> None:
    up = make_repository()
    head = up.commit("refs/pull/12/head", parent=up.commit("main"))
    [pin] = ask(pull(12))
    assert (pin.commit, pin.name) == (head, "refs/pull/12/head")
    assert counts(recording_git) == (0, 1)


def test_a_hash_that_is_a_tip_costs_one_list_and_one_fetch(
    ask: Resolve, make_repository: Any, recording_git: Any, git_server: Any
) -> None:
    up = make_repository()
    tip = up.commit("main")
    [pin] = ask(digits(tip))
    assert (pin.commit, pin.name) == (tip, None)
    assert counts(recording_git) == (1, 1)


def test_a_hash_that_is_no_tip_costs_one_fetch_more_for_the_proof(
    ask: Resolve, make_repository: Any, recording_git: Any, git_server: Any
) -> None:
    up = make_repository()
    old = up.commit("main")
    up.commit("main")
    [pin] = ask(digits(old))
    assert (pin.commit, pin.tree) == (old, up.tree(old))
    assert counts(recording_git) == (1, 2)
    assert sum("--filter=tree:0" in call for call in recording_git.calls) == 1


def test_a_hash_that_only_a_pull_request_holds_costs_two_fetches_more(
    ask: Resolve, make_repository: Any, recording_git: Any, git_server: Any
) -> None:
    up = make_repository()
    inner = up.commit("refs/pull/3/head", parent=up.commit("main"))
    up.commit("refs/pull/3/head")
    [pin] = ask(digits(inner))
    assert pin.commit == inner
    assert counts(recording_git) == (1, 3)


def test_nothing_wanted_costs_nothing(ask: Resolve, recording_git: Any) -> None:
    assert ask() == []
    assert recording_git.calls == []


def test_several_refs_of_one_repository_share_their_calls_and_keep_their_own_commits(
    ask: Resolve, make_repository: Any, recording_git: Any, git_server: Any
) -> None:
    up = make_repository()
    main = up.commit("main")
    seven = up.commit("refs/pull/7/head", parent=main)
    eight = up.commit("refs/pull/8/head", parent=main)
    pins = ask(pull(7), pull(8), None, pull(7))
    assert [pin.commit for pin in pins] == [seven, eight, main, seven]
    assert counts(recording_git) == (1, 1)
    fetch = next(call for call in recording_git.calls if call[0] == "fetch")
    assert sum("refs/pull/7/head:" in argument for argument in fetch) == 1


def test_the_baselines_commit_comes_with_the_same_fetch(ask: Resolve, make_repository: Any, recording_git: Any) -> None:
    up = make_repository()
    old = up.commit("main")
    up.commit("main")
    [pin] = ask(None, also=old)
    assert pin.has_also
    assert counts(recording_git) == (1, 1)


def test_a_baselines_commit_that_is_gone_costs_one_fetch_more_and_stops_nothing(
    ask: Resolve, make_repository: Any, recording_git: Any
) -> None:
    up = make_repository()
    new = up.commit("main")
    [pin] = ask(None, also="1" * 40)
    assert (pin.commit, pin.has_also) == (new, False)
    assert counts(recording_git) == (1, 2)


def test_every_fetch_writes_to_refs_of_its_own_and_takes_no_tags(
    ask: Resolve, make_repository: Any, recording_git: Any
) -> None:
    """FETCH_HEAD belongs to whoever fetched last: https://github.com/web-platform-tests/wpt/pull/16066."""
    up = make_repository()
    up.commit("main")
    up.commit("refs/pull/1/head")
    ask(None, pull(1))
    [fetch] = [call for call in recording_git.calls if call[0] == "fetch"]
    refspecs = fetch[fetch.index("--") + 2 :]
    assert len(refspecs) == 2
    assert all(refspec.startswith("+") and ":refs/regraft/" in refspec for refspec in refspecs)
    assert {"--no-tags", "--no-recurse-submodules", "--depth=1", "--filter=blob:none"} <= set(fetch)
    assert not any("FETCH_HEAD" in argument for call in recording_git.calls for argument in call)


# --- names ---


@pytest.mark.parametrize(
    "branch", ["a@b", "a+b", "a#b", "deep/er/name", "ünï", "1.2", "a'b", "$(id)", "a;b", "--x/-y"[2:]]
)
def test_unusual_branch_names_are_real_names(ask: Resolve, make_repository: Any, branch: str) -> None:
    up = make_repository()
    commit = up.commit(branch)
    assert ask(name(branch))[0].commit == commit


def test_files_called_like_revisions_and_branches_called_like_folders_change_nothing(
    ask: Resolve, make_repository: Any
) -> None:
    """https://github.com/servo/servo/pull/44309"""
    up = make_repository()
    commit = up.commit("src", {"FETCH_HEAD": "x\n", "HEAD": "y\n", "src/main.py": "z\n"})
    [pin] = ask(name("src"))
    assert (pin.commit, pin.tree) == (commit, up.tree(commit))


def test_a_name_that_is_a_branch_and_a_tag_is_refused_with_both_full_names(ask: Resolve, make_repository: Any) -> None:
    up = make_repository()
    first = up.commit("v1")
    second = up.commit("main")
    up.ref("refs/tags/v1", second)
    mistake = refused(ask, name("v1"))
    assert mistake.code == "ambiguous-ref"
    assert "refs/heads/v1" in mistake.message
    assert "refs/tags/v1" in mistake.message
    assert ask(name("v1", "branch"))[0].commit == first
    assert ask(name("v1", "tag"))[0].commit == second


@pytest.mark.parametrize("length", [7, 40])
@pytest.mark.parametrize("space", ["refs/heads/", "refs/tags/"])
def test_a_branch_or_tag_that_looks_like_a_hash_is_refused(
    ask: Resolve, make_repository: Any, length: int, space: str
) -> None:
    up = make_repository()
    old = up.commit("main")
    new = up.commit("main")
    up.ref(space + old[:length], new)
    mistake = refused(ask, digits(old[:length]))
    assert mistake.code == "ambiguous-ref"
    assert space + old[:length] in mistake.message


def test_a_locks_commit_is_a_commit_whatever_branches_are_called(ask: Resolve, make_repository: Any) -> None:
    up = make_repository()
    old = up.commit("main")
    new = up.commit("main")
    up.ref(f"refs/heads/{old}", new)
    assert ask(Commit(old))[0].commit == old


def test_an_annotated_tag_is_its_commit(ask: Resolve, make_repository: Any) -> None:
    up = make_repository()
    commit = up.commit("main")
    up.git("tag", "-a", "-m", "x", "v2", commit)
    up.git("tag", "-a", "-m", "x", "v2-again", "v2")
    pins = ask(name("v2"), name("v2-again"))
    assert [(pin.commit, pin.name) for pin in pins] == [(commit, "refs/tags/v2"), (commit, "refs/tags/v2-again")]


@pytest.mark.parametrize("annotated", [True, False])
@pytest.mark.parametrize("kind", ["tree", "blob"])
def test_a_tag_of_a_tree_or_a_file_is_refused(ask: Resolve, make_repository: Any, kind: str, annotated: bool) -> None:
    up = make_repository()
    commit = up.commit("main", {"f": "x\n"})
    thing = up.git("rev-parse", f"{commit}:f" if kind == "blob" else f"{commit}^{{tree}}")
    up.git("tag", *(["-a", "-m", "x"] if annotated else []), "odd", thing)
    mistake = refused(ask, name("odd"))
    assert mistake.code == "not-a-commit"
    assert f"is a {kind}" in mistake.message


def test_the_hash_of_a_tag_object_is_refused_with_the_commits(ask: Resolve, make_repository: Any) -> None:
    up = make_repository()
    commit = up.commit("main")
    up.git("tag", "-a", "-m", "x", "v2", commit)
    mistake = refused(ask, digits(up.git("rev-parse", "refs/tags/v2")))
    assert mistake.code == "not-a-commit"
    assert commit in str(mistake.hint)


def test_a_name_that_is_not_there_says_what_was_looked_up_where_and_what_is_near(
    ask: Resolve, make_repository: Any, git_server: Any
) -> None:
    up = make_repository()
    for branch in ("main", "miles-main", "miles-main-2026", "unrelated"):
        up.commit(branch)
    mistake = refused(ask, name("miles-mian"))
    assert mistake.code == "no-such-ref"
    assert mistake.where == "body:1:1"
    assert f"{git_server.url}/sgl-project/sglang has no branch and no tag 'miles-mian'" in mistake.message
    assert mistake.hint == "did you mean 'miles-main'?"


def test_a_folder_of_branches_is_no_branch(ask: Resolve, make_repository: Any) -> None:
    up = make_repository()
    up.commit("feature/b")
    up.commit("feature/a")
    mistake = refused(ask, name("feature"))
    assert mistake.code == "no-such-ref"
    assert "only names below it" in mistake.message
    assert mistake.hint == "did you mean 'feature/a', 'feature/b'?"


def test_a_tag_is_no_branch_and_is_offered_by_its_full_name(ask: Resolve, make_repository: Any) -> None:
    up = make_repository()
    up.ref("refs/tags/v1", up.commit("main"))
    mistake = refused(ask, name("v1", "branch"))
    assert "has no branch 'v1'" in mistake.message
    assert mistake.hint == "did you mean 'refs/tags/v1'?"


def test_an_empty_repository_has_no_ref(ask: Resolve, make_repository: Any) -> None:
    make_repository()
    mistake = refused(ask, name("main"))
    assert mistake.code == "no-such-ref"
    assert "no branches and no tags at all" in mistake.message


def test_a_deleted_branch_is_never_replaced_by_another(ask: Resolve, make_repository: Any) -> None:
    """https://github.com/radixark/miles/pull/2734: the temporary branch is gone, its commit lives on under another name."""
    up = make_repository()
    up.commit("main")
    up.ref("refs/heads/backup-main-2026", up.commit("main-2026"))
    up.drop("refs/heads/main-2026")
    assert refused(ask, name("main-2026")).code == "no-such-ref"


def test_a_dependency_without_a_branch_has_no_head(ask: Resolve) -> None:
    assert refused(ask, None, dependency=replace(OWN, url="x", branch=None)).code == "no-branch"


# --- hashes ---


def test_a_short_hash_is_taken_from_the_tips_and_said(ask: Resolve, make_repository: Any) -> None:
    up = make_repository()
    commit = up.commit("main")
    [pin] = ask(digits(commit[:8]))
    assert (pin.commit, pin.name) == (commit, None)
    [note] = pin.notes
    assert note.code == "short-hash"
    assert commit in note.message


def test_a_short_hash_of_no_tip_must_be_written_in_full(ask: Resolve, make_repository: Any) -> None:
    up = make_repository()
    old = up.commit("main")
    up.commit("main")
    assert refused(ask, digits(old[:12])).code == "write-full-hash"


@pytest.mark.parametrize("lock", [False, True], ids=["directive", "lock"])
def test_a_commit_that_the_server_hands_out_but_no_ref_leads_to_is_unreachable(
    ask: Resolve, make_repository: Any, lock: bool, git_server: Any
) -> None:
    """Forges keep forks' commits in one store, and protocol version 2 hands out whatever is in it."""
    up = make_repository()
    tip = up.commit("main")
    stray = up.git("commit-tree", "-m", "from a fork", f"{tip}^{{tree}}", "-p", tip)
    handed_out = make_repository("probe")
    handed_out.git("fetch", "--quiet", str(up.path), f"+{stray}:refs/heads/stray")
    mistake = refused(ask, Commit(stray) if lock else digits(stray))
    assert mistake.code == "unreachable"
    assert f"the tip of 'main' is {tip}" in str(mistake.hint)


def test_a_hash_that_exists_nowhere_is_unreachable(ask: Resolve, make_repository: Any) -> None:
    make_repository().commit("main")
    assert refused(ask, digits("1" * 40)).code == "unreachable"


@pytest.mark.parametrize("lock", [False, True], ids=["directive", "lock"])
def test_a_pin_that_was_overwritten_and_pruned_is_unreachable(ask: Resolve, make_repository: Any, lock: bool) -> None:
    """https://github.com/vllm-project/vllm-ascend/pull/3943"""
    up = make_repository()
    up.commit("main")
    lost = up.commit("topic", parent=up.heads["refs/heads/main"])
    up.commit("topic", parent=up.heads["refs/heads/main"])
    up.prune()
    assert refused(ask, Commit(lost) if lock else digits(lost)).code == "unreachable"


def test_a_hash_of_a_sha256_repository_is_refused_by_name(ask: Resolve, make_repository: Any) -> None:
    make_repository().commit("main")
    assert refused(ask, digits("1" * 64)).code == "sha256-repository"


# --- pull requests ---


def test_a_pull_request_that_does_not_exist_uses_nothing_else(
    ask: Resolve, make_repository: Any, git_server: Any
) -> None:
    """https://github.com/stickerdaniel/linkedin-mcp-server/pull/498: the previous fetch is no answer."""
    up = make_repository()
    up.commit("main")
    up.commit("refs/pull/122/head")
    ask(pull(122))
    mistake = refused(ask, pull(123))
    assert mistake.code == "no-such-ref"
    assert "refs for #123 could not be fetched" in mistake.message


def test_a_pull_request_must_be_where_the_directive_says(ask: Resolve, make_repository: Any) -> None:
    """https://github.com/buildkite/agent/issues/581: a pull ref may be behind; both hashes are said, none is tested."""
    up = make_repository()
    old = up.commit("refs/pull/7/head")
    new = up.commit("refs/pull/7/head")
    assert ask(pull(7, new[:7]))[0].commit == new
    mistake = refused(ask, pull(7, old))
    assert mistake.code == "stale-hash"
    assert new in mistake.message
    assert old in mistake.message


# --- other repositories ---


def test_an_owners_branch_comes_from_that_owners_repository_of_the_same_name(
    ask: Resolve, make_repository: Any, git_server: Any
) -> None:
    make_repository().commit("main")
    other = make_repository("radixark/sglang").commit("topic")
    dependency = replace(OWN, url=f"{git_server.url}/sgl-project/sglang", allow=("RadixArk/*",))
    [pin] = ask(Ref("radixark:topic", NameRef("topic", owner="radixark")), dependency=dependency)
    assert (pin.commit, pin.url) == (other, f"{git_server.url}/radixark/sglang")


def test_a_repository_that_is_not_allowed_is_not_asked(ask: Resolve, make_repository: Any, recording_git: Any) -> None:
    make_repository("evil/sglang").commit("topic")
    mistake = refused(ask, Ref("evil:topic", NameRef("topic", owner="evil")))
    assert mistake.code == "not-allowed"
    assert "'sgl-project/sglang'" in str(mistake.hint)
    assert recording_git.calls == []


def test_the_dependencys_own_repository_needs_no_permission(
    ask: Resolve, make_repository: Any, recording_git: Any, git_server: Any
) -> None:
    head = make_repository().commit("refs/pull/12/head")
    own = Repository("SGL-Project", "SGLang")
    [pin] = ask(Ref("SGL-Project/SGLang#12", PullRef(12, own)))
    assert pin.commit == head


def test_a_url_of_another_host_is_refused(ask: Resolve, recording_git: Any, git_server: Any) -> None:
    own = Repository("sgl-project", "sglang")
    mistake = refused(ask, Ref("https://evil.example/sgl-project/sglang/pull/1", PullRef(1, own), "evil.example"))
    assert mistake.code == "not-allowed"
    assert "evil.example" in mistake.message
    assert recording_git.calls == []


# --- all mistakes at once ---


def test_all_mistakes_are_said_at_once_in_the_order_of_the_text(ask: Resolve, make_repository: Any) -> None:
    make_repository().commit("main")
    targets = (pull(9), name("nope"), Ref("evil:x", NameRef("x", owner="evil")), pull(8), digits("1" * 40), None)
    mistake = refused(ask, *targets)
    assert isinstance(mistake, MistakesError)
    assert [(one.code, one.where) for one in mistake.mistakes] == [
        ("no-such-ref", "body:1:1"),
        ("no-such-ref", "body:2:1"),
        ("not-allowed", "body:3:1"),
        ("no-such-ref", "body:4:1"),
        ("unreachable", "body:5:1"),
    ]


def test_a_repository_that_cannot_be_read_is_one_mistake_among_others(
    ask: Resolve, make_repository: Any, tmp_path: Path
) -> None:
    make_repository().commit("main")
    other_path = tmp_path / "srv" / "other"
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    env |= {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    made = subprocess.run(["git", "init", "-q", "--object-format=sha256", str(other_path)], env=env, check=False)
    if made.returncode != 0:
        pytest.skip("this git makes no sha256 repository")
    for command in (["commit", "-q", "--allow-empty", "-m", "x"], ["update-ref", "refs/pull/1/head", "HEAD"]):
        subprocess.run(["git", *command], cwd=other_path, env=env, check=True)
    other = Wanted(replace(OWN, url="srv/other"), pull(1), "body:7:1")
    mistake = refused(ask, other, name("nope"))
    assert isinstance(mistake, MistakesError)
    assert [one.code for one in mistake.mistakes] == ["sha256-repository", "no-such-ref"]


def test_a_mistake_is_said_although_another_server_is_down(ask: Resolve, make_repository: Any) -> None:
    make_repository().commit("main")
    down = Wanted(replace(OWN, url="http://127.0.0.1:1/a/b"), None, "body:9:1")
    assert refused(ask, down, name("nope")).code == "no-such-ref"
    with pytest.raises(OutsideError) as caught:
        ask(down, None)
    assert caught.value.code == "upstream-down"


def test_hostile_names_are_quoted_and_bounded(ask: Resolve, make_repository: Any) -> None:
    make_repository().commit("main")
    mistake = refused(ask, name("x" * 5000 + "\x1b[31m"), name("\x1b]0;owned\x07\n::error::x"))
    assert "\x1b" not in str(mistake)
    assert len(str(mistake)) < 2000
    assert str(mistake).count("\n") == 1


# --- races and poor servers ---


def rewrite(up: Any) -> Callable[[], None]:
    def act() -> None:
        up.heads.pop("refs/heads/main", None)
        up.commit("main", {"f": "rewritten\n"})
        up.prune()

    return act


def test_a_branch_that_is_rewritten_between_list_and_fetch_is_no_quiet_jump(
    ask: Resolve, make_repository: Any, git_server: Any
) -> None:
    """https://github.com/travis-ci/travis-ci/issues/617"""
    up = make_repository()
    old = up.commit("main")
    git_server.before_fetch = rewrite(up)
    with pytest.raises(OutsideError) as caught:
        ask(None)
    assert caught.value.code == "ref-moved"
    assert f"{old} was resolved for 'refs/heads/main' and is gone" in caught.value.message
    assert f"is now {up.heads['refs/heads/main']}" in caught.value.message


def test_a_branch_that_moves_on_between_list_and_fetch_stays_what_was_listed(
    ask: Resolve, make_repository: Any, git_server: Any
) -> None:
    up = make_repository()
    old = up.commit("main")
    git_server.before_second = lambda: up.commit("main")
    assert ask(None)[0].commit == old
    assert up.heads["refs/heads/main"] != old


@pytest.mark.parametrize("protocol", [0, 2])
def test_a_server_without_filters_is_said(ask: Resolve, make_repository: Any, git_server: Any, protocol: int) -> None:
    git_server.protocol = protocol
    up = make_repository()
    up.git("config", "uploadpack.allowFilter", "false")
    commit = up.commit("main")
    [pin] = ask(None)
    assert (pin.commit, pin.filtered) == (commit, False)
    assert [note.code for note in pin.notes] == ["no-filter"]


def test_a_server_that_hands_out_tips_only_is_fetched_whole_and_said(
    ask: Resolve, make_repository: Any, git_server: Any, recording_git: Any
) -> None:
    """https://github.com/knative/build/issues/212: works while the commit is a tip, and fails the day after."""
    git_server.protocol = 0
    up = make_repository()
    old = up.commit("main")
    tip = up.commit("main")
    assert ask(digits(tip))[0].notes == ()
    [pin] = ask(digits(old))
    assert (pin.commit, pin.tree) == (old, up.tree(old))
    assert "no-hash-wants" in [note.code for note in pin.notes]


def test_a_server_that_hands_out_tips_only_is_fetched_whole_for_a_baseline_too(
    ask: Resolve, make_repository: Any, git_server: Any
) -> None:
    git_server.protocol = 0
    up = make_repository()
    old = up.commit("main")
    up.commit("main")
    assert ask(None, also=old)[0].has_also
    assert not ask(None, also="1" * 40)[0].has_also


def test_a_pull_requests_older_commit_is_had_from_a_server_that_hands_out_tips_only(
    ask: Resolve, make_repository: Any, git_server: Any
) -> None:
    git_server.protocol = 0
    up = make_repository()
    inner = up.commit("refs/pull/3/head", parent=up.commit("main"))
    up.commit("refs/pull/3/head")
    assert ask(digits(inner))[0].commit == inner


@pytest.mark.parametrize("setting", ["allowReachableSHA1InWant", "allowAnySHA1InWant"])
def test_a_server_of_protocol_0_that_hands_out_hashes_is_not_fetched_whole(
    ask: Resolve, make_repository: Any, git_server: Any, setting: str
) -> None:
    git_server.protocol = 0
    up = make_repository()
    up.git("config", f"uploadpack.{setting}", "true")
    old = up.commit("main")
    up.commit("main")
    [pin] = ask(digits(old))
    assert (pin.commit, pin.notes) == (old, ())


# --- the page ---


def test_the_page_names_every_code_and_no_other() -> None:
    root = Path(__file__).parents[2]
    modules = ("flows/resolve", "core/resolution", "core/which_repository", "core/remote_failures", "adapters/git",
               "adapters/scratch", "adapters/upstream")  # fmt: skip
    code = "\n".join((root / f"src/regraft/{module}.py").read_text("utf-8") for module in modules)
    raised = set(re.findall(r"""(?:InputError|OutsideError|place\.error)\(\s*"([a-z0-9-]+)\"""", code))
    raised |= {entry[1] for entry in remote_failures._FAILURES}
    page = (
        (root / "docs/resolution.md")
        .read_text("utf-8")
        .partition("## Answers that stop a run")[2]
        .partition("\n## ")[0]
    )
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", page))
    named |= set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE))
    assert named - raised == {"missing-program"}  # raised where processes are started
    assert raised - named == set()
