from hypothesis import given, settings
from hypothesis import strategies as st

from regraft.core.patch_names import unquote_at
from regraft.core.patch_paths import include_pattern, unsafe
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import PatchText

GOOD = b"diff --git a/f b/f\nindex 1111111..2222222 100755\n--- a/f\n+++ b/f\n@@ -2,2 +2,3 @@ def x():\n a\n+b\n\n"

PIECES = [
    *(
        b"diff --git a/f b/f",
        b"diff --git f f",
        b"--- a/f",
        b"+++ b/f",
        b"--- /dev/null",
        b"+++ /dev/null",
        b"--- ",
        b"+++ ",
    ),
    *(
        b"@@ -1 +1 @@",
        b"@@ -1,0 +1,9 @@",
        b"@@ -0,0 +1 @@ x",
        b"@@",
        b"@@ -9999999999999999999 +1 @@",
        b" c",
        b"-o",
        b"+n",
        b"",
    ),
    *(
        b"\\ No newline at end of file",
        b"GIT binary patch",
        b"literal 3",
        b"KcmV",
        b"Binary files a/f and b/f differ",
        b"-- ",
    ),
    *(
        b"rename from f",
        b"rename to g",
        b"new file mode 100644",
        b"deleted file mode 100644",
        b"index 1..2",
        b"\r",
        b"\xff",
    ),
]


def scan(data: bytes) -> PatchText:
    return read_patch_text(data, strip=1, exists=lambda _: True)


def test_a_section_says_what_its_headers_say() -> None:
    found = scan(GOOD)
    [section] = found.sections
    assert (found.problems, found.returns, found.bare) == ([], None, [8])
    assert (section.kind, section.line, section.index_mode, section.old_oid) == ("edit", 1, "100755", "1111111")
    [hunk] = section.hunks
    assert (hunk.line, hunk.start, hunk.body) == (5, 2, (b" a", b"+b", b""))
    assert hunk.has_context
    assert not hunk.only_removes


@given(st.lists(st.sampled_from(PIECES), max_size=20), st.booleans())
@settings(max_examples=200)
def test_no_lines_make_it_crash_or_lose_a_section(pieces: list[bytes], ends: bool) -> None:
    found = scan(b"\n".join(pieces) + (b"\n" if ends else b""))
    for section in found.sections:
        assert pieces[section.line - 1].startswith((b"diff --git ", b"--- "))
    assert all(1 <= problem.line <= max(1, len(pieces)) for problem in found.problems)
    empty = [one for one in found.sections if one.kind == "edit" and not one.changes_content and not one.changes_mode]
    assert not empty or found.problems


@given(st.binary(max_size=300))
@settings(max_examples=200)
def test_no_bytes_make_it_crash(data: bytes) -> None:
    scan(data)


def test_quoted_names() -> None:
    quoted = b'"a/\\303\\274\\t\\"\\\\"'
    assert unquote_at(quoted) == ('a/ü\t"\\'.encode(), len(quoted))
    assert unquote_at(b'x "y" z', 2) == (b"y", 5)
    for none in (b"a/plain", b'"', b'"open', b'"\\x41"', b'"\\400"'):
        assert unquote_at(none) is None


def test_names_within_a_tree_are_safe_and_others_are_not() -> None:
    for path in (b"f", b"a/b", b".gitignore", b".github/x", b"a..b", b"...", b"git", "ü".encode(), b"\xff", b"a b"):
        assert unsafe(path) is None
    for path in (
        b"",
        b"/f",
        b"a//b",
        b"a/",
        b"..",
        b"a/../b",
        b"./f",
        b".git",
        b"x/.Git/y",
        b"git~1/x",
        b".git ./x",
        b"a\nb",
    ):
        assert unsafe(path)


def test_a_pattern_matches_its_own_path_only() -> None:
    assert include_pattern(b"a/[b]*?\\c") == b"a/\\[b]\\*\\?\\\\c"
