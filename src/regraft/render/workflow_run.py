"""What a run of a job's steps came to, for people and for machines."""

import json
from collections.abc import Iterator

from regraft.core import document
from regraft.core.runner_values import JobResult, StepResult
from regraft.render import safe

SHOWN = 20  # lines of a failed step's log
CALLS = 20

_WORDS = {"success": "ok", "failure": "FAILED", "skipped": "skipped"}


def run_lines(result: JobResult) -> Iterator[str]:
    """Every line is safe to print."""
    yield f"{safe.text(result.workflow)}: job {safe.text(result.job)}: {result.result}"
    for step in result.steps:
        yield from _step(step, "  ")
    for name, value in result.outputs.items():
        yield safe.log_line(f"  output {name} = {_value(value)}")
    yield from (safe.log_line(f"  note: {note}") for note in result.notes)


def run_json(result: JobResult) -> str:
    return json.dumps(document.plain(result), indent=2)


def _step(step: StepResult, indent: str) -> Iterator[str]:
    tolerated = " (and goes on: continue-on-error)" if step.outcome == "failure" and not step.failed else ""
    why = f": {step.why}" if step.why and step.outcome != "success" else ""
    shell = f"  [{step.shell}]" if step.shell else ""
    label = f"{step.id}: {step.name}" if step.id else step.name
    yield safe.log_line(f"{indent}{_WORDS[step.outcome]:<8}{label}{shell}{why}{tolerated}")
    indent += "  "
    for name, value in step.outputs.items():
        yield safe.log_line(f"{indent}output {name} = {_value(value)}")
    for name, value in step.env.items():
        yield safe.log_line(f"{indent}env {name} = {_value(value)}")
    for path in step.paths:
        yield safe.log_line(f"{indent}path {path}")
    for mapped in step.mapped:
        yield safe.log_line(f"{indent}mapped {mapped.path} -> {mapped.folder} ({mapped.times}x)")
    if step.steps:
        for inner in step.steps:
            yield from _step(inner, indent)
        return
    for call in step.calls[:CALLS]:
        yield safe.log_line(f"{indent}call {' '.join((call.program, *call.arguments))}  (in {call.folder})")
    if len(step.calls) > CALLS:
        yield f"{indent}and {len(step.calls) - CALLS} more calls"
    if step.outcome == "failure":
        lines = step.log.rstrip("\n").split("\n") if step.log else []
        if len(lines) > SHOWN:
            yield f"{indent}| … {len(lines) - SHOWN} lines before these"
        yield from (safe.log_line(f"{indent}| {line}") for line in lines[-SHOWN:])


def _value(text: str) -> str:
    return text if "\n" not in text else repr(text)
