"""The API, against a stand-in on loopback that answers what GitHub answers."""

import json
from typing import Any

import pytest

from regraft.adapters import http
from regraft.adapters.github import GitHub
from regraft.errors import InputError, OutsideError


def github(api: Any) -> GitHub:
    found = GitHub.of({"GITHUB_TOKEN": "secret", "GITHUB_API_URL": api.url})
    assert found is not None
    return found


def test_a_pull_request_as_it_is_now(api: Any) -> None:
    pull = github(api).pull_request("o/r", 7)
    assert pull is not None
    assert (pull.body, pull.head, pull.base, pull.open, pull.merged) == (
        "ci-sglang-pr: #1\r\n",
        "1" * 40,
        "main",
        True,
        False,
    )
    [(path, authorization)] = api.seen
    assert path == "/repos/o/r/pulls/7"
    assert authorization is not None
    assert authorization.endswith(" secret")


def test_a_null_body_is_empty(api: Any) -> None:
    api.body = json.dumps(api.pull | {"body": None}).encode()
    pull = github(api).pull_request("o/r", 7)
    assert pull is not None
    assert pull.body == ""


def test_none_where_the_token_sees_no_such_pull_request(api: Any) -> None:
    api.status, api.body = 404, b'{"message": "Not Found"}'
    assert github(api).pull_request("o/r", 7) is None


@pytest.mark.parametrize(
    ("status", "body", "headers", "code"),
    [
        (401, b'{"message": "Bad credentials"}', {}, "api-refused"),
        (403, b'{"message": "Resource not accessible"}', {}, "api-refused"),
        (502, b"<html>", {"content-type": "text/html"}, "api-refused"),
        (403, b'{"message": "limit"}', {"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0",
                                        "x-ratelimit-reset": "1700000000"}, "rate-limited"),
        (200, b"[]", {}, "api-shape"),
        (200, b'{"number": 7, "body": 3}', {}, "api-shape"),
        (200, b'{"number": 7, "body": "", "head": {"sha": "main"}, "base": {"ref": "main"}, "state": "open"}', {}, "api-shape"),
        (200, b"not json", {}, "api-shape"),
        (301, b"", {"location": "https://elsewhere.example/"}, "api-refused"),
    ],
)  # fmt: skip
def test_every_other_answer_is_an_error_of_its_own(
    api: Any, status: int, body: bytes, headers: dict[str, str], code: str
) -> None:
    api.status, api.body = status, body
    api.headers |= headers
    with pytest.raises(OutsideError) as caught:
        github(api).pull_request("o/r", 7)
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


def test_no_server_is_no_answer(api: Any) -> None:
    url = api.url
    with pytest.raises(OutsideError) as caught:
        GitHub("http://127.0.0.1:1", "github.com", "secret").pull_request("o/r", 7)
    assert caught.value.code == "no-answer"
    assert url


def test_a_token_with_a_line_end_is_trimmed_and_one_that_is_none_is_not_repeated(api: Any) -> None:
    trimmed = GitHub.of({"GITHUB_TOKEN": "secret\n", "GITHUB_API_URL": api.url})
    assert trimmed is not None
    trimmed.pull_request("o/r", 7)
    assert api.seen[-1][1].endswith(" secret")
    for value in ("sec ret", "s3cr3té"):
        with pytest.raises(InputError) as caught:
            GitHub.of({"GITHUB_TOKEN": value, "GITHUB_API_URL": api.url})
        assert caught.value.code == "bad-token"
        assert value not in str(caught.value)


def test_an_answer_about_another_pull_request_is_none(api: Any) -> None:
    with pytest.raises(OutsideError) as caught:
        github(api).pull_request("o/r", 8)
    assert caught.value.code == "api-shape"


def test_an_unknown_charset_and_a_broken_address(api: Any) -> None:
    api.headers["content-type"] = "application/json; charset=nope"
    with pytest.raises(OutsideError) as caught:
        github(api).pull_request("o/r", 7)
    assert caught.value.code == "api-shape"
    with pytest.raises(InputError) as bad:
        http.get("http://[::1", headers={})
    assert bad.value.code == "bad-url"


def test_a_token_does_not_travel_in_the_clear() -> None:
    with pytest.raises(InputError) as caught:
        http.get("http://api.example/", headers={})
    assert caught.value.code == "plain-http"


def test_without_a_token_there_is_no_api() -> None:
    assert GitHub.of({"GITHUB_TOKEN": ""}) is None


def test_an_enterprise_server_is_the_one_of_the_run() -> None:
    found = GitHub.of({"GH_TOKEN": "t", "GITHUB_API_URL": "https://x", "GITHUB_SERVER_URL": "https://git.example"})
    assert found is not None
    assert found.server == "git.example"
