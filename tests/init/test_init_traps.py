"""What looks like a value in a build and is none: names that only the build knows, and what does not stay in the image."""

from collections.abc import Callable
from typing import Any

import pytest

M = "https://x.org/o/m"


@pytest.mark.parametrize(
    ("commands", "shown"),
    [
        (f"git clone {M} /m && cd /m && git fetch origin pull/12/head:pr && git checkout pr", "pull/12/head"),
        (f"git clone {M} /m && cd /m && git fetch origin pull/12/head && git branch pr FETCH_HEAD && git checkout pr", "pull/12/head"),
        (f"git clone {M} /m && cd /m && git fetch origin pull/12/head:pr && git checkout -b mine pr && git checkout mine", "pull/12/head"),
        (f"git clone {M} /m && cd /m && git checkout -b mine && git checkout mine", "not in the repository"),
        (f"case $(uname -m) in x86_64) B=x;; *) B=y;; esac; git clone -b $B {M} /m", "not in the repository"),
        (f"B=x; if grep -q y /proc/cpuinfo; then B=y; fi; git clone -b ${{B:-z}} {M} /m", "not in the repository"),
        (f'B=$(uname -m); if [ -z "$B" ]; then B=y; fi; git clone -b $B {M} /m', "not in the repository"),
    ],
)  # fmt: skip
def test_a_branch_that_only_this_build_knows_is_no_value(
    repository: Callable[..., Any], commands: str, shown: str
) -> None:
    found = repository(Dockerfile=f"FROM a\nRUN {commands}\n")
    assert found.manifest().dependencies["m"].branch is None
    assert shown in found.questions()["dependencies.m.branch"]


@pytest.mark.parametrize(
    ("commands", "branch"),
    [
        (f"git clone {M} /m && cd /m && git fetch origin work:here && git checkout here", "work"),
        (f"git clone {M} /m && cd /m && git checkout -b here origin/work && git checkout here", "work"),
        (f"B=work; export B; git clone -b $B {M} /m", "work"),
        (f"B=work; if true; then B=$B; fi; git clone -b $B {M} /m", "work"),
    ],
)
def test_a_local_branch_is_what_it_was_made_of(repository: Callable[..., Any], commands: str, branch: str) -> None:
    assert repository(Dockerfile=f"FROM a\nRUN {commands}\n").manifest().dependencies["m"].branch == branch


@pytest.mark.parametrize(
    "commands", ["rm -rf /m", "cd / && rm -r -f m/", "rm -rf /opt/x /m/*", "cd /m && pip install -r r.txt && rm -rf /m"]
)
def test_a_checkout_that_is_removed_is_not_in_the_image(repository: Callable[..., Any], commands: str) -> None:
    found = repository(
        Dockerfile=f"FROM a\nRUN git clone -b w https://x.org/o/n /n && git clone {M} /m && {commands}\n"
    )
    assert list(found.manifest().images["default"].baked) == ["n"]
    assert list(found.manifest().dependencies) == ["n"]
    assert "the checkout at /m (Dockerfile:2) is removed here" in found.propose().text.decode()


def test_what_was_installed_before_its_checkout_was_removed_is_a_dependency_without_a_path(
    repository: Callable[..., Any],
) -> None:
    run = f"RUN git clone -b work {M} /m && cd /m && pip install . && cd / && rm -rf m\n"
    found = repository(Dockerfile=f"FROM a\n{run}")
    assert found.manifest().dependencies["m"].branch == "work"
    assert found.manifest().images["default"].baked == {}
    assert "where is its checkout? pip installs it from git" in found.questions()["images.default.baked.m.path"]
    assert found.differences() == []


def test_a_checkout_that_may_be_removed_is_asked_about(repository: Callable[..., Any]) -> None:
    run = f"RUN git clone -b work {M} /m && if grep -q x /y; then rm -rf /m; fi\n"
    found = repository(Dockerfile=f"FROM a\n{run}")
    assert found.manifest().images["default"].baked == {}
    assert "is it in this image?" in found.questions()["images.default.baked.m"]


def test_removing_the_history_alone_leaves_the_checkout(repository: Callable[..., Any]) -> None:
    found = repository(Dockerfile=f"FROM a\nRUN git clone -b work {M} /m && rm -rf /m/.git /tmp/x\n")
    assert list(found.manifest().images["default"].baked) == ["m"]
