"""Under which name an image is published, and which jobs run in it: only what a workflow pushes or runs is a value."""

from collections.abc import Callable
from typing import Any

import pytest

DOCKERFILE = "FROM a\nRUN git clone -b work https://x.org/o/eng /eng\n"
ACTION = "      - uses: docker/build-push-action@v6\n        with: {{context: ., tags: 'o/p:test'{more}}}\n"
COMMAND = "      - run: {}\n"


def built(steps: str, jobs: str = "") -> dict[str, str]:
    return {"Dockerfile": DOCKERFILE, ".github/workflows/ci.yml": f"on: push\njobs:\n  b:\n    steps:\n{steps}{jobs}"}


@pytest.mark.parametrize(
    "steps",
    [
        ACTION.format(more=", push: false"),
        ACTION.format(more=""),
        ACTION.format(more=", outputs: 'type=docker'"),
        COMMAND.format("docker build -t o/p:test . && docker push o/q:test"),
    ],
)
def test_an_image_that_nothing_pushes_has_no_name_in_a_registry(repository: Callable[..., Any], steps: str) -> None:
    found = repository(built(steps))
    image = found.manifest().images["default"]
    assert (image.repository, image.tag) == (None, None)
    asked = found.questions()["images.default.repository"]
    assert "It is built as o/p:test (.github/workflows/ci.yml:5), and not pushed" in asked


@pytest.mark.parametrize(
    "steps",
    [
        ACTION.format(more=", push: true"),
        ACTION.format(more=", push: \"${{ github.event_name != 'pull_request' }}\""),
        ACTION.format(more=", outputs: 'type=image,push=true'"),
        ACTION.format(more=", push: false") + COMMAND.format("docker push o/p:test"),
        COMMAND.format("docker build -t o/p:test --push ."),
        COMMAND.format("docker build -t o/p:test .") + COMMAND.format("docker push --all-tags o/p"),
        COMMAND.format("podman build -t o/p:test . && podman push $NAME"),
    ],
)
def test_an_image_that_is_pushed_has_the_name_that_it_is_pushed_under(
    repository: Callable[..., Any], steps: str
) -> None:
    image = repository(built(steps)).manifest().images["default"]
    assert (image.repository, image.tag) == ("o/p", "test")


PUSHED = ACTION.format(more=", push: true")


@pytest.mark.parametrize(
    "job",
    [
        "  t: {container: \"o/p:${{ inputs.ci_image_tag || 'test' }}\", steps: [{run: x}]}\n",
        "  t: {container: \"o/p:${{ inputs.tag || env.TAG || 'test' }}\", steps: [{run: x}]}\n",
        "  t: {steps: [{run: 'docker run --rm -v /a:/b -e A=b:c o/p:test pytest tests'}]}\n",
        "  t: {steps: [{run: 'cd x && docker run --gpus all o/p:test pytest || exit 1'}]}\n",
    ],
)
def test_a_job_that_runs_the_image_is_a_suite(repository: Callable[..., Any], job: str) -> None:
    found = repository(built(PUSHED, job))
    assert {name: one.image for name, one in found.manifest().suites.items()} == {"t": "default"}


def test_a_value_that_stands_before_the_default_is_taken(repository: Callable[..., Any]) -> None:
    job = "  t: {env: {TAG: other}, container: \"o/p:${{ env.TAG || 'test' }}\", steps: [{run: x}]}\n"
    assert repository(built(PUSHED, job)).manifest().suites == {}


@pytest.mark.parametrize(
    ("job", "shown"),
    [
        ("  t: {steps: [{run: 'docker run o/p@sha256:" + "a" * 64 + " pytest'}]}\n", "o/p@sha256:aaaa"),
        ('  t: {container: "o/p:${{ inputs.tag }}", steps: [{run: x}]}\n', "o/p:${{ inputs.tag }}"),
    ],
)
def test_a_job_on_a_tag_that_is_not_told_is_asked_about(repository: Callable[..., Any], job: str, shown: str) -> None:
    found = repository(built(PUSHED, job))
    assert found.manifest().suites == {}
    asked = found.questions()["suites.t.image"]
    assert shown in asked
    assert ".github/workflows/ci.yml:7" in asked
    assert found.differences() == []
