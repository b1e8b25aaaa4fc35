"""`regraft init`: propose regraft.toml from what is here."""

import argparse
import os
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--stdout", action="store_true", help="print the manifest, and write nothing")
    what.add_argument(
        "--check", action="store_true", help="compare the manifest that is there with what is here; 1 where they differ"
    )
    what.add_argument("--force", action="store_true", help="write over a manifest that is there")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path  # noqa: PLC0415 - `--help` pays for nothing

    from regraft.adapters import files  # noqa: PLC0415
    from regraft.adapters.listed_project import ListedProject  # noqa: PLC0415
    from regraft.flows.init import init, propose  # noqa: PLC0415
    from regraft.flows.project import MANIFEST  # noqa: PLC0415
    from regraft.render.init import proposed_json, proposed_lines  # noqa: PLC0415

    root = Path(args.project)
    project = ListedProject(root, dict(os.environ))
    if args.check:
        from regraft.cli.checked import hand_out  # noqa: PLC0415
        from regraft.flows.init import compare  # noqa: PLC0415

        return hand_out(compare(project), "init --check", args.format)
    proposed = propose(project) if args.stdout else init(project, force=args.force)
    if not args.stdout:
        files.write(root / MANIFEST, proposed.text)
    if args.format == "json":
        print(proposed_json(proposed.text, proposed.manifest, None if args.stdout else project.place(MANIFEST)))
    elif args.stdout:
        sys.stdout.write(proposed.text.decode())
    else:
        print("\n".join(proposed_lines(proposed.text, proposed.manifest, project.place(MANIFEST))))
    return 0
