"""What feeds an image, for people and for machines."""

import json
from collections.abc import Sequence
from typing import Any

from regraft.core import document
from regraft.core.image_values import SCHEMA, ImageInputs, Input, Loose, Moved
from regraft.render import safe

_WORDS = {
    "base": "base images",
    "build-argument": "build arguments",
    "file": "files",
    "instruction": "instructions",
    "pin": "pins",
    "setting": "settings",
}


def inputs_lines(inputs: ImageInputs, *, every: bool = False) -> list[str]:
    """The hash, what is in it, and what is not covered; with `every`, each input on a line of its own."""
    counts = ", ".join(f"{word} {sum(one.kind == kind for one in inputs.inputs)}" for kind, word in _WORDS.items())
    lines = [
        f"{inputs.image}: {inputs.hash}",
        f"  {safe.text(inputs.dockerfile)} at {inputs.commit[:12]}; {counts}; not covered {len(inputs.loose)}",
    ]
    shown = [one for one in inputs.inputs if every or one.kind in ("base", "build-argument", "pin")]
    lines += [f"  {_input(one)}" for one in shown]
    lines += [line for one in inputs.loose for line in _loose(one)]
    return [*lines, *(f"  note: {safe.text(note)}" for note in inputs.notes)]


def _input(one: Input) -> str:
    value = "" if one.value == one.name else f" = {safe.text(one.value, 200)}"
    place = f"  ({safe.text(str(one.place))})" if one.place else ""
    return f"{one.kind} {safe.text(one.name)}{value}{place}"


def _loose(one: Loose) -> list[str]:
    resolved = f", now {one.resolved}" if one.resolved else ""
    return [
        f"  not covered: {safe.text(str(one.place))}: {safe.text(one.what)}{resolved}",
        f"    -> {safe.text(one.pin)}",
    ]


def moved_lines(before: ImageInputs, after: ImageInputs, found: Sequence[Moved]) -> list[str]:
    """Which inputs differ."""
    head = f"{after.image}: {before.commit[:12]} {before.hash[:12]} -> {after.commit[:12]} {after.hash[:12]}"
    if not found:
        return [f"{head}: the inputs are the same"]
    return [f"{head}: {len(found)} differ", *(line for one in found for line in _moved(one))]


def _moved(one: Moved) -> list[str]:
    place = f" ({safe.text(str(one.place))})" if one.place else ""
    how = "new" if one.before is None else "gone" if one.after is None else "changed"
    lines = [f"  {how}: {one.kind} {safe.text(one.name)}{place}"]
    lines += [f"    - {safe.text(one.before, 200)}"] if one.before is not None else []
    lines += [f"    + {safe.text(one.after, 200)}"] if one.after is not None else []
    return lines


def inputs_json(found: Sequence[ImageInputs]) -> str:
    """`{schema, images: [{image, hash, commit, dockerfile, context, target, inputs, loose, notes}]}`."""
    return json.dumps({"schema": SCHEMA, "images": [_plain(one) for one in found]}, indent=2)


def moved_json(found: Sequence[tuple[ImageInputs, ImageInputs, Sequence[Moved]]]) -> str:
    """`{schema, images: [{image, before: {commit, hash}, after: {commit, hash}, moved: [...]}]}`."""
    images = [
        {
            "image": after.image,
            "before": {"commit": before.commit, "hash": before.hash},
            "after": {"commit": after.commit, "hash": after.hash},
            "moved": [document.plain(one) for one in moved],
        }
        for before, after, moved in found
    ]
    return json.dumps({"schema": SCHEMA, "images": images}, indent=2)


def _plain(inputs: ImageInputs) -> dict[str, Any]:
    plain = document.plain(inputs)
    return {"image": plain.pop("image"), "hash": inputs.hash, **plain}
