"""What feeds an image, for people and for machines."""

import json
from collections.abc import Sequence
from typing import Any

from regraft.core import document
from regraft.core.image_values import SCHEMA, Explained, ImageInputs, Input, Loose, Moved
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


def moved_lines(one: Explained) -> list[str]:
    """Which inputs differ."""
    before, after = one.before, one.after
    if before is None or after is None:
        there = [
            f"{word} {side.commit[:12]} builds it ({side.hash[:12]})"
            for word, side in (("only the first,", before), ("only the second,", after))
            if side
        ]
        return [f"{one.image}: {there[0] if there else 'neither builds it'}"]
    head = f"{one.image}: {before.commit[:12]} {before.hash[:12]} -> {after.commit[:12]} {after.hash[:12]}"
    if not one.moved:
        return [f"{head}: the inputs are the same"]
    return [f"{head}: {len(one.moved)} differ", *(line for each in one.moved for line in _moved(each))]


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


def moved_json(found: Sequence[Explained]) -> str:
    """`{schema, images: [{image, before: {commit, hash}, after: {commit, hash}, moved: [...]}]}`; null: it is not built there."""
    images = [
        {
            "image": one.image,
            "before": one.before and {"commit": one.before.commit, "hash": one.before.hash},
            "after": one.after and {"commit": one.after.commit, "hash": one.after.hash},
            "moved": [document.plain(each) for each in one.moved],
        }
        for one in found
    ]
    return json.dumps({"schema": SCHEMA, "images": images}, indent=2)


def _plain(inputs: ImageInputs) -> dict[str, Any]:
    plain = document.plain(inputs)
    return {"image": plain.pop("image"), "hash": inputs.hash, **plain}
