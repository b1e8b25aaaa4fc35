import json
import string
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regraft.core.dockerfile_stages import Stages, read_stages
from regraft.core.dockerfile_steps import joined
from regraft.core.dockerfile_text import read_dockerfile
from regraft.errors import InputError


def read(text: str, **given: str) -> Stages:
    return read_stages(read_dockerfile(text.encode()), "Dockerfile", given)


def codes(found: Stages) -> list[tuple[str, str | None]]:
    return [(one.code, one.where) for one in found.mistakes]


def test_each_stage_says_what_it_is_built_on() -> None:
    found = read(
        "ARG TAG=1\nFROM a:${TAG} AS one\nFROM one AS two\nFROM scratch\nCOPY --from=two /x /\nCOPY --from=0 /y /\nCOPY --from=nginx:1 /z /\n"
    )
    assert [(one.base.kind, one.base.text, one.base.stage) for one in found.stages] == [
        ("image", "a:1", -1),
        ("stage", "one", 0),
        ("scratch", "scratch", -1),
    ]
    assert found.stages[2].needs == (1, 0)
    assert [one.index for one in found.reached(None)] == [0, 1, 2]
    assert [one.index for one in found.reached("ONE")] == [0]


def test_a_here_document_behind_onbuild_is_the_instructions() -> None:
    found = read("FROM a AS one\nONBUILD RUN <<E\necho hi\nE\nFROM one\nRUN true\n")
    assert found.mistakes == ()
    left, own = found.stages[1].steps
    assert (left.line, left.logical(), own.logical()) == (2, "RUN <<E\necho hi\nE", "RUN true")


def test_a_here_document_without_an_end_is_a_mistake() -> None:
    assert codes(read("FROM a\nRUN <<E\necho hi\n")) == [("bad-dockerfile", "Dockerfile:2")]
    assert codes(read("FROM a\nRUN <<E\necho hi\nE")) == []


def test_a_stage_that_nothing_leads_to_is_left_out() -> None:
    found = read("FROM a AS one\nFROM b AS two\nFROM a\nRUN --mount=type=bind,from=one,target=/x true\n")
    assert [one.index for one in found.reached(None)] == [0, 2]


def test_arguments_and_environment_hold_where_docker_lets_them() -> None:
    found = read(
        "ARG A=1\nARG B\nFROM x AS one\nRUN 0\nARG A\nARG C=$A-c\nENV D=$C\nRUN 1\nENV A=e\nRUN 2\nFROM one\nRUN 3\nFROM y\nRUN 4\n",
        B="given",
    )
    scopes = [step.scope for stage in found.stages for step in stage.steps if step.keyword == "RUN"]
    assert [scope.value("A") for scope in scopes] == [
        (False, None),  # of the base image, perhaps
        (True, "1"),
        (True, "e"),
        (True, "e"),  # a stage on top of another has what that one has
        (False, None),
    ]
    assert scopes[1].value("D") == (True, "1-c")
    assert found.before.value("B") == (True, "given")


def test_one_env_line_uses_the_values_from_before_it() -> None:
    found = read("FROM x\nENV abc=hello\nENV abc=bye def=$abc\nENV ghi=$abc\nRUN true\n")
    scope = found.stages[0].steps[-1].scope
    assert [scope.value(name)[1] for name in ("abc", "def", "ghi")] == ["bye", "hello", "bye"]


def test_what_onbuild_left_runs_first_in_a_stage_on_top() -> None:
    found = read("FROM a AS one\nONBUILD COPY x /x\nONBUILD RUN true\nFROM one\nRUN last\n")
    assert [step.keyword for step in found.stages[1].steps] == ["COPY", "RUN", "RUN"]
    assert [step.line for step in found.stages[1].steps] == [2, 3, 5]
    assert [step.keyword for step in found.stages[0].steps] == ["ONBUILD", "ONBUILD"]


def test_shell_and_folder_are_in_force_until_others_are() -> None:
    found = read(
        'FROM a AS one\nRUN 0\nSHELL ["/bin/bash", "-eo", "pipefail", "-c"]\nWORKDIR /a\nWORKDIR b\nRUN 1\nFROM one\nRUN 2\n'
    )
    runs = [step for stage in found.stages for step in stage.steps if step.keyword == "RUN"]
    assert [step.folder for step in runs] == ["/", "/a/b", "/a/b"]
    assert runs[0].shell == ("/bin/sh", "-c")
    assert runs[2].shell == ("/bin/bash", "-eo", "pipefail", "-c")


