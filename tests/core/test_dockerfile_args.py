import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regraft.core.dockerfile_args import (
    BadSubstitutionError,
    Scope,
    declared,
    environment_words,
    expand,
    split_words,
)

SCOPE = Scope(
    {"tag": "v1", "asked": None, "both": "argument"}, {"both": "environment", "empty": "", "path": "/a/b.c.d"}
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$tag", "v1"),
        ("${tag}", "v1"),
        ("x-${tag}y", "x-v1y"),
        ("$tagx", ""),  # another name, which is not set
        ("$both", "environment"),  # ENV always overrides ARG
        ("${unset:-default}", "default"),
        ("${empty:-default}", "default"),
        ("${empty-default}", ""),
        ("${tag:-default}", "v1"),
        ("${tag:+there}", "there"),
        ("${unset:+there}", ""),
        ("${empty:+there}", ""),
        ("${empty+there}", "there"),
        ("${unset:-$tag}", "v1"),
        ("${unset:-${other:-deep}}", "deep"),
        ("${tag:?must be set}", "v1"),
        ("${path#*/}", "a/b.c.d"),
        ("${path##*/}", "b.c.d"),
        ("${path%.*}", "/a/b.c"),
        ("${path%%.*}", "/a/b"),
        ("${path/b/x}", "/a/x.c.d"),
        ("${path//./_}", "/a/b_c_d"),
        (r"\$tag", "$tag"),
        (r"\${tag}", "${tag}"),
        ("'$tag'", "$tag"),
        ('"$tag"', "v1"),
        ('"a b"', "a b"),
        (r'"\""', '"'),
        ("$", "$"),
        ("a$", "a$"),
        ("100%", "100%"),
    ],
)
def test_a_word_becomes_what_docker_makes_of_it(text: str, expected: str) -> None:
    assert expand(text, SCOPE).text == expected
    assert expand(text, SCOPE).known


@pytest.mark.parametrize(
    "text", ["$asked", "${asked}", "${asked:-default}", "${asked:+x}", "${asked#v}", "${unset:-$asked}"]
)
def test_what_only_the_build_knows_is_unknown_and_never_empty(text: str) -> None:
    found = expand(text, SCOPE)
    assert found.unknown == ("asked",)
    assert "asked" in found.text


@pytest.mark.parametrize(
    "text", ["${tag", "${}", "${tag:x}", "${tag!}", "'open", '"open', "${unset:?}", "${unset?why}", "${tag#***}"]
)
def test_what_docker_refuses_is_refused(text: str) -> None:
    with pytest.raises(BadSubstitutionError):
        expand(text, SCOPE)


def test_a_variable_of_the_base_image_is_unknown() -> None:
    assert expand("$PATH", Scope(open=True)).unknown == ("PATH",)
    assert expand("$PATH", Scope(open=False)).text == ""


def test_the_escape_character_may_be_a_backtick() -> None:
    assert expand("C:\\x`$tag", SCOPE, "`").text == "C:\\x$tag"


@pytest.mark.parametrize(
    ("given", "default", "outer", "expected"),
    [
        ({"x": "given"}, "default", "outer", "given"),
        ({}, "default", "outer", "default"),
        ({}, None, "outer", "outer"),
        ({}, None, None, None),
    ],
)
def test_an_argument_is_what_the_build_gives_or_its_default_or_the_one_before_from(
    given: dict[str, str], default: str | None, outer: str | None, expected: str | None
) -> None:
    scope, before = Scope(), Scope({"x": outer} if outer else {})
    declared(scope, "x", expand(default, scope) if default else None, given, before)
    assert scope.arguments == {"x": expected}


def test_words_end_at_blanks_that_nothing_protects() -> None:
    assert split_words(r'a="b c" d=e\ f g=' + "'h i'") == ['a="b c"', r"d=e\ f", "g='h i'"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("A=1 B=2", [("A", "1"), ("B", "2")]), ("A b c", [("A", "b c")]), ('A="x y"', [("A", '"x y"')])],
)
def test_both_forms_of_env(text: str, expected: list[tuple[str, str]]) -> None:
    assert environment_words(text) == expected


@pytest.mark.parametrize("text", ["", "A", "A=1 B", "=x"])
def test_an_env_without_a_value_is_a_mistake(text: str) -> None:
    with pytest.raises(ValueError, match=r"NAME=VALUE|value|nothing"):
        environment_words(text)


@given(st.text(alphabet="$ {}a:-+?#%/'\"\\*", max_size=40))
def test_any_text_is_a_word_or_refused(text: str) -> None:
    with contextlib.suppress(BadSubstitutionError):
        expand(text, SCOPE)
