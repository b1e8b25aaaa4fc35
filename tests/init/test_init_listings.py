"""Loops over what `ls` and `find` list: an order of versions is declared, one of names is its locale's."""

from collections.abc import Callable
from typing import Any

import pytest

from regraft.core.init_listing import by_version, listing

HEAD = "FROM a\nCOPY p /p\nRUN git clone -b w https://x.org/o/e /e && cd /e && "
IN_ORDER = ("p/2-x.patch", "p/10-x.patch")  # `*` has them the other way round


def looped(repository: Callable[..., Any], patch: Callable[..., str], words: str, name: str = "$f") -> Any:
    """Three patches that edit one file, two of them with -x in their names."""
    files = {f"p/{one}.patch": patch("one") for one in ("10-x", "2-x", "3-y")}
    return repository({"Dockerfile": f'{HEAD}for f in {words}; do git apply "{name}"; done\n', **files})


@pytest.mark.parametrize(
    "words",
    [
        "$(ls /p/*-x.patch | sort -V)",
        "$(ls -1 /p/*-x.patch | sort --version-sort)",
        "$(ls -v /p/*-x.patch)",
        "$(ls -1v /p/10-x.patch /p/2-x.patch)",
        "$(find /p -type f -name '*-x.patch' | sort -V)",
    ],
)
def test_an_order_of_versions_is_a_value(repository: Callable[..., Any], patch: Callable[..., str], words: str) -> None:
    found = looped(repository, patch, words)
    assert found.manifest().images["default"].baked["e"].patches == IN_ORDER
    assert "images.default.baked.e.patches" not in found.questions()
    assert found.questions()["p/3-y.patch"] == "is it retired? No Dockerfile here applies it"
    assert found.differences() == []


@pytest.mark.parametrize(
    "words",
    ["$(ls /p/*-x.patch)", "$(ls /p/*-x.patch | sort)", "$(ls /p/*-x.patch | sort -u)", "$(ls -v /p/*-x.patch | sort)"],
)
def test_an_order_of_names_is_asked_about(
    repository: Callable[..., Any], patch: Callable[..., str], words: str
) -> None:
    found = looped(repository, patch, words)
    assert found.manifest().images["default"].baked["e"].patches == ()
    assert "in which order?" in found.questions()["images.default.baked.e.patches"]


def test_a_folder_is_listed_as_the_names_in_it(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    found = looped(repository, patch, "$(ls /p | sort -V)", "/p/$f")
    assert found.manifest().images["default"].baked["e"].patches == ("p/2-x.patch", "p/3-y.patch", "p/10-x.patch")


@pytest.mark.parametrize("words", ["$(ls -t /p/*.patch)", "$(ls /p/*.patch | sort -rV)", "$(ls /p/*.patch | head -1)"])
def test_what_is_turned_or_cut_is_asked_and_no_patch_is_called_unused(
    repository: Callable[..., Any], patch: Callable[..., str], words: str
) -> None:
    found = looped(repository, patch, words)
    assert found.manifest().images["default"].baked["e"].patches == ()
    assert "which patch is" in found.questions()["images.default.baked"]
    assert "which ones Dockerfile:3 applies is asked" in found.questions()["p/10-x.patch"]


def test_other_options_are_no_listing() -> None:
    assert listing("$(ls -R /p)") is None
    assert listing("$(cat /p/series)") is None
    assert listing("$(ls /p/$X)") is None


def test_versions_in_the_order_of_coreutils() -> None:
    """https://www.gnu.org/software/coreutils/manual/html_node/Version-sort-ordering-rules.html"""
    names = ["1.9.patch", "1.10.patch", "0002-b.patch", "2-b.patch", "10-x.patch", "a.patch", "ab.patch", "a-b.patch"]
    assert sorted(sorted(names), key=by_version) == names
    assert sorted(["b10", "b9a", "fix-2.patch", "fix.patch"], key=by_version) == [
        "b9a",
        "b10",
        "fix.patch",
        "fix-2.patch",
    ]


def test_a_checkout_of_the_base_image_takes_no_default_branch(repository: Callable[..., Any]) -> None:
    found = repository({"Dockerfile": "FROM a\nCOPY p /p\nRUN cd /s/e && git apply /p/1.patch\n", "p/1.patch": ""})
    assert "brings" in found.questions()["dependencies.e.branch"]
    assert "default branch" not in found.questions()["dependencies.e.branch"]
