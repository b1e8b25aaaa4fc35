"""`regraft demo`: the whole story on throw-away repositories."""

import argparse
import json
import os
import tempfile
from pathlib import Path

from regraft.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", metavar="DIR", help="lay the demo's world out in DIR, a new or empty folder, and leave it there"
    )


def run(args: argparse.Namespace) -> int:
    if args.keep is None:
        with tempfile.TemporaryDirectory(prefix="regraft-demo-") as folder:
            return _tell(Path(folder).resolve(), args.format, kept=False)
    kept = Path(args.keep).resolve()
    if kept.exists() and (not kept.is_dir() or any(kept.iterdir())):
        raise InputError("not-empty", "the demo needs a new or empty folder", where=args.keep, hint="name another one")
    return _tell(kept, args.format, kept=True)


def _tell(root: Path, form: str, *, kept: bool) -> int:
    from regraft.demo.story import STORY  # noqa: PLC0415 - only the demo pays for the demo
    from regraft.demo.teller import tell  # noqa: PLC0415
    from regraft.demo.world import build, store_image  # noqa: PLC0415

    def emit(line: str) -> None:
        if form == "text":
            print(line, flush=True)

    emit("Making two upstream repositories, and an image with a virtual environment; nothing leaves this machine.")
    world = build(root, os.environ)
    store_image(world, root / "stored-image")
    outcomes = tell(world, root / "stored-image", STORY, emit)
    surprised = [outcome for outcome in outcomes if outcome.surprises]
    if form == "json":
        steps = [
            {"chapter": one.chapter, "command": one.command, "exit": one.exit, "surprises": list(one.surprises)}
            for one in outcomes
        ]
        print(json.dumps({"ok": not surprised, "steps": steps}, indent=2))
    emit(f"{len(outcomes) - len(surprised)} of {len(outcomes)} commands ended as announced.")
    if kept:
        emit(f"The demo's world is in {root}; its commands run in {world.project}.")
    return 1 if surprised else 0
