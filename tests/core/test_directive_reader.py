import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regraft.core.directive_reader import LONGEST_BODY, read_body, read_inputs
from regraft.core.directives import Reading, Vocabulary
from regraft.core.markdown_lines import split_lines
from regraft.core.near_misses import Keys, scan
from regraft.errors import InputError

Outcomes = Callable[[Reading], list[str]]
NOTHING = Reading()


# Bodies


@pytest.mark.parametrize("body", ["", "\n", "Text.\n", "\x00", "\ufffd", "`$(id)`\n'\"\r\nEOF\n"])
def test_a_body_without_a_key_says_nothing(body: str, grammar: Vocabulary) -> None:
    assert read_body(body, grammar) == NOTHING


def test_a_project_without_directives_reads_nothing() -> None:
    assert read_body("ci-sglang-pr: #12", Vocabulary({}, {}, {})) == NOTHING


def test_a_body_of_the_longest_length_is_read_and_one_more_character_is_refused(grammar: Vocabulary) -> None:
    directive = "ci-sglang-pr: #12\n"
    body = directive + "é" * (LONGEST_BODY - len(directive))
    assert len(read_body(body, grammar).directives) == 1
    with pytest.raises(InputError) as caught:
        read_body(body + "é", grammar)
    assert caught.value.code == "body-too-long"
    assert "65537 characters, and 65536 is the most" in caught.value.message


def test_a_message_says_what_is_wrong_with_a_line(grammar: Vocabulary) -> None:
    reading = read_body("Text.\n\n  ci-sglang-pr: #\x1b[31m12", grammar)
    assert [str(mistake) for mistake in reading.mistakes] == [
        "body:3:18: an invisible character stands in the line: U+001B (a control character) (write ci-sglang-pr: #NUMBER)"
    ]


def test_the_text_that_is_shown_of_an_ignored_line_is_bounded(grammar: Vocabulary) -> None:
    reading = read_body("    ci-sglang-pr: #12 " + "x" * 5000, grammar)
    assert len(reading.ignored[0].text) == 200


def test_both_values_are_named_where_two_differ(grammar: Vocabulary) -> None:
    reading = read_body("ci-sglang-pr[rocm]: #12\n\nci-sglang-pr[rocm]: main\n", grammar)
    assert [str(mistake) for mistake in reading.mistakes] == [
        "body:3:1: ci-sglang-pr[rocm] is 'main' here, and '#12' at body:1:1 (leave one of the two lines)"
    ]


def test_an_unknown_dependency_is_offered_the_near_one() -> None:
    words = Vocabulary({"ci-transformers-pr": "transformers"}, {}, {"a": frozenset({"transformers"})})
    (mistake,) = read_body("ci-transform-pr: #1", words).mistakes
    assert mistake.code == "unknown-key"
    assert mistake.hint == "the keys here are: ci-transformers-pr"


def test_keys_that_the_project_chose_itself_are_read() -> None:
    words = Vocabulary({"use_engine": "engine"}, {}, {"a": frozenset({"engine"})})
    assert [one.dependency for one in read_body("use_engine: #1", words).directives] == ["engine"]
    assert [one.hint for one in read_body("use-engine: #1", words).mistakes] == ["write use_engine: #1"]


def test_a_short_key_has_no_near_misses_in_prose() -> None:
    words = Vocabulary({"dep": "dep"}, {}, {"a": frozenset({"dep"})})
    assert read_body("deps: update\n\nDept: x\n", words) == NOTHING


@pytest.mark.parametrize(
    ("opening", "closing", "reason"),
    [
        ("```\n", "\n```", "in a fenced code block"),
        ("~~~ text\n", "\n~~~", "in a fenced code block"),
        ("<!--\n", "\n-->", "in an HTML comment"),
        ("<!-- a\n\n", "\n\nb -->", "in an HTML comment"),
        ("> Text\n", "", "in a quote"),
        ("<table><tr><td>\n\n", "\n\n</td></tr></table>", "inside an open <table> tag"),
        ("<code>\n\n", "\n\n</code>", "inside an open <code> tag"),
        ("- item\n\n  ```\n", "\n  ```", "in a fenced code block"),
    ],
)
def test_a_near_miss_that_nobody_sees_is_no_mistake(
    opening: str, closing: str, reason: str, grammar: Vocabulary
) -> None:
    """Where a directive would be ignored, so is what looks like one."""
    for line in ("ci-sglang-pr: #12", "ci-sglnag-pr: #12", "ci-sglang-pr #12", "ci-sglang-pr: 1234", "ci-foo-pr: a b"):
        indent = "  " if opening.startswith("- ") else ""
        reading = read_body(f"{opening}{indent}{line}{closing}\n", grammar)
        assert (reading.mistakes, reading.directives) == ((), ())
        assert [one.reason for one in reading.ignored] == [reason]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Use ci-sglang-pr", "mentioned"),
        ("ci-sglang-pr: #12", "repeated"),
        ("    ci-sglang-pr: #12", "more-ignored"),
        ("- x\nci-sglang-pr: #12\n", "in-list"),
    ],
)
def test_lines_of_one_kind_are_said_a_hundred_times_and_then_counted(line: str, kind: str, grammar: Vocabulary) -> None:
    first = "ci-sglang-pr: #12\n\n" if kind in {"repeated", "more-ignored"} else ""
    reading = read_body(first + f"{line}\n" * 107, grammar)
    said = [note for note in reading.notes if note.code == kind]
    assert len(said) + len(reading.ignored) == 101
    assert said[-1].message.startswith("... and 7 more")


