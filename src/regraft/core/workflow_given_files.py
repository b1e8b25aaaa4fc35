"""Files that the programs of a script are given: requirements, files of tests, what images are built from."""

from collections.abc import Iterator, Sequence

from regraft.core.shell_kinds import stripped
from regraft.core.shell_walk import Seen
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_run_files import WORKSPACE, Layout, Ran, walked, written
from regraft.core.workflow_scripts import Script

_NAMED = (b"requirements", b"pytest", b"docker")


def given_files(graph: Graph, script: Script, around: Layout) -> Iterator[Ran]:
    """By their paths in the repository, be they there or not. They count as `source`."""
    if not any(one in script.data for one in _NAMED):
        return
    for seen in walked(graph, script):
        words = stripped(seen.command)
        texts = [one.text for one in words]
        for index in _positions(texts):
            word = words[index]
            path = _tracked(seen, around, word.text if word.plain else written(script, seen, word))
            if path is not None and not word.glob:
                yield Ran(seen, word, path, "source", around)


def _positions(texts: Sequence[str]) -> Iterator[int]:
    """Which words of a command are such files."""
    name = texts[0].rpartition("/")[2] if texts else ""
    tests = name in ("pytest", "py.test") or texts[1:3] == ["-m", "pytest"]
    for index, text in enumerate(texts[1:], 1):
        before = texts[index - 1]
        asks = before in ("-r", "--requirement") and "pip" in (name, name.rstrip("3"), *texts[:3])
        is_test = tests and not text.startswith("-") and text.endswith(".py") and "/" in text
        if (
            asks
            or (is_test and not before.startswith("-"))
            or (before in ("-f", "--file") and _builds(texts, index - 1))
        ):
            yield index


def _builds(texts: Sequence[str], at: int) -> bool:
    """Whether the option at a position names a file of `docker build` or `docker compose`, which they read here."""
    if texts[:2] == ["docker", "build"] or texts[:3] == ["docker", "buildx", "build"]:
        return not any("://" in one or one.startswith("git@") for one in texts)
    start = 1 if texts[0] == "docker-compose" else 2 if texts[:2] == ["docker", "compose"] else at + 1
    return all(one in ("-f", "--file") for one in texts[start:at:2]) and (at - start) % 2 == 0 and start <= at


def _tracked(seen: Seen, around: Layout, text: str) -> str | None:
    path = seen.path(text)
    return around.tracked(path[len(WORKSPACE) + 1 :]) if path.startswith(f"{WORKSPACE}/") and "$" not in path else None
