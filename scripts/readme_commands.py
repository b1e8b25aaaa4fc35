"""Print the commands that README.md tells a newcomer to run, one a line: the `make` lines of its `sh` blocks.

A clone and the step into it are left out: whoever runs this did them. Anything else in such a block is an error, since
nobody would run it.
"""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands(text: str) -> list[str]:
    """The `make` commands in their order. Raises ValueError for a line that is neither that nor the way here."""
    found = []
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            command = line.partition(" #")[0].strip()
            if re.fullmatch(r"make [a-z-]+", command):
                found.append(command)
            elif command and not re.fullmatch(r"git clone \S+|cd regraft", command):
                raise ValueError(f"README.md: nobody runs {command!r}")
    return found


if __name__ == "__main__":
    print("\n".join(commands(Path(sys.argv[1]).read_text("utf-8"))))
