"""Reads the workflows and actions of a repository into one graph."""

from regraft.core.manifest import Manifest
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_repository import FOLDER, Repository
from regraft.core.workflow_text import read_action, read_workflow
from regraft.core.workflow_values import Action, Data, Place, Problem, Workflow
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

    files.names(FOLDER)  # a folder that may not be looked into is no empty one
    workflows, actions = {}, {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder == FOLDER and name.endswith((".yml", ".yaml")):
            data = _read(files, path)
            workflows[path] = _unread_workflow(path, data) if isinstance(data, str) else read_workflow(path, data)
        elif name in ("action.yml", "action.yaml"):
            data = _read(files, path)
            actions[folder] = _unread_action(path, folder, data) if isinstance(data, str) else read_action(path, data)
    return Graph(Repository(workflows, actions, tracked, read, manifest))


def _read(files: ListedFiles, path: str) -> bytes | str:
    """A file's bytes, or why there are none. Raises OutsideError."""
    try:
        data = files.read(path, FILE_LIMIT)
    except InputError as error:
        return error.message
    return "there is no file where this link leads to" if data is None else data


def _unread_workflow(path: str, why: str) -> Workflow:
    return Workflow(path, Data({}, Place(path, 1)), None, {}, {}, problems=(Problem(Place(path, 1), why),))


def _unread_action(path: str, folder: str, why: str) -> Action:
    return Action(path, folder, Data({}, Place(path, 1)), {}, {}, problems=(Problem(Place(path, 1), why),))
