"""What `verify`, `apply` and `replay` share: a plan comes in, a receipt goes out."""

import argparse
import contextlib
import os
import sys
import time
from pathlib import Path

from regraft.adapters import files
from regraft.core.document import LIMIT
from regraft.core.plan import Plan
from regraft.core.receipt import Receipt, Times
from regraft.errors import InputError, OutsideError


def read_plan(name: str) -> Plan:
    """The plan in a file, or on standard input where the name is "-"."""
    from regraft.core.plan_document import decode_plan  # noqa: PLC0415

    return decode_plan(*read_document(name))


def read_document(name: str) -> tuple[bytes, str]:
    """What a file holds, or standard input where the name is "-"; and what to call it."""
    if name == "-":
        return files.read_standard_input(LIMIT), "standard input"
    return files.read(Path(name), LIMIT), name


def check_image(plan: Plan, image: str | None) -> None:
    """Raises InputError `other-image`: the caller says that this machine is another image than the planned one."""
    if image is not None and plan.image.name != image:
        message = f"the plan is for the image {plan.image.name!r:.80}, and this machine is said to be {image!r:.80}"
        raise InputError("other-image", message, where="--image", hint="take the plan of this image")


def check_receipt(name: str | None, source: str) -> None:
    """Before anything is changed: a receipt can be written to `--receipt`, and it is not the file that is read.

    Raises InputError: no-receipt-file, receipt-is-source, not-a-file; OutsideError.
    """
    if name is None:
        return
    if not name:
        raise InputError("no-receipt-file", "it names no file", where="--receipt")
    if source != "-" and _is_same(name, source):
        message = "the receipt would take the place of the file that is read"
        raise InputError("receipt-is-source", message, where=name, hint="name another file")
    files.check_writable(Path(name))


def _is_same(name: str, other: str) -> bool:
    try:
        return os.path.samefile(name, other)  # noqa: PTH121 - strings, as they were given
    except OSError:
        return False


def times_since(started: float) -> Times:
    """Now, and the seconds since a reading of `time.monotonic`."""
    return Times(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), round(time.monotonic() - started, 3))


def hand_out(receipt: Receipt, checks: int, args: argparse.Namespace) -> OSError | OutsideError | None:
    """Print it, write it where `--receipt` says, publish it in GitHub Actions: each, whatever became of the others.

    Returns why it could not be printed, or not be written. A summary page that cannot be written is only said.
    """
    failure: OSError | OutsideError | None = None
    try:
        print_receipt(receipt, checks, args.format)
        sys.stdout.flush()
    except BrokenPipeError as error:
        failure = error
    except OSError as error:
        failure = files.outside(error, "standard output")
    try:
        if args.receipt is not None:
            write_receipt(receipt, args.receipt)
    except OutsideError as error:
        failure = error
    if os.environ.get("GITHUB_ACTIONS") == "true":
        _publish(receipt, os.environ.get("GITHUB_STEP_SUMMARY"))
    return failure


def write_receipt(receipt: Receipt, name: str) -> None:
    from regraft.core.receipt_document import encode_receipt  # noqa: PLC0415

    files.write(Path(name), encode_receipt(receipt))


def print_receipt(receipt: Receipt, checks: int, form: str) -> None:
    if form == "json":
        from regraft.core.receipt_document import encode_receipt  # noqa: PLC0415

        print(encode_receipt(receipt).decode(), end="")
        return
    from regraft.render.papers import receipt_lines  # noqa: PLC0415

    print("\n".join(receipt_lines(receipt)))
    print(f"{checks} checks")


def _publish(receipt: Receipt, summary: str | None) -> None:
    from regraft.render.actions import finding_annotations  # noqa: PLC0415
    from regraft.render.papers import receipt_summary  # noqa: PLC0415

    with contextlib.suppress(OSError):
        print(finding_annotations(receipt.findings), end="", file=sys.stderr, flush=True)
    if summary:
        try:
            files.append(Path(summary), receipt_summary(receipt).encode())
        except OutsideError as error:
            with contextlib.suppress(OSError):
                print(f"the summary page could not be written: {error}", file=sys.stderr, flush=True)
