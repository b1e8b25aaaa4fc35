"""Reads the workflows and actions of a repository into one graph."""

from regraft.core.manifest import Manifest
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_repository import FOLDER, Repository
from regraft.core.workflow_text import read_action, read_workflow
from regraft.errors import InputError
from regraft.flows.ports import ListedFiles

FILE_LIMIT = 4 * 1024 * 1024  # bytes of a script or program


def load(files: ListedFiles, manifest: Manifest | None = None) -> Graph:
    """The graph of a repository. Raises OutsideError where a file cannot be read."""
    paths = files.paths()
    tracked = frozenset(paths)

    def read(path: str) -> bytes | None:
        try:
            return files.read(path, FILE_LIMIT) if path in tracked else None
        except InputError:  # a link that leaves the repository, a file that is too large
            return None

    workflows, actions = {}, {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder == FOLDER and name.endswith((".yml", ".yaml")):
            workflows[path] = read_workflow(path, read(path) or b"")
        elif name in ("action.yml", "action.yaml"):
            actions[folder] = read_action(path, read(path) or b"")
    return Graph(Repository(workflows, actions, tracked, read, manifest))
