"""`regraft patch why`: who changed a patch's state, what still refers to what it edits, and what to do."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    from regraft.cli.patch_ports import choose  # noqa: PLC0415

    parser.add_argument("patch", metavar="PATCH", help="its path in the project, or its file name")
    choose(parser)
    parser.add_argument("--at", metavar="REF", help="judge it there (default: the branch that is followed)")


def run(args: argparse.Namespace) -> int:
    from regraft.cli.patch_ports import asked_of, for_the_runner, patch_ports  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.cli.wiring import open_project  # noqa: PLC0415
    from regraft.flows.patch_status import status  # noqa: PLC0415
    from regraft.render.patch_rows import why_json, why_lines  # noqa: PLC0415

    asked = asked_of(args, thorough=True)
    project = open_project(args.project)
    with patch_ports(project) as ports:
        found = status(project.manifest, asked, ports)
    print(why_json(found.rows) if args.format == "json" else "\n".join(why_lines(found.rows)))
    for_the_runner(found.rows, "why")
    return int(found.stops)
