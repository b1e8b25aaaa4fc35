"""`regraft check`: what can be judged offline."""

import argparse
import json
import os
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """The shared options are all there are."""


def run(args: argparse.Namespace) -> int:
    from regraft.cli.proposed import files_or_proposed  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.flows.check import check  # noqa: PLC0415
    from regraft.render import findings as render  # noqa: PLC0415

    result = check(files_or_proposed(Path(args.project)))
    summary = render.looked_at_text(result.looked_at, result.findings)
    if args.format == "json":
        print(json.dumps({"findings": render.findings_json(result.findings), "checked": result.looked_at}, indent=2))
    else:
        print("\n".join(filter(None, (render.findings_text(result.findings), summary))))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from regraft.adapters import files  # noqa: PLC0415
        from regraft.render import actions  # noqa: PLC0415

        print(actions.finding_annotations(result.findings), end="", file=sys.stderr)
        if path := os.environ.get("GITHUB_STEP_SUMMARY"):
            text = f"### regraft check\n\n{render.findings_markdown(result.findings)}\n{summary}\n"
            files.append(Path(path), text.encode())
    return 1 if result.failed else 0
