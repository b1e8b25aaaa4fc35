"""`regraft apply PLAN`: make the image match the plan, or change nothing."""

import argparse
import gc
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.adapters import files
from regraft.cli.arguments import add_machine_options, names_of_root, real_root, seconds
from regraft.cli.receipts import check_image, print_receipt, publish, read_plan
from regraft.cli.wiring import Project, applier, open_project
from regraft.core.plan import Plan

if TYPE_CHECKING:
    from regraft.core.baseline import Baseline
    from regraft.flows.apply import Applied


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN", help="the plan's file; - is standard input")
    configure_apply(parser)


def configure_apply(parser: argparse.ArgumentParser) -> None:
    """What `replay` has too."""
    add_machine_options(parser)
    parser.add_argument(
        "--snapshot",
        action=argparse.BooleanOptionalAction,
        help="copy the baseline first, so that it can be given back (default: yes, but no where CI is set and no --root is given)",
    )
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=seconds,
        default=0.0,
        help="how long to wait for another apply or restore to end",
    )
    parser.add_argument("--replace", action="store_true", help="go over another plan that is applied here")


def run(args: argparse.Namespace) -> int:
    plan = read_plan(args.plan)
    return apply_plan(plan, open_project(args.project), args)


def apply_plan(plan: Plan, project: Project, args: argparse.Namespace) -> int:
    from regraft.cli.termination import interrupting  # noqa: PLC0415
    from regraft.cli.wiring import in_image  # noqa: PLC0415
    from regraft.flows.apply import Options, apply  # noqa: PLC0415
    from regraft.flows.baselines import baseline_of  # noqa: PLC0415
    from regraft.render import safe  # noqa: PLC0415

    check_image(plan, args.image)
    gc.disable()  # a short process with a hundred thousand small values that all live to its end
    started = time.monotonic()
    environ = dict(os.environ)
    baseline = baseline_of(plan, project.files, in_image(args.root))
    options = Options(
        snapshot=args.snapshot if args.snapshot is not None else bool(args.root) or not environ.get("CI"),
        wait=args.wait,
        replace=args.replace,
        root=real_root(args.root),
    )

    def say(line: str) -> None:
        print(safe.log_line(line), file=sys.stderr, flush=True)

    with interrupting(), applier(project, args.root, environ, say) as ports:
        applied = apply(plan, project.manifest, baseline, options, ports)
    _tell(plan, project, baseline, applied, args, time.monotonic() - started)
    print(safe.log_line(applied.message), file=sys.stderr)
    return 1 if applied.stopped else 0


def _tell(  # noqa: PLR0913, PLR0917 - once, in this module
    plan: Plan,
    project: Project,
    baseline: "Baseline | None",
    applied: "Applied",
    args: argparse.Namespace,
    seconds: float,
) -> None:
    from regraft.core.receipt import Times  # noqa: PLC0415
    from regraft.core.receipt_document import encode_receipt  # noqa: PLC0415
    from regraft.core.receipt_of import receipt_of  # noqa: PLC0415

    receipt = receipt_of(
        plan,
        project.manifest.images[plan.image.name],
        baseline,
        applied.verified.observation,
        findings=applied.findings,
        times=Times(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), round(seconds, 3)),
        before=applied.before,
        roots=names_of_root(args.root),
    )
    if args.receipt:
        files.write(Path(args.receipt), encode_receipt(receipt))
    print_receipt(receipt, applied.verified.checks, args.format)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        publish(receipt, applied.findings, os.environ.get("GITHUB_STEP_SUMMARY"))