def test_mistakes_of_a_body_are_said_a_hundred_times_and_then_counted(grammar: Vocabulary) -> None:
    mistakes = read_body("ci-sglnag-pr: #12\n\n" * 107, grammar).mistakes
    assert [one.code for one in mistakes] == ["misspelt-key"] * 100 + ["too-many-mistakes"]
    assert "7 more mistakes" in mistakes[-1].message
    assert mistakes[99].where == "body:199:1"


# Inputs


@pytest.mark.parametrize("name", ["ci_sglang_pr", "ci-sglang-pr", "ci_sglang-pr"])
def test_an_input_has_a_keys_name(name: str, grammar: Vocabulary) -> None:
    (directive,) = read_inputs([(name, " #12\u00a0\r\n")], grammar).directives
    assert (directive.key, directive.ref.text, directive.scope) == ("ci-sglang-pr", "#12", None)
    assert (directive.source.kind, directive.source.line) == ("input", None)


def test_an_input_may_hold_for_one_image(grammar: Vocabulary) -> None:
    reading = read_inputs([("ci_sglang_pr[rocm]", "#12"), ("ci_image_tag", "nightly")], grammar)
    assert [one.scope for one in reading.directives] == ["rocm"]
    assert [one.tag for one in reading.tags] == ["nightly"]


@pytest.mark.parametrize("value", ["", " ", "\u00a0\t\r\n"])
def test_an_empty_input_is_not_named(value: str, grammar: Vocabulary) -> None:
    assert read_inputs([("ci_sglang_pr", value)], grammar) == NOTHING


@pytest.mark.parametrize(
    ("pairs", "code", "where", "hint"),
    [
        ([("ci_sglnag_pr", "#12")], "unknown-input", "input ci_sglnag_pr", "write ci_sglang_pr"),
        ([("ci_sglnag_pr", "")], "unknown-input", "input ci_sglnag_pr", "write ci_sglang_pr"),
        ([("CI_SGLANG_PR", "#12")], "unknown-input", "input CI_SGLANG_PR", "write ci_sglang_pr"),
        ([("sglang_pr", "#12")], "unknown-input", "input sglang_pr", "write ci_sglang_pr"),
        ([("ci_sglang_pr", "1234")], "bad-ref", "input ci_sglang_pr", "write #1234 for the pull request"),
        ([("ci_sglang_pr", "#12 #13")], "bad-ref", "input ci_sglang_pr", "use letters"),
        ([("ci_sglang_pr", "main\nx")], "bad-ref", "input ci_sglang_pr", "use letters"),
        ([("ci_sglang_pr[rocn]", "#12")], "unknown-scope", "input ci_sglang_pr[rocn]", "write ci-sglang-pr[rocm]"),
        ([("ci_megatron_pr[cuda]", "#12")], "not-baked", "input ci_megatron_pr[cuda]", "it is baked into: rocm"),
        ([("ci_image_tag", "a:b")], "bad-tag", "input ci_image_tag", "write the tag alone: b"),
        (
            [("ci_sglang_pr", "#12"), ("ci-sglang-pr", "main")],
            "conflicting-values",
            "input ci-sglang-pr",
            "give one of the two",
        ),
    ],
)
def test_an_input_is_refused(
    pairs: Sequence[tuple[str, str]], code: str, where: str, hint: str, grammar: Vocabulary
) -> None:
    for strict in (True, False):
        (mistake,) = read_inputs(pairs, grammar, strict=strict).mistakes
        assert (mistake.code, mistake.where) == (code, where)
        assert (mistake.hint or "").startswith(hint)


