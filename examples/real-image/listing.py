"""Write down every path below some folders: `listing.py FOLDER... >FILE`. It shares no code with regraft.

A line for each path: type, mode, sha256 of a file's bytes or a link's target, and the path. Left out is what restore
does not promise: times, git's object store, and git's index, whose stat data changes; `git status` is asked instead.
"""

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator

LEFT_OUT = (".git/objects", ".git/index")


def lines(top: str) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted([*folders, *names]):
            path = os.path.join(folder, name)
            if not any(part in path + "/" for part in (f"/{left}/" for left in LEFT_OUT)):
                yield line(path)
    if os.path.exists(os.path.join(top, ".git")):
        for words in (("status", "--porcelain=v2", "--branch", "--ignored"), ("ls-files", "--stage"), ("show-ref",)):
            done = subprocess.run(["git", "-C", top, *words], capture_output=True, text=True, check=True)
            yield from (f"git {words[0]}: {said}" for said in done.stdout.splitlines())


def line(path: str) -> str:
    found = os.lstat(path)
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    if stat.S_ISLNK(found.st_mode):
        return f"link - {os.readlink(path)} {path}"
    if not stat.S_ISREG(found.st_mode):
        return f"{stat.S_IFMT(found.st_mode):o} {mode} - {path}"
    with open(path, "rb") as stream:
        return f"file {mode} {hashlib.sha256(stream.read()).hexdigest()} {path}"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(*lines(argument), sep="\n")
