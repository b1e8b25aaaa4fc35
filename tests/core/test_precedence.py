"""Dispatch input, then body; within one source the scoped line wins. The losers are all kept."""

import itertools

import pytest

from regraft.core.directives import Directive, TagDirective
from regraft.core.plan import Source
from regraft.core.precedence import choose, choose_tag
from regraft.core.refs import NameRef, Ref


def directive(value: str, kind: str, scope: str | None = None, dependency: str = "sglang") -> Directive:
    source = Source("body", 1, 1) if kind == "body" else Source("input")
    return Directive(f"ci-{dependency}-pr", dependency, scope, Ref(value, NameRef(value)), source)


BODY = directive("body", "body")
BODY_ROCM = directive("body-rocm", "body", "rocm")
BODY_CUDA = directive("body-cuda", "body", "cuda")
INPUT = directive("input", "input")
INPUT_ROCM = directive("input-rocm", "input", "rocm")
OTHER = directive("other", "input", None, "megatron")


@pytest.mark.parametrize(
    ("given", "winner", "losers"),
    [
        ([BODY], BODY, ()),
        ([BODY, BODY_ROCM], BODY_ROCM, (BODY,)),
        ([BODY, BODY_CUDA], BODY, ()),
        ([BODY, INPUT], INPUT, (BODY,)),
        ([BODY_ROCM, INPUT], INPUT, (BODY_ROCM,)),
        ([BODY, BODY_ROCM, INPUT, INPUT_ROCM, BODY_CUDA, OTHER], INPUT_ROCM, (INPUT, BODY_ROCM, BODY)),
    ],
)
def test_the_strongest_holds_in_whatever_order_they_stand(
    given: list[Directive], winner: Directive, losers: tuple[Directive, ...]
) -> None:
    for order in itertools.permutations(given):
        choice = choose("sglang", "rocm", order)
        assert choice is not None
        assert (choice.winner, choice.losers) == (winner, losers)


@pytest.mark.parametrize("given", [[], [OTHER], [BODY_CUDA]])
def test_what_nobody_named_is_not_chosen(given: list[Directive]) -> None:
    assert choose("sglang", "rocm", given) is None


def test_tags_follow_the_same_order() -> None:
    body = TagDirective("ci-image-tag", None, "a", Source("body", 1, 1))
    scoped = TagDirective("ci-image-tag", "rocm", "b", Source("body", 2, 1))
    given = TagDirective("ci-image-tag", None, "c", Source("input"))
    other = TagDirective("ci-other-tag", None, "d", Source("input"))
    choice = choose_tag("ci-image-tag", "rocm", [body, scoped, given, other])
    assert choice is not None
    assert (choice.winner, choice.losers) == (given, (scoped, body))
    assert choose_tag("ci-image-tag", "cuda", [scoped]) is None
