"""A shell script, read by spans: commands, the operators between them, loops over lists of words.

`read_shell` makes small values of what tree-sitter reads; what has no value of its own (arithmetic, a here-document that goes
on into a pipe) is `Opaque`, and is to be left alone. Nothing is expanded: `$NAME` stays in a word's text.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

from regraft.core.patterns import regex
from regraft.core.shell_values import (
    Block,
    Chain,
    Command,
    For,
    Group,
    If,
    Negated,
    Nested,
    Node,
    Opaque,
    Operator,
    Pipeline,
    Redirect,
    Word,
)
from regraft.core.shell_words import word_of
from regraft.core.spans import Edit, Span, edited

LIMIT = 1024 * 1024  # bytes of one script
_DEEPEST = 200

_JOINED = regex(rb"\\\r?\n")


def read_shell(text: bytes) -> Block | None:
    """The script's statements, or None where it cannot be read as one (or is larger than `LIMIT`, or nested too deep)."""
    root = syntax_tree(text)
    return None if root is None else block_of(root, len(text))


def block_of(root: Any, length: int) -> Block | None:
    """The statements of `syntax_tree(text)`, whose text has so many bytes; None where they are nested too deep."""
    try:
        return _block(root.children, Span(0, length), 0)
    except _TooDeepError:
        return None


def command_texts(text: bytes, without: Sequence[Span] = ()) -> list[bytes] | None:
    """Every command, test and assignment in a script, in order, blanks folded; None where it cannot be read.

    Taken from the parser's own tree, beside `read_shell`: the proof that an edit leaves the others as they were. What lies
    in one of the spans `without` (in order, apart) is left out.
    """
    root = syntax_tree(text)
    if root is None:
        return None
    found, waiting, starts = [], [root], [span.start for span in without]
    while waiting:
        node = waiting.pop()
        if node.type in _SIMPLE:
            first = bisect_right(starts, node.start_byte) - 1
            if first >= 0 and without[first].holds(_span(node)):
                continue
            inside = [
                one for one in without[first + 1 : bisect_right(starts, node.end_byte)] if one.stop <= node.end_byte
            ]
            rest = edited(node.text, [Edit(Span(*(at - node.start_byte for at in one))) for one in inside])
            found.append(b" ".join(_JOINED.sub(b" ", rest).split()))
        waiting.extend(reversed(node.children))
    return found


_SIMPLE = frozenset({"command", "test_command", "declaration_command", "unset_command", "variable_assignment"})


class _TooDeepError(Exception):
    pass


def syntax_tree(text: bytes) -> Any:
    """The root of tree-sitter's own tree; None for what cannot be read as a script, or is larger than `LIMIT`."""
    if len(text) > LIMIT:
        return None
    root = _parser().parse(text).root_node
    return None if root.has_error else root


@lru_cache(maxsize=1)
def _parser() -> Any:
    from tree_sitter import Language, Parser  # noqa: PLC0415 - only what edits or judges scripts needs it
    from tree_sitter_bash import language  # noqa: PLC0415 - likewise

    return Parser(Language(language()))


def _span(node: Any) -> Span:
    return Span(node.start_byte, node.end_byte)


def _block(children: list[Any], span: Span, depth: int) -> Block:
    if depth > _DEEPEST:
        raise _TooDeepError
    items: list[Node] = []
    stops: list[Operator | None] = []
    for child in children:
        if child.is_named and child.type != "comment":
            items.append(_node(child, depth + 1))
            stops.append(None)
        elif child.type in (";", "&", ";;") and items and stops[-1] is None:
            stops[-1] = Operator(_span(child), child.type)
    return Block(span, tuple(items), tuple(stops))


