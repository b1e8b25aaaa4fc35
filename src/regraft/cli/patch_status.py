"""`regraft patch status`: one exact state for each carried patch at each ref."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    from regraft.cli.patch_ports import choose  # noqa: PLC0415

    parser.add_argument(
        "patch", metavar="PATCH", nargs="*", help="its path in the project, or its file name (default: all)"
    )
    choose(parser)
    at = "judge it there; may be repeated (default: the branch that is followed)"
    parser.add_argument("--at", metavar="REF", action="append", default=[], help=at)
    parser.add_argument("--hunks", action="store_true", help="show the state of each hunk")


def run(args: argparse.Namespace) -> int:
    from regraft.cli.patch_ports import asked_of, for_the_runner, patch_ports  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.cli.proposed import project_or_proposed  # noqa: PLC0415
    from regraft.flows.patch_status import status  # noqa: PLC0415
    from regraft.render.patch_rows import status_json, status_lines  # noqa: PLC0415

    asked = asked_of(args)
    project = project_or_proposed(args.project)
    with patch_ports(project) as ports:
        found = status(project.manifest, asked, ports)
    if args.format == "json":
        print(status_json(found.rows))
    else:
        print("\n".join(status_lines(found.rows, found.remarks, hunks=args.hunks)))
    for_the_runner(found.rows, "status")
    return int(found.stops)
