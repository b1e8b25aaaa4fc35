"""What the rules over workflows look at: every workflow and action of one repository, and its files."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from regraft.core.manifest import Manifest
from regraft.core.workflow_values import Action, Workflow

FOLDER = ".github/workflows"


class Repository(Struct, frozen=True):
    """`workflows` by path, `actions` by folder ("" at the top). `tracked`: the path of every file.

    `read` gives a tracked file's bytes, or None where it is none, a folder, or larger than what the rules read.
    """

    workflows: Mapping[str, Workflow]
    actions: Mapping[str, Action]
    tracked: frozenset[str]
    read: Callable[[str], bytes | None]
    manifest: Manifest | None = None
