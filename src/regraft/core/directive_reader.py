"""What a body and the inputs of a run ask for. One grammar and one parser of values for both."""

from collections.abc import Sequence

from msgspec import Struct, field

from regraft.core.directive_lines import is_meant, meant_line, read_line, where
from regraft.core.directive_values import collect, parse_directive
from regraft.core.directives import Directive, Ignored, Reading, TagDirective, Vocabulary, input_place
from regraft.core.markdown_lines import Place, Spot, find_places, split_lines
from regraft.core.most import bounded
from regraft.core.near_misses import BLANKS, Keys, Mention, Opening, scan
from regraft.core.patterns import regex
from regraft.core.plan import Note, Source
from regraft.core.quoting import quoted
from regraft.core.spelling import near
from regraft.errors import InputError

LONGEST_BODY = 65_536  # GitHub's own limit, in characters
_INPUT = regex(r"([^\[\]]*)(?:\[([^\[\]]*)\])?")
_SHOWN = 200


def read_body(text: str, vocabulary: Vocabulary) -> Reading:
    """Every line of a pull request's body that is a directive, looks like one or names a key, accounted for once.

    Mistakes are collected, not raised, with `body:LINE:COLUMN` from 1. Raises InputError `body-too-long` alone.
    """
    if len(text) > LONGEST_BODY:
        raise InputError(
            "body-too-long",
            f"the body has {len(text)} characters, and {LONGEST_BODY} is the most",
            where="body",
            hint="shorten it: GitHub itself takes no more",
        )
    lines = split_lines(text)
    found = scan(lines, Keys(vocabulary.keys))
    places = find_places(lines, [Spot(one.line, one.column, one.word) for one in found])
    body = _Body(vocabulary)
    for one, place in zip(found, places, strict=True):
        body.account(one, place)
    return body.reading()


def read_inputs(pairs: Sequence[tuple[str, str | None]], vocabulary: Vocabulary, *, strict: bool = True) -> Reading:
    """What (name, value) pairs ask for; a name is a key, with `_` or `-`, and may end in `[image]`. Empty is not named.
    None stands for a value that is no text.

    An unknown name is a mistake; with `strict` false only one that nearly is a key, since an event has other inputs too.
    """
    keys = Keys(vocabulary.keys)
    said: list[Directive | TagDirective] = []
    mistakes: list[InputError] = []
    for name, value in pairs:
        try:
            key, scope = _input_name(name, keys, strict=strict)
            if key is not None and (bare := _input_value(value)):
                said.append(parse_directive(key, scope, bare, vocabulary, Source("input"), name))
        except InputError as error:
            mistakes.append(InputError(error.code, error.message, where=input_place(name), hint=error.hint))
    return bounded(collect(said, Reading(mistakes=tuple(mistakes))), "inputs")


def _input_value(value: str | None) -> str:
    if value is None:
        raise InputError("not-text", "the event's value is a list or an object", hint="give one ref as text")
    return value.strip(BLANKS + "\r\n")


def _input_name(name: str, keys: Keys, *, strict: bool) -> tuple[str | None, str | None]:
    parts = _INPUT.fullmatch(name)
    written, scope = (parts[1], parts[2]) if parts else (name, None)
    for key in sorted(keys.known):
        if key.replace("_", "-") == written.replace("_", "-"):
            return key, scope
    match = keys.match(written[:100])
    if not strict and (match is None or match.how in {"unknown", "glued"}):
        return None, None
    close = (match.key,) if match and match.key else near(written, sorted(keys.known)) or sorted(keys.known)
    names = ", ".join(key.replace("-", "_") for key in close if key)
    hint = f"write {names[:300]}" if names else "the manifest has no dependencies: it takes no input"
    raise InputError("unknown-input", f"{quoted(name, 100)} is no input of this project", hint=hint)


class _Body(Struct):
    """Collects what each line amounts to."""

    vocabulary: Vocabulary
    said: list[Directive | TagDirective] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    mistakes: list[InputError] = field(default_factory=list)

    def reading(self) -> Reading:
        reading = collect(self.said, Reading((), (), tuple(self.ignored), tuple(self.notes), tuple(self.mistakes)))
        ordered = Reading(
            reading.directives,
            reading.tags,
            reading.ignored,
            tuple(sorted(reading.notes, key=lambda note: (note.line or 0, note.column or 0))),
            tuple(sorted(reading.mistakes, key=_body_place)),
        )
        return bounded(ordered, "body")

    def account(self, one: Opening | Mention, place: Place) -> None:
        claims = is_meant(one) if isinstance(one, Opening) else one.claims
        reads_alike = claims or (isinstance(one, Opening) and bool(one.sep))
        if place.unclosed and not any(note.code == "unclosed-comment" for note in self.notes):
            message = "an HTML comment that nothing closes hides this line and everything after it, as on the page"
            self._note(one, "unclosed-comment", message, "warning")
        if place.kind == "hidden" and reads_alike:
            self.ignored.append(Ignored(one.line + 1, one.column + 1, one.raw[:_SHOWN], place.reason))
        elif isinstance(one, Mention) or not claims:
            name = (one.match.key or one.written) if isinstance(one, Opening) else one.key
            self._note(one, "mentioned", f"{name} is mentioned here, and nothing is asked for")
        else:
            self._opening(one, place)

    def _opening(self, one: Opening, place: Place) -> None:
        try:
            if not one.invisible:  # such a character is the fault then, wherever the line stands
                _check_place(one, place, self.vocabulary)
            what = read_line(one, self.vocabulary)
        except InputError as error:
            self.mistakes.append(error)
            return
        if place.in_list:
            self._note(one, "in-list", f"{what.key} counts, though Markdown makes it part of the list item above")
        self.said.append(what)

    def _note(self, one: Opening | Mention, code: str, message: str, level: str = "notice") -> None:
        assert level in {"notice", "warning"}
        self.notes.append(
            Note("warning" if level == "warning" else "notice", code, message, one.line + 1, one.column + 1)
        )


def _check_place(one: Opening, place: Place, vocabulary: Vocabulary) -> None:
    """Raise where a line that looks like a directive is shown, but not as plain text of its own."""
    here, meant = where(one.line, one.column), meant_line(one, vocabulary)
    if place.kind == "html":
        hint = f"put a blank line before it, and write {meant}"
        raise InputError(
            "raw-html", "the line stands inside raw HTML, where Markdown reads nothing", where=here, hint=hint
        )
    if place.kind == "entangled":
        hint = f"write {meant} in a paragraph of its own at the top of the body"
        raise InputError("entangled", f"the line stands {place.reason}", where=here, hint=hint)
    if place.kind == "styled" and not one.lead.strip():
        hint = f"write {meant} in a paragraph of its own"
        raise InputError("decorated", f"the line stands {place.reason}", where=here, hint=hint)
    if place.in_list and one.lead and not one.lead.strip():
        hint = f"write {meant} in the first column, or after a blank line below the list"
        raise InputError("in-list", "the line belongs to a list item", where=here, hint=hint)


def _body_place(mistake: InputError) -> tuple[int, int]:
    _, line, column = (mistake.where or "body:0:0").split(":")
    return int(line), int(column)
