import re
import subprocess
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regraft.core.ref_parser import parse_ref
from regraft.core.refs import HashRef, NameRef, PullRef, Ref, Repository
from regraft.errors import InputError

FULL = "0123456789abcdef0123456789abcdef01234567"
UPSTREAM = Repository("sgl-project", "sglang")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("#12", PullRef(12)),
        ("#9999999999", PullRef(9_999_999_999)),
        ("#12@abcdef1", PullRef(12, head="abcdef1")),
        (f"#12@{FULL.upper()}", PullRef(12, head=FULL)),
        ("sgl-project/sglang#12", PullRef(12, UPSTREAM)),
        ("sgl-project/sglang#12@abcdef1", PullRef(12, UPSTREAM, "abcdef1")),
        ("refs/pull/12/head", PullRef(12)),
        ("somebody:fix/a", NameRef("fix/a", "branch", "somebody")),
        ("refs/heads/fix/a", NameRef("fix/a", "branch")),
        ("refs/heads/1234", NameRef("1234", "branch")),
        ("refs/heads/abcdef1", NameRef("abcdef1", "branch")),
        ("refs/heads/feat/x#12", NameRef("feat/x#12", "branch")),
        ("refs/tags/v1.0", NameRef("v1.0", "tag")),
        ("main", NameRef("main")),
        ("feature/a@b", NameRef("feature/a@b")),
        ("c++/fix", NameRef("c++/fix")),
        ("fix-#12", NameRef("fix-#12")),
        ("a/b/c#12", NameRef("a/b/c#12")),
        ("100%", NameRef("100%")),
        ("abcdef", NameRef("abcdef")),  # six digits are too few for a hash
        ("abcdef1", HashRef("abcdef1")),
        ("ABCDEF1", HashRef("abcdef1")),
        (FULL, HashRef(FULL)),
        (FULL + FULL[:24], HashRef(FULL + FULL[:24])),
        ("1" * 11, HashRef("1" * 11)),  # more digits than a pull request has
        ("f" * 65, NameRef("f" * 65)),
        (" \t\u00a0#12\u00a0\r\n", PullRef(12)),
    ],
)
def test_a_form_means(text: str, target: PullRef | NameRef | HashRef) -> None:
    assert parse_ref(text) == Ref(text.strip(), target)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("pull/12", PullRef(12, UPSTREAM)),
        ("pull/12/", PullRef(12, UPSTREAM)),
        ("pull/12/files", PullRef(12, UPSTREAM)),
        ("pull/12/changes", PullRef(12, UPSTREAM)),
        ("pull/12/commits", PullRef(12, UPSTREAM)),
        (
            "pull/12/commits/ABCDEF1",
            PullRef(12, UPSTREAM, "abcdef1"),
        ),  # one commit of it is asked for: it must be the head
        ("pull/12/files/abcdef1", PullRef(12, UPSTREAM, "abcdef1")),
        ("tree/main", NameRef("main", repository=UPSTREAM)),
        ("tree/fix/a/b", NameRef("fix/a/b", repository=UPSTREAM)),
        ("tree/fix%2Fa%23b", NameRef("fix/a#b", repository=UPSTREAM)),
        ("tree/a%2523", NameRef("a%23", repository=UPSTREAM)),  # decoded once
        (f"tree/{FULL}", HashRef(FULL, UPSTREAM)),
        ("tree/1234", NameRef("1234", repository=UPSTREAM)),
        (f"commit/{FULL}", HashRef(FULL, UPSTREAM)),
        ("commit/abcdef1", HashRef("abcdef1", UPSTREAM)),
        ("releases/tag/v1.0", NameRef("v1.0", "tag", repository=UPSTREAM)),
    ],
)
def test_a_page_of_a_forge_means(path: str, target: PullRef | NameRef | HashRef) -> None:
    url = f"https://GitHub.com/sgl-project/sglang/{path}"
    assert parse_ref(url) == Ref(url, target, "github.com")
    assert parse_ref(f"{url}?w=1&x=%20#discussion_r1") == Ref(url, target, "github.com")


