"""`regraft apply PLAN`: make the image match the plan, or change nothing."""

import argparse
import contextlib
import gc
import os
import sys
import time
from typing import TYPE_CHECKING

from regraft.cli.arguments import add_machine_options, names_of_root, real_root, seconds
from regraft.cli.receipts import check_image, check_receipt, hand_out, read_plan, times_since, write_receipt
from regraft.cli.wiring import Project, applier, open_project
from regraft.core.plan import Plan
from regraft.errors import OutsideError, RegraftError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    check_receipt(args.receipt, args.plan)
    plan = read_plan(args.plan)
    return apply_plan(plan, open_project(args.project), args)


def apply_plan(plan: Plan, project: Project, args: argparse.Namespace) -> int:
    from regraft.cli.termination import interrupting  # noqa: PLC0415
    from regraft.core.apply_outcome import interrupted, with_state  # noqa: PLC0415

    gc.disable()  # a short process with a hundred thousand small values that all live to its end
    run = _Run(plan, project, args)
    with interrupting() as signals:
        try:
            applied = run.apply(signals.hold)
            signals.hold("wait for the receipt")
        except KeyboardInterrupt:  # once something may have been changed, it is an error that says the state
            stopped = interrupted("unchanged", "nothing was changed now")
            run.leave(stopped)
            raise stopped from None
        except RegraftError as error:
            signals.hold("wait for the receipt")
            run.leave(error)
            raise
        failure = run.hand_out(applied)
        say(applied.message)
        if isinstance(failure, RegraftError):
            raise with_state(failure, applied.outcome, applied.message)
        if failure is not None:
            raise failure
        return 1 if applied.stopped else 0


class _Run:
    """One apply, and the receipt that it leaves, whatever came of it."""

    def __init__(self, plan: Plan, project: Project, args: argparse.Namespace) -> None:
        self._plan = plan
        self._project = project
        self._args = args
        self._started = time.monotonic()
        self._baseline: Baseline | None = None

    def apply(self, hold: "Callable[[str], None]") -> "Applied":
        from regraft.cli.wiring import in_image  # noqa: PLC0415
        from regraft.flows.apply import Options, apply  # noqa: PLC0415
        from regraft.flows.baselines import baseline_of  # noqa: PLC0415

        plan, project, args = self._plan, self._project, self._args
        check_image(plan, args.image)
        environ = dict(os.environ)
        self._baseline = baseline_of(plan, project.files, in_image(args.root))
        options = Options(
            snapshot=args.snapshot if args.snapshot is not None else bool(args.root) or not environ.get("CI"),
            wait=args.wait,
            replace=args.replace,
            root=real_root(args.root),
        )
        with applier(project, args.root, environ, say, hold) as ports:
            return apply(plan, project.manifest, self._baseline, options, ports)

    def hand_out(self, applied: "Applied") -> OSError | OutsideError | None:
        from regraft.core.receipt_of import receipt_of  # noqa: PLC0415

        receipt = receipt_of(
            self._plan,
            self._project.manifest.images[self._plan.image.name],
            self._baseline,
            applied.verified.observation,
            findings=applied.findings,
            times=times_since(self._started),
            before=applied.before,
            roots=names_of_root(self._args.root),
            outcome=applied.outcome,
            stands=applied.stands,
        )
        return hand_out(receipt, applied.verified.checks, self._args)

    def leave(self, error: RegraftError) -> None:
        """The receipt of an apply that failed. That it cannot be written is said, and hides no error."""
        from regraft.core.receipt_of import receipt_of_failure  # noqa: PLC0415

        if self._args.receipt is None:
            return
        outcome = error.outcome or "unchanged"
        times = times_since(self._started)
        receipt = receipt_of_failure(self._plan, self._baseline, error, outcome=outcome, times=times)
        try:
            write_receipt(receipt, self._args.receipt)
        except OutsideError as failure:
            say(f"the receipt could not be written: {failure}")


def say(line: str) -> None:
    """On standard error. Who closed that hears nothing, and stops nothing; the exit code will tell."""
    from regraft.render import safe  # noqa: PLC0415

    with contextlib.suppress(OSError):
        print(safe.log_line(line), file=sys.stderr, flush=True)
