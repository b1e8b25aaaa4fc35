"""Counts the commits between two, where a repository on this machine has all of them."""

from collections.abc import Collection

from regraft.adapters.git import At, Git
from regraft.adapters.object_store import ObjectStore
from regraft.core.between import Between, Named
from regraft.core.objects import Commit, parse_commit

MOST = 50_000  # commits


def commits_between(git: Git, store: ObjectStore, shallow: Collection[str], old: Commit, new: Commit) -> Between | None:
    """None where that cannot be counted: one of them is not here, the history is cut off on the way, or they are too many."""
    at = At(git_dir=store.git_dir)
    listing = ["rev-list", "--left-right", "--topo-order", f"--max-count={MOST + 1}", f"{old}...{new}", "--"]
    listed = git.run(listing, at)
    found = listed.stdout.decode("ascii", "replace").split()
    if listed.returncode or len(found) > MOST or any(one[1:] in shallow for one in found):
        return None
    added = [parse_commit(one[1:]) for one in found if one.startswith(">")]
    ends = list(dict.fromkeys((*added[-1:], *added[:1])))
    shown = ["log", "--no-walk=unsorted", "-z", "--format=%H %s", *ends, "--"]
    said = git.run(shown, at).stdout.decode("utf-8", "replace") if ends else ""
    subjects = dict(line.partition(" ")[::2] for line in said.split("\0") if line)
    named = [Named(one, subjects.get(one, "")) for one in ends]
    gone = len(found) - len(added)
    return Between(len(added), named[0] if named else None, named[-1] if named else None, gone)