def _node(node: Any, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _TooDeepError
    span = _span(node)
    match node.type:
        case "command" | "test_command" | "declaration_command" | "unset_command" | "variable_assignment":
            return _command(node, depth)
        case "variable_assignments":
            given = tuple(_assignment(one) for one in node.named_children)
            return Command(span, (), (), given, _substituted(node, depth))
        case "redirected_statement":
            return _redirected(node, depth)
        case "negated_command":
            return Negated(span, _node(node.named_children[-1], depth + 1))
        case "pipeline":
            return _pipeline(span, [_node(one, depth + 1) for one in _named(node)])
        case "list":
            return _chain(node, depth)
        case "compound_statement" | "subshell":
            kind: Literal["group", "subshell"] = "subshell" if node.type == "subshell" else "group"
            return Group(span, kind, _inside(node, depth))
        case "if_statement":
            return _if(node, depth)
        case "for_statement":
            return _for(node, depth)
        case "while_statement" | "function_definition" | "case_statement":
            return _nested(node, depth)
        case _:
            return Opaque(span)


def _pipeline(span: Span, items: list[Node]) -> Node:
    """The parser takes `a && b 2>&1 | c` for a pipe from both, where a redirection stands in between."""
    first = items[0]
    if not isinstance(first, Chain):
        return Pipeline(span, tuple(items))
    last = _pipeline(Span(first.items[-1].span.start, span.stop), [first.items[-1], *items[1:]])
    return Chain(span, (*first.items[:-1], last), first.operators)


def _named(node: Any) -> list[Any]:
    return [one for one in node.named_children if one.type != "comment"]


def _inside(node: Any, depth: int) -> Block:
    children = node.children
    first = next((one for one in children if one.type in ("{", "(", "do")), None)
    last = next((one for one in reversed(children) if one.type in ("}", ")", "done")), None)
    if first is None or last is None:
        return _block([], _span(node), depth)
    return _block(children[1:-1], Span(first.end_byte, last.start_byte), depth)


def _chain(node: Any, depth: int) -> Node:
    """A list is nested to the left, once for each operator."""
    items, operators, here = [], [], node
    while here.type == "list":
        parts = [one for one in here.children if one.type != "comment"]
        left, operator, right = parts[0], parts[1], parts[-1]
        items.append(_node(right, depth + 1))
        operators.append(Operator(_span(operator), operator.type))
        here = left
    items.append(_node(here, depth + 1))
    return Chain(_span(node), tuple(reversed(items)), tuple(reversed(operators)))


def _redirected(node: Any, depth: int) -> Node:
    inner = node.named_children[0]
    redirects = []
    for one in node.named_children[1:]:
        if one.type == "heredoc_redirect" and any(
            part.type in ("pipeline", "list", "&&", "||") for part in one.children
        ):
            return Opaque(_span(node))
        redirects.append(_redirect(one))
    found = _node(inner, depth + 1)
    span, extra = _span(node), tuple(redirects)
    if isinstance(found, Command) and (within := _substituted(node, depth)):
        found = Command(found.span, found.words, found.redirects, found.assignments, within)
    if isinstance(found, Chain):  # the parser gives the redirection of the last command to all of them
        last = _with(found.items[-1], Span(found.items[-1].span.start, span.stop), extra)
        return Chain(span, (*found.items[:-1], last), found.operators)
    return _with(found, span, extra)


def _with(node: Node, span: Span, redirects: tuple[Redirect, ...]) -> Node:
    if isinstance(node, Command):
        return Command(span, node.words, (*node.redirects, *redirects), node.assignments, node.inner)
    if isinstance(node, Group):
        return Group(span, node.kind, node.body, redirects)
    if isinstance(node, Negated):
        return Negated(span, _with(node.item, Span(node.item.span.start, span.stop), redirects))
    if isinstance(node, Pipeline):
        last = _with(node.items[-1], Span(node.items[-1].span.start, span.stop), redirects)
        return Pipeline(span, (*node.items[:-1], last))
    return Opaque(span, (node,))


def _redirect(node: Any) -> Redirect:
    operator = next((one.type for one in node.children if not one.is_named), "")
    words = [one for one in node.named_children if one.type not in ("file_descriptor", "heredoc_start", "heredoc_body", "heredoc_end")]  # fmt: skip
    return Redirect(_span(node), operator, word_of(words[-1]) if words and node.type == "file_redirect" else None)


def _substituted(node: Any, depth: int) -> tuple[Block, ...]:
    """The scripts in its substitutions, in order."""
    found, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        if one.type in ("command_substitution", "process_substitution"):
            found.append(_block(one.children, _span(one), depth + 1))
        else:
            waiting.extend(reversed(one.children))
    return tuple(found)


def _command(node: Any, depth: int) -> Command:
    words: list[Word] = []
    redirects: list[Redirect] = []
    assignments: list[tuple[str, Word | None]] = []
    within = _substituted(node, depth)
    if node.type == "variable_assignment":
        return Command(_span(node), (), (), (_assignment(node),), within)
    if node.type == "test_command":
        words = [Word(Span(node.start_byte, node.start_byte + 1), node.children[0].type), *_test_words(node)]
        return Command(_span(node), tuple(words), inner=within)
    for one in node.children:
        if one.type == "command_name":
            words.append(word_of(one.children[0]) if one.children else word_of(one))
        elif one.type == "variable_assignment":
            assignments.append(_assignment(one))
        elif one.type.endswith("_redirect"):
            redirects.append(_redirect(one))
        elif one.is_named and one.type != "comment":
            words.append(word_of(one))
        elif node.type in ("declaration_command", "unset_command") and not words:
            words.append(Word(_span(one), one.type))
    return Command(_span(node), tuple(words), tuple(redirects), tuple(assignments), within)


def _test_words(node: Any) -> Iterator[Word]:
    for one in node.named_children:
        if one.type in _WORDS:
            yield word_of(one)
        elif one.type == "test_operator":
            yield Word(_span(one), one.text.decode("utf-8", "surrogateescape"))
        else:
            yield from _test_words(one)


_EXPANSIONS = {"simple_expansion", "expansion", "command_substitution"}
_WORDS = {"word", "string", "raw_string", "concatenation", "number", "extglob_pattern", "regex", "ansi_c_string", "translated_string", *_EXPANSIONS}  # fmt: skip


def _assignment(node: Any) -> tuple[str, Word | None]:
    name = node.children[0].text.decode("utf-8", "surrogateescape")
    value = node.children[-1]
    return name, word_of(value) if value.type in _WORDS else None


def _if(node: Any, depth: int) -> Node:
    branches = [_branch(node.children, depth)]
    for one in node.named_children:
        if one.type == "elif_clause":
            branches.append(_branch(one.children, depth))
        elif one.type == "else_clause":
            branches.append((None, _block(one.children[1:], Span(one.children[0].end_byte, one.end_byte), depth)))
    return If(_span(node), tuple(branches))


def _branch(children: list[Any], depth: int) -> tuple[Block | None, Block]:
    then = next(index for index, one in enumerate(children) if one.type == "then")
    ends = [i for i, one in enumerate(children) if one.type in ("elif_clause", "else_clause", "fi")]
    end = ends[0] if ends else len(children)
    stop = children[end].start_byte if ends else children[-1].end_byte
    condition = _block(children[1:then], Span(children[0].end_byte, children[then].start_byte), depth)
    return condition, _block(children[then + 1 : end], Span(children[then].end_byte, stop), depth)


def _for(node: Any, depth: int) -> Node:
    body = node.children[-1]
    name = next((one for one in node.named_children if one.type == "variable_name"), None)
    if name is None or body.type != "do_group" or not any(one.type == "in" for one in node.children):
        return Opaque(_span(node))
    words = tuple(
        word_of(one) for one in _named(node) if one is not name and one.type != "do_group" and one.id != name.id
    )
    return For(_span(node), name.text.decode("utf-8", "surrogateescape"), words, _inside(body, depth))


def _nested(node: Any, depth: int) -> Node:
    blocks: list[Block] = []
    name, kind = "", {"while_statement": "while", "function_definition": "function"}.get(node.type, "case")
    if kind == "while" and node.children[0].type == "until":
        kind = "until"
    for one in node.children:
        if one.type == "do_group" or (kind == "function" and one.type in ("compound_statement", "subshell")):
            blocks.append(_inside(one, depth))
        elif one.type == "case_item":
            start = next((index for index, part in enumerate(one.children) if part.type == ")"), 0)
            blocks.append(_block(one.children[start + 1 :], Span(one.children[start].end_byte, one.end_byte), depth))
        elif kind in ("while", "until") and one.is_named and one.type != "comment":
            blocks.append(_block([one], _span(one), depth))
        elif kind == "function" and one.type == "word":
            name = one.text.decode("utf-8", "surrogateescape")
    return Nested(_span(node), kind, tuple(blocks), name)
