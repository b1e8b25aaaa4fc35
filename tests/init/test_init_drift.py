"""`init --check` on what `init` wrote, after the repository has moved on: each thing that it reads is compared again."""

from collections.abc import Callable
from typing import Any

import pytest

DOCKERFILE = """\
FROM a AS dev
ARG REF=main
ARG OTHER
ENV PYTHONPATH=/m
RUN git clone https://x.org/o/m -b work /m && cd /m && pip install -e . --no-deps && echo ${REF}
FROM dev AS prod
COPY f /f
"""
WORKFLOW = """\
on: push
jobs:
  b:
    steps:
      - uses: docker/build-push-action@v6
        with:
          context: .
          file: Dockerfile
          target: prod
          push: true
          tags: r.org/o/p:one
          build-args: |
            REF=dev
  t:
    container: r.org/o/p:one
    steps: [{run: pytest}]
"""
CI = ".github/workflows/ci.yml"


def drifted(repository: Callable[..., Any], path: str, old: str, new: str) -> list[tuple[str, str]]:
    """What is different after an edit, by (rule, the key's line as written or the place)."""
    found = repository({"Dockerfile": DOCKERFILE, CI: WORKFLOW, "f": "", "c2/f": ""})
    text = found.propose().text.decode()
    assert found.differences() == []
    assert old in found.files[path].decode()
    found.files[path] = found.files[path].replace(old.encode(), new.encode())
    lines = text.split("\n")
    return [
        (rule, lines[int(place.rpartition(":")[2]) - 1].partition(" = ")[0] if place.startswith("regraft") else place)
        for rule, place in found.differences(text)
    ]


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        (CI, "target: prod", "target: dev", ("target-differs", "target")),
        (CI, "          target: prod\n", "", ("target-differs", "target")),
        (CI, "context: .", "context: c2", ("context-differs", "[images.default]")),
        (CI, "tags: r.org/o/p:one", "tags: r.org/o/p:two", ("published-differs", "tag")),
        (CI, "tags: r.org/o/p:one", "tags: r.org/o/q:one", ("published-differs", "repository")),
        (CI, "tags: r.org/o/p:one", "tags: 'r.org/o/p:two,r.org/o/p:${{ github.sha }}'", ("published-differs", "tag")),
        (CI, "REF=dev", "REF=other", ("build-args-differ", "build-args")),
        (CI, "REF=dev", "OTHER=dev", ("build-args-differ", "build-args")),
        (CI, "          build-args: |\n            REF=dev\n", "", ("build-args-differ", "build-args")),
        (CI, "  t:\n", "  t2:\n", ("suite-undeclared", f"{CI}:15")),
        ("Dockerfile", "--no-deps", "--no-build-isolation", ("install-differs", "install")),
        ("Dockerfile", "PYTHONPATH=/m", "PYTHONPATH=/n", ("python-path-differs", "python-path")),
        ("Dockerfile", "PYTHONPATH=/m", "PYTHONPATH=/n:/m", ("python-path-differs", "python-path")),
    ],
)
def test_each_thing_that_moved_on_is_said(
    repository: Callable[..., Any], path: str, old: str, new: str, expected: tuple[str, str]
) -> None:
    assert expected in drifted(repository, path, old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (CI, "REF=dev", "REF=dev\n            UNDECLARED=x"),  # no ARG takes it
        (CI, "REF=dev", "REF=${{ inputs.ref }}"),  # nobody can tell
        (CI, "tags: r.org/o/p:one", 'tags: "r.org/o/p:${{ inputs.tag }}"'),
        (CI, "tags: r.org/o/p:one", 'tags: "r.org/o/p:one,r.org/o/p:${{ github.sha }}"'),
        (CI, "target: prod", 'target: "${{ inputs.stage }}"'),
        (CI, "context: .", 'context: "${{ inputs.folder }}"'),
        (CI, "      - uses: docker", "      - run: docker build .\n      - uses: docker"),  # another way beside
        ("Dockerfile", "-e . --no-deps", "--quiet -e . --index-url https://y.org"),  # the manifest says more
        ("Dockerfile", "PYTHONPATH=/m", "X=/n"),  # the base image may have it
    ],
)
def test_what_may_be_as_the_manifest_says_is_silent(
    repository: Callable[..., Any], path: str, old: str, new: str
) -> None:
    assert drifted(repository, path, old, new) == []


def test_a_context_by_copy_lines_is_compared_too(repository: Callable[..., Any]) -> None:
    docker = "FROM a\nRUN git clone -b w https://x.org/o/m /m\nCOPY f /f\n"
    found = repository({"docker/Dockerfile": docker, "docker/f": ""})
    manifest = found.propose().text.decode()
    assert found.differences(manifest) == []
    at_the_top = "\n".join(one for one in manifest.split("\n") if not one.startswith("context"))
    assert [rule for rule, _ in found.differences(at_the_top)] == ["context-differs"]


def test_what_the_manifest_answers_is_what_the_repository_is_read_by(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    """No workflow tells context, stage or argument, and two folders have the patch."""
    docker = """\
        FROM a AS first
        ARG REF=main
        COPY p.patch /p.patch
        RUN git clone -b $REF https://x.org/o/m /m && cd /m && git apply /p.patch
        FROM a
        RUN git clone -b w https://x.org/o/n /n
        """
    manifest = """
        [project]
        name = "mine"
        [dependencies.m]
        url = "https://x.org/o/m"
        branch = "work"
        [images.default]
        dockerfile = "docker/Dockerfile"
        context = "docker"
        target = "first"
        build-args = { REF = "work" }
        [images.default.baked.m]
        path = "/m"
        patches = ["docker/p.patch"]
        """
    found = repository({"docker/Dockerfile": docker, "docker/p.patch": patch("a"), "p.patch": patch("b")})
    assert found.differences(manifest) == []


def test_options_in_a_variable_may_pass_anything(repository: Callable[..., Any]) -> None:
    line = "on: push\njobs:\n  b:\n    steps:\n      - run: docker build {} -t o/p:a --push .\n"
    found = repository({"Dockerfile": DOCKERFILE, CI: line.format("--build-arg REF=x")})
    manifest = found.propose().text.decode()
    assert found.manifest().images["default"].build.arguments == {"REF": "x"}
    found.files[CI] = line.format("$OPTIONS").encode()
    assert found.differences(manifest) == []
