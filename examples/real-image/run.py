"""`make example`: regraft on real software, below a folder and inside a real container. docs/how-to/example.md tells of it.

`run.py` tells both halves, `run.py --half root` or `--half container` one of them. Ends with 0 when every command ended
as announced, with 1 when one did not, with another code when the example could not be prepared.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import below_root
import inside_container
from steps import Place, Story, say
from supplies import REPOSITORY, Supplies

CACHE = REPOSITORY / ".cache/real-image"


def main() -> int:
    parser = argparse.ArgumentParser(description="regraft on real software")
    parser.add_argument("--half", choices=("root", "container"), help="tell this half only")
    parser.add_argument(
        "--driver", choices=("overlay", "vfs"), help="buildah's storage (default: overlay where it can be)"
    )
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # in a mount namespace already
    args = parser.parse_args()
    supplies = Supplies(CACHE, Place("machine", os.environ))
    supplies.prepare_tools()
    if args.here:
        return told(partial(inside_container.tell, driver=args.driver), supplies, CACHE / "inside-container")
    codes = []
    if args.half != "container":
        say("\n=== Real software, on an image's file system below a folder")
        codes.append(told(below_root.tell, supplies, CACHE / "below-root"))
    if args.half != "root":
        say("\n=== Real software, on a real image in a container")
        codes.append(inside_container.start(supplies, args.driver))
    return max(codes)


def told(tell: Callable[[Story, Path, Supplies], None], supplies: Supplies, work: Path) -> int:
    """Tell one half in a new folder `work`; the exit code that it deserves."""
    begin = time.monotonic()
    story = Story()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    tell(story, work, supplies)
    say(f"{story.commands} commands in {time.monotonic() - begin:.0f} s.")
    for surprise in story.surprises:
        say(f"!!! {surprise}")
    say("Some did not end as announced." if story.surprises else "All of them ended as announced.")
    return 1 if story.surprises else 0


if __name__ == "__main__":
    sys.exit(main())
