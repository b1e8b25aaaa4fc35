"""A file that declares replacements and anchors: what is read of it, and each mistake with its line."""

import pytest

from regraft.core.patch_text import PatchText, Substitution
from regraft.core.substitution_read import declares, read_substitutions

GOOD = b"""\
# made for v1
[[replace]]
file = "pkg/a.py"
old = '''
x = 1
y = 2'''
new = "x = 2\\n"

[[anchor]]
file = "pkg/b.py"
text = "def start():\\n"

[[replace]]
file = "pkg/a.py"
old = "z"
new = ""
count = 3
"""


def said(text: str) -> list[tuple[int, str]]:
    return [(one.line, one.message) for one in read_substitutions(text.encode()).problems]


def test_entries_are_read_in_the_order_of_the_file_one_section_for_each_path() -> None:
    text = read_substitutions(GOOD)
    assert text.problems == []
    assert [(one.path, one.substitutions) for one in text.sections] == [
        (b"pkg/a.py", [Substitution(2, b"x = 1\ny = 2", b"x = 2\n"), Substitution(13, b"z", b"", 3)]),
        (b"pkg/b.py", [Substitution(9, b"def start():\n", b"def start():\n")]),
    ]
    assert [one.is_anchor for section in text.sections for one in section.substitutions] == [False, False, True]
    assert text.substitutes


def test_the_root_stands_before_each_path_and_a_strip_level_is_said_to_mean_nothing() -> None:
    text = read_substitutions(GOOD, strip=1, root=b"python")
    assert text.touched == {b"python/pkg/a.py", b"python/pkg/b.py"}
    assert "strip level" in text.tolerated[0].message


def test_the_name_tells_what_a_carried_file_is() -> None:
    assert declares("docker/x.toml")
    assert not declares("docker/x.toml.patch")
    assert declares("https://example.org/x.toml?raw=1#sha256=" + "0" * 64)


ENTRY = '[[replace]]\nfile = "a"\nold = "x"\nnew = "y"\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "declares nothing"),
        ("# nothing\n", 1, "declares nothing"),
        ("--- a/f\n+++ b/f\n", 1, "not TOML"),
        (f"{ENTRY}[[replace]\n", 5, "not TOML"),
        ('[[replace]]\nfile = "', 2, "not TOML"),
        (f"{ENTRY}[[replaces]]\nfile = 1\n", 5, "no table 'replaces'; did you mean `replace`?"),
        ("[[replace]]\nfiel = 'a'\nold = 'x'\nnew = 'y'\n", 2, "no key 'fiel'; did you mean `file`?"),
        ("[[anchor]]\nfile = 'a'\nold = 'x'\ntext = 'x'\n", 3, "no key 'old'; the keys here are file, text"),
        ("[[replace]]\nfile = 'a'\nold = 'x'\n", 1, "[[replace]] has no `new`"),
        ("[[replace]]\nfile = 'a'\nold = ''\nnew = 'y'\n", 3, "old must not be empty"),
        ("[[anchor]]\nfile = 'a'\ntext = ''\n", 3, "text must not be empty"),
        ("[[replace]]\nfile = 'a'\nold = 'x'\nnew = 'x'\n", 4, "the same text; what only has to be there is an [[anchor]]"),
        ("[[replace]]\nfile = 'a'\nold = 1\nnew = 'x'\n", 3, "old must be a string"),
        (f"{ENTRY}count = 0\n", 5, "count must be a whole number"),
        (f"{ENTRY}count = true\n", 5, "count must be a whole number"),
        (f"{ENTRY}\n{ENTRY}", 6, "the same as the entry in line 1"),
        ("[replace]\nfile = 'a'\n", 1, "write [[replace]]"),
        ("replace = [1]\n", 1, "write [[replace]]"),
        ("[[anchor]]\nfile = '../a'\ntext = 'x'\n", 2, "the path ../a leaves its tree"),
        ("[[anchor]]\nfile = '/etc/a'\ntext = 'x'\n", 2, "the path /etc/a is absolute"),
        ("[[anchor]]\nfile = '.git/config'\ntext = 'x'\n", 2, "leads into a .git folder"),
        ("[[anchor]]\nfile = \"a\\u0000b\"\ntext = 'x'\n", 2, "holds a control character"),
        ("\ufeff[[anchor]]\n", 1, "byte order mark"),
        ("x = " + "[" * 5000 + "]" * 5000, 1, "nested too deep"),
        ("a." * 40 + "b = 1\n", 1, "a key of more than 32 parts"),
    ],
)  # fmt: skip
def test_a_mistake_is_said_with_its_line(text: str, line: int, message: str) -> None:
    [(at, what)] = said(text)
    assert (at, message in what) == (line, True), what


def test_every_mistake_is_said_at_once_in_the_order_of_the_lines() -> None:
    text = "[[anchor]]\nfile = ''\nfoo = 1\n\n[[replace]]\nnwe = 'y'\nold = ''\nfile = 'a'\n"
    assert [line for line, _ in said(text)] == [1, 2, 3, 6, 7]


def test_bytes_that_are_no_text_are_said_with_their_line() -> None:
    [problem] = read_substitutions(b"# one\n# \xff\n").problems
    assert (problem.line, problem.message) == (2, "the byte 0xff is not UTF-8")


def test_more_than_can_be_read_is_refused() -> None:
    def first(text: PatchText) -> str:
        return text.problems[0].message

    assert "at most" in first(read_substitutions(b"#" * (1024 * 1024 + 1)))
    many = "".join(f"[[anchor]]\nfile = 'a'\ntext = '{number}'\n" for number in range(1001))
    assert "1001 entries; at most 1000 are read" in first(read_substitutions(many.encode()))


def test_of_very_many_mistakes_the_number_of_the_rest_is_told() -> None:
    text = read_substitutions(b"[[anchor]]\n" * 75)
    assert (len(text.problems), text.problems[-1].message) == (101, "50 more mistakes")
