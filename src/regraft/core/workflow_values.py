"""Workflow files and composite actions as values. `workflow_text` reads them; lines and columns start at 1.

Keys of mappings that GitHub compares without case (inputs, outputs, secrets, contexts) stand as they are written.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from regraft.core.expression_tree import Expression


class Place(Struct, frozen=True, order=True):
    path: str
    line: int
    column: int = 1


class Text(Struct, frozen=True):
    """A scalar. `block`: its lines are the file's lines, from `first` on; else all of it stands at its place.

    `plain`: written without quotes, so that YAML gives `true`, `12` and an empty text a type of their own.
    """

    value: str
    place: Place
    first: int = 0
    block: bool = False
    plain: bool = False

    def line(self, at: int) -> int:
        """The file's line of the character `at`."""
        return self.first + self.value.count("\n", 0, at) if self.block else self.place.line


class Data(Struct, frozen=True):
    """Any node of the document: what the rules read that has no value of its own here (`strategy`, `permissions`, `on`).

    `value`: a Text; a tuple of Data; or (key, Data) pairs in the order of the file, where `keys` has each key as a Text.
    """

    value: "Text | tuple[Data, ...] | Mapping[str, Data]"
    place: Place
    keys: Mapping[str, Text] = {}

    def get(self, *names: str) -> "Data | None":
        """What stands below a path of keys, or None."""
        here: Data | None = self
        for name in names:
            here = here.value.get(name) if here is not None and isinstance(here.value, Mapping) else None
        return here


class Problem(Struct, frozen=True):
    """Why a file, or an expression in it, could not be read."""

    place: Place
    message: str


class Part(Struct, frozen=True):
    """A piece of a text with `${{ }}` in it: literal text, or an expression (None where it cannot be parsed)."""

    text: str  # as written, `${{` and `}}` not included
    at: int  # the character of the value where it begins
    expression: Expression | None = None
    literal: bool = False


class Value(Struct, frozen=True):
    """A text in which expressions may stand: of `env`, `with`, `run`, `name`."""

    text: Text
    parts: tuple[Part, ...]


class Condition(Struct, frozen=True):
    """An `if:`, with or without `${{ }}` around it.

    `expression`: None where it cannot be parsed, or has text around `${{ }}` (`padded`: GitHub then always takes it as true).
    """

    text: Text
    expression: Expression | None
    padded: bool = False


class Declared(Struct, frozen=True):
    """An input, output or secret that a workflow or action declares. `default`: None where there is none."""

    name: str
    place: Place
    type: str | None = None
    required: bool = False
    default: Value | None = None
    options: tuple[str, ...] = ()
    value: Value | None = None  # of an output


class Event(Struct, frozen=True):
    """An event in `on:`. `types`: None where none are written, so that GitHub's default types hold."""

    name: str
    place: Place
    types: tuple[str, ...] | None
    data: Data | None  # what stands below it: branches, paths, cron
    inputs: Mapping[str, Declared] = {}
    outputs: Mapping[str, Declared] = {}
    secrets: Mapping[str, Declared] = {}


class Step(Struct, frozen=True):
    """`index` starts at 0. A step has `run` or `uses`."""

    index: int
    place: Place
    data: Data
    id: str | None = None
    name: Value | None = None
    condition: Condition | None = None
    run: Value | None = None
    shell: Text | None = None
    working_directory: Value | None = None
    uses: Text | None = None
    arguments: Mapping[str, Value] = {}
    env: Mapping[str, Value] = {}
    continue_on_error: Value | None = None


class Job(Struct, frozen=True):
    """A job with steps, or one that calls a workflow (`uses`)."""

    name: str
    place: Place
    data: Data
    needs: tuple[Text, ...] = ()
    condition: Condition | None = None
    steps: tuple[Step, ...] = ()
    uses: Text | None = None
    arguments: Mapping[str, Value] = {}
    secrets: "Mapping[str, Value] | Literal['inherit']" = {}
    outputs: Mapping[str, Value] = {}
    env: Mapping[str, Value] = {}
    permissions: "Mapping[str, str] | str | None" = None  # `read-all`, `write-all`, `{}` or by scope
    shell: Text | None = None  # of `defaults.run`
    working_directory: Value | None = None
    runs_on: Value | None = None
    continue_on_error: Value | None = None


class Workflow(Struct, frozen=True):
    """One file below `.github/workflows`."""

    path: str
    data: Data
    name: Value | None
    events: Mapping[str, Event]
    jobs: Mapping[str, Job]
    env: Mapping[str, Value] = {}
    permissions: "Mapping[str, str] | str | None" = None
    shell: Text | None = None
    working_directory: Value | None = None
    problems: tuple[Problem, ...] = ()


class Action(Struct, frozen=True):
    """An `action.yml` of the repository. `folder` is "" at the top. Only a composite action has steps."""

    path: str
    folder: str
    data: Data
    inputs: Mapping[str, Declared]
    outputs: Mapping[str, Declared]
    steps: tuple[Step, ...] = ()
    problems: tuple[Problem, ...] = ()
