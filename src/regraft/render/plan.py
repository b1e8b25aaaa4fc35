"""A plan as people read it: in the log, and on the run's summary page."""

from collections.abc import Callable, Iterable, Iterator

from regraft.core.asked import Asked
from regraft.core.findings import Finding
from regraft.core.patch_address import in_short
from regraft.core.plan import Note, Plan, PlannedDependency, Source
from regraft.core.planned import Planned, Reach
from regraft.render import safe

SOURCES = {
    "not-given": "no body was given",
    "none": "no body: this event has no pull request",
    "given": "body: as given",
    "event": "body: as it was in the event",
    "live": "body: as it is now",
}


def place(source: Source) -> str:
    """Who decided, in a few words: `body:3:1`, `an input`, `the lock`, ..."""
    match source.kind:
        case "body":
            return f"body:{source.line}:{source.column}"
        case "input":
            return "an input"
        case "lock":
            return "the lock"
        case "head":
            return "the followed branch"
        case _:
            return "nothing"


def plan_lines(plan: Plan) -> Iterator[str]:
    """The plan of one image, its notes included, a line each; every line is safe to print."""
    reference = plan.image.reference or "a lane of checkouts"
    yield f"{plan.image.name} ({safe.text(reference)})"
    suites = ", ".join(plan.suites) or "no suite of the manifest runs in it"
    yield f"  suites    {safe.text(suites)}"
    baseline = f"{plan.baseline.source} {plan.baseline.digest[:12]}" if plan.baseline else "unknown"
    yield f"  baseline  {baseline}"
    for name, one in plan.dependencies.items():
        yield f"  {name}: {dependency_line(one, safe.text)}"
        for patch in one.patches:
            yield f"    patch {safe.text(in_short(patch.path))} {patch.state or '(baked in, not judged)'}"
    yield from note_lines(plan.notes)
    yield f"  digest    {plan.digest}"


def dependency_line(one: PlannedDependency, shown: Callable[[str], str]) -> str:
    """What a run does with one dependency; `shown` makes hostile text harmless."""
    if one.action == "keep":
        held = f"the image's baseline, commit {one.commit}" if one.commit else "the image's copy, commit unknown"
        return f"keep {shown(held)}, named by {place(one.source)}"
    what = f"{shown(one.ref)} " if one.ref else ""
    return f"override {what}named by {place(one.source)} -> {one.commit} of {shown(one.url)}"


def note_lines(notes: Iterable[Note]) -> Iterator[str]:
    for note in notes:
        where = f"body:{note.line}:{note.column}: " if note.line else ""
        yield safe.log_line(f"  {note.level}: {where}{note.message} [{note.code}]")


def finding_lines(findings: Iterable[Finding]) -> Iterator[str]:
    for one in findings:
        where = f"{one.path}:{one.line}" if one.line else one.path
        yield safe.log_line(f"  {one.severity}: {where}: {one.message} [{one.rule}]")
        for witness in one.witnesses:
            yield safe.log_line(f"    {witness.path}: {witness.message}")
        if one.fix:
            yield f"    -> {safe.text(one.fix)}"


def planned_lines(planned: Planned) -> Iterator[str]:
    """The whole answer: what was read, what it reaches, what was ignored, each plan, and what stops the run."""
    yield SOURCES[planned.asked.source]
    for one in planned.reach:
        yield safe.log_line(f"{one.text} named by {place(one.source)} -> {reach_text(one)}")
    if not planned.reach:
        yield "nothing is named"
    for line in planned.asked.body.ignored:
        yield safe.log_line(f"ignored: body:{line.line}:{line.column}: {line.reason}: {line.text!r}")
    for plan in planned.plans.values():
        yield from plan_lines(plan)
    yield from finding_lines(planned.findings)
    yield "stopped: no plan is written" if planned.stopped else f"overridden: {str(planned.overridden).lower()}"


def reach_text(one: Reach) -> str:
    """The images and suites that a directive reaches, and what overruled it where."""
    by: dict[str, list[str]] = {}
    for image in one.overruled:
        by.setdefault(place(image.by), []).append(image.image)
    beaten = [f"overruled by {winner} in {', '.join(images)}" for winner, images in by.items()]
    if one.images or not beaten:
        suites = ", ".join(one.suites) or "no suite"
        beaten.insert(0, f"{', '.join(one.images) or 'no image'} ({suites})")
    return "; ".join(beaten)


def asked_summary(asked: Asked) -> str:
    """Markdown of what was read, for a run that stopped before there was a plan."""
    md = safe.markdown
    lines = ["### regraft plan", "", md(SOURCES[asked.source]), ""]
    lines += [f"- understood: {md(one.text)}, named by {md(one.where)}" for one in asked.everything]
    lines += _ignored(asked)
    lines += [f"- {note.level}: {md(note.message)}" for note in asked.notes]
    return "\n".join(lines) + "\n\n"


def _ignored(asked: Asked) -> list[str]:
    md = safe.markdown
    return [f"- ignored, body line {one.line}: {md(one.text)} ({md(one.reason)})" for one in asked.body.ignored]


def planned_json(planned: Planned) -> str:
    """The same for machines."""
    import msgspec  # noqa: PLC0415 - loaded already where a plan was made

    return msgspec.json.format(
        msgspec.json.encode(
            {
                "overridden": planned.overridden,
                "stopped": planned.stopped,
                "body": planned.asked.source,
                "directives": planned.reach,
                "ignored": planned.asked.body.ignored,
                "findings": planned.findings,
                "plans": planned.plans,
            }
        ),
        indent=2,
    ).decode()


def summary(planned: Planned) -> str:
    """Markdown for `$GITHUB_STEP_SUMMARY`. Whatever came from outside is text there: no markup, no mention, no link."""
    md = safe.markdown
    lines = ["### regraft plan", ""]
    rows = [f"| {md(one.text)} | {md(place(one.source))} | {md(reach_text(one))} |" for one in planned.reach]
    if rows:
        lines += ["| directive | named by | images (suites) |", "|---|---|---|", *rows, ""]
    else:
        lines += ["No directive: nothing is named.", ""]
    for plan in planned.plans.values():
        lines += [f"**{md(plan.image.name)}** {md(plan.image.reference or 'lane')} · digest {plan.digest}", ""]
        lines += [f"- {md(name)}: {dependency_line(one, md)}" for name, one in plan.dependencies.items()]
        lines += [
            f"  - patch {md(in_short(patch.path))}: {patch.state or 'baked in'}"
            for one in plan.dependencies.values()
            for patch in one.patches
        ]
        lines += [f"- {note.level}: {md(note.message)}" for note in plan.notes] + [""]
    lines += _ignored(planned.asked)
    lines += [f"- **{one.severity}** {md(one.path)}: {md(one.message, 2000)}" for one in planned.findings]
    return "\n".join(lines) + "\n"
