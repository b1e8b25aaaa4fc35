"""`regraft restore`: back to the baseline."""

import argparse
import os
import sys

from regraft.cli.arguments import real_root, seconds
from regraft.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", help="the image's absolute paths are below this folder")
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=seconds,
        default=0.0,
        help="how long to wait for an apply that runs, or for an install that a killed one left (default: 0)",
    )
    parser.add_argument(
        "--forget", action="store_true", help="drop the snapshot even where not everything could be given back"
    )


def run(args: argparse.Namespace) -> int:
    from regraft.adapters.checked_snapshot import CheckedSnapshot  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.adapters.state_folder import StateDirectory, state_folder_of  # noqa: PLC0415
    from regraft.cli.termination import interrupting  # noqa: PLC0415
    from regraft.core.apply_outcome import interrupted  # noqa: PLC0415
    from regraft.flows.restore import restore  # noqa: PLC0415
    from regraft.render.restore import restored_json, restored_lines  # noqa: PLC0415

    if args.root is not None and not os.path.isdir(args.root):  # noqa: PTH112 - a string, as it was given
        raise InputError("no-root", "there is no such folder", where=args.root, hint="name the folder with the image")
    root = real_root(args.root)
    environ = dict(os.environ)
    folder = state_folder_of(args.root, environ)
    snapshot = CheckedSnapshot(folder, args.root, environ)
    with interrupting() as signals:
        try:
            restored = restore(
                StateDirectory(folder), snapshot, wait=args.wait, root=root, forget=args.forget, hold=signals.hold
            )
        except KeyboardInterrupt:  # while it waited for the lock
            raise interrupted(None, "nothing was given back now; the image is as it was") from None
    print(restored_json(restored) if args.format == "json" else "\n".join(restored_lines(restored)))
    if os.environ.get("GITHUB_ACTIONS") == "true" and not restored.whole:
        from regraft.errors import RefusedError  # noqa: PLC0415
        from regraft.render.errors import annotations  # noqa: PLC0415

        errors = [RefusedError(restored.outcome, line) for line in restored.named[:10]]
        print(annotations(errors), end="", file=sys.stderr)
    return 0 if restored.whole else 1
