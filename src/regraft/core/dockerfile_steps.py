"""The parts of a Dockerfile as values: stages, what they are built on, and the instructions with what is known at each."""

from collections.abc import Iterator

from msgspec import Struct

from regraft.core.dockerfile_args import Scope
from regraft.core.dockerfile_text import Heredoc, Instruction


class From(Struct, frozen=True):
    """What a stage, a `COPY --from` or a mount is built on: nothing, a stage of this file, or an image by `text`.

    `used` are the variables in it, `argument` is the one that it is as a whole. Where the platform decides, `stage` is one of
    `stages`, or it is an image with a `pattern` for a name.
    """

    kind: str  # "scratch", "stage", "image"
    text: str
    line: int
    stage: int = -1
    unknown: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    argument: str | None = None
    stages: tuple[int, ...] = ()
    pattern: str | None = None


class Step(Struct, frozen=True):
    """One instruction, with what is known before it. `data` is the text in which its spans lie.

    `line` is the line of the file; for what an `ONBUILD` of a stage below left, that of the `ONBUILD`.
    """

    instruction: Instruction
    data: bytes
    line: int
    scope: Scope
    folder: str  # WORKDIR; holds `$` where it is not known
    shell: tuple[str, ...]
    sources: tuple[From, ...] = ()  # of its `--from` and mounts

    @property
    def keyword(self) -> str:
        return self.instruction.keyword

    def body(self, doc: Heredoc) -> bytes:
        text = self.data[doc.body.start : doc.body.stop]
        return b"\n".join(line.lstrip(b"\t") for line in text.split(b"\n")) if doc.chomp else text

    def logical(self) -> str:
        """The instruction without comments and continuations, as Docker has it before it expands anything."""
        return "\n".join([f"{self.keyword} {self.said()}".rstrip(), *self._docs()])

    def said(self) -> str:
        """Its flags and its value."""
        flags = " ".join(one.text for one in self.instruction.flags)
        return f"{flags} {joined(self.instruction)}".strip()

    def _docs(self) -> Iterator[str]:
        """The here-documents, each with the line that ends it: its empty lines are content, and a border is where it was."""
        for doc in self.instruction.heredocs:
            yield (self.body(doc) + doc.name).decode("utf-8", "surrogateescape")


class Stage(Struct, frozen=True):
    index: int
    name: str | None  # lower case
    base: From
    line: int
    steps: tuple[Step, ...]
    flags: tuple[str, ...] = ()  # of its FROM

    @property
    def called(self) -> str:
        return self.name or str(self.index)

    @property
    def needs(self) -> tuple[int, ...]:
        """The stages that it is made of."""
        found = [self.base, *(one for step in self.steps for one in step.sources)]
        return tuple(dict.fromkeys(index for one in found if one.kind == "stage" for index in (one.stage, *one.stages)))


def joined(instruction: Instruction) -> str:
    """The value as one text: continuations joined, comment lines left out. Blanks before the escape character stay."""
    text, base = instruction.text, instruction.value.start
    pieces, at = [], 0
    for span in sorted((*instruction.comments, *instruction.padding)):
        if span.start >= base:
            pieces.append(text[at : span.start - base])
            at = span.stop - base
    whole = b"".join([*pieces, text[at:]])
    return whole.replace(b"\\\n", b"").decode("utf-8", "surrogateescape").strip()
