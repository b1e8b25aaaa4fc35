"""One override, judged before a machine with an accelerator is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from regraft.core.baseline import Baseline
from regraft.core.findings import Finding
from regraft.core.manifest import Baked, Dependency
from regraft.core.objects import Blob, Commit, Tree
from regraft.core.plan import Note, PlannedPatch
from regraft.core.python_requires import candidate_folders, requires_python, satisfies
from regraft.flows.judge import PatchFile, judge
from regraft.flows.ports import BlobFetcher, GateStore
from regraft.flows.resolve import Pin
from regraft.flows.submodules import check_submodules

SHOWN = 5
METADATA = ("pyproject.toml", "setup.cfg", "setup.py")
METADATA_LIMIT = 4 * 1024 * 1024
