"""The whole answer about one image."""

from msgspec import Struct

from regraft.core.image_decision import Candidate, Judged, Reason
from regraft.core.image_labels import Pins
from regraft.core.image_values import ImageInputs


class Decided(Struct, frozen=True):
    """The whole answer for one image: `tag` is the one to use, or the one to build; `losers` are what it beat."""

    image: str
    repository: str
    judged: Judged
    winner: Candidate
    losers: tuple[Candidate, ...]
    inputs: ImageInputs
    pins: Pins
    labels: dict[str, str]
    build_arguments: dict[str, str]
    publish: bool
    notes: tuple[Reason, ...]
    requested: bool

    @property
    def reference(self) -> str:
        """`repository@digest` of what is reused, else the tag to build."""
        if self.judged.digest is not None:
            return f"{self.repository}@{self.judged.digest}"
        return f"{self.repository}:{self.winner.tag}"
