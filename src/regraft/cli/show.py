"""`regraft show FILE`: read a plan, a receipt or a baseline."""

import argparse
from pathlib import Path

from regraft.adapters import files


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a plan, a receipt or a baseline")


def run(args: argparse.Namespace) -> int:
    from regraft.core import document  # noqa: PLC0415
    from regraft.core.papers import read_paper  # noqa: PLC0415
    from regraft.render.papers import paper_lines  # noqa: PLC0415

    paper = read_paper(files.read(Path(args.file), document.LIMIT), args.file)
    print(document.encode(paper).decode(), end="") if args.format == "json" else print("\n".join(paper_lines(paper)))
    return 0
