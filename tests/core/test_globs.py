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


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        ("third/cutlass/**", True),
        ("third/cutlass", True),
        ("third/*", True),
        ("third/**", True),
        ("**", True),
        ("**/*.cu", True),
        ("**/include/x.h", True),
        ("*/cutlass/include/x.h", True),
        ("th?rd/c*s/include/*.h", True),
        ("third/cutlass/include/x.h", True),
        ("third/**/x.h", True),
        ("th**h", True),
        ("third/cutlass-old/**", False),
        ("third/cut/**", False),
        ("cutlass/**", False),
        ("*", False),
        ("*.cu", False),
        ("third/*.cu", False),
        ("*/include/**", False),
        ("third/cutlas?/*", True),
        ("third?cutlass/**", False),
        ("other/**", False),
    ],
)
def test_a_changed_submodule_matches_what_could_lie_in_it(pattern: str, answer: bool) -> None:
    assert matching([pattern], ["third/cutlass/"]) == (("third/cutlass/",) if answer else ())


def test_paths_keep_their_order_and_come_once() -> None:
    assert matching(["b", "*"], ["c", "b", "d/e", "a"]) == ("c", "b", "a")
