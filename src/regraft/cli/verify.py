"""`regraft verify PLAN`: is this machine what the plan says?"""

import argparse
import os
import time

from regraft.cli.arguments import add_machine_options, names_of_root
from regraft.cli.receipts import check_image, check_receipt, hand_out, read_plan, times_since
from regraft.cli.wiring import machine, open_project


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN", help="the plan's file; - is standard input")
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    from regraft.cli.wiring import in_image  # noqa: PLC0415
    from regraft.core.receipt_of import receipt_of  # noqa: PLC0415
    from regraft.flows.baselines import baseline_of  # noqa: PLC0415
    from regraft.flows.verify import verify  # noqa: PLC0415

    started = time.monotonic()
    check_receipt(args.receipt, args.plan)
    plan = read_plan(args.plan)
    check_image(plan, args.image)
    project = open_project(args.project)
    environ = dict(os.environ)
    baseline = baseline_of(plan, project.files, in_image(args.root))
    with machine(project, args.root, environ) as (interpreter, checkouts):
        verified = verify(
            plan, project.manifest, baseline, files=project.files, interpreter=interpreter, checkouts=checkouts
        )
    receipt = receipt_of(
        plan,
        project.manifest.images[plan.image.name],
        baseline,
        verified.observation,
        findings=verified.findings,
        times=times_since(started),
        roots=names_of_root(args.root),
    )
    failure = hand_out(receipt, verified.checks, args)
    if failure is not None:
        raise failure
    return 1 if verified.stopped else 0
