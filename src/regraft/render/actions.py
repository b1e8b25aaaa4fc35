"""What GitHub's runner takes: outputs and annotations."""

import json
from collections.abc import Iterable, Mapping

from regraft.core.findings import Finding
from regraft.core.plan import Note, Plan
from regraft.core.plan_document import one_line
from regraft.render import safe


def outputs(values: Mapping[str, str]) -> bytes:
    """Lines for `$GITHUB_OUTPUT`. The delimiter is random, so that no value can end itself early and name another."""
    import secrets  # noqa: PLC0415 - brings OpenSSL, and only a runner asks for outputs

    parts = []
    for name, value in values.items():
        delimiter = f"regraft_{secrets.token_hex(16)}"
        parts.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    return "".join(parts).encode()


def finding_annotations(findings: Iterable[Finding]) -> str:
    """A workflow command per finding, each on a line."""
    kinds = {"error": "error", "warning": "warning", "note": "notice"}
    return "".join(
        _command(kinds[one.severity], one.rule, one.message, one.path, one.line, one.column) for one in findings
    )


def note_annotations(notes: Iterable[Note]) -> str:
    """A workflow command per note that is a warning; notices stand in the log and the summary."""
    return "".join(_command("warning", one.code, one.message) for one in notes if one.level == "warning")


def _command(  # noqa: PLR0913, PLR0917 - the parts of a workflow command
    kind: str, rule: str, message: str, path: str | None = None, line: int | None = None, column: int | None = None
) -> str:
    properties = {"file": path if line else None, "line": line, "col": column, "title": f"regraft: {rule}"}
    shown = ",".join(f"{name}={safe.command_property(str(value))}" for name, value in properties.items() if value)
    place = f"{path}: " if path and not line else ""
    return f"::{kind} {shown}::{safe.command_data(place + message)}\n"


def gate_outputs(plans: Mapping[str, Plan], overridden: bool) -> dict[str, str]:
    """The gate's decision. With one image each value is that image's; with several it is a JSON object by image."""
    values: dict[str, dict[str, str]] = {
        "plan": {name: one_line(plan) for name, plan in plans.items()},
        "digest": {name: plan.digest for name, plan in plans.items()},
        "request": {name: plan.request for name, plan in plans.items()},
        "image": {name: _pullable(plan) for name, plan in plans.items()},
    }
    decided = {"overridden": "true" if overridden else "false"}
    if len(plans) == 1:
        return decided | {key: next(iter(by_image.values())) for key, by_image in values.items()}
    joined = {name: json.loads(text) for name, text in values.pop("plan").items()}
    return decided | {"plan": json.dumps(joined)} | {key: json.dumps(by_image) for key, by_image in values.items()}


def _pullable(plan: Plan) -> str:
    """`repository@digest` where the digest is known, else the reference, else nothing (a lane has no image)."""
    reference, found = plan.image.reference, plan.image.digest
    if reference is None:
        return ""
    return f"{reference.rpartition(':')[0]}@{found}" if found else reference
