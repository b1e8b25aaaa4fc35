"""What is to be done about each image: for people, for machines, and for the jobs that follow."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from regraft.core.image_decided import Decided
from regraft.render import safe


def decided_lines(one: Decided) -> Iterator[str]:
    """Every line is safe to print."""
    yield f"{one.image}: {one.judged.answer} {safe.text(one.reference)}"
    yield from (safe.log_line(f"  because {reason.message} [{reason.code}]") for reason in one.judged.reasons)
    yield safe.log_line(f"  tag     {one.winner.tag}, from {one.winner.where}")
    yield from (safe.log_line(f"  loses   {loser.tag}, from {loser.where}") for loser in one.losers)
    yield f"  inputs  {one.inputs.hash} at {one.inputs.commit}"
    if one.judged.answer == "rebuild":
        yield from (safe.log_line(f"  argument {name}={value}") for name, value in one.build_arguments.items())
        yield from (safe.log_line(f"  label   {name}={value}") for name, value in one.labels.items())
        yield f"  publish {'yes' if one.publish else 'no'}"
    yield from (safe.log_line(f"  note: {note.message} [{note.code}]") for note in one.notes)


def decided_json(decided: Sequence[Decided]) -> str:
    return json.dumps({"images": {one.image: _plain(one) for one in decided}}, indent=2)


def _plain(one: Decided) -> dict[str, Any]:
    return {
        "decision": one.judged.answer,
        "reasons": [{"code": reason.code, "message": reason.message} for reason in one.judged.reasons],
        "reference": one.reference,
        "digest": one.judged.digest,
        "tag": {"tag": one.winner.tag, "kind": one.winner.kind, "where": one.winner.where},
        "losers": [{"tag": loser.tag, "kind": loser.kind, "where": loser.where} for loser in one.losers],
        "inputs": one.inputs.hash,
        "commit": one.inputs.commit,
        "publish": one.publish,
        "labels": one.labels,
        "build-arguments": one.build_arguments,
        "notes": [{"code": note.code, "message": note.message} for note in one.notes],
    }


def outputs(decided: Sequence[Decided]) -> dict[str, str]:
    """For the jobs that follow. With one image each value is that image's; with several it is a JSON object by image."""
    values: dict[str, dict[str, str]] = {
        "decision": {one.image: one.judged.answer for one in decided},
        "reason": {one.image: one.judged.reasons[0].code for one in decided},
        "image": {one.image: one.reference for one in decided},
        "tag": {one.image: one.winner.tag for one in decided},
        "inputs": {one.image: one.inputs.hash for one in decided},
        "publish": {one.image: "true" if one.publish else "false" for one in decided},
        "labels": {one.image: _pairs(one.labels) for one in decided},
        "build-arguments": {one.image: _pairs(one.build_arguments) for one in decided},
    }
    if len(decided) == 1:
        return {name: next(iter(of_image.values())) for name, of_image in values.items()}
    return {name: json.dumps(of_image) for name, of_image in values.items()}


def _pairs(values: dict[str, str]) -> str:
    """`NAME=VALUE` lines, as the build actions take them."""
    return "\n".join(f"{name}={value}" for name, value in values.items())


def summary(decided: Sequence[Decided]) -> str:
    """Markdown for `$GITHUB_STEP_SUMMARY`."""
    md = safe.markdown
    lines = ["### regraft image decide", ""]
    for one in decided:
        lines += [f"**{md(one.image)}**: {one.judged.answer} {md(one.reference)}", ""]
        lines += [f"- because {md(reason.message)}" for reason in one.judged.reasons]
        lines += [f"- loses: {md(loser.tag)}, from {md(loser.where)}" for loser in one.losers]
        lines += [f"- note: {md(note.message)}" for note in one.notes] + [""]
    return "\n".join(lines) + "\n"
