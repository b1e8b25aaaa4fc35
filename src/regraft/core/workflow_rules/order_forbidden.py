"""A checkout, a patch and an install in an order in which one undoes another, or comes too late for it.

https://github.com/radixark/miles/pull/2674: a carried patch has to be replayed after the checkout, and before the install.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from regraft.core.findings import Finding, Severity, Witness
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_orders import Act, Installs, acts
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_run_files import WORKSPACE

NAME = "order-forbidden"
MOST = 500  # commands of one job that are compared

_LATE = "{late} of `{folder}` comes after its install, so that what is installed is without it"
_GONE = "this throws away the patches that were applied to `{folder}` before it"
_OVER = "this moves `{folder}` after patches were applied to it: they are carried over, or the checkout fails"


def find(graph: Graph) -> Iterator[Finding]:
    declared = _declared(graph)
    said: set[tuple[str, int | None, str]] = set()  # several jobs run one file
    for workflow in graph.repository.workflows.values():
        for job in workflow.jobs.values():
            found = [_installing(one, declared) for one in islice(acts(graph, workflow, job, declared), MOST)]
            for one in _of_job([one for one in found if one is not None], declared):
                if (one.path, one.line, one.message) not in said:
                    said.add((one.path, one.line, one.message))
                    yield one


def _declared(graph: Graph) -> Installs:
    """The install commands of each checkout that the manifest knows, by its folder."""
    manifest = graph.repository.manifest
    baked = [one for image in manifest.images.values() for one in image.baked.values()] if manifest is not None else []
    return {one.path if one.path.startswith("/") else f"{WORKSPACE}/{one.path}": one.install for one in baked}


def _installing(act: Act, declared: Installs) -> Act | None:
    """With the folder of the checkout that it is in; None where nobody knows it, or it is the project's own."""
    top = next((one for one in declared if act.folder == one or act.folder.startswith(f"{one}/")), None)
    if top is not None:
        return replace(act, folder=top)
    return None if act.folder.startswith((WORKSPACE, "$")) or act.folder == "/" else act


def _of_job(found: Sequence[Act], declared: Installs) -> Iterator[Finding]:
    said: set[tuple[str, str]] = set()
    for index, late in enumerate(found):
        before = [one for one in found[:index] if _same(one, late) and _both_run(one, late)]
        after = [one for one in found[index + 1 :] if _same(late, one)]
        known = any(_same_folder(late.folder, one) for one in declared)
        judged = _judge(late, before, after, known=known)
        if judged is None or (judged[0], late.folder) in said:
            continue
        kind, severity, early = judged
        said.add((kind, late.folder))
        folder = early.folder if len(early.folder) < len(late.folder) else late.folder
        words = {"late": "a patch" if late.what in ("patches", "commits") else "a checkout", "folder": _shown(folder)}
        message = {"late": _LATE, "gone": _GONE, "over": _OVER}[kind].format(**words)
        fix = "check out, then apply the patches, then install"
        witness = Witness(early.place.path, early.place.line, f"`{early.text}` comes first")
        place = late.place
        yield Finding(NAME, severity, message, place.path, place.line, place.column, "medium", (witness,), fix)


def _judge(late: Act, before: Sequence[Act], after: Sequence[Act], *, known: bool) -> tuple[str, Severity, Act] | None:
    patched = [one for one in before if one.what in ("patches", "commits")]
    if late.what in ("wipes", "moves") and patched:
        last = patched[-1]
        undone = any(one.what == "wipes" for one in before[before.index(last) :])
        if undone or any(one.what in ("patches", "commits") for one in after):
            return None
        if late.what == "wipes" or last.what == "commits":
            return "gone", "error", last
        return ("over", "warning", last) if known else None
    if late.what not in ("moves", "wipes", "patches", "commits") or any(
        one.what.startswith("installs") for one in after
    ):
        return None
    installed = [one for one in before if one.what.startswith("installs")]
    if not installed or (late.what == "wipes" and "." in late.words):
        return None
    if any(one.what == "installs" for one in installed[-1:]):
        return "late", "error", installed[-1]
    return ("late", "warning", installed[-1]) if known else None


def _same(one: Act, other: Act) -> bool:
    return _same_folder(one.folder, other.folder)


def _same_folder(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _both_run(early: Act, late: Act) -> bool:
    """Whether the first surely ran where the second does."""
    branches = dict(late.branches)
    if any(branches.get(node) != part for node, part in early.branches):
        return False
    return not early.condition or early.condition == late.condition


def _shown(folder: str) -> str:
    return folder.removeprefix(f"{WORKSPACE}/")


RULE = Rule(NAME, "a checkout, a patch or an install that comes too late or undoes another", find)
