"""The JSON schema of the manifest, made of the same registry that the reader judges by.

It says what one value may look like; what tables say about each other is the reader's to judge.
"""

from typing import Any, assert_never

from regraft.core.manifest_fields import ROOT
from regraft.core.manifest_shapes import (
    Choice,
    Field,
    ListOf,
    MapOf,
    NamedTables,
    Number,
    Shape,
    TableOf,
    Text,
    TextOrTable,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def manifest_schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12) for `regraft.toml` as a TOML reader gives it."""
    return {
        "$schema": DIALECT,
        "title": "regraft.toml",
        "description": "What a project bakes into its images, and how a run may replace it.",
        **_table(ROOT),
    }


def _shape(shape: Shape) -> dict[str, Any]:
    match shape:
        case Text():
            return _text(shape)
        case Choice(words):
            return {"enum": list(words)}
        case Number():
            return {"type": "integer", "minimum": shape.least, "maximum": shape.most}
        case ListOf():
            return _list(shape)
        case MapOf(key, value):
            return {"type": "object", "propertyNames": _text(key), "additionalProperties": _text(value)}
        case TableOf():
            return _table(shape)
        case TextOrTable(text, table):
            return {"anyOf": [_text(text), _table(table)]}
        case NamedTables(name, table):
            return {"type": "object", "propertyNames": _text(name), "additionalProperties": _table(table)}
        case _:
            assert_never(shape)


def _text(shape: Text) -> dict[str, Any]:
    return {"type": "string", "maxLength": shape.longest, "pattern": f"^(?:{shape.pattern})$"}


def _list(shape: ListOf) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "array", "items": _shape(shape.item)}
    if shape.first:
        schema["prefixItems"] = [_shape(shape.first)]
    if shape.at_least:
        schema["minItems"] = shape.at_least
    if shape.unique:
        schema["uniqueItems"] = True
    return schema


def _table(shape: TableOf) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {one.key: _field(one) for one in shape.fields},
    }
    required = [one.key for one in shape.fields if one.required]
    if required:
        schema["required"] = required
    if shape.needs:
        schema["dependentRequired"] = {key: list(others) for key, others in shape.needs.items()}
    if shape.either:
        schema["oneOf"] = [{"required": [key]} for key in shape.either]
    if shape.forbids:
        schema["dependentSchemas"] = {
            key: {"properties": dict.fromkeys(others, False)} for key, others in shape.forbids.items()
        }
    return schema


def _field(one: Field) -> dict[str, Any]:
    text = one.text if one.default_text is None else f"{one.text} Default: {one.default_text}."
    schema = {"description": text, **_shape(one.shape)}
    if one.default is not None:
        schema["default"] = one.default
    return schema
