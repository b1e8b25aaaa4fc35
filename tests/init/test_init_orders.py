"""Patches that come from a pattern, a list or a series: which order is declared, and which one is asked about."""

from collections.abc import Callable
from typing import Any

import pytest

CLONE = "FROM a\nCOPY patches /patches\nRUN git clone -b work https://x.org/o/eng /eng\nWORKDIR /eng\n"
LOOP = CLONE + 'RUN for p in /patches/*.patch; do git apply "$p"; done\n'
KEY = "images.default.baked.eng.patches"


def patches_of(found: Any) -> tuple[str, ...]:
    baked = found.manifest().images["default"].baked["eng"]
    return tuple(one.rpartition("/")[2] for one in baked.patches)


def test_patches_of_a_loop_that_touch_nothing_in_common_have_any_order(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    found = repository({"Dockerfile": LOOP, "patches/b.patch": patch("b.py"), "patches/a.patch": patch("a.py")})
    assert patches_of(found) == ("a.patch", "b.patch")
    assert "in any order: no two edit one file" in found.propose().text.decode()


def test_an_order_that_only_file_names_hold_is_asked_about(
    repository: Callable[..., Any], patch: Callable[..., str]
) -> None:
    """https://github.com/syv-ai/qwen38-27b-rtx3090/pull/54"""
    files = {f"patches/{name}.patch": patch("f.py") for name in ("add-block", "needs-block")}
    found = repository({"Dockerfile": LOOP, **files, "patches/other.patch": patch("g.py")})
    assert patches_of(found) == ()
    asked = found.questions()[KEY]
    assert "Dockerfile:5 goes over /patches/*.patch" in asked
    assert "patches/add-block.patch and patches/needs-block.patch both edit f.py" in asked
    offer = '# patches = ["patches/add-block.patch", "patches/needs-block.patch", "patches/other.patch"]'
    assert offer in found.propose().text.decode().split("\n")


@pytest.mark.parametrize(
    ("names", "declared"),
    [
        (("0001-a", "0002-b", "0010-c"), True),
        (("1-a", "2-b", "10-c"), False),  # https://github.com/apache/bigtop/pull/1327: 10 sorts before 2
        (("01-a", "01-b"), False),
        (("a", "b"), False),
    ],
)
def test_numbers_of_one_width_are_an_order(
    repository: Callable[..., Any], patch: Callable[..., str], names: tuple[str, ...], declared: bool
) -> None:
    found = repository({"Dockerfile": LOOP, **{f"patches/{name}.patch": patch("f.py") for name in names}})
    assert patches_of(found) == (tuple(f"{name}.patch" for name in names) if declared else ())
    assert (KEY in found.questions()) is not declared


def test_a_pattern_that_stops_seeing_a_number(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    """https://github.com/shibco/ableton-linux/pull/199"""
    dockerfile = CLONE + "RUN git apply /patches/00*.patch\n"
    files = {f"patches/{number}-x.patch": patch("f.py") for number in ("0098", "0099", "0100")}
    found = repository({"Dockerfile": dockerfile, **files})
    assert patches_of(found) == ("0098-x.patch", "0099-x.patch")
    assert "No Dockerfile here applies it" in found.questions()["patches/0100-x.patch"]


@pytest.mark.parametrize(
    "run",
    [
        'for p in /patches/b.patch /patches/a.patch; do git apply "$p" || exit 1; done',
        "git apply /patches/b.patch /patches/a.patch",
        "cat /patches/b.patch /patches/a.patch | patch -p1",
        "patch -p1 < /patches/b.patch && patch -p1 < /patches/a.patch",
        'LIST="/patches/b.patch /patches/a.patch"; for p in $LIST; do patch -p1 -i $p; done',
        "for n in b a; do git apply /patches/$n.patch; done",
        "git am /patches/b.patch /patches/a.patch",
    ],
)
def test_a_list_is_an_order(repository: Callable[..., Any], patch: Callable[..., str], run: str) -> None:
    files = {"patches/a.patch": patch("f.py"), "patches/b.patch": patch("f.py")}
    found = repository({"Dockerfile": f"{CLONE}RUN {run}\n", **files})
    assert patches_of(found) == ("b.patch", "a.patch")
    assert KEY not in found.questions()


@pytest.mark.parametrize(
    "run",
    [
        "for p in $(cat /patches/series); do patch -p1 < /patches/$p; done",
        "QUILT_PATCHES=/patches && export QUILT_PATCHES=/patches && quilt push -a",
    ],
)
def test_a_series_file_is_the_order(repository: Callable[..., Any], patch: Callable[..., str], run: str) -> None:
    files = {"patches/a.patch": patch("f.py"), "patches/b.patch": patch("f.py"), "patches/series": "b.patch\na.patch\n"}
    found = repository({"Dockerfile": f"{CLONE}RUN {run}\n", **files})
    assert found.manifest().images["default"].baked["eng"].series == "patches/series"
    assert "patches/a.patch" not in found.questions()


@pytest.mark.parametrize("run", ["ls /patches/*.patch | xargs -n1 git apply", "curl -L https://x.org/p | git apply"])
def test_patches_that_come_through_a_pipe_are_asked_about(
    repository: Callable[..., Any], patch: Callable[..., str], run: str
) -> None:
    found = repository({"Dockerfile": f"{CLONE}RUN {run}\n", "patches/a.patch": patch("f.py")})
    assert patches_of(found) == ()
    assert "Dockerfile:5" in found.questions()["images.default.baked"]


def test_what_a_reset_takes_back_is_not_carried(repository: Callable[..., Any], patch: Callable[..., str]) -> None:
    dockerfile = CLONE + "RUN git apply /patches/a.patch && git reset --hard work && git apply /patches/b.patch\n"
    found = repository({"Dockerfile": dockerfile, "patches/a.patch": patch("f"), "patches/b.patch": patch("g")})
    assert patches_of(found) == ("b.patch",)
    assert "is taken back by it" in found.propose().text.decode()


def test_an_edit_that_no_patch_explains_is_asked_about(repository: Callable[..., Any]) -> None:
    found = repository(Dockerfile=CLONE + "RUN sed -i 's/a/b/' setup.py\n")
    assert "`sed -i` edits 'setup.py'" in found.questions()["images.default.baked.eng.local-edits"]
