"""Start `regraft ARGUMENTS`, and end it as `kill -9` would, while its first install command runs."""

import json
import os
import pathlib
import subprocess
import sys
import time

journal = pathlib.Path("../image/var/lib/regraft/journal.json")
scratch = pathlib.Path("../scratch").resolve()  # what a killed program leaves there goes with the demo
scratch.mkdir()
silent = subprocess.DEVNULL
environment = {**os.environ, "TMPDIR": str(scratch)}
argv = [sys.executable, "-m", "regraft", *sys.argv[1:]]
process = subprocess.Popen(argv, env=environment, stdout=silent, stderr=silent)
while process.poll() is None:
    try:
        phase = json.loads(journal.read_text())["phase"]
    except (OSError, ValueError):
        phase = None
    if phase == "installing":
        process.kill()
        process.wait()
        sys.exit("killed while it installed")
    time.sleep(0.01)
print("it ended before it could be killed")
