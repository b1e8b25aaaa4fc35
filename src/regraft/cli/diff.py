"""`regraft diff A B`: compare two plans or receipts."""

import argparse
import os
from pathlib import Path

from regraft.adapters import files
from regraft.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", help="a plan, a receipt or a baseline")
    parser.add_argument("after", metavar="B", help="another one")
    parser.add_argument(
        "--checkout",
        action="append",
        default=[],
        metavar="NAME=DIR",
        help="a repository that holds the dependency's history: the commits between two pins are listed from it",
    )


def run(args: argparse.Namespace) -> int:
    from regraft.adapters.git import Git  # noqa: PLC0415
    from regraft.adapters.history import History  # noqa: PLC0415
    from regraft.core.document import LIMIT  # noqa: PLC0415
    from regraft.core.papers import compare, moved_commits, read_paper  # noqa: PLC0415
    from regraft.render.papers import changes_json, changes_lines  # noqa: PLC0415

    before, after = (read_paper(files.read(Path(path), LIMIT), path) for path in (args.before, args.after))
    changes = compare(before, after)
    checkouts = _checkouts(args.checkout)
    moved = moved_commits(before, after)
    with Git(os.environ) as git:
        between = {name: History(git, checkouts[name]).between(*moved[name]) for name in moved if name in checkouts}
    if args.format == "json":
        print(changes_json(changes, between))
    else:
        print("\n".join(changes_lines(changes, between, sorted(moved.keys() - checkouts.keys()))))
    return 1 if changes else 0


def _checkouts(pairs: list[str]) -> dict[str, Path]:
    found = {}
    for pair in pairs:
        name, equals, folder = pair.partition("=")
        if not (name and equals and folder):
            raise InputError("usage", f"{pair!r:.120} is not NAME=DIR", where="--checkout")
        found[name] = Path(folder)
    return found