@pytest.mark.parametrize(
    "name", ["debug", "", "suite", "ci_transformers_pr", "x" * 5000, "a[b", "ref", "skip_ci_sglang_pr"]
)
def test_an_unknown_input_is_a_mistake_when_it_was_typed_and_none_when_an_event_has_it(
    name: str, grammar: Vocabulary
) -> None:
    (mistake,) = read_inputs([(name, "x")], grammar).mistakes
    assert mistake.code == "unknown-input"
    assert "ci_sglang_pr" in (mistake.hint or "")
    assert len(str(mistake)) < 600
    assert read_inputs([(name, "x")], grammar, strict=False) == NOTHING


def test_a_project_without_dependencies_or_images_says_so() -> None:
    (mistake,) = read_inputs([("x", "y")], Vocabulary({}, {}, {})).mistakes
    assert mistake.hint == "the manifest has no dependencies: it takes no input"
    (mistake,) = read_inputs([("ci_a_pr[x]", "y")], Vocabulary({"ci-a-pr": "a"}, {}, {})).mistakes
    assert mistake.message == "'x' is no image: the manifest has no images"


def test_an_input_given_twice_alike_is_a_note(grammar: Vocabulary) -> None:
    reading = read_inputs([("ci_sglang_pr", "#12"), ("ci-sglang-pr", "refs/pull/12/head")], grammar)
    assert len(reading.directives) == 1
    assert [note.code for note in reading.notes] == ["repeated"]


@pytest.mark.parametrize(
    "value",
    ["#12", "sgl-project/sglang#12", "main", "1234", "$(id)", "x;y", "-x", "a b", "refs/heads/x", "#12@abcdef1"],
)
def test_inputs_and_bodies_are_of_one_mind(value: str, grammar: Vocabulary) -> None:
    body, inputs = read_body(f"ci-sglang-pr: {value}", grammar), read_inputs([("ci_sglang_pr", value)], grammar)
    assert [one.ref for one in body.directives] == [one.ref for one in inputs.directives]
    assert bool(body.mistakes) == bool(inputs.mistakes)


# What holds for every text

TRICKS = [
    "ci-sglang-pr: #12",
    "ci-sglang-pr: main",
    "ci-sglnag-pr: x",
    "ci_megatron_pr",
    "ci-x-pr:",
    "[rocm]",
    "\n",
    "\n\n",
    "`",
]
TRICKS += [
    "```\n",
    "<!--",
    "-->",
    "> ",
    "- ",
    "  ",
    "    ",
    "\t",
    "|",
    "|-|\n",
    "<pre>",
    "</pre>",
    "[",
    "](x)",
    "]: x",
    "**",
    "\x00",
]
TRICKS += [
    "\u200b",
    "\u00a0",
    "\ufeff",
    "&#58;",
    "&shy;",
    "\\",
    "run-",
    ": ",
    " #12",
    "\u2028",
    "\x0b",
    "$(id)",
    "é",
    "\U0001f680",
    "=",
    "\uff1a",
]
BODIES = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(TRICKS), max_size=14).map("".join))


@settings(max_examples=200, deadline=None)
@given(BODIES)
def test_every_line_that_may_matter_is_accounted_for_once(body: str) -> None:
    grammar = Vocabulary(
        {"ci-sglang-pr": "sglang", "ci-megatron-pr": "megatron"}, {}, {"rocm": frozenset({"sglang", "megatron"})}
    )
    reading = read_body(body, grammar)
    told = [one.source.line for one in (*reading.directives, *reading.tags)]
    told += [one.line for one in reading.ignored]
    told += [note.line for note in reading.notes if note.code in {"mentioned", "repeated"}]
    told += [int((mistake.where or "").split(":")[1]) for mistake in reading.mistakes]
    seen = [one.line + 1 for one in scan(split_lines(body), Keys(grammar.dependencies))]
    assert sorted(line or 0 for line in told) == seen
    for directive in reading.directives:
        assert re.fullmatch(r"(?!-)[A-Za-z0-9._/@+#%=,:-]+", directive.ref.text)
    for mistake in reading.mistakes:
        assert not re.search(r"[\x00-\x1f\x7f\u200b\u2028\ufeff]", f"{mistake.message}{mistake.hint}")


@settings(max_examples=150, deadline=None)
@given(BODIES.map(lambda body: body.replace("\r", "")))
def test_line_ends_make_no_difference(body: str) -> None:
    grammar = Vocabulary(
        {"ci-sglang-pr": "sglang", "ci-megatron-pr": "megatron"}, {}, {"rocm": frozenset({"sglang", "megatron"})}
    )

    def told(text: str) -> object:
        reading = read_body(text, grammar)
        mistakes = [(one.code, one.message, one.where, one.hint) for one in reading.mistakes]
        return reading.directives, reading.ignored, reading.notes, mistakes

    assert told(body) == told(body.replace("\n", "\r\n")) == told(body.replace("\n", "\r"))
