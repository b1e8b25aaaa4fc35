"""Everything that was asked for, from every source."""

from typing import Literal

from msgspec import Struct

from regraft.core.directives import Directive, Reading, TagDirective
from regraft.core.plan import Note
from regraft.errors import InputError

BodySource = Literal["not-given", "none", "given", "event", "live"]
"""not-given: there was no event to look into; none: the event has no pull request."""


class Asked(Struct, frozen=True):
    """Everything that was written, understood and ignored. `source` says whose body was read.

    `mistakes` are the planner's to raise: what was understood beside them is still to be shown.
    """

    source: BodySource
    inputs: Reading
    body: Reading
    notes: tuple[Note, ...]

    @property
    def mistakes(self) -> tuple[InputError, ...]:
        return self.inputs.mistakes + self.body.mistakes

    @property
    def directives(self) -> tuple[Directive, ...]:
        return self.inputs.directives + self.body.directives

    @property
    def tags(self) -> tuple[TagDirective, ...]:
        return self.inputs.tags + self.body.tags

    @property
    def everything(self) -> tuple[Directive | TagDirective, ...]:
        return (*self.directives, *self.tags)
