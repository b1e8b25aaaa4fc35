"""What `verify`, `apply` and `replay` share: a plan comes in, a receipt goes out."""

import sys
from pathlib import Path

from regraft.adapters import files
from regraft.core.document import LIMIT
from regraft.core.findings import Finding
from regraft.core.plan import Plan
from regraft.core.receipt import Receipt
from regraft.errors import InputError


def read_plan(name: str) -> Plan:
    """The plan in a file, or on standard input where the name is "-"."""
    from regraft.core.plan_document import decode_plan  # noqa: PLC0415

    data = files.read_standard_input(LIMIT) if name == "-" else files.read(Path(name), LIMIT)
    return decode_plan(data, "standard input" if name == "-" else name)


def check_image(plan: Plan, image: str | None) -> None:
    """Raises InputError `other-image`: the caller says that this machine is another image than the planned one."""
    if image is not None and plan.image.name != image:
        message = f"the plan is for the image {plan.image.name!r:.80}, and this machine is said to be {image!r:.80}"
        raise InputError("other-image", message, where="--image", hint="take the plan of this image")


def print_receipt(receipt: Receipt, checks: int, form: str) -> None:
    if form == "json":
        from regraft.core.receipt_document import encode_receipt  # noqa: PLC0415

        print(encode_receipt(receipt).decode(), end="")
        return
    from regraft.render.papers import receipt_lines  # noqa: PLC0415

    print("\n".join(receipt_lines(receipt)))
    print(f"{checks} checks")


def publish(receipt: Receipt, findings: tuple[Finding, ...], summary: str | None) -> None:
    from regraft.render.actions import finding_annotations  # noqa: PLC0415
    from regraft.render.papers import receipt_summary  # noqa: PLC0415

    print(finding_annotations(findings), end="", file=sys.stderr)
    if summary:
        files.append(Path(summary), receipt_summary(receipt).encode())
