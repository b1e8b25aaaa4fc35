"""Every kind of event: a null body, a missing one, dispatch inputs of every JSON type, a comment's pull request."""

import json

import pytest

from regraft.core.event import Event, read_event
from regraft.errors import InputError


def read(payload: object) -> Event:
    return read_event(json.dumps(payload).encode(), "event.json")


@pytest.mark.parametrize("pull", [{"body": None, "number": 7}, {"number": 7}, {"body": "", "number": 7}])
def test_no_body_at_all_is_an_empty_body(pull: dict[str, object]) -> None:
    """https://github.com/rust-lang/highfive/issues/184: null is neither missing nor empty."""
    assert read({"pull_request": pull, "repository": {"full_name": "o/r"}}) == Event("", (), "o/r", 7)


@pytest.mark.parametrize(
    "payload",
    [
        {"schedule": "0 0 * * *"},
        {"ref": "refs/heads/main", "commits": []},
        {"merge_group": {"head_sha": "1" * 40}},
        {"issue": {"number": 3, "body": "ci-sglang-pr: #1"}, "comment": {"body": "/run"}},
        {"pull_request": None},
    ],
)
def test_an_event_without_a_pull_request_has_no_body(payload: dict[str, object]) -> None:
    assert read(payload).body is None


def test_a_comment_on_a_pull_request_carries_its_body() -> None:
    issue = {"number": 3, "body": "text", "pull_request": {"url": "https://x"}}
    assert read({"issue": issue, "repository": {"full_name": "o/r"}}) == Event("text", (), "o/r", 3)


def test_dispatch_inputs_are_text_whatever_their_json_type() -> None:
    inputs = {"ci_sglang_pr": "#12", "flag": False, "count": 3, "none": None, "on": True}
    assert read({"inputs": inputs}).inputs == (
        ("ci_sglang_pr", "#12"),
        ("flag", "false"),
        ("count", "3"),
        ("none", ""),
        ("on", "true"),
    )


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "event-unreadable"),
        (b'{"pull_request": {"body": "\xff"}}', "event-unreadable"),
        (b"[" * 50_000, "event-unreadable"),
        (b"[]", "event-shape"),
        (b'{"pull_request": 3}', "event-shape"),
        (b'{"pull_request": {"body": ["a"]}}', "event-shape"),
        (b'{"inputs": ["a"]}', "event-shape"),
    ],
)
def test_a_payload_of_another_shape_is_a_named_error(data: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read_event(data, "event.json")
    assert caught.value.code == code


def test_an_input_that_is_no_text_is_kept_as_such_for_whoever_knows_its_name() -> None:
    assert read({"inputs": {"suites": ["a"], "matrix": {}, "ci_sglang_pr": "#12"}}).inputs == (
        ("suites", None),
        ("matrix", None),
        ("ci_sglang_pr", "#12"),
    )


@pytest.mark.parametrize(
    "full_name",
    ["o", "o/", "/r", "o/r/x", "o/r\n", "o/r?x", "../r", "o/..", "o/r#1", "-o/r", "o /r", "", None, ["o/r"]],
)
def test_what_is_no_owner_and_name_is_no_repository(full_name: object) -> None:
    """It becomes part of an address that a token is sent to."""
    assert read({"repository": {"full_name": full_name}}).repository is None


def test_hostile_types_around_the_repository_are_no_crash() -> None:
    assert read({"repository": {"full_name": 3}, "pull_request": {"number": True, "body": "x"}}) == Event(
        "x", (), None, None
    )
