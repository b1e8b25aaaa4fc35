import pytest

from regraft.core.globs import matching


@pytest.mark.parametrize(
    ("pattern", "path", "answer"),
    [
        ("sgl-kernel/**", "sgl-kernel/csrc/a.cu", True),
        ("sgl-kernel/**", "sgl-kernel", False),
        ("sgl-kernel/**", "x/sgl-kernel/a", False),
        ("python/**/*.cu", "python/a.cu", True),
        ("python/**/*.cu", "python/a/b/c.cu", True),
        ("python/**/*.cu", "python/a.cuh", False),
        ("**/CMakeLists.txt", "CMakeLists.txt", True),
        ("**", "any/thing", True),
        ("*.cu", "a.cu", True),
        ("*.cu", "a/b.cu", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("a[b]", "a[b]", True),
        ("x", "x\n", False),
    ],
)
def test_a_pattern_matches_the_whole_path(pattern: str, path: str, answer: bool) -> None:
    assert bool(matching([pattern], [path])) is answer


def test_paths_keep_their_order_and_come_once() -> None:
    assert matching(["b", "*"], ["c", "b", "d/e", "a"]) == ("c", "b", "a")
