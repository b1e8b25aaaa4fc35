"""What a shell is given as a string is read as the scripts are: by the inputs and by the rules alike."""

from typing import Any

import pytest

from regraft.core.image_check import Built, judge
from regraft.core.image_values import Place
from regraft.core.image_view import Recipe

PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
COPY = "FROM scratch\nCOPY docker/patch /patches/\n"


def check(track: Any, text: str) -> list[str]:
    found = track({"docker/Dockerfile": text, "docker/patch/a.patch": PATCH})
    findings = judge([Built(Recipe("i", "docker/Dockerfile"))], found.tree, found.read)
    return [f"{one.rule} {Place(one.path, one.line)}" for one in findings]


@pytest.mark.parametrize(
    "text",
    [
        "RUN bash -c 'cd /r && git apply /patches/a.patch'",
        'RUN bash -lc "cd /r && git apply /patches/a.patch"',
        'RUN sudo bash -ec "cd /r; git apply /patches/a.patch; make"',
        "RUN eval 'git -C /r apply /patches/a.patch'",
        'RUN set -e; bash -o pipefail -ec "git -C /r apply /patches/a.patch | tee log"; make',
    ],
)
def test_an_apply_in_a_string_is_an_apply(track: Any, text: str) -> None:
    assert check(track, f"{COPY}{text}\n") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('RUN bash -lc "cd /r && (git apply /patches/a.patch || echo skip)"', 3),
        ("RUN true && \\\n  sh -c 'cd /r && \\\n  git apply /patches/a.patch || true'", 5),
        ("RUN bash -c 'git -C /r apply /patches/a.patch' || true", 3),
        ("RUN eval 'git -C /r apply /patches/a.patch; true'", 3),
    ],
)
def test_an_apply_in_a_string_whose_failure_cannot_stop_the_build(track: Any, text: str, line: int) -> None:
    assert check(track, f"{COPY}{text}\n") == [f"apply-unchecked docker/Dockerfile:{line}"]


def test_the_place_is_the_line_of_the_string(track: Any) -> None:
    text = "RUN true && \\\n  bash -c 'cd /r && \\\n  git clone https://e.org/r && git apply /patches/a.patch'\n"
    assert check(track, f"{COPY}{text}") == ["clone-moving docker/Dockerfile:5"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RUN git clone -b $REF https://e.org/r /r", ["clone-moving docker/Dockerfile:4"]),
        ("RUN git clone https://e.org/r /r && git -C /r checkout origin/$REF", ["clone-moving docker/Dockerfile:4"]),
        ("RUN git clone https://e.org/r /r && git -C /r checkout $REF", []),
    ],
)
def test_an_argument_counts_where_a_commit_can_stand_only(track: Any, text: str, found: list[str]) -> None:
    applied = "RUN git -C /r apply /patches/a.patch"
    assert check(track, f"{COPY}ARG REF=main\n{text}\n{applied}\n") == found
