"""One directive from its parts: the same for a line of a body and for an input."""

from regraft.core.directives import Directive, Reading, TagDirective, Vocabulary
from regraft.core.patterns import regex
from regraft.core.plan import Note, Source
from regraft.core.quoting import quoted
from regraft.core.ref_parser import BLANKS, parse_ref
from regraft.core.spelling import nearest
from regraft.errors import InputError

_TAG = regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_TAG_FOREIGN = regex(r"[^A-Za-z0-9_.-]")


def parse_directive(  # noqa: PLR0913, PLR0917 - the parts of a directive
    key: str, scope: str | None, value: str, vocabulary: Vocabulary, source: Source, name: str | None = None
) -> Directive | TagDirective:
    """What `key[scope]: value` says, for a key of the vocabulary and a trimmed value; `name` is an input's, as written.

    InputError `package-dependency`, `unknown-scope`, `not-baked`, `takes-no-tag`, `bad-ref` or `bad-tag`, without a place.
    """
    if key in vocabulary.packages:
        dependency = vocabulary.packages[key]
        message = f"{dependency} is a package: no run installs another version of it, and its versions are refs for patches only"
        hint = f"take the line out, and ask `regraft patch status --dependency {dependency} --at VERSION`"
        raise InputError("package-dependency", message, hint=hint)
    check_scope(key, scope, vocabulary)
    if key in vocabulary.dependencies:
        return Directive(key, vocabulary.dependencies[key], scope, parse_ref(value), source, name)
    return TagDirective(key, scope, parse_tag(value), source, name)


def parse_tag(text: str) -> str:
    """An image tag as registries take it, or InputError `bad-tag`."""
    bare = text.strip(BLANKS)
    if _TAG.fullmatch(bare):
        return bare
    rule = "write a tag of at most 128 letters, digits, _ . and -, the first no . and no -"
    found = _TAG_FOREIGN.search(bare)
    if found and (tag := bare.rsplit(":", 1)[-1]) != bare and _TAG.fullmatch(tag):
        rule = f"write the tag alone: {tag}"
    raise InputError("bad-tag", f"{quoted(bare)} is no image tag", hint=rule)


def check_scope(key: str, scope: str | None, vocabulary: Vocabulary) -> None:
    """Raise where the image in brackets is unknown, or has nothing that `key` could change."""
    if scope is None:
        return
    if scope not in vocabulary.images:
        if not vocabulary.images:
            raise InputError("unknown-scope", f"{quoted(scope)} is no image: the manifest has no images")
        near = nearest(scope, vocabulary.images)
        known = ", ".join(sorted(vocabulary.images))
        hint = f"write {key}[{near}]: …" if near else f"the images are: {known[:300]}"
        raise InputError("unknown-scope", f"{quoted(scope)} is no image of this project", hint=hint)
    if key in vocabulary.dependencies:
        dependency = vocabulary.dependencies[key]
        if dependency not in vocabulary.images[scope]:
            fitting = sorted(image for image, baked in vocabulary.images.items() if dependency in baked)
            hint = f"it is baked into: {', '.join(fitting)}" if fitting else "no image has it"
            raise InputError("not-baked", f"{dependency} is not baked into the image {scope}", hint=hint)
    elif scope not in vocabulary.tags[key]:
        fitting = sorted(vocabulary.tags[key])
        raise InputError("takes-no-tag", f"{key} does not hold for {scope}", hint=f"it holds for: {', '.join(fitting)}")


def collect(said: list[Directive | TagDirective], reading: Reading) -> Reading:
    """`reading` with what was said: an equal repetition is a note, two different values for one key a mistake."""
    first: dict[tuple[str, str | None], Directive | TagDirective] = {}
    directives: list[Directive] = []
    tags: list[TagDirective] = []
    notes, mistakes = list(reading.notes), list(reading.mistakes)
    for what in said:
        name = what.key + (f"[{what.scope}]" if what.scope is not None else "")
        earlier = first.setdefault((what.key, what.scope), what)
        if earlier is not what:
            if _meaning(earlier) == _meaning(what):
                message = f"{name} says again what {earlier.where} says"
                notes.append(Note("notice", "repeated", message, what.source.line, what.source.column))
            else:
                message = f"{name} is {quoted(_text(what))} here, and {quoted(_text(earlier))} at {earlier.where}"
                hint = "leave one of the two lines" if what.source.kind == "body" else "give one of the two"
                mistakes.append(InputError("conflicting-values", message, where=what.where, hint=hint))
        elif isinstance(what, Directive):
            directives.append(what)
        else:
            tags.append(what)
    return Reading(tuple(directives), tuple(tags), reading.ignored, tuple(notes), tuple(mistakes))


def _meaning(what: Directive | TagDirective) -> object:
    return (what.ref.target, what.ref.host) if isinstance(what, Directive) else what.tag


def _text(what: Directive | TagDirective) -> str:
    return what.ref.text if isinstance(what, Directive) else what.tag
