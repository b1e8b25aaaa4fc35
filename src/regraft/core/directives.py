"""What was asked for: directives of a body, of inputs, of a comment, by one grammar."""

from msgspec import Struct

from regraft.core.plan import Note, Source
from regraft.core.refs import Ref
from regraft.errors import InputError


class Vocabulary(Struct, frozen=True):
    """The keys that a manifest knows, and how far each reaches."""

    dependencies: dict[str, str]  # directive key -> dependency
    tags: dict[str, frozenset[str]]  # tag directive key -> images that take it
    images: dict[str, frozenset[str]]  # image -> dependencies baked into it


class Directive(Struct, frozen=True):
    """`ci-sglang-pr: #12`, or `ci-sglang-pr[rocm]: #12` with scope "rocm"."""

    key: str
    dependency: str
    scope: str | None
    ref: Ref
    source: Source


class TagDirective(Struct, frozen=True):
    """`ci-image-tag: some-tag`: `tag` is a valid image tag."""

    key: str
    scope: str | None
    tag: str
    source: Source


class Ignored(Struct, frozen=True):
    """A line that reads like a directive and stands where Markdown shows no plain text."""

    line: int
    column: int
    text: str  # the raw line, bounded
    reason: str  # "in a fenced code block", "in a quote", ...


class Reading(Struct, frozen=True):
    """All that one text said. `mistakes` is empty or the caller raises it; nothing is dropped on the way."""

    directives: tuple[Directive, ...] = ()
    tags: tuple[TagDirective, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    notes: tuple[Note, ...] = ()
    mistakes: tuple[InputError, ...] = ()