@pytest.mark.parametrize(
    ("text", "code", "line", "hint"),
    [
        ("", "no-stage", 1, "begin with FROM IMAGE"),
        ("RUN x\nFROM a", "no-stage", 1, "only ARG may"),
        ("FROM a AS build\nFROM b\nCOPY --from=biuld /x /", "no-such-stage", 3, "write --from=build"),
        ("FROM a AS one\nCOPY --from=two /x /\nFROM b AS two", "no-such-stage", 2, None),
        ("FROM a\nCOPY --from=1 /x /", "no-such-stage", 2, None),
        ("FROM a AS self\nCOPY --from=self /x /", "no-such-stage", 2, None),
        ("FROM a\nCOPY --from=$X /x /", "bad-stage", 2, "give the image a stage of its own: FROM … AS NAME"),
        ("FROM a\nRUNN x", "bad-dockerfile", 2, "write RUN"),
        ("FROM a b", "bad-dockerfile", 1, None),
        ("FROM a AS 1x", "bad-dockerfile", 1, None),
        ("FROM ${X:y}", "bad-substitution", 1, None),
        ("FROM $NOTHING", "bad-base", 1, None),
        ("FROM a\nENV X", "bad-dockerfile", 2, None),
        ("FROM a\nARG", "bad-dockerfile", 2, None),
        ("FROM a\nSHELL bash", "bad-dockerfile", 2, 'such as ["/bin/bash", "-c"]'),
        ("FROM a AS one\nONBUILD FROM b\nFROM one", "bad-dockerfile", 2, None),
    ],
)
def test_what_docker_refuses_is_a_mistake_with_its_line(text: str, code: str, line: int, hint: str | None) -> None:
    found = read(text)
    assert (code, f"Dockerfile:{line}") in codes(found)
    assert hint in [one.hint for one in found.mistakes]


def test_a_base_whose_argument_has_no_value_is_not_guessed() -> None:
    found = read("ARG BASE\nFROM ${BASE}\n")
    assert found.stages[0].base.unknown == ("BASE",)
    assert read("ARG BASE\nFROM ${BASE}\n", BASE="x:1").stages[0].base.text == "x:1"


def test_a_target_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        read("FROM a AS release\n").reached("relaese")
    assert caught.value.hint == "write `release`"


def test_continuations_and_comments_are_no_part_of_an_instruction() -> None:
    one = read("FROM a\nRUN a \\\n  # why\n\n  b \\   \n c\n").stages[0].steps[0]
    other = read("FROM a\nRUN a \\\n  # another reason, and longer\n  b \\\n c\n").stages[0].steps[0]
    assert joined(one.instruction).split() == ["a", "b", "c"]
    assert one.logical() == other.logical()


WORDS = st.text(alphabet=string.ascii_letters + string.digits + "-_./=:", min_size=1, max_size=8).filter(
    lambda word: not word.startswith(("-", "#"))
)
VALUES = st.lists(WORDS, min_size=1, max_size=4)
SIMPLE = st.tuples(st.sampled_from(["RUN", "CMD", "WORKDIR", "USER", "EXPOSE", "STOPSIGNAL"]), VALUES)


@st.composite
def dockerfiles(draw: st.DrawFn) -> str:
    """Instructions with continuations, comments and blanks; not with empty lines inside, which the other parser ends them at."""
    lines = ["FROM base:1 AS first"]
    for keyword, words in draw(st.lists(SIMPLE, max_size=6)):
        text = draw(st.sampled_from([keyword, keyword.lower()])) + " " + words[0]
        for word in words[1:]:
            text += draw(st.sampled_from([" ", "  ", " \\\n  ", " \\\n# a comment\n  ", "\\\n "])) + word
        lines.append(text)
        lines += draw(st.lists(st.sampled_from(["", "# comment", "   # indented"]), max_size=2))
    return "\n".join(lines) + "\n"


@settings(max_examples=100)
@given(dockerfiles())
def test_another_parser_reads_the_same_instructions(text: str) -> None:
    from dockerfile_parse import DockerfileParser

    with tempfile.TemporaryDirectory() as folder:
        parser = DockerfileParser(folder)
        parser.content = text
        theirs = [(one["instruction"], one["value"].split(), one["startline"] + 1) for one in parser.structure]
        bases = parser.parent_images
    found = read_dockerfile(text.encode())
    ours = [(one.keyword, joined(one).split(), one.line) for one in found.instructions]
    assert ours == [one for one in theirs if one[0] != "COMMENT"]
    assert [stage.base.text for stage in read(text).stages] == bases


@pytest.mark.parametrize(
    "text",
    [
        "ARG T=1\nFROM a:$T AS x\nARG V=2\nENV W=$V-w\nLABEL l=$W\nENV Z=${W}\n",
        "FROM scratch\nENV A=1 B='two words' C=\"three $A\"\nENV D ${A}\n",
        "FROM a\nENV A=1\nENV A=2 B=$A\n",
    ],
)
def test_another_parser_finds_the_same_environment(text: str) -> None:
    from dockerfile_parse import DockerfileParser

    with tempfile.TemporaryDirectory() as folder:
        parser = DockerfileParser(folder, env_replace=True)
        parser.content = text
        theirs = dict(parser.envs)
    last = read(text + "RUN true\n").stages[-1].steps[-1].scope
    inherited = {name: last.environment[name] for name in theirs}
    assert json.dumps(inherited, sort_keys=True) == json.dumps(theirs, sort_keys=True)
