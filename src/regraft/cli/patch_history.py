"""`regraft patch history`: each change of a patch's state along first-parent history, with the commit that made it."""

import argparse
from typing import TYPE_CHECKING

from regraft.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from regraft.core.patch_history import SeriesHistory
    from regraft.flows.patch_judging import Judging
    from regraft.flows.patch_status import Ports


def configure(parser: argparse.ArgumentParser) -> None:
    from regraft.cli.patch_ports import choose  # noqa: PLC0415

    parser.add_argument(
        "patch", metavar="PATCH", nargs="*", help="its path in the project, or its file name (default: all)"
    )
    choose(parser)
    parser.add_argument("--at", metavar="REF", help="where to begin (default: the branch that is followed)")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--last", metavar="N", type=int, help="look at so many first-parent commits")
    how.add_argument("--since", metavar="REF", help="look at those that REF does not lead to")


def run(args: argparse.Namespace) -> int:
    from regraft.cli.patch_ports import asked_of, for_the_runner, patch_ports  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.cli.wiring import open_project  # noqa: PLC0415
    from regraft.flows.patch_status import status  # noqa: PLC0415
    from regraft.render.patch_rows import history_json, history_lines  # noqa: PLC0415

    if args.last is not None and args.last < 1:
        raise InputError("usage", f"{args.last} is no number of commits", where="--last", hint="give 1 or more")
    asked = asked_of(args)
    project = open_project(args.project)
    with patch_ports(project) as ports:
        found = status(project.manifest, asked, ports, _range(args, ports))
    print(history_json(found.rows) if args.format == "json" else "\n".join(history_lines(found.rows)))
    for_the_runner(found.rows, "history")
    return int(found.stops)


def _range(args: argparse.Namespace, ports: "Ports") -> "Callable[[Judging], SeriesHistory]":
    from regraft.core.ref_parser import parse_ref  # noqa: PLC0415

    since = parse_ref(args.since) if args.since is not None else None

    def judge(one: "Judging") -> "SeriesHistory":
        if since is None:
            return one.along(ports.progress, last=args.last)
        try:
            [(_, _, _, commit)] = ports.look_up([(one.carrier.dependency, since)])
        except InputError as mistake:
            if mistake.where != "--at":
                raise
            raise InputError(mistake.code, mistake.message, where="--since", hint=mistake.hint) from None
        return one.along(ports.progress, since=commit)

    return judge
