"""Workflow files and composite actions, read from their bytes. Never raises: what cannot be read is a Problem with its place."""

import posixpath
from collections.abc import Iterator, Mapping
from typing import Literal

from regraft.core.expression_text import condition_mistake, mistakes, read_condition, value_parts
from regraft.core.expression_tokens import ExpressionError
from regraft.core.workflow_values import (
    Action,
    Condition,
    Data,
    Declared,
    Event,
    Job,
    Place,
    Problem,
    Step,
    Text,
    Value,
    Workflow,
)
from regraft.core.workflow_yaml import LIMIT, is_null, items, mapping, read_yaml, text, texts

__all__ = ["LIMIT", "read_action", "read_workflow"]

Permissions = Mapping[str, str] | str | None


def read_workflow(path: str, data: bytes) -> Workflow:
    """A file below `.github/workflows`. Where it is no YAML mapping, it has problems and nothing else."""
    root, problems = read_yaml(path, data)
    read = _Reader(problems)
    if root is None or not isinstance(root.value, Mapping):
        if root is not None:
            read.wrong(root, "a workflow is a mapping with `on` and `jobs`")
        return Workflow(path, Data({}, Place(path, 1)), None, {}, {}, problems=tuple(problems))
    if root.get("on") is None:
        read.wrong(root, "No event triggers defined in `on`")
    if root.get("jobs") is None:
        read.wrong(root, "Required property is missing: jobs")
    shell, folder = read.defaults(root)
    return Workflow(
        path,
        root,
        read.value(root.get("name")),
        {event.name: event for event in read.events(root.get("on"))},
        {name: read.job(name, key, body) for name, key, body in read.named(root, "jobs")},
        read.values(root, "env"),
        read.permissions(root.get("permissions")),
        shell,
        folder,
        tuple(problems),
    )


def read_action(path: str, data: bytes) -> Action:
    """An `action.yml`. `folder` is where it stands: "" at the top of the repository."""
    root, problems = read_yaml(path, data)
    read = _Reader(problems)
    folder = posixpath.dirname(path)
    if root is None or not isinstance(root.value, Mapping):
        if root is not None:
            read.wrong(root, "an action is a mapping with `runs`")
        return Action(path, folder, Data({}, Place(path, 1)), {}, {}, problems=tuple(problems))
    steps = read.steps(root.get("runs"))
    return Action(
        path, folder, root, read.declared(root, "inputs"), read.declared(root, "outputs"), steps, tuple(problems)
    )


def unparsed(found: Text, mistake: ExpressionError) -> Problem:
    """What is wrong with an expression in a text."""
    line = found.line(mistake.at)
    place = found.place if line == found.place.line else Place(found.place.path, line)
    return Problem(place, mistake.message)


