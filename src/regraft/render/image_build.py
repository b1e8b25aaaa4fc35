"""What a build came to: for people, for machines, and for the jobs that follow."""

import json
from collections.abc import Iterator

from regraft.core.image_build import Built
from regraft.render import safe


def built_lines(built: Built) -> Iterator[str]:
    """Every line is safe to print."""
    yield f"{built.image}: {'built' if built.ok else 'red'}"
    for step in built.steps:
        yield safe.log_line(f"  {step.name:<8}{'ok' if step.ok else 'RED':<4}{step.detail}")
    if not built.ok:
        moved = ", ".join(built.tags)
        yield f"  moved before that: {safe.text(moved)}" if moved else "  every tag is where it was"
        yield from (safe.log_line(f"  since the last green image: {line}") for line in built.changed)
    yield from (safe.log_line(f"  note: {note}") for note in built.notes)


def built_json(built: Built) -> str:
    return json.dumps(
        {
            "image": built.image,
            "ok": built.ok,
            "steps": [{"name": step.name, "ok": step.ok, "detail": step.detail} for step in built.steps],
            "local": built.local,
            "digest": built.digest,
            "tags": list(built.tags),
            "labels": built.labels,
            "changed": list(built.changed),
            "notes": list(built.notes),
        },
        indent=2,
    )


def outputs(built: Built, repository: str | None) -> dict[str, str]:
    pullable = f"{repository}@{built.digest}" if repository and built.digest else built.local or ""
    return {"image": pullable, "digest": built.digest or "", "tags": " ".join(built.tags)}


def summary(built: Built) -> str:
    """Markdown for `$GITHUB_STEP_SUMMARY`."""
    md = safe.markdown
    lines = ["### regraft image build", "", f"**{md(built.image)}**: {'built' if built.ok else 'red'}", ""]
    lines += [f"- {step.name} {'ok' if step.ok else '**red**'}: {md(step.detail)}" for step in built.steps]
    lines += [f"- since the last green image: {md(line)}" for line in built.changed]
    lines += [f"- note: {md(note)}" for note in built.notes]
    return "\n".join(lines) + "\n\n"
