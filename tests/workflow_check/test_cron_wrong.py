"""Schedules that GitHub refuses, that never come, that come too often, or not as their name says; and those that are right."""

from collections.abc import Callable

import pytest

RULE = "cron-wrong"


def workflow(*crons: str, name: str = "x") -> str:
    lines = "".join(f'    - cron: "{one}"\n' for one in crons)
    return f"name: {name}\non:\n  schedule:\n{lines}jobs:\n  a:\n    runs-on: x\n    steps: [{{run: make}}]\n"


def said(found: Callable, text: str, file: str = "ci.yml") -> list[tuple[str, int, int]]:
    return [(one.severity, one.line, one.column) for one in found({file: text}, RULE)]


@pytest.mark.parametrize(
    "cron",
    [
        "0 3 * *",
        "0 0 3 * * *",
        "",
        "60 3 * * *",
        "0 24 * * *",
        "0 3 0 * *",
        "0 3 32 * *",
        "0 3 * 13 *",
        "0 3 * 0 *",
        "0 3 * * 8",
        "@daily",
        "0 3 * * MONDAY",
        "0 3 ? * *",
        "0 3 L * *",
        "0 3 * * 5#2",
        "*/0 3 * * *",
        "5-1 3 * * *",
        "0 3 * * ,1",
        "0 3 * * FRI-TUE",
        "H 3 * * *",
        "-5 3 * * *",
        "1.5 3 * * *",
    ],
)
def test_what_github_refuses_is_an_error(cron: str, found: Callable) -> None:
    assert said(found, workflow(cron)) == [("error", 4, 13)]


@pytest.mark.parametrize("cron", ["0 3 31 2 *", "0 3 30 FEB *", "0 3 31 4,6 *", "0 3 31 2,9 *"])
def test_a_day_that_no_month_has_is_an_error(cron: str, found: Callable) -> None:
    assert said(found, workflow(cron)) == [("error", 4, 13)]


@pytest.mark.parametrize("cron", ["* * * * *", "*/2 3 * * *", "0,3 * * * *", "58,2 * * * *"])
def test_what_comes_more_often_than_github_starts_it_is_a_warning(cron: str, found: Callable) -> None:
    assert said(found, workflow(cron)) == [("warning", 4, 13)]


@pytest.mark.parametrize("cron", ["*/60 * * * *", "0 */24 * * *", "0 3 */40 * *"])
def test_a_step_that_leads_nowhere_is_a_warning(cron: str, found: Callable) -> None:
    assert said(found, workflow(cron)) == [("warning", 4, 13)]


@pytest.mark.parametrize(
    ("file", "name", "crons"),
    [
        ("nightly.yml", "x", ["0 3 * * 0"]),
        ("ci.yml", "Nightly tests", ["0 3 1 * *"]),
        ("nightly_gpu.yml", "x", ["0 3 * * 1,3"]),
        ("weekly.yml", "x", ["0 3 * * *"]),
        ("ci.yml", "Weekly report", ["0 3 1 * *"]),
        ("weekly.yml", "x", ["0 3 * * 1-5"]),
    ],
)
def test_a_name_that_says_another_rhythm_is_a_warning(file: str, name: str, crons: list[str], found: Callable) -> None:
    assert said(found, workflow(*crons, name=name), file) == [("warning", 4, 13)]


@pytest.mark.parametrize(
    "cron",
    [
        "0 3 * * *",
        "  0  3 * * *",
        "*/5 * * * *",
        "0 3 * * 1-5",
        "0 3 * JAN-MAR mon,WED",
        "30 5,17 * * *",
        "0 3 29 2 *",
        "0 3 31 * *",
        "0 3 31 2 1",  # a day of the week is an alternative
        "0 3 * * 7",
        "07 03 01 02 0",
        "2-59/10 * * * *",
        "5/15 * * * *",
        "0 0 1,15 * *",
        "0,58 3 * * *",  # an hour is not the next one's neighbour
        "0 */23 * * *",
    ],
)
def test_what_github_takes_is_silent(cron: str, found: Callable) -> None:
    assert said(found, workflow(cron)) == []


@pytest.mark.parametrize(
    ("file", "name", "crons"),
    [
        ("nightly.yml", "x", ["0 3 * * *"]),
        ("nightly.yml", "x", ["0 3 * * 1-5"]),
        ("nightly.yml", "x", ["0 3 * * 0-5", "0 9 * * 6"]),
        ("nightly.yml", "x", ["0 3 * * 0", "0 3 * * *"]),
        ("nightly.yml", "x", ["0 */6 * * *"]),
        ("nightly-and-weekly.yml", "x", ["0 3 * * 0"]),
        ("biweekly.yml", "x", ["0 3 1,15 * *"]),
        ("bi-weekly.yml", "x", ["0 3 1,15 * *"]),
        ("weekly.yml", "x", ["0 3 * * 6"]),
        ("weekly.yml", "x", ["0 3 */7 * *"]),
        ("weekly.yml", "x", ["0 3 * * MON,THU"]),
        ("rust-nightly.yml", "x", ["0 3 * * 0"]),  # a channel, not a night
        ("fortnightly.yml", "x", ["0 3 1,15 * *"]),
    ],
)
def test_a_name_that_fits_is_silent(file: str, name: str, crons: list[str], found: Callable) -> None:
    assert said(found, workflow(*crons, name=name), file) == []


def test_each_wrong_one_of_several_is_said_and_a_called_nightly_has_no_schedule(found: Callable) -> None:
    assert [one[1] for one in said(found, workflow("0 3 * * *", "0 25 * * *", "0 26 * * *"))] == [5, 6]
    called = "on: workflow_call\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n"
    assert said(found, called, "nightly.yml") == []


def test_a_text_of_a_thousand_numbers_is_read_in_time(found: Callable) -> None:
    assert [one[0] for one in said(found, workflow(",".join(["1"] * 5000) + " * * * *"))] == []
    assert [one[0] for one in said(found, workflow("1/999999999999999999999 * * * *"))] == ["warning"]
