"""`python -m pip install -e FOLDER...` of a tiny image: what pip leaves behind of an editable install, in no time."""

import json
import os
import shutil
import sys
import sysconfig
import tomllib
from pathlib import Path

COMMAND, *WORDS = sys.argv[1:]
OPTIONS = {"--quiet", "--no-deps", "--no-build-isolation", "-e"}
FOLDERS = [Path(word).resolve() for word in WORDS if word not in OPTIONS]
if COMMAND != "install" or not FOLDERS or any(word.startswith("-") and word not in OPTIONS for word in WORDS):
    sys.exit(f"the stand-in does not know: pip {sys.argv[1:]}")

site = Path(sysconfig.get_path("purelib"))
for folder in FOLDERS:
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    for old in site.glob(f"{project['name']}-*.dist-info"):
        shutil.rmtree(old)
    info = site / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    pth = f"__editable__.{project['name']}.pth"
    (site / pth).write_text(f"{folder / 'src'}\n")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (info / "direct_url.json").write_text(json.dumps({"url": folder.as_uri(), "dir_info": {"editable": True}}))
    (info / "RECORD").write_text(f"{pth},,\n" + "".join(f"{info.name}/{one},,\n" for one in ("METADATA", "RECORD")))
    if calls := os.environ.get("CALLS"):
        with open(calls, "a") as log:
            log.write(f"pip install {folder}\n")
