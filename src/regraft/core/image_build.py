"""What `regraft image build` did: each step in its order, and what came of it."""

from typing import Literal

from msgspec import Struct

from regraft.core.image_reference import Digest

StepName = Literal["build", "probe", "imports", "seal", "push", "check", "attach", "tag"]


class Step(Struct, frozen=True):
    """`detail` is what it gave, or why it failed."""

    name: StepName
    ok: bool
    detail: str


class Built(Struct, frozen=True):
    """`changed` says what differs from the last image that went through all of it, a line each; for a red step only."""

    image: str
    steps: tuple[Step, ...]
    local: str | None  # the image's name in the engine's own store
    digest: Digest | None
    tags: tuple[str, ...]  # those that were moved
    labels: dict[str, str]
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return all(step.ok for step in self.steps)
