"""Which folder a build's context is: by the commands of a workflow, and else by where the files of the COPY lines are."""

from collections.abc import Callable
from typing import Any

import pytest

from regraft.flows.check import check
from regraft.flows.init import ProposedFiles

DOCKERFILE = "FROM a\nRUN git clone -b work https://x.org/o/eng /eng\nCOPY f /f\n"
PATCHED = """\
FROM a
COPY p/*.patch /p/
RUN git clone -b work https://x.org/o/eng /eng && cd /eng && git apply /p/1.patch
"""
DOCKER = "on: push\n{top}jobs:\n  b:\n{job}    steps:\n      - run: |\n          {line}\n{step}"


def running(line: str, top: str = "", job: str = "", step: str = "") -> dict[str, str]:
    """Both the top and docker/ have the file that is copied."""
    text = DOCKER.format(line=line, top=top, job=job, step=step)
    return {"docker/Dockerfile": DOCKERFILE, "docker/f": "", "f": "", ".github/workflows/ci.yml": text}


@pytest.mark.parametrize(
    "line",
    [
        "cd docker && docker build -t o/p:a . && docker push o/p:a",
        "(cd docker && docker build -t o/p:a . && docker push o/p:a)",
        "pushd docker; docker build -t o/p:a .; docker push o/p:a; popd",
        "docker build -t o/p:a $GITHUB_WORKSPACE/docker --push",
        "docker build -t o/p:a ${{ github.workspace }}/docker --push",
        "D=docker; for t in a; do sudo docker build -t o/p:$t --push ./$D; done",
        "cd docker/sub/..; docker buildx build --tag o/p:a -f Dockerfile -o type=registry .",
    ],
)
def test_a_build_is_followed_into_its_folder(repository: Callable[..., Any], line: str) -> None:
    found = repository(running(line))
    image = found.manifest().images["default"]
    assert (image.build.context, image.repository, image.tag) == ("docker", "o/p", "a")
    assert not any(key.endswith(".context") for key in found.questions())


@pytest.mark.parametrize(
    "where",
    [
        {"step": "        working-directory: docker\n"},
        {"job": "    defaults: {run: {working-directory: ./docker}}\n"},
        {"top": "defaults:\n  run:\n    working-directory: docker\n"},
    ],
)
def test_the_folder_that_a_step_works_in_is_where_its_build_is(
    repository: Callable[..., Any], where: dict[str, str]
) -> None:
    found = repository(running("docker build -t o/p:a . --push", **where))
    image = found.manifest().images["default"]
    assert (image.build.context, image.tag) == ("docker", "a")


def test_a_folder_that_the_project_is_checked_out_into_is_no_part_of_its_paths(repository: Callable[..., Any]) -> None:
    text = """\
        on: push
        jobs:
          b:
            steps:
              - uses: actions/checkout@v4
                with: {path: src}
              - run: docker build -t o/p:a --push docker
                working-directory: src
          c:
            steps:
              - uses: actions/checkout@v4
                with: {path: src}
              - uses: docker/build-push-action@v6
                with: {context: src/docker, file: src/docker/Dockerfile, tags: "o/p:a", push: true}
        """
    found = repository({**running(""), ".github/workflows/ci.yml": text})
    assert found.manifest().images["default"].build.context == "docker"
    assert "images.default.build-args" not in found.questions()


@pytest.mark.parametrize(
    ("context", "expected"), [("{{defaultContext}}:docker", "docker"), ("docker", "docker"), (".", "")]
)
def test_the_context_of_an_action(repository: Callable[..., Any], context: str, expected: str) -> None:
    file = "Dockerfile" if "{" in context else "docker/Dockerfile"
    step = f'      - uses: docker/build-push-action@v6\n        with: {{context: "{context}", file: {file}, tags: "o/p:a", push: true}}\n'
    found = repository(running("true", step=step))
    assert found.manifest().images["default"].build.context == expected
    assert found.manifest().images["default"].tag == "a"


