"""A series file as quilt writes it."""

import pytest

from regraft.core.patch_series import Listed, read_series, unlisted


def test_the_order_is_that_of_the_lines_and_not_of_the_names() -> None:
    """https://github.com/apache/bigtop/pull/1327: patch10 came before patch2, which it depends on."""
    names = [f"patch{number}.patch" for number in range(1, 13)]
    order = read_series("\n".join(names).encode(), "patches/series")
    assert [one.path for one in order.listed] == [f"patches/{name}" for name in names]
    assert order.mistakes == ()


def test_levels_comments_and_what_is_retired() -> None:
    data = b"# a comment about\n\na.patch -p0\r\nsub/b.patch   # why\n  \n#c.patch\n# d.patch -p1\ne.diff -pab\n"
    order = read_series(data, "p/series")
    assert order.listed == (
        Listed(3, "p/a.patch", 0),
        Listed(4, "p/sub/b.patch", None),
        Listed(8, "p/e.diff", 1),
    )
    assert {"p/c.patch", "p/d.patch"} <= order.retired


def test_a_number_more_than_the_glob_expects_is_not_lost() -> None:
    """https://github.com/RoboStack/vinca/pull/131: a glob of the form `00*` stopped seeing number 0100."""
    order = read_series(b"0099.patch\n", "p/series")
    assert unlisted(["p/series", "p/0099.patch", "p/0100.patch", "p/README.md"], order, "p/series") == ("p/0100.patch",)
    assert unlisted(["p/0100.patch"], read_series(b"# 0100.patch\n", "p/series"), "p/series") == ()


@pytest.mark.parametrize(
    ("data", "line", "says"),
    [
        (b"a.patch\n../x.patch\n", 2, "is no path below the series file's folder"),
        (b"/x.patch\n", 1, "is no path"),
        (b"a//x.patch\n", 1, "is no path"),
        (b"x\x1b.patch\n", 1, "'x\\x1b.patch' is no path"),
        (b"a.patch -R\n", 1, "'-R' is not understood"),
        (b"a.patch\n\na.patch\n", 3, "'a.patch' is listed twice"),
        (b"a\n\xff\n", 2, "is not UTF-8"),
    ],
)
def test_a_line_that_cannot_be_meant_is_a_mistake_with_its_number(data: bytes, line: int, says: str) -> None:
    [mistake] = read_series(data, "p/series").mistakes
    assert mistake.line == line
    assert says in mistake.message
