"""What is wrong with a line that looks like a directive, and the line that was probably meant."""

import re

from regraft.core.directive_values import parse_directive
from regraft.core.directives import Directive, TagDirective, Vocabulary
from regraft.core.near_misses import Opening
from regraft.core.patterns import regex
from regraft.core.plan import Source
from regraft.core.quoting import character, quoted
from regraft.core.spelling import near
from regraft.errors import InputError

_TAG = regex(r"</?[A-Za-z]+>")
_LINK = regex(r"\((https://[^()]*)\)")
_ADDRESS = ("#", "http://", "https://")


def where(line: int, column: int) -> str:
    """A place of the body; both count from 0 here and from 1 in what is said."""
    return f"body:{line + 1}:{column + 1}"


def is_meant(opening: Opening) -> bool:
    """Whether the line looks like a directive rather than like prose that begins with its key."""
    strong = opening.value.startswith(_ADDRESS)
    single = len(opening.value.split()) == 1
    spaced = bool(re.search(r"\s", opening.written))
    far = opening.match.how in {"affix", "order"} or spaced
    if opening.sep:
        if opening.match.how == "glued":
            return strong
        if far:
            return strong or single
        return strong or single or not opening.value or not opening.lead.strip()
    if opening.match.how in {"exact", "folded"} and not spaced and not opening.lead.strip():
        return strong or single
    return strong and (single or opening.match.how not in {"affix", "order", "glued"})


def read_line(opening: Opening, vocabulary: Vocabulary) -> Directive | TagDirective:
    """The directive that a line shown as text is; else InputError with its place and the line that was meant."""
    form_fault(opening, vocabulary)
    key, source = opening.match.key or "", Source("body", opening.line + 1, opening.column + 1)
    if not opening.value:
        raise _fault(opening, "empty-value", f"{key} has no value", vocabulary)
    words = opening.value.split()
    if len(words) > 1:
        message = f"one value stands after the colon, not {quoted(opening.value)}"
        raise _fault(opening, "several-values", message, vocabulary, opening.value_column)
    try:
        return parse_directive(key, opening.scope, opening.value, vocabulary, source)
    except InputError as error:
        column = opening.value_column if error.code in {"bad-ref", "bad-tag"} else opening.column
        place = where(opening.line, column)
        raise InputError(error.code, error.message, where=place, hint=error.hint) from None


def form_fault(opening: Opening, vocabulary: Vocabulary) -> None:
    """Raise where the part up to the value is not exactly what the grammar asks for."""
    lead, match = opening.lead, opening.match
    if opening.invisible and not lead.strip():
        column, char = opening.invisible
        message = f"an invisible character stands in the line: {character(char)}"
        raise _fault(opening, "invisible-character", message, vocabulary, column)
    if opening.escape:
        column, escape = opening.escape
        message = f"{quoted(escape)} stands where the page shows another character, or none"
        raise _fault(opening, "escaped-character", message, vocabulary, column)
    if lead.strip():
        raise _fault(opening, "decorated", f"{quoted(lead.strip(), 40)} stands before the key", vocabulary)
    if lead not in {"", " ", "  "}:
        raise _fault(opening, "indented", "a directive begins within the first three columns", vocabulary)
    if match.how == "unknown":
        known = sorted({*vocabulary.keys})
        close = near(opening.written, known) or tuple(known)
        hint = f"the keys here are: {', '.join(close)[:300]}"
        message = f"{quoted(opening.written, 80)} is no directive of this project"
        raise InputError("unknown-key", message, where=where(opening.line, opening.column), hint=hint)
    if match.how != "exact":
        message = f"{quoted(opening.written, 80)} is not spelt {match.key}"
        raise _fault(opening, "misspelt-key", message, vocabulary)
    if opening.mark:
        raise _fault(opening, "decorated", f"{quoted(opening.mark, 40)} stands after the key", vocabulary)
    if not opening.sep:
        raise _fault(opening, "no-colon", f"no colon follows {match.key}", vocabulary)
    if opening.sep != ":":
        raise _fault(opening, "odd-colon", f"{character(opening.sep)} stands for the colon", vocabulary)
    if opening.gaps:
        raise _fault(opening, "blank-before-colon", "a blank stands between the key and the colon", vocabulary)


def meant_line(opening: Opening, vocabulary: Vocabulary) -> str:
    """The nearest valid line."""
    key = opening.match.key or opening.written
    scope = (opening.scope or "").strip()
    bracket = f"[{scope}]" if scope in vocabulary.images else ""
    return f"{key}{bracket}: {_mended(key, opening, vocabulary) or _example(key, vocabulary)}"


def _mended(key: str, opening: Opening, vocabulary: Vocabulary) -> str | None:
    """The first word of the value, bare, if that is valid."""
    words = _TAG.sub("", opening.value).split()
    if not words:
        return None
    link = _LINK.search(words[0])
    bare = link[1] if link else words[0].strip("<>\"'`*_~()[]|;,").rstrip(".")
    for value in (words[0], bare, f"#{bare}"):
        try:
            parse_directive(key, None, value, vocabulary, Source("body"))
        except InputError:
            continue
        return value
    return None


def _example(key: str, vocabulary: Vocabulary) -> str:
    return "TAG" if key in vocabulary.tags else "#NUMBER"


def _fault(opening: Opening, code: str, message: str, vocabulary: Vocabulary, column: int | None = None) -> InputError:
    place = where(opening.line, opening.column if column is None else column)
    return InputError(code, message, where=place, hint=f"write {meant_line(opening, vocabulary)}")
