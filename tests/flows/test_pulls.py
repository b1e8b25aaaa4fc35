"""What the forge's API says of an upstream's pull request, held against what its git server hands out."""

import pytest

from regraft.core.manifest import Dependency
from regraft.core.objects import Commit, Tree
from regraft.core.pull_request import PullRequest
from regraft.core.ref_parser import parse_ref
from regraft.errors import OutsideError
from regraft.flows.pulls import confirm_pulls
from regraft.flows.resolve import Pin, Wanted

URL = "https://github.com/sgl-project/sglang"
HEAD = Commit("1" * 40)
SGLANG = Dependency("sglang", URL, "main", "ci-sglang-pr", (), None, None)
WANTED = Wanted(SGLANG, parse_ref("#12"), "body:1:1")
PIN = Pin(URL, "refs/pull/12/head", HEAD, Tree("2" * 40), has_also=False, filtered=True, notes=())


def codes(pull: PullRequest | None, wanted: Wanted = WANTED) -> list[str]:
    def find(url: str, number: int) -> PullRequest | None:
        assert (url, number) == (URL, 12)
        return pull

    return [note.code for note in confirm_pulls([(wanted, PIN)], find)]


def pull(head: str = HEAD, base: str = "main", *, is_open: bool = True, merged: bool = False) -> PullRequest:
    return PullRequest("", Commit(head), base, is_open, merged)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (pull(), []),
        (pull(is_open=False), ["pull-closed"]),
        (pull(is_open=False, merged=True), ["pull-merged"]),
        (pull(base="release/1"), ["pull-other-base"]),
        (None, []),
    ],
)
def test_the_state_of_a_pull_request_is_said(found: PullRequest | None, expected: list[str]) -> None:
    assert codes(found) == expected


def test_a_stale_pull_ref_is_never_tested_silently() -> None:
    """https://github.com/buildkite/agent/issues/581: the fetched head was a commit of long ago."""
    with pytest.raises(OutsideError) as caught:
        codes(pull(head="9" * 40))
    assert caught.value.code == "stale-pull-ref"
    assert HEAD in caught.value.message
    assert "9" * 40 in caught.value.message


def test_an_api_that_fails_leaves_the_ref_unverified_and_says_so() -> None:
    def find(url: str, number: int) -> PullRequest | None:
        raise OutsideError("rate-limited", f"{url} {number}")

    assert [note.code for note in confirm_pulls([(WANTED, PIN)], find)] == ["pull-unverified"]


def test_a_branch_is_no_question_for_the_api() -> None:
    assert confirm_pulls([(Wanted(SGLANG, parse_ref("main"), "body:1:1"), PIN)], lambda *_: pull(head="9" * 40)) == ()
