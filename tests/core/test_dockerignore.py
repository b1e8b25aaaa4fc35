import pytest

from regraft.core.dockerignore import BadPatternError, Ignored, read_dockerignore


def ignored(patterns: str, path: str) -> bool:
    return Ignored(read_dockerignore(patterns.encode()))(path)


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        ("*/temp*", "somedir/temporary.txt", True),
        ("*/temp*", "temporary.txt", False),
        ("*/*/temp*", "somedir/subdir/temporary.txt", True),
        ("*/*/temp*", "somedir/temporary.txt", False),
        ("temp?", "tempa", True),
        ("temp?", "temp", False),
        ("temp?", "x/tempa", False),  # every pattern begins at the top
        ("**/*.go", "a/b/c.go", True),
        ("**/*.go", "c.go", True),
        ("**.pyc", "a/b.pyc", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("folder", "folder/inside/file", True),
        ("folder/", "folder/inside/file", True),
        ("/folder", "folder/file", True),
        ("./folder/../folder", "folder/file", True),
        ("*.md\n!README.md", "README.md", False),
        ("*.md\n!README.md", "other.md", True),
        ("*.md\n!README*.md\nREADME-secret.md", "README-secret.md", True),
        ("*.md\nREADME-secret.md\n!README*.md", "README-secret.md", False),
        ("docs\n!docs/keep.md", "docs/keep.md", False),
        ("docs\n!docs/keep.md", "docs/other.md", True),
        ("*\n!src", "src/a/b.c", False),
        ("# a comment\nx", "# a comment", False),
        ("  x  ", "x", True),
        (".", "x", False),
        ("[ab].txt", "a.txt", True),
        ("[^ab].txt", "a.txt", False),
        ("[[a].txt", "[.txt", True),
        ("[[a].txt", "b.txt", False),
        ("x[*a]", "x[[[a]", True),
        ("x[?a]", "x[a]", True),
        ("x[?a]", "xba]", False),
        (r"\*.txt", "*.txt", True),
        (r"\*.txt", "a.txt", False),
        ("a.b", "axb", False),
        ("*", "a/b", True),
    ],
)
def test_a_pattern_means_what_it_means_to_docker(patterns: str, path: str, expected: bool) -> None:
    assert ignored(patterns, path) is expected


@pytest.mark.parametrize(("text", "line"), [("!", 1), ("a\n[b", 2), ("[z-a]", 1)])
def test_what_is_no_pattern_is_an_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(BadPatternError) as caught:
        read_dockerignore(text.encode())
    assert caught.value.line == line