@pytest.mark.parametrize(
    "line",
    [
        "make -C docker image",
        "docker build -t o/p:a - < docker/Dockerfile",
        "docker build -t o/p:a https://github.com/o/p.git#main",
        "docker build -t o/p:a -f docker/Dockerfile $(mktemp -d)",
        "cd $SOMEWHERE; docker build -t o/p:a -f $GITHUB_WORKSPACE/docker/Dockerfile .",
    ],
)
def test_a_context_that_no_line_tells_is_a_question_where_two_folders_have_the_file(
    repository: Callable[..., Any], line: str
) -> None:
    asked = repository(running(line)).questions()["images.default.context"]
    assert "the project's top and docker both have what docker/Dockerfile:3 takes ('f')" in asked


def test_files_that_only_the_dockerfiles_own_folder_has_tell_the_context(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    found = repository({"docker/Dockerfile": PATCHED, "docker/p/1.patch": patch("f"), "x.patch": ""})
    image = found.manifest().images["default"]
    assert image.build.context == "docker"
    assert image.baked["eng"].patches == ("docker/p/1.patch",)
    said = "context = \"docker\"  # docker/Dockerfile:2 takes 'p/*.patch', which only lies there"
    assert said in found.propose().text.decode()
    assert check(ProposedFiles(found, found.propose())).findings == ()
    assert found.differences() == []


@pytest.mark.parametrize(
    ("dockerfile", "files"),
    [
        (DOCKERFILE, ["f"]),  # at the top alone
        (DOCKERFILE, []),  # nowhere: `image check` says so
        ("FROM a\nRUN git clone -b w https://x.org/o/eng /eng\nCOPY . /f\n", ["f", "docker/f"]),
        ("FROM a\nRUN git clone -b w https://x.org/o/eng /eng\nCOPY --from=b f /f\n", ["f", "docker/f"]),
        ("FROM a\nARG F=f\nRUN git clone -b w https://x.org/o/eng /eng\nCOPY $F /f\n", ["docker/f"]),
    ],
)
def test_the_top_is_taken_without_a_word_where_nothing_speaks_for_another_folder(
    repository: Callable[..., Any], dockerfile: str, files: list[str]
) -> None:
    found = repository({"docker/Dockerfile": dockerfile, **dict.fromkeys(files, "")})
    assert found.manifest().images["default"].build.context == ""
    assert not any(key.endswith(".context") for key in found.questions())


def test_a_bind_mount_tells_the_context_too_and_so_does_a_folder_between(repository: Callable[..., Any]) -> None:
    run = "FROM a\nRUN --mount=type=bind,source=s,target=/s git clone -b w https://x.org/o/eng /eng\n"
    found = repository({"a/b/Dockerfile": run, "a/s/x": "", "s.txt": ""})
    assert found.manifest().images["b"].build.context == "a"


def test_ways_that_differ_in_an_argument_alone_have_one_context(repository: Callable[..., Any]) -> None:
    line = "docker build --build-arg A=1 docker; docker build --build-arg A=2 docker"
    found = repository(running(line))
    assert found.manifest().images["default"].build.context == "docker"
    assert "differ" in found.questions()["images.default.build-args"]


def test_an_argument_that_the_dockerfile_does_not_declare_is_none_of_its_image(repository: Callable[..., Any]) -> None:
    """One list of arguments for a matrix of Dockerfiles."""
    text = "on: push\njobs:\n  b:\n    strategy: {matrix: {f: [Dockerfile, Dockerfile.rocm]}}\n    steps:\n"
    text += "      - run: docker build --build-arg REF=w --build-arg HTTP_PROXY=h -f ${{ matrix.f }} .\n"
    bare, rocm = "FROM a\nRUN git clone -b w https://x.org/o/eng /eng\n", "FROM a\nARG REF=v\nRUN git clone -b $REF https://x.org/o/eng /eng\n"  # fmt: skip
    found = repository({"Dockerfile": bare, "Dockerfile.rocm": rocm, ".github/workflows/ci.yml": text})
    images = found.manifest().images
    assert images["default"].build.arguments == {"HTTP_PROXY": "h"}
    assert images["rocm"].build.arguments == {"HTTP_PROXY": "h", "REF": "w"}
