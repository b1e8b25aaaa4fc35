"""Which body is read, and what is said when it differs from the event's."""

import pytest

from regraft.core.directives import Vocabulary
from regraft.core.event import Event
from regraft.core.objects import Commit
from regraft.core.pull_request import PullRequest
from regraft.errors import OutsideError
from regraft.flows.ask import FindPull, ask

VOCABULARY = Vocabulary(dependencies={"ci-sglang-pr": "sglang"}, tags={}, images={"rocm": frozenset({"sglang"})})


def live(body: str) -> FindPull:
    def find(repository: str, number: int) -> PullRequest | None:
        assert (repository, number) == ("o/r", 7)
        return PullRequest(body, Commit("1" * 40), "main", open=True, merged=False)

    return find


def event(body: str | None, **inputs: str | None) -> Event:
    return Event(body, tuple(inputs.items()), "o/r", 7)


def refs(body: str | None, *, find: FindPull | None, given: str | None = None) -> tuple[list[str], list[str], str]:
    asked = ask(VOCABULARY, settings=(), body=given, event=event(body), find_pull=find)
    return [one.ref.text for one in asked.directives], [note.code for note in asked.notes], asked.source


def test_a_rerun_reads_the_body_as_it_is_now() -> None:
    """https://github.com/napari/napari/issues/9082: a re-run starts from the payload of the first run."""
    assert refs("ci-sglang-pr: #1", find=live("ci-sglang-pr: #2")) == (["#2"], ["body-changed"], "live")


def test_a_removed_directive_is_gone() -> None:
    assert refs("ci-sglang-pr: #1", find=live("")) == ([], ["body-changed"], "live")


def test_line_ends_are_no_change() -> None:
    assert refs("a\r\nci-sglang-pr: #1\r\n", find=live("a\nci-sglang-pr: #1")) == (["#1"], [], "live")


def test_without_a_token_the_frozen_body_is_used_and_said() -> None:
    assert refs("ci-sglang-pr: #1", find=None) == (["#1"], ["body-frozen"], "event")


def test_a_given_body_wins_over_the_event() -> None:
    assert refs("ci-sglang-pr: #1", find=live("x"), given="ci-sglang-pr: #3") == (["#3"], [], "given")


def test_a_pull_request_that_the_token_cannot_see_stops_the_run() -> None:
    with pytest.raises(OutsideError) as caught:
        refs("ci-sglang-pr: #1", find=lambda _repository, _number: None)
    assert caught.value.code == "no-pull-request"


def test_no_event_and_no_body_is_nothing_named() -> None:
    asked = ask(VOCABULARY, settings=(), body=None, event=None, find_pull=None)
    assert (asked.source, asked.everything) == ("not-given", ())


def test_an_event_without_a_pull_request_is_another_answer() -> None:
    assert ask(VOCABULARY, settings=(), body=None, event=event(None), find_pull=None).source == "none"


def test_a_given_body_leaves_the_events_inputs() -> None:
    asked = ask(VOCABULARY, settings=(), body="x", event=event("y", ci_sglang_pr="#4"), find_pull=None)
    assert (asked.source, [one.ref.text for one in asked.directives]) == ("given", ["#4"])


def test_set_is_nearer_than_the_events_input() -> None:
    asked = ask(
        VOCABULARY,
        settings=[("ci_sglang_pr", "#5")],
        body=None,
        event=event(None, ci_sglang_pr="#4"),
        find_pull=None,
    )
    assert [(one.ref.text, one.source.kind) for one in asked.directives] == [("#5", "input")]


def test_other_inputs_of_a_dispatch_are_nobodys_mistake() -> None:
    others = event(None, stage="c", suites=None, ci_sglang_pr=" ")
    asked = ask(VOCABULARY, settings=(), body=None, event=others, find_pull=None)
    assert (asked.everything, asked.mistakes) == ((), ())


def test_an_input_of_ours_that_is_no_text_is_a_mistake() -> None:
    asked = ask(VOCABULARY, settings=(), body=None, event=event(None, **{"ci_sglang_pr[rocm]": None}), find_pull=None)
    assert [(one.code, one.where) for one in asked.mistakes] == [("not-text", "input ci_sglang_pr[rocm]")]


def test_mistakes_of_all_sources_come_at_once() -> None:
    asked = ask(
        VOCABULARY,
        settings=[("ci_sglang_pr", "1234")],
        body="ci-sglan-pr: #1\n\nci-sglang-pr: --upload-pack=x",
        event=None,
        find_pull=None,
    )
    assert [mistake.where for mistake in asked.mistakes] == [
        "input ci_sglang_pr",
        "body:1:1",
        "body:3:15",
    ]


def test_half_a_character_from_json_is_no_crash() -> None:
    asked = ask(VOCABULARY, settings=(), body=None, event=event("> ci-sglang-pr: #1 \ud800"), find_pull=None)
    assert [one.text.encode() for one in asked.body.ignored] != []