class _Reader:
    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def wrong(self, data: Data, message: str) -> None:
        self._problems.append(Problem(data.place, message))

    def named(self, owner: Data | None, name: str) -> Iterator[tuple[str, Text, Data]]:
        """The keys and bodies of the mapping below `name`."""
        data = owner.get(name) if owner is not None else None
        if data is not None and not isinstance(data.value, Mapping) and not is_null(data):
            self.wrong(data, f"`{name}` is a mapping")
        for key, body in mapping(data).items():
            if data is not None:
                yield key, data.keys[key], body

    def value(self, data: Data | None) -> Value | None:
        """A scalar with its expressions. A mapping or a sequence is None: it stands in the data."""
        found = text(data)
        if found is None:
            return None
        parts = value_parts(found.value)
        self._problems += (unparsed(found, mistake) for mistake in mistakes(found.value, parts))
        return Value(found, parts)

    def values(self, owner: Data | None, name: str) -> dict[str, Value]:
        """The mapping below `name`, of scalars. `key:` with nothing is an empty text."""
        data = owner.get(name) if owner is not None else None
        if text(data) is not None:  # `env: ${{ fromJSON(…) }}`, whose keys nobody knows
            return {}
        found: dict[str, Value] = {}
        for key, _, body in self.named(owner, name):
            one = self.value(body)
            if one is not None:
                found[key] = one
            elif is_null(body) and isinstance(body.value, Text):
                found[key] = Value(body.value, ())
            else:
                self.wrong(body, f"`{key}` of `{name}` is a text")
        return found

    def condition(self, data: Data | None) -> Condition | None:
        """An `if:`. One with nothing in it is none."""
        found = text(data)
        if found is None or not found.value.strip():
            if data is not None and found is None and not is_null(data):
                self.wrong(data, "`if` is an expression")
            return None
        condition = read_condition(found)
        mistake = condition_mistake(condition)
        if mistake is not None:
            self._problems.append(unparsed(found, mistake))
        return condition

    def permissions(self, data: Data | None) -> Permissions:
        """`read-all`, `write-all`, or by scope; `{}` and `permissions:` grant nothing."""
        one = text(data)
        if one is not None or data is None:
            return one.value if one is not None else None
        found = {key: text(body) for key, body in mapping(data).items()}
        return {key: one.value for key, one in found.items() if one is not None}

    def defaults(self, owner: Data) -> tuple[Text | None, Value | None]:
        """`defaults.run`: the shell and the working directory."""
        run = owner.get("defaults", "run")
        return text(run.get("shell") if run else None), self.value(run.get("working-directory") if run else None)

    def events(self, data: Data | None) -> Iterator[Event]:
        for word in texts(data):
            yield Event(word.value, word.place, None, None)
        for name, body in mapping(data).items():
            assert data is not None  # a mapping with keys
            types = texts(body.get("types"))
            yield Event(
                name,
                data.keys[name].place,
                tuple(one.value for one in types) if body.get("types") is not None else None,
                None if is_null(body) else body,
                self.declared(body, "inputs"),
                self.declared(body, "outputs"),
                self.declared(body, "secrets"),
            )

    def declared(self, owner: Data, name: str) -> dict[str, Declared]:
        """Inputs, outputs or secrets, by name."""
        found = {}
        for key, label, body in self.named(owner, name):
            kind, required = text(body.get("type")), text(body.get("required"))
            found[key] = Declared(
                key,
                label.place,
                kind.value if kind is not None else None,
                required is not None and required.value.lower() == "true",
                self.value(body.get("default")),
                tuple(one.value for one in texts(body.get("options"))),
                self.value(body.get("value")),
            )
        return found

    def job(self, name: str, label: Text, body: Data) -> Job:
        if not isinstance(body.value, Mapping):
            self.wrong(body, f"the job `{name}` is a mapping")
        shell, folder = self.defaults(body)
        secrets = text(body.get("secrets"))
        every: Mapping[str, Value] | Literal["inherit"] = (
            "inherit" if secrets is not None and secrets.value == "inherit" else self.values(body, "secrets")
        )
        return Job(
            name,
            label.place,
            body,
            texts(body.get("needs")),
            self.condition(body.get("if")),
            self.steps(body),
            text(body.get("uses")),
            self.values(body, "with"),
            every,
            self.values(body, "outputs"),
            self.values(body, "env"),
            self.permissions(body.get("permissions")),
            shell,
            folder,
            self.value(body.get("runs-on")),
            self.value(body.get("continue-on-error")),
        )

    def steps(self, owner: Data | None) -> tuple[Step, ...]:
        data = owner.get("steps") if owner is not None else None
        if data is not None and not isinstance(data.value, tuple) and not is_null(data):
            self.wrong(data, "`steps` is a list")
        return tuple(self._step(index, one) for index, one in enumerate(items(data)))

    def _step(self, index: int, data: Data) -> Step:
        name = text(data.get("id"))
        run = self.value(data.get("run"))
        uses = text(data.get("uses"))
        if (run is None) == (uses is None):
            self.wrong(data, "a step has either `run` or `uses`")
        return Step(
            index,
            data.place,
            data,
            name.value if name is not None else None,
            self.value(data.get("name")),
            self.condition(data.get("if")),
            run,
            text(data.get("shell")),
            self.value(data.get("working-directory")),
            uses,
            self.values(data, "with"),
            self.values(data, "env"),
            self.value(data.get("continue-on-error")),
        )
