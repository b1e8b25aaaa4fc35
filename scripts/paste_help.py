"""Paste each command's `--help` between the markers of its page, docs/commands/NAME.md.

python scripts/paste_help.py            write the pages
python scripts/paste_help.py --check    name the pages that differ, and exit 1
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from regraft.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- help -->\n).*?(<!-- /help -->\n)", re.DOTALL)


def page_of(command: str, docs: Path) -> Path:
    """`image probe` has its page in image-probe.md."""
    return docs / f"{command.replace(' ', '-')}.md"


def help_of(command: str) -> str:
    """What `regraft COMMAND --help` prints, on a terminal of eighty columns without colour."""
    env = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHON_COLORS": "0"}
    argv = [sys.executable, "-m", "regraft", *command.split(), "--help"]
    return subprocess.run(argv, env=env, check=True, capture_output=True, text=True).stdout


def pasted(text: str, command: str) -> str:
    """The page with its help text renewed. Raises ValueError where it does not have the markers exactly once."""
    block = f"```text\n$ regraft {command} --help\n{help_of(command)}```\n"
    renewed, count = BLOCK.subn(lambda match: f"{match[1]}{block}{match[2]}", text)
    if count != 1:
        raise ValueError(f"the page of `{command}` needs one pair of <!-- help --> markers, and has {count}")
    return renewed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs/commands")
    args = parser.parse_args()
    stale = []
    for command in COMMANDS:
        page = page_of(command, args.docs)
        if not page.is_file():
            print(f"{page}: `regraft {command}` has no page")
            return 1
        text = page.read_text("utf-8")
        renewed = pasted(text, command)
        if renewed != text:
            stale.append(page)
            if not args.check:
                page.write_text(renewed, "utf-8")
    for page in stale:
        print(f"{page}: {'the help text is an old one; run scripts/paste_help.py' if args.check else 'written'}")
    return int(args.check and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
