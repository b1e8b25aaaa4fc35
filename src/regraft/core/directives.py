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
    packages: dict[str, str] = {}  # directive key -> dependency that is a package: to be refused by name

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.dependencies, *self.tags, *self.packages)


class Directive(Struct, frozen=True):
    """`ci-sglang-pr: #12`, or `ci-sglang-pr[rocm]: #12` with scope "rocm"; `name` is an input's, as it was written."""

    key: str
    dependency: str
    scope: str | None
    ref: Ref
    source: Source
    name: str | None = None

    @property
    def where(self) -> str:
        """For messages: `body:3:1`, or `input ci_sglang_pr[rocm]`."""
        return _where(self.source, self.name or self.key)

    @property
    def text(self) -> str:
        return _text(self.key, self.scope, self.ref.text)


class TagDirective(Struct, frozen=True):
    """`ci-image-tag: some-tag`: `tag` is a valid image tag."""

    key: str
    scope: str | None
    tag: str
    source: Source
    name: str | None = None

    @property
    def where(self) -> str:
        return _where(self.source, self.name or self.key)

    @property
    def text(self) -> str:
        return _text(self.key, self.scope, self.tag)


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


def input_place(name: str) -> str:
    """The place of an input in every message, by the name that its caller wrote."""
    return f"input {name[:100]}"


def _text(key: str, scope: str | None, value: str) -> str:
    return f"{key}[{scope}]: {value}" if scope is not None else f"{key}: {value}"


def _where(source: Source, name: str) -> str:
    return f"body:{source.line}:{source.column}" if source.kind == "body" else input_place(name)
