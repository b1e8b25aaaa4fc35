"""What `workflow run` is told: a JSON document, and `NAME=VALUE` words that go over it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from regraft.core.runner_values import Given, Stub
from regraft.errors import InputError

LIMIT = 32 * 1024 * 1024  # bytes of a document or a payload


class Made(Struct, frozen=True, forbid_unknown_fields=True):
    """An upstream that is made for one run: the files of each branch (on top of the first), of each pull request by its number,
    and the branch (or `pull/NUMBER`) that each tag names.
    """

    branches: Mapping[str, Mapping[str, str]]
    pulls: Mapping[str, Mapping[str, str]] = {}
    tags: Mapping[str, str] = {}


class Told(Given, frozen=True, forbid_unknown_fields=True):
    """A document of `--given`: the fields of `Given`, stubs with their answers, and upstreams by `owner/name`."""

    stubs: tuple[Stub, ...] = ()
    upstreams: Mapping[str, Made] = {}

    def given(self) -> Given:
        return Given(**{name: getattr(self, name) for name in Given.__struct_fields__})


def read_told(data: bytes, where: str) -> Told:
    """Raises InputError: not-json, wrong-shape."""
    raw = read_object(data, where)
    try:
        return msgspec.convert(raw, Told)
    except msgspec.ValidationError as error:
        hint = f"it may have {', '.join(Told.__struct_fields__)}"
        raise InputError("wrong-shape", str(error), where=where, hint=hint) from None


def read_object(data: bytes, where: str) -> dict[str, Any]:
    """A JSON object. Raises InputError `not-json`."""
    try:
        raw = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError("not-json", f"not a JSON document in UTF-8: {error}", where=where) from None
    if not isinstance(raw, dict):
        raise InputError("not-json", "not a JSON object", where=where)
    return raw


def pairs(words: Iterable[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` words. Raises InputError `usage`."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError("usage", f"{word!r:.200} is no NAME=VALUE", where=option)
        found[name] = value
    return found


def over(given: Given, words: Mapping[str, Iterable[str]]) -> Given:
    """`given` with the words of each option over it: `inputs`, `env`, `secrets`, `vars`, `matrix`, `github`, `needs`, `steps`,
    `uses`. A need is `JOB=RESULT` or `JOB.OUTPUT=VALUE`, an output of a step `STEP.NAME=VALUE`. Raises InputError `usage`.
    """
    found: dict[str, Any] = {}
    for field, said in words.items():
        read = pairs(said, f"--{field.rstrip('s')}")
        before: Mapping[str, Any] = getattr(given, field)
        if field == "needs":
            found[field] = _needs(before, read)
        elif field in ("steps", "uses"):
            found[field] = _dotted(before, read, f"--{field}")
        elif field == "matrix":
            found[field] = {**before, **{name: _literal(value) for name, value in read.items()}}
        else:
            found[field] = {**before, **read}
    return replace(given, **found)


def _needs(before: Mapping[str, Any], read: Mapping[str, str]) -> dict[str, Any]:
    found = {name: {**about, "outputs": dict(about.get("outputs", {}))} for name, about in before.items()}
    for name, value in read.items():
        job, dot, output = name.partition(".")
        about = found.setdefault(job, {"outputs": {}})
        if dot:
            about["outputs"][output] = value
        else:
            about["result"] = value
    return found


def _dotted(before: Mapping[str, Mapping[str, str]], read: Mapping[str, str], option: str) -> dict[str, dict[str, str]]:
    found = {name: dict(outputs) for name, outputs in before.items()}
    for name, value in read.items():
        owner, dot, output = name.rpartition(".")
        if not dot:
            raise InputError("usage", f"{name!r:.200} is no OWNER.OUTPUT", where=option)
        found.setdefault(owner, {})[output] = value
    return found


def _literal(text: str) -> Any:
    """A number or boolean as YAML writes it, else text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
