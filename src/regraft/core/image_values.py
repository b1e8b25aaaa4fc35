"""What feeds an image, as values: its inputs at one commit, their hash, and what no hash can cover."""

from typing import Literal

from msgspec import Struct

from regraft.core.canonical import digest
from regraft.core.objects import Commit, Sha256

SCHEMA = "regraft.image-inputs/1"
HASH_LABEL = "io.regraft.inputs"  # the label of a built image that holds the hash of its inputs

InputKind = Literal["base", "build-argument", "file", "instruction", "pin", "setting"]
LooseKind = Literal["argument", "base", "clone", "context", "download", "pip", "script"]


class Place(Struct, frozen=True):
    """Lines start at 1; None where the whole file is meant."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Input(Struct, frozen=True):
    """One thing that the image is made of. (kind, name) names it; `value` is what the hash covers.

    | kind | name | value |
    |---|---|---|
    | base | the reference as expanded | the same, and ` digest` after it once it was resolved |
    | build-argument | its name | its value |
    | file | the path in the repository | mode and blob, `100644 <hash>`; `120000` for a link |
    | file | the address of a carried patch | `sha256 <digest>` |
    | instruction | `DOCKERFILE stage NAME #n`, counted in the stage | its text, without comments and continuations |
    | pin | the dependency | the commit that the project's lock records |
    | setting | target, context, platform | its value |

    `place` is where it is used, and is not hashed.
    """

    kind: InputKind
    name: str
    value: str
    place: Place | None = None


class Loose(Struct, frozen=True):
    """What the hash cannot cover: the same text may mean something else tomorrow. `pin` is what would cover it.

    For `clone` and `pip`, `url` and `ref` (None: the default branch) are what could be resolved to a commit; for `base`, `ref`
    is the reference. `argument` is the build argument that the ref is, where a commit or a digest could stand for it; `unfit` says
    why the build cannot be handed one though an argument is used.
    """

    kind: LooseKind
    what: str
    pin: str
    place: Place
    url: str | None = None
    ref: str | None = None
    argument: str | None = None
    resolved: str | None = None
    unfit: str | None = None


class Moved(Struct, frozen=True):
    """An input that differs between two commits. None: it is not there."""

    kind: InputKind
    name: str
    before: str | None
    after: str | None
    place: Place | None = None


class ImageInputs(Struct, frozen=True):
    """All that feeds one image at one commit. `inputs` are sorted by kind and name.

    `notes` say what was taken for granted, a line each.
    """

    image: str
    commit: Commit
    dockerfile: str
    context: str  # the build context in the repository, "" for its top
    target: str | None
    inputs: tuple[Input, ...]
    loose: tuple[Loose, ...]
    notes: tuple[str, ...] = ()

    @property
    def hash(self) -> Sha256:
        return inputs_hash(self.inputs)

    @property
    def build_arguments(self) -> dict[str, str]:
        """Those that the manifest sets."""
        return {one.name: one.value for one in self.inputs if one.kind == "build-argument"}


class Explained(Struct, frozen=True):
    """One image at two commits; None: that commit does not build it. `moved` is empty where one is None."""

    image: str
    before: ImageInputs | None
    after: ImageInputs | None
    moved: tuple[Moved, ...] = ()

    @property
    def differs(self) -> bool:
        return bool(self.moved) or self.before is None or self.after is None


def inputs_hash(inputs: tuple[Input, ...]) -> Sha256:
    """One hash over what each input is; order and places do not count."""
    found = sorted((one.kind, _bytes(one.name), _bytes(one.value)) for one in inputs)
    return digest({"schema": SCHEMA, "inputs": [list(one) for one in found]})


def _bytes(text: str) -> str:
    """A character for each byte: a path need not be UTF-8, and JSON must be."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
