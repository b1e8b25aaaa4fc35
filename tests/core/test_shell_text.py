"""Scripts by spans: commands, operators, loops; and what cannot be read is said to be unreadable."""

import pytest

from regraft.core.shell_text import command_texts, read_shell
from regraft.core.shell_values import Chain, Command, For, Group, If, Negated, Nested, Opaque, Pipeline, commands_of
from regraft.core.spans import Span


def only(text: bytes) -> object:
    block = read_shell(text)
    assert block is not None
    [item] = block.items
    return item


def test_a_chain_is_flat_and_keeps_its_operators() -> None:
    chain = only(b"a && b || \\\n c && d")
    assert isinstance(chain, Chain)
    assert [one.text for one in chain.operators] == ["&&", "||", "&&"]
    assert [one.name for one in chain.items if isinstance(one, Command)] == ["a", "b", "c", "d"]


def test_words_are_what_the_shell_makes_of_them() -> None:
    text = rb"""git apply "$D/a b.patch" ${X}/c 'd e' f\ g "/h/${Y}" /i/*.patch /j/{k,l} "m\"n" """
    command = only(text)
    assert isinstance(command, Command)
    texts = [word.text for word in command.words]
    assert texts == ["git", "apply", "$D/a b.patch", "$X/c", "d e", "f g", "/h/$Y", "/i/*.patch", "/j/{k,l}", 'm"n']
    assert [word.text for word in command.words if word.glob] == ["/i/*.patch", "/j/{k,l}"]
    assert [word.text for word in command.words if not word.plain] == ["$D/a b.patch", "$X/c", "/h/$Y"]
    assert text[slice(*command.words[2].span)] == b'"$D/a b.patch"'


def test_a_redirection_belongs_to_the_last_command_of_a_chain() -> None:
    chain = only(b"a && b > x 2>&1")
    assert isinstance(chain, Chain)
    last = chain.items[-1]
    assert isinstance(last, Command)
    assert [(one.operator, one.target and one.target.text) for one in last.redirects] == [(">", "x"), (">&", "1")]
    assert last.span == Span(5, 15)


def test_a_pipe_binds_more_than_a_chain_with_a_redirection_before_it_too() -> None:
    for text in (b"a && b 2>&1 | c", b"a && b | c"):
        chain = only(text)
        assert isinstance(chain, Chain)
        first, pipe = chain.items
        assert isinstance(first, Command)
        assert first.name == "a"
        assert isinstance(pipe, Pipeline)
        assert [one.name for one in pipe.items if isinstance(one, Command)] == ["b", "c"]
        assert pipe.span == Span(5, len(text))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"if a; then b; elif c; then d; else e; fi", If),
        (b"for p in a b; do c $p; done", For),
        (b"for ((i=0; i<3; i++)); do c; done", Opaque),
        (b"for p; do c; done", Opaque),
        (b"while a; do b; done", Nested),
        (b"f() { a; }", Nested),
        (b"case x in a) b;; esac", Nested),
        (b"( a; b )", Group),
        (b"{ a; b; } 2>/dev/null", Group),
        (b"! a", Negated),
        (b"a | b", Pipeline),
        (b"[ -f x ]", Command),
        (b"export A=1", Command),
        (b"A=1", Command),
    ],
)
def test_kinds(text: bytes, kind: type) -> None:
    assert isinstance(only(text), kind)


def test_every_command_is_found_in_order() -> None:
    text = b"if [ -f x ]; then a; else b | c; fi; for p in 1; do { d; }; done; case y in z) e;; esac"
    block = read_shell(text)
    assert block is not None
    assert [one.name for one in commands_of(block)] == ["[", "a", "b", "c", "d", "e"]
    assert command_texts(text) == [b"[ -f x ]", b"a", b"b", b"c", b"d", b"e"]


def test_texts_without_what_goes() -> None:
    text = b"a && git apply x \\\n  y && b"
    assert command_texts(text, [Span(0, 5), Span(16, 22)]) == [b"git apply x", b"b"]


@pytest.mark.parametrize(
    "text", [b"a &&", b"a && && b", b"if a; then", b"( a", b"'", b"x" * 2_000_000, b"{ " * 2000 + b"a" + b"; }" * 2000]
)
def test_what_cannot_be_read_is_none(text: bytes) -> None:
    assert read_shell(text) is None