def test_a_host_may_have_a_port() -> None:
    assert parse_ref("https://git.example.org:8443/a/b/pull/1").host == "git.example.org:8443"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "no ref is given", "write #12, owner/repo#12"),
        ("1234", "alone may be a pull request", "write #1234 for the pull request, refs/heads/1234 for a branch"),
        ("1234567", "alone may be a pull request", "write #1234567"),
        ("#0", "1 to 10 digits, without a zero in front", "write #NUMBER"),
        ("#012", "1 to 10 digits, without a zero in front", "write #12,"),
        ("#12345678901", "1 to 10 digits", "write #NUMBER"),
        ("##12", "is no pull request", "write #12,"),
        ("#main", "is no pull request", "refs/heads/"),
        ("sgl-project/sglang#0", "1 to 10 digits", None),
        ("#12@main", "'main' is no hash: after the @ stand 7 to 64 hex digits", "write #12 or #12@HASH"),
        ("#12@abc", "'abc' is no hash", "write #12 or #12@HASH"),
        ("-x", "it begins with a dash", "did you mean x"),
        ("--upload-pack=touch", "it begins with a dash", "did you mean upload-pack=touch"),
        ("somebody:-x", "it begins with a dash", None),
        ("refs/heads/-x", "it begins with a dash", None),
        ("a..b", "it contains `..`", None),
        ("a@{1}", "it contains `@{`", "name a branch"),
        ("@", "git's word for HEAD", None),
        ("HEAD", "HEAD names no branch", None),
        ("a.lock", "a part of it ends with `.lock`", None),
        ("a.lock/b", "a part of it ends with `.lock`", None),
        (".a", "a part of it begins with a dot", None),
        ("a/.b", "a part of it begins with a dot", None),
        ("a.", "it ends with a dot", "did you mean a"),
        ("/a", "it begins with a slash", "did you mean a"),
        ("a/", "it ends with a slash", "did you mean a"),
        ("a//b", "two slashes in a row", None),
        ("a" * 256, "256 characters, and 255 is the most", None),
        ("a b", "character 2 is a blank", "use letters, digits"),
        ("a\nb", r"'a\nb' is no ref: character 2 is U+000A", None),
        ("a\x00b", "character 2 is U+0000", None),
        ("a\x1bb", r"'a\x1bb' is no ref", None),
        ("$(touch x)", "character 1 is `$`", None),
        ("`id`", "character 1 is a backtick", "write it bare: id"),
        ("x;y", "character 2 is `;`", None),
        ('"main"', 'character 1 is `"`', "write it bare: main"),
        ("<https://github.com/a/b/pull/1>", "character 1 is `<`", "write it bare: https://github.com/a/b/pull/1"),
        ("ma\u0456n", "character 3 is U+0456 (CYRILLIC", None),
        ("fix\u2010a", "character 4 is U+2010 (HYPHEN)", None),
        ("main\u200b", "character 5 is U+200B (ZERO WIDTH SPACE)", None),
        ("a~1", "character 2 is `~`", None),
        ("a^", "character 2 is `^`", None),
        ("a*", "character 2 is `*`", None),
        ("a\\b", "is no ref: character 2 is `\\`", None),
        ("refs/pull/12/merge", "is not the head of a pull request", "write refs/pull/12/head"),
        ("refs/remotes/origin/main", "is no branch, tag or pull ref", "write refs/heads/"),
        ("sgl-project/sglang:main", "only its owner belongs there", "write sgl-project:main"),
        (":main", "lacks the owner before the colon", "write owner:branch"),
        ("somebody:", "lacks the branch after the colon", "write owner:branch"),
        ("some_body!:main", "character 10 is `!`", None),
        ("a:b:c", "'b:c' is no ref: character 2 is `:`", None),
        ("http://github.com/a/b/pull/1", "is no https address", "write https://github.com/a/b/pull/1"),
        ("ssh://git@github.com/a/b", "is no https address", "write #12"),
        ("https://github.com/a/b", "shows no pull request, branch, tag or commit", "write https://HOST"),
        ("https://github.com/a/b/blob/main/x.py", "shows no pull request", "write https://HOST"),
        ("https://user@github.com/a/b/pull/1", "'user@github.com' is no host name", None),
        ("https://-x/a/b/pull/1", "'-x' is no host name", None),
        ("https://github.com/-a/b/pull/1", "'-a' is no owner", None),
        ("https://github.com/a/-b/pull/1", "'-b' is no repository name", None),
        ("https://github.com/a/../pull/1", "'..' is no repository name", None),
        ("https://github.com/a/b/pull/x", "'x' is no pull request number", None),
        ("https://github.com/a/b/pull/1/files/abcdef1..abcdef2", "is no page that names the head", "write a/b#1"),
        ("https://github.com/a/b/commit/main", "'main' is no commit hash", None),
        ("https://github.com/a/b/tree/%2e%2e", "it contains `..`", None),
        ("https://github.com/a/b/tree/a%0ab", "character 2 is U+000A", None),
        ("https://github.com/a/b/tree/%2Dx", "it begins with a dash", None),
        ("https://github.com/a/b/tree/%FF", "no UTF-8", None),
        ("https://github.com/a/b/tree/%zz", "a % that begins no escape", "write %25"),
        ("https://github.com/a/b/releases/latest", "not the page of one release", None),
        ("https://github.com/a/b/pull/1?x=$(id)", "is `$`", None),
        ("https://github.com/" + "a" * 1024, "1024 is the most for an address", None),
    ],
)
def test_a_text_is_refused(text: str, message: str, hint: str | None) -> None:
    with pytest.raises(InputError) as caught:
        parse_ref(text)
    assert caught.value.code == "bad-ref"
    assert message in caught.value.message
    if hint is not None:
        assert hint in (caught.value.hint or "")


