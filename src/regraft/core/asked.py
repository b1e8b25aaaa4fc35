"""Everything that was asked for, from every source."""

from typing import Literal

from msgspec import Struct

from regraft.core.directives import Directive, Reading, TagDirective
from regraft.core.plan import Note

BodySource = Literal["none", "given", "event", "live"]


class Asked(Struct, frozen=True):
    """Everything that was written, understood and ignored. `source` says whose body was read."""

    source: BodySource
    inputs: Reading
    body: Reading
    notes: tuple[Note, ...]

    @property
    def directives(self) -> tuple[Directive, ...]:
        return self.inputs.directives + self.body.directives

    @property
    def tags(self) -> tuple[TagDirective, ...]:
        return self.inputs.tags + self.body.tags

    @property
    def everything(self) -> tuple[Directive | TagDirective, ...]:
        return (*self.directives, *self.tags)
