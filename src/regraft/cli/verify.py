"""`regraft verify PLAN`: is this machine what the plan says?"""

import argparse
import os
import sys
import time
from pathlib import Path

from regraft.adapters import files
from regraft.cli.wiring import machine, open_project
from regraft.core.document import LIMIT
from regraft.core.findings import Finding
from regraft.core.receipt import Receipt


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN", help="the plan's file; - is standard input")
    parser.add_argument("--root", metavar="DIR", help="the image's absolute paths are below this folder")
    parser.add_argument("--receipt", metavar="FILE", help="write what was found here")


def run(args: argparse.Namespace) -> int:
    from regraft.core.plan_document import decode_plan  # noqa: PLC0415
    from regraft.core.receipt import Times  # noqa: PLC0415
    from regraft.core.receipt_document import encode_receipt  # noqa: PLC0415
    from regraft.core.receipt_of import receipt_of  # noqa: PLC0415
    from regraft.flows.baselines import baseline_of  # noqa: PLC0415
    from regraft.flows.verify import verify  # noqa: PLC0415

    started = time.monotonic()
    data = files.read_standard_input(LIMIT) if args.plan == "-" else files.read(Path(args.plan), LIMIT)
    plan = decode_plan(data, "standard input" if args.plan == "-" else args.plan)
    project = open_project(args.project)
    environ = dict(os.environ)
    baseline = baseline_of(plan, project.files)
    with machine(project, args.root, environ) as (interpreter, checkouts):
        verified = verify(
            plan, project.manifest, baseline, files=project.files, interpreter=interpreter, checkouts=checkouts
        )
    finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    receipt = receipt_of(
        plan,
        project.manifest.images[plan.image.name],
        baseline,
        verified.observation,
        findings=verified.findings,
        times=Times(finished, round(time.monotonic() - started, 3)),
    )
    if args.receipt:
        files.write(Path(args.receipt), encode_receipt(receipt))
    _print(receipt, verified.checks, args.format)
    if environ.get("GITHUB_ACTIONS") == "true":
        _publish(receipt, verified.findings, environ.get("GITHUB_STEP_SUMMARY"))
    return 1 if verified.stopped else 0


def _print(receipt: Receipt, checks: int, form: str) -> None:
    if form == "json":
        from regraft.core.receipt_document import encode_receipt  # noqa: PLC0415

        print(encode_receipt(receipt).decode(), end="")
        return
    from regraft.render.papers import receipt_lines  # noqa: PLC0415

    print("\n".join(receipt_lines(receipt)))
    print(f"{checks} checks")


def _publish(receipt: Receipt, findings: tuple[Finding, ...], summary: str | None) -> None:
    from regraft.render.actions import finding_annotations  # noqa: PLC0415
    from regraft.render.papers import receipt_summary  # noqa: PLC0415

    print(finding_annotations(findings), end="", file=sys.stderr)
    if summary:
        files.append(Path(summary), receipt_summary(receipt).encode())