SAFE = re.compile(r"(?!-)[A-Za-z0-9._/@+#%=,:-]+")


def parts(ref: Ref) -> list[str]:
    """Every text that a ref carries."""
    found = [ref.text]
    if ref.host:
        found.append(ref.host)
    match ref.target:
        case PullRef(head=head):
            found += [head] if head else []
        case NameRef(name=name, owner=owner):
            found += [name, *([owner] if owner else [])]
        case HashRef(digits=digits):
            found.append(digits)
    if ref.target.__class__ in {PullRef, NameRef, HashRef} and ref.target.repository:
        found += [ref.target.repository.owner, ref.target.repository.name]
    return found


FORMS = [
    "#",
    "12",
    "0",
    "@",
    "abcdef1",
    "/",
    ":",
    "refs/",
    "heads/",
    "tags/",
    "pull/",
    "/head",
    "main",
    "HEAD",
    "+",
    "=",
]
PAGES = [
    "https://",
    "github.com",
    "/a/b/",
    "pull/12",
    "tree/",
    "commit/",
    "releases/tag/",
    "%",
    "2F",
    "%0a",
    "%2d",
    "?",
    "#x",
]
TRICKS = [
    "-",
    "--",
    ".",
    "..",
    ".lock",
    "{",
    "$(id)",
    "`",
    ";",
    "'",
    '"',
    " ",
    "\n",
    "\x00",
    "\u200b",
    "\u0456",
    "~",
    "^",
    "\\",
    "*",
]
PIECES = st.sampled_from([*FORMS, *PAGES, *TRICKS])


def read_or_refused(text: str) -> Ref | None:
    """The ref, or None after a look at the complaint: bounded, and without a character that a terminal obeys."""
    try:
        return parse_ref(text)
    except InputError as caught:
        error = caught
    said = f"{error.message}{error.hint}"
    assert error.code == "bad-ref"
    assert not re.search(r"[\x00-\x1f\x7f\u200b\u202e]", said)
    assert len(said) < 1500
    return None


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=8).map("".join)))
@example("https://github.com/a/b/tree/%2dx")
def test_whatever_is_written_nothing_dangerous_is_read(text: str) -> None:
    ref = read_or_refused(text)
    if ref is None:
        return
    for part in parts(ref):
        assert SAFE.fullmatch(part)
    assert parse_ref(ref.text) == ref


def git_takes(name: str) -> bool:
    argv = ["git", "check-ref-format", f"refs/heads/{name}"]
    return subprocess.run(argv, check=False, env={"PATH": "/usr/bin:/bin:/usr/local/bin"}).returncode == 0


NAMES = [
    "a",
    "a/b",
    "a.b",
    "a@b",
    "@/a",
    "a+b",
    "a#b",
    "a%b",
    "a=b",
    "a,b",
    "a-",
    "a.",
    ".a",
    "a/.b",
    "a..b",
    "a.lock",
    "a.lock/b",
]
NAMES += [
    "a.lockb",
    "/a",
    "a/",
    "a//b",
    "a/b.",
    "a./b",
    "a.lock.",
    "@a",
    "a@",
    "a/@",
    "_",
    "%",
    "=a",
    "+a",
    ",",
    "a/b/c/d",
    "a---",
    "1.0",
]


def test_a_name_is_one_for_git_too(grammar: object) -> None:
    """Within the alphabet the rules are git's, but for names that begin with a dash."""
    for name in NAMES:
        try:
            taken = isinstance(parse_ref(f"refs/heads/{name}").target, NameRef)
        except InputError:
            taken = False
        assert taken == git_takes(name), name


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([".", "..", "/", "a", "lock", ".lock", "@", "-", "+", "#", "HEAD"]), min_size=1, max_size=6
    )
)
def test_every_name_that_is_read_is_one_for_git(pieces: list[str]) -> None:
    try:
        target = parse_ref("refs/heads/" + "".join(pieces)).target
    except InputError:
        return
    assert isinstance(target, NameRef)
    assert git_takes(target.name)


def test_meanings_are_told_apart(meaning: Callable[[Ref], str]) -> None:
    """The corpus compares by these words: no two targets may share them."""
    texts = ["#12", "a/b#12", "#12@abcdef1", "main", "refs/heads/main", "refs/tags/main", "o:main", "abcdef1", FULL]
    assert len({meaning(parse_ref(text)) for text in texts}) == len(texts)
