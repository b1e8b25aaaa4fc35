"""What a listing means, where a repository is, and what git's words on a failure stand for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regraft.core import remote_failures
from regraft.core.manifest import Dependency
from regraft.core.ref_parser import parse_ref
from regraft.core.refs import HashRef, NameRef, PullRef, Ref, Repository
from regraft.core.repository_url import allowed, parse_repository_url, public
from regraft.core.resolution import Place, Tip, parse_tips, pick_commit, pick_hash, pick_name
from regraft.core.which_repository import url_of
from regraft.errors import InputError

A, B, C = ("a" * 40, "b" * 40, "abc" + "c" * 37)
PLACE = Place("body:1:1", "https://example.org/o/r")
OWN = Dependency("sglang", "https://github.com/sgl-project/sglang", "main", "ci-sglang-pr", (), None, None)


def test_a_listing_is_branches_and_tags_with_annotated_tags_peeled() -> None:
    listing = f"{A}\trefs/heads/main\n{B}\trefs/tags/v1\n{A}\trefs/tags/v1^{{}}\n{B}\trefs/tags/light\n"
    assert parse_tips(listing.encode()) == (
        Tip("refs/heads/main", A, A),
        Tip("refs/tags/v1", B, A),
        Tip("refs/tags/light", B, B),
    )


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no tab",
        b"\t",
        A.encode() + b"\tHEAD",
        A.encode() + b"\trefs/pull/1/head",
        A[:39].encode() + b"\trefs/heads/short",
        A.upper().encode() + b"\trefs/heads/upper",
        A.encode() + b"\trefs/heads/a b",
        A.encode() + b"\trefs/heads/a\x1b[0m",
        A.encode() + b"\trefs/heads/",
    ],
)
def test_a_line_that_is_no_branch_or_tag_is_left_out(line: bytes) -> None:
    assert parse_tips(line + b"\n" + A.encode() + b"\trefs/heads/main\n") == (Tip("refs/heads/main", A, A),)


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_no_listing_is_a_crash(listing: bytes) -> None:
    assert all(tip.name.startswith("refs/") for tip in parse_tips(listing))


def test_a_short_hash_of_several_tips_is_refused_with_all_of_them() -> None:
    tips = (
        Tip("refs/heads/x", A, A),
        Tip("refs/heads/y", "abc" + "d" * 37, "abc" + "d" * 37),
        Tip("refs/heads/z", C, C),
    )
    with pytest.raises(InputError) as caught:
        pick_hash(HashRef("abc"), tips, PLACE)
    assert caught.value.code == "ambiguous-ref"
    assert C in caught.value.message
    assert "refs/heads/y" in caught.value.message
    assert A not in caught.value.message


def test_two_names_of_one_commit_do_not_make_its_short_hash_ambiguous() -> None:
    tips = (Tip("refs/heads/x", A, A), Tip("refs/tags/y", B, A))
    assert pick_hash(HashRef("aaaaaaa"), tips, PLACE).source == A


def test_a_branch_that_begins_with_a_hash_is_a_branch() -> None:
    name = f"{A}-rebased"
    pick = pick_name(NameRef(name), (Tip(f"refs/heads/{name}", B, B),), PLACE)
    assert (pick.source, pick.name) == (B, f"refs/heads/{name}")


def test_a_tip_of_a_sha256_repository_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        pick_name(NameRef("main"), (Tip("refs/heads/main", "a" * 64, "a" * 64),), PLACE)
    assert caught.value.code == "sha256-repository"


def test_a_hash_is_listed_only_as_a_commit() -> None:
    assert pick_commit(A, (Tip("refs/tags/v", B, A),), PLACE).listed
    assert not pick_commit(C, (Tip("refs/tags/v", B, A),), PLACE).listed


def test_the_nearest_names_are_few_and_the_closest_first() -> None:
    names = [*(f"release-{n}" for n in range(20)), "relaese-100", "unrelated"]
    tips = [Tip(f"refs/heads/{name}", A, A) for name in names]
    with pytest.raises(InputError) as caught:
        pick_name(NameRef("relaese-10"), tips, PLACE)
    assert str(caught.value.hint).startswith("did you mean 'release-10', 'relaese-100', ")
    assert str(caught.value.hint).count("'") == 10


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("origin/main", "did you mean 'main'?"),
        ("remotes/origin/main", "did you mean 'main'?"),
        ("upstream/fix/a", "did you mean 'fix/a'?"),
        ("heads/main", "did you mean 'refs/heads/main', 'main'?"),
        ("tags/v1.2.3", "did you mean 'v1.2.3', 'refs/tags/v1.2.3'?"),
        ("origin/absent", "look at its branches and tags"),
    ],
)
def test_a_name_with_gits_own_prefix_is_offered_without_it(written: str, hint: str) -> None:
    tips = [Tip(name, A, A) for name in ("refs/heads/main", "refs/heads/fix/a", "refs/tags/v1.2.3")]
    with pytest.raises(InputError) as caught:
        pick_name(NameRef(written), tips, PLACE)
    assert (caught.value.code, caught.value.hint) == ("no-such-ref", hint)


@pytest.mark.parametrize(
    ("url", "host", "repository", "beside"),
    [
        ("https://github.com/a/b", "github.com", "a/b", "https://github.com/x/y"),
        ("https://github.com/a/b.git", "github.com", "a/b", "https://github.com/x/y.git"),
        ("https://github.com/a/b/", "github.com", "a/b", "https://github.com/x/y"),
        ("https://GitHub.com:8443/a/b", "github.com", "a/b", "https://GitHub.com:8443/x/y"),
        ("https://gitlab.com/group/a/b", "gitlab.com", "a/b", "https://gitlab.com/group/x/y"),
        ("ssh://git@host:2222/a/b.git", "host", "a/b", "ssh://git@host:2222/x/y.git"),
        ("git@github.com:a/b.git", "github.com", "a/b", "git@github.com:x/y.git"),
        ("git@host:group/a/b", "host", "a/b", "git@host:group/x/y"),
        ("file:///srv/git/a/b.git", None, "a/b", "file:///srv/git/x/y.git"),
        ("/srv/git/a/b", None, "a/b", "/srv/git/x/y"),
        ("../up/a/b.git", None, "a/b", "../up/x/y.git"),
        ("up/b", None, "up/b", "x/y"),
        ("./up/b", None, "up/b", "./x/y"),
        ("../b", None, None, None),
        ("b", None, None, None),
        ("/b", None, None, None),
        ("host:b", "host", None, None),
        ("/with:colon/a/b", None, "a/b", "/with:colon/x/y"),
    ],
)
def test_another_repository_stands_beside_in_every_form_of_url(
    url: str, host: str | None, repository: str | None, beside: str | None
) -> None:
    parsed = parse_repository_url(url)
    assert parsed.host == host
    assert parsed.local == (host is None)
    assert str(parsed.repository) == str(repository)
    assert parsed.beside(Repository("x", "y")) == beside


def test_the_own_repository_keeps_its_url_as_it_is_written() -> None:
    assert parse_repository_url("https://h/A/b.git").beside(Repository("a", "B")) == "https://h/A/b.git"
    assert parse_repository_url("/srv/A/b").beside(Repository("a", "b")) == "/srv/a/b"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://token@github.com/a/b", "https://github.com/a/b"),
        ("https://u:p@github.com/a/b", "https://github.com/a/b"),
        ("https://u:p@x@github.com/a/b", "https://github.com/a/b"),
        ("ssh://git:secret@h/a/b", "ssh://git@h/a/b"),
        ("git@github.com:a/b", "git@github.com:a/b"),
        ("https://github.com/a/b@c", "https://github.com/a/b@c"),
        ("/srv/a@b/c", "/srv/a@b/c"),
    ],
)
def test_a_url_is_shown_without_credentials(url: str, shown: str) -> None:
    assert public(url) == shown


@pytest.mark.parametrize(
    ("pattern", "yes"),
    [
        ("radixark/*", True),
        ("RadixArk/SGLang", True),
        ("*/sglang", True),
        ("radix*/sg*", True),
        ("*", False),
        ("radixark", False),
        ("radixark/sgl", False),
        ("other/*", False),
        ("*/*/*", False),
        ("", False),
    ],
)
def test_allow_is_a_glob_for_each_part(pattern: str, yes: bool) -> None:
    assert allowed(Repository("radixark", "sglang"), (pattern,), parse_repository_url("https://h/a/b")) is yes


def test_case_counts_on_a_file_system() -> None:
    repository = Repository("radixark", "sglang")
    assert not allowed(repository, ("RadixArk/*",), parse_repository_url("/srv/a/b"))


@pytest.mark.parametrize(
    ("ref", "where"),
    [
        (Ref("main", NameRef("main")), "https://github.com/sgl-project/sglang"),
        (Ref("sgl-project:x", NameRef("x", owner="sgl-project")), "https://github.com/sgl-project/sglang"),
        (Ref("me:x", NameRef("x", owner="me")), "https://github.com/me/sglang"),
        (Ref("me/other#1", PullRef(1, Repository("me", "other"))), "https://github.com/me/other"),
        (Ref("u", HashRef(A, Repository("me", "sglang")), "github.com"), "https://github.com/me/sglang"),
        (Ref("u", HashRef(A, Repository("me", "sglang")), "github.com:443"), "https://github.com/me/sglang"),
    ],
)
def test_where_a_ref_is_looked_up(ref: Ref, where: str) -> None:
    dependency = Dependency("sglang", OWN.url, None, "k", ("me/*",), None, None)
    assert url_of(ref, dependency, "body:1:1") == where


@pytest.mark.parametrize(
    ("ref", "url"),
    [
        (Ref("me:x", NameRef("x", owner="me")), OWN.url),
        (Ref("u", PullRef(1, Repository("sgl-project", "sglang")), "evil.example"), OWN.url),
        (Ref("u", PullRef(1, Repository("sgl-project", "sglang")), "github.com.evil.example"), OWN.url),
        (Ref("u", PullRef(1, Repository("sgl-project", "sglang")), "github.com"), "/srv/sgl-project/sglang"),
        (Ref("me:x", NameRef("x", owner="me")), "upstream"),
    ],
)
def test_where_a_ref_is_not_looked_up(ref: Ref, url: str) -> None:
    with pytest.raises(InputError) as caught:
        url_of(ref, Dependency("sglang", url, None, "k", (), None, None), "body:2:1")
    assert (caught.value.code, caught.value.where) == ("not-allowed", "body:2:1")


@pytest.mark.parametrize("url", [OWN.url, "upstream"])
def test_a_branch_that_reads_as_a_pull_request_is_offered_its_full_name(url: str) -> None:
    with pytest.raises(InputError) as caught:
        url_of(parse_ref("feat/x#12"), Dependency("sglang", url, None, "k", (), None, None), "body:2:1")
    assert "refs/heads/feat/x#12" in str(caught.value.hint)
    assert parse_ref("refs/heads/feat/x#12").target == NameRef("feat/x#12", "branch")


# What git says, as read from its source and from servers.
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fatal: unable to access 'https://x/': Could not resolve host: x", "no-such-host"),
        ("ssh: Could not resolve hostname x: Name or service not known", "no-such-host"),
        ("fatal: unable to access 'http://127.0.0.1:1/x/': Failed to connect to 127.0.0.1 port 1", "upstream-down"),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 503", "upstream-down"),
        ("fatal: early EOF\nfatal: fetch-pack: invalid index-pack output", "upstream-down"),
        ("fatal: unable to access 'https://x/': Operation too slow. Less than 1000 bytes/sec", "upstream-slow"),
        ("fatal: unable to access 'https://x/': SSL certificate problem: self-signed certificate", "tls-failed"),
        (
            "fatal: unable to access 'x': server certificate verification failed. CAfile: none CRLfile: none",
            "tls-failed",
        ),
        ("fatal: Authentication failed for 'https://x/'", "authentication-failed"),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", "authentication-failed"),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", "authentication-failed"),
        (
            "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            "authentication-failed",
        ),
        ("Host key verification failed.\nfatal: Could not read from remote repository.", "unknown-host-key"),
        ("remote: Repository not found.\nfatal: repository 'https://x/' not found", "no-such-repository"),
        ("fatal: '/x' does not appear to be a git repository", "not-a-repository"),
        ("fatal: https://x/info/refs not valid: is this a git repository?", "not-a-repository"),
        ("fatal: detected dubious ownership in repository at '/x'", "dubious-ownership"),
        ("fatal: unsafe repository ('/x' is owned by someone else)", "dubious-ownership"),
        ("error: file write error: No space left on device", "disk-full"),
        ("error: insufficient permission for adding an object to repository database", "no-permission"),
        ("fatal: transport 'ext' not allowed", "no-such-transport"),
        ("fatal: mismatched algorithms: client sha1; server sha256", "sha256-repository"),
        ("fatal: something new", "git-failed"),
        ("remote: Authentication failed\nfatal: something new", "git-failed"),
        ("", "git-failed"),
    ],
)
def test_gits_words_have_a_code_and_a_way_out(text: str, code: str) -> None:
    found = remote_failures.failure(text)
    assert found.code == code
    assert found.hint or code in {"authentication-failed", "no-such-repository"}


def test_gits_words_are_quoted_bounded_and_on_one_line() -> None:
    tail = remote_failures.tail("noise\nfatal: \x1b[31mred\n" + "error: " + "x" * 1000 + "\n")
    assert len(tail) <= 210
    assert "\n" not in tail
    assert "\x1b" not in tail
    assert "noise" not in tail
    assert remote_failures.tail("fatal: \x1b[31m") == r"'fatal: \x1b[31m'"
