"""`regraft workflow check`: what in a repository's workflows can never happen, never fails, or is never read."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.cli import checked
from regraft.errors import InputError

if TYPE_CHECKING:
    from regraft.adapters.listed_project import ListedProject
    from regraft.core.finding_baseline import FindingBaseline
    from regraft.core.findings import Finding
    from regraft.core.manifest import Manifest

_READ = 16 * 1024 * 1024  # bytes of a file of findings

FORMATS = checked.FORMATS


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="a repository, or a workflow or folder in one (default: --project)"
    )
    parser.add_argument("--rule", metavar="RULE", action="append", default=[], help="only this rule; may be repeated")
    parser.add_argument("--rules", action="store_true", help="list the rules, and check nothing")
    parser.add_argument("--baseline", metavar="FILE", help="say nothing of the findings that this file has frozen")
    parser.add_argument("--freeze", metavar="FILE", help="write a baseline of what is found now")
    parser.add_argument("--zizmor", metavar="FILE", help="say zizmor's findings too, with who can reach them")


def run(args: argparse.Namespace) -> int:
    from regraft.core.workflow_rules import RULES  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.flows import workflow_check as flow  # noqa: PLC0415
    from regraft.flows.workflow_load import load  # noqa: PLC0415

    if args.rules:
        return _list_rules(args.format)
    rules = _chosen(args.rule, [one.name for one in RULES])
    root, within = _root(Path(args.path)) if args.path is not None else (_root(Path(args.project))[0], "")
    project = _project(root)
    graph = load(project, _manifest(project))
    if not graph.repository.workflows:
        hint = "name the top of a repository that has workflows"
        raise InputError("no-workflows", "there is no workflow below .github/workflows", where=str(root), hint=hint)
    asked = flow.Asked(rules, within, _zizmor(args.zizmor, root), baseline_of(args.baseline))
    result = flow.workflow_check(graph, project, asked)
    if args.freeze is not None:
        from regraft.adapters import files  # noqa: PLC0415 - only who freezes writes

        files.write(Path(args.freeze), result.baseline)
        count = len(result.findings) + result.looked_at.get("frozen", 0)
        print(f"froze {count} findings in {args.freeze}", file=sys.stderr)
        return 0
    sources = checked.Sources(result.rules, result.texts, project.place(""))
    return checked.hand_out(result, "workflow check", args.format, sources)


def _list_rules(form: str) -> int:
    import json  # noqa: PLC0415

    from regraft.core.workflow_rules import RULES  # noqa: PLC0415

    if form == "json":
        print(json.dumps({"rules": [{"rule": one.name, "about": one.about} for one in RULES]}, indent=2))
    else:
        print("\n".join(f"{one.name}: {one.about}" for one in RULES))
    return 0


def _chosen(asked: list[str], known: list[str]) -> frozenset[str]:
    """All of them where none is asked for. Raises InputError `unknown-rule`."""
    from regraft.core.spelling import nearest  # noqa: PLC0415
    from regraft.errors import raise_all  # noqa: PLC0415

    raise_all(
        [
            InputError(
                "unknown-rule",
                f"there is no rule {one!r:.80}",
                where="--rule",
                hint=f"did you mean {meant}?" if (meant := nearest(one, known)) else "`--rules` lists them",
            )
            for one in asked
            if one not in known
        ]
    )
    return frozenset(asked or known)


def _root(path: Path) -> tuple[Path, str]:
    """The repository that a path lies in, and the path below it: "" for all of it.

    It is the nearest folder with a `.github`, at most the checkout's own top: a submodule is not the repository above it.
    """
    real = Path(os.path.realpath(path))
    if path.is_symlink() and not real.is_dir():
        real = Path(os.path.realpath(path.parent), path.name)  # the link itself is the workflow
    if not os.path.lexists(real):
        raise InputError("no-project", "there is no such file or folder", where=str(path))
    for top in (real, *real.parents):
        has_workflows = os.path.isdir(top / ".github") and top.name != ".github"  # noqa: PTH112 - never raises
        if has_workflows or os.path.lexists(top / ".git"):
            below = real.relative_to(top).as_posix()
            shown = Path(os.path.relpath(top)) if top != real else path
            return shown, "" if below == "." else below
    return path if real.is_dir() else path.parent, ""


def _project(root: Path) -> "ListedProject":
    from regraft.adapters.listed_project import ListedProject  # noqa: PLC0415

    return ListedProject(root, dict(os.environ))


def _manifest(files: "ListedProject") -> "Manifest | None":
    """None where the repository has none: no rule needs one, some know more with it."""
    from regraft.flows.project import MANIFEST, open_manifest  # noqa: PLC0415

    return open_manifest(files)[0] if files.exists(MANIFEST) else None


def _zizmor(name: str | None, root: Path) -> "tuple[Finding, ...]":
    """What zizmor found; its absolute paths in the repository as those from its top."""
    if name is None:
        return ()
    from regraft.core.zizmor_findings import read_zizmor  # noqa: PLC0415

    return read_zizmor(_given(name), name, os.path.realpath(root))


def baseline_of(name: str | None) -> "FindingBaseline | None":
    """What a file has frozen. Raises InputError and OutsideError."""
    if name is None:
        return None
    from regraft.core.finding_baseline import read_finding_baseline  # noqa: PLC0415

    return read_finding_baseline(_given(name), name)


def _given(name: str) -> bytes:
    """A file of findings. A named pipe is refused, for it may never have a writer; one that is open (`<(zizmor …)`) has."""
    import stat  # noqa: PLC0415

    from regraft.adapters import files  # noqa: PLC0415

    path = Path(name)
    try:
        is_pipe = stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        is_pipe = False  # `files.read` says why
    if is_pipe and not name.startswith(("/dev/", "/proc/")):
        raise InputError("not-a-file", "this is a named pipe, not a file", where=name, hint="write it to a file first")
    return files.read(path, _READ)
