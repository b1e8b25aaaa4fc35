"""`regraft patch refresh`: the same change with new context, written only where it is proved."""

import argparse
from pathlib import Path

from regraft.core.patch_address import is_address
from regraft.errors import OutsideError


def configure(parser: argparse.ArgumentParser) -> None:
    from regraft.cli.patch_ports import choose  # noqa: PLC0415

    parser.add_argument("patch", metavar="PATCH", help="its path in the project, or its file name")
    choose(parser)
    parser.add_argument("--at", metavar="REF", help="make it fit there (default: the branch that is followed)")
    parser.add_argument("--dry-run", action="store_true", help="show the diff, and write nothing")


def run(args: argparse.Namespace) -> int:
    from regraft.adapters import files  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.cli.patch_ports import asked_of, patch_ports  # noqa: PLC0415
    from regraft.cli.wiring import open_project  # noqa: PLC0415
    from regraft.flows.patch_refresh import refresh  # noqa: PLC0415
    from regraft.render.patch_refresh import refresh_json, refresh_lines  # noqa: PLC0415

    asked = asked_of(args)
    project = open_project(args.project)
    with patch_ports(project) as ports:
        found = refresh(project.manifest, asked, ports)
    change = found.change
    elsewhere = change is not None and is_address(change.path)  # nothing can be written there
    written = change is not None and not args.dry_run and not elsewhere
    if written and change is not None and change.after is not None:
        if project.files.read(change.path, len(change.before) + 1) != change.before:
            raise OutsideError("changed-meanwhile", "the file is not what it was", where=change.path, hint="run again")
        files.write(Path(args.project) / change.path, change.after)
    if args.format == "json":
        print(refresh_json(found, written=written))
    else:
        print("\n".join(refresh_lines(found, written=written)))
    return int(bool(found.refused) or elsewhere)
