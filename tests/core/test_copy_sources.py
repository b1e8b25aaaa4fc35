from typing import Any

import pytest

from regraft.core.copy_sources import Context, LinkOutError, is_dockerfile
from regraft.core.dockerignore import Ignored, read_dockerignore

FILES = {
    "a.txt": "a",
    "b.txt": "b",
    "c.md": "c",
    "src/x.py": "x",
    "src/deep/y.py": "y",
    "src/deep/z.sh": "z",
    "docker/Dockerfile": "FROM a",
    "docker/patch/1.patch": "1",
    "docker/patch/a_b.patch": "2",
    "link": "src/deep",
    "out": "../elsewhere",
    "abs": "/etc/passwd",
    "ring": "ring",
}
MODES = dict.fromkeys(("link", "out", "abs", "ring"), "120000")


def context(track: Any, root: str = "", ignore: str = "") -> Context:
    files = track(FILES, MODES)
    links = {path: files.contents[path] for path in MODES}
    return Context(files.tree, root, Ignored(read_dockerignore(ignore.encode())), links)


def taken(found: Context, source: str, *excludes: str) -> list[str]:
    return sorted(path for one in found.take(source, excludes) for path, _ in one.files)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a.txt", ["a.txt"]),
        ("./a.txt", ["a.txt"]),
        ("/a.txt", ["a.txt"]),
        ("../../a.txt", ["a.txt"]),  # nothing leads above the context
        ("*.txt", ["a.txt", "b.txt"]),
        ("?.txt", ["a.txt", "b.txt"]),
        ("[b-z].txt", ["b.txt"]),
        ("[^a].txt", ["b.txt"]),
        ("src", ["src/deep/y.py", "src/deep/z.sh", "src/x.py"]),
        ("src/", ["src/deep/y.py", "src/deep/z.sh", "src/x.py"]),
        ("src/*", ["src/deep/y.py", "src/deep/z.sh", "src/x.py"]),  # a folder that matches is copied whole
        ("src/*.py", ["src/x.py"]),
        ("s*/d*/*.sh", ["src/deep/z.sh"]),
        ("link", ["src/deep/y.py", "src/deep/z.sh"]),
        ("link/y.py", ["src/deep/y.py"]),
        ("missing", []),
        ("*.none", []),
        ("sr", []),
    ],
)
def test_a_source_takes_what_docker_takes(track: Any, source: str, expected: list[str]) -> None:
    assert taken(context(track), source) == expected


def test_the_top_takes_everything_that_is_not_ignored(track: Any) -> None:
    found = context(track, ignore="docker\nsrc\n!src/deep/*.py\nlink\nout\nabs\nring")
    assert taken(found, ".") == ["a.txt", "b.txt", "c.md", "src/deep/y.py"]
    assert found.is_ignored("docker/Dockerfile")
    assert not found.is_ignored("nothing")


def test_a_context_below_the_top_has_only_what_is_in_it(track: Any) -> None:
    found = context(track, "docker")
    assert taken(found, "patch") == ["docker/patch/1.patch", "docker/patch/a_b.patch"]
    assert taken(found, "a.txt") == []


def test_what_is_excluded_is_not_taken(track: Any) -> None:
    assert taken(context(track), "src", "deep/*.py") == ["src/deep/z.sh", "src/x.py"]


def test_a_followed_link_is_an_input_too(track: Any) -> None:
    (one,) = context(track).take("link")
    assert one.links == ("link",)


@pytest.mark.parametrize("source", ["out", "out/x", "abs", "ring"])
def test_a_link_that_leaves_the_repository_is_an_error(track: Any, source: str) -> None:
    with pytest.raises(LinkOutError):
        context(track).take(source)


@pytest.mark.parametrize(
    ("source", "near"),
    [("docker/patch/a-b.patch", "docker/patch/a_b.patch"), ("a.tx", "a.txt"), ("x.py", "src/x.py"), ("zzzzzz", None)],
)
def test_the_nearest_name_is_offered(track: Any, source: str, near: str | None) -> None:
    assert context(track).near(source) == near


@pytest.mark.parametrize(
    "name",
    ["Dockerfile", "docker/Dockerfile.rocm", "x/Dockerfile-cpu", "a.Dockerfile", "Containerfile", "b.dockerfile"],
)
def test_what_is_a_dockerfile_by_its_name(name: str) -> None:
    assert is_dockerfile(name)


@pytest.mark.parametrize(
    "name", ["Dockerfile.md", "Dockerfile.dockerignore", "Dockerfiles", "docker", "Dockerfile.sh", "my-Dockerfile"]
)
def test_what_is_none(name: str) -> None:
    assert not is_dockerfile(name)


TREE = ["z.txt", "a/x.txt", "a/b/c/x.txt", "a/b2/c/d/e/bar", "a/b/c/d/e/bay", "p/run.sh"]


@pytest.mark.parametrize(
    ("source", "lands"),
    [
        ("**/*.txt", ["a/b/c/x.txt", "a/x.txt", "z.txt"]),
        ("a/**/x.txt", ["a/b/c/x.txt", "a/x.txt"]),
        ("p/run.sh", ["p/run.sh"]),
        ("p", ["p/run.sh"]),
        ("./a/./b/c", ["b/c/d/e/bay", "b/c/x.txt"]),
        ("/a/b*/./c/**/e", ["c/d/e/bar", "c/d/e/bay"]),
        ("a/b*/./c/d", ["c/d/e/bar", "c/d/e/bay"]),
        ("no/**", []),
    ],
)
def test_with_parents_a_double_star_crosses_folders_and_those_above_stay(
    track: Any, source: str, lands: list[str]
) -> None:
    """The cases of BuildKit's own tests, frontend/dockerfile/dockerfile_parents_test.go."""
    context = Context(track({path: path for path in TREE}).tree, "", Ignored(()))
    assert sorted(below for one in context.take_with_parents(source) for _, below in one.files) == lands
