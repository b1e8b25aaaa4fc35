"""`regraft patch drop`: take a needless patch out of the project, with every use of it that can be edited safely."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from regraft.core.patch_address import file_name, is_address
from regraft.errors import InputError

if TYPE_CHECKING:
    from regraft.cli.wiring import Project
    from regraft.core.drop_values import Drop
    from regraft.flows.patch_drop import Proof


PATCH_LIMIT = 16 * 1024 * 1024  # bytes


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patch", metavar="PATCH", help="its path in the project, or its name where that is the only one"
    )
    parser.add_argument(
        "--at", metavar="REF", action="append", default=[], help="judge it there (default: the branch that is followed)"
    )
    parser.add_argument(
        "--without-proof", action="store_true", help="drop it although nothing says that it is needless"
    )
    parser.add_argument(
        "--leave-uses",
        action="store_true",
        help="drop it although something that is left needs the file, and fails without it",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--dry-run", action="store_true", help="show what would be done, and write nothing")
    how.add_argument(
        "--commit",
        metavar="BRANCH",
        nargs="?",
        const="",
        help="commit on a new branch (default: drop-NAME) after HEAD; the work tree and the index stay as they are",
    )


def run(args: argparse.Namespace) -> int:
    from pathlib import Path  # noqa: PLC0415 - `--help` pays for nothing

    from regraft.adapters.git import Git  # noqa: PLC0415
    from regraft.adapters.project_tree import Committed, WorkTree  # noqa: PLC0415
    from regraft.cli.wiring import open_project  # noqa: PLC0415
    from regraft.flows.patch_drop import plan_drop  # noqa: PLC0415

    if args.without_proof and args.at:
        raise InputError("usage", "--at is where to look for proof, and --without-proof looks nowhere", where="--at")
    environ = dict(os.environ)
    project = open_project(args.project)
    with Git(environ) as git, _proof(args, project) as proof:
        root = Path(args.project)
        if args.commit is None:
            tree = WorkTree(git, root)
            drop = plan_drop(args.patch, tree, proof, project.manifest)
            if drop.uses and not args.leave_uses:
                return _stopped(args, drop)
            if not args.dry_run:
                tree.write(drop.changes)
            end = "nothing was written" if args.dry_run else f"{len(drop.changes)} files were changed in the work tree"
            _print(args, drop, _End(end, written=not args.dry_run))
            return 0
        committed = Committed(git, root, environ)
        branch = args.commit or _branch(args.patch)
        committed.check_branch(branch)
        committed.identity()
        drop = plan_drop(args.patch, committed, proof, project.manifest)
        if (
            proof is not None
            and not is_address(drop.patch)
            and project.files.read(drop.patch, PATCH_LIMIT) != drop.changes[-1].before
        ):
            message = "the work tree's patch was judged, and HEAD has another"
            raise InputError("patch-differs", message, where=drop.patch, hint="commit it first, or check it out again")
        if drop.uses and not args.leave_uses:
            return _stopped(args, drop)
        made = committed.commit(drop.changes, branch, _message(drop))
        text = f"committed on {branch} as {made[:12]}"
        _print(args, drop, _End(text, written=True, branch=branch, commit=made))
    return 0


@contextmanager
def _proof(args: argparse.Namespace, project: "Project") -> "Iterator[Proof | None]":
    """Who answers whether the patch can go; None where that is not asked."""
    if args.without_proof:
        yield None
        return
    from regraft.cli.patch_ports import patch_ports  # noqa: PLC0415
    from regraft.core.ref_parser import parse_ref  # noqa: PLC0415
    from regraft.flows.drop_proof import JudgedProof  # noqa: PLC0415

    at = tuple(parse_ref(one) for one in args.at)
    with patch_ports(project) as ports:
        yield JudgedProof(project.manifest, ports, at)


def _branch(patch: str) -> str:
    name = file_name(patch).rpartition(".")[0] or file_name(patch)
    return "drop-" + "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "-" for char in name)


def _message(drop: "Drop") -> str:
    lines = [f"Drop {file_name(drop.patch)!a}"[:72].replace("'", ""), ""]
    if not drop.proved:
        lines.append("Without proof that it is needless.")
    lines += [f"It is {one.state} at {one.commit} of {one.dependency} ({one.ref})." for one in drop.evidence]
    return "\n".join(lines).rstrip() + "\n"


class _End(NamedTuple):
    """What became of it: in words, and for machines."""

    text: str
    written: bool
    branch: str | None = None
    commit: str | None = None


def _stopped(args: argparse.Namespace, drop: "Drop") -> int:
    """What would be done, and what stands against it. Nothing is written."""
    count = "a use is" if len(drop.uses) == 1 else f"{len(drop.uses)} uses are"
    told = f"nothing was written: {count} left that would fail; mend by hand, or say --leave-uses"
    _print(args, drop, _End(told, written=False))
    return 1


def _print(args: argparse.Namespace, drop: "Drop", end: _End) -> None:
    from regraft.render.patch_drop import drop_json, drop_lines  # noqa: PLC0415

    if args.format == "json":
        print(drop_json(drop, written=end.written, branch=end.branch, commit=end.commit))
        return
    print("\n".join(drop_lines(drop, end.text, written=end.written)))
