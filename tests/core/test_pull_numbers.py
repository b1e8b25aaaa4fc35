"""Which pull request a commit message says that it came from."""

import time

import pytest

from regraft.core.pull_numbers import pull_number


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("Fix the scheduler (#1234)", 1234),
        ("Fix the scheduler (#1234)\n\nlong text, see (#99)\n", 1234),
        ("[Bug] fix #12 in the scheduler (#1234) ", 1234),
        ('Revert "Fix the scheduler (#1234)" (#1300)', 1300),
        ("Merge pull request #12 from owner/branch", 12),
        ("Merge pull request #12 from owner/branch\n\nAdd a thing (#99)\n", 12),
        ("Merged in feature/x (pull request #77)", 77),
        ("Auto merge of #555 - a:b, r=c", 555),
        ("Add it\n\nPull-Request: #12\n", 12),
        ("Add it\n\nbody\n\nPR-URL: https://github.com/nodejs/node/pull/4321\nReviewed-By: A <a@b>\n", 4321),
        ("Add it\n\nPull Request resolved: https://github.com/pytorch/pytorch/pull/98765\nApproved by: x", 98765),
        ("Merge branch 'x' into 'main'\n\nAdd x\n\nSee merge request group/project!12\n", 12),
        ("Merge branch 'x' into 'main'\n\nSee merge request group/sub/deep/project!7", 7),
        ("Add it\n\nPR-URL: https://gitlab.example.org/g/p/-/merge_requests/31/diffs\n", 31),
    ],
)
def test_a_number_is_found_where_forges_write_it(message: str, number: int) -> None:
    assert pull_number(message) == number


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Fix the scheduler",
        "Fix #1234",
        "Fix the scheduler\n\nCloses #12\n",
        "Fix the scheduler\n\nFixes: https://github.com/o/r/issues/12\n",
        "Fix the scheduler\n\nSee https://github.com/o/r/pull/12 for the reasons\n",
        "Fix the scheduler\n\nas (#12) did\n",
        "Fix (#12) the scheduler",
        "Add it\n\nPull-Request: #12\nPull-Request: #13\n",
        "Fix the scheduler (#0)",
        "Fix the scheduler (#99999999999999999999)",
        'Revert "Fix the scheduler (#1234)"',
    ],
)
def test_what_is_closed_mentioned_or_doubtful_is_no_number(message: str) -> None:
    assert pull_number(message) is None


def test_the_same_number_twice_is_one() -> None:
    assert pull_number("x\n\nPR-URL: https://github.com/o/r/pull/5\nPull-Request: #5\n") == 5


@pytest.mark.parametrize("piece", ["(#1", "pr: ", "a/", "See merge request ", "\t \t", "#1)"])
def test_a_hostile_message_costs_no_time(piece: str) -> None:
    begin = time.process_time()
    pull_number(piece * 200_000)
    pull_number("x\n\n" + piece * 200_000)
    assert time.process_time() - begin < 1.0
