"""`regraft check`: what can be judged offline."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.cli import checked

if TYPE_CHECKING:
    from regraft.flows.check import CheckResult
    from regraft.flows.ports import ProjectFiles
    from regraft.flows.workflow_check import WorkflowCheck

FORMATS = checked.FORMATS


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--beside",
        metavar="REV",
        action="append",
        default=[],
        help="warn of patches that HEAD and this commit both add or change, each in its own way",
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="say nothing of the findings in workflows that this file has frozen"
    )


def run(args: argparse.Namespace) -> int:
    from regraft.cli.proposed import files_or_proposed  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.flows.check import check  # noqa: PLC0415

    project = files_or_proposed(Path(args.project), offline=True)
    result = _with_images(check(project), project, Path(args.project))
    if args.beside:
        result = _beside(result, args.beside, project, Path(args.project))
    result, workflows = _with_workflows(result, Path(args.project), args.baseline)
    if workflows is None:
        return checked.hand_out(result, "check", args.format)
    return checked.hand_out(result, "check", args.format, checked.Sources(workflows.rules, workflows.texts))


def _with_workflows(
    result: "CheckResult", root: Path, baseline: str | None
) -> "tuple[CheckResult, WorkflowCheck | None]":
    """What `workflow check` finds too, where the project's own folder has workflows."""
    from msgspec.structs import replace  # noqa: PLC0415 - `--help` pays for nothing

    from regraft.cli.workflow_check import baseline_of  # noqa: PLC0415

    frozen = baseline_of(baseline)
    if not (root / ".github/workflows").is_dir():
        return replace(result, looked_at={**result.looked_at, "workflows": 0}), None
    from regraft.adapters.listed_project import ListedProject  # noqa: PLC0415 - only for a project that has workflows
    from regraft.core.workflow_rules import RULES  # noqa: PLC0415
    from regraft.flows.workflow_check import Asked, workflow_check  # noqa: PLC0415
    from regraft.flows.workflow_load import load  # noqa: PLC0415

    files = ListedProject(root, dict(os.environ))
    asked = Asked(frozenset(one.name for one in RULES), baseline=frozen)
    found = workflow_check(load(files, result.manifest), files, asked)
    told = {name: count for name, count in found.looked_at.items() if name not in ("jobs", "actions", "rules")}
    findings = (*result.findings, *found.findings)
    return replace(result, findings=findings, looked_at={**result.looked_at, **told}), found


def _beside(result: "CheckResult", revisions: list[str], project: "ProjectFiles", root: Path) -> "CheckResult":
    """What is committed at HEAD, compared with other branches. Raises InputError: not-a-repository, no-such-revision."""
    from msgspec.structs import replace  # noqa: PLC0415 - only where it is asked for

    from regraft.adapters.git import Git  # noqa: PLC0415
    from regraft.adapters.source_trees import Revisions  # noqa: PLC0415
    from regraft.flows.beside import beside  # noqa: PLC0415

    with Git(os.environ) as git, Revisions.over(git, root, "--beside") as branches:
        found = [one for rev in revisions for one in beside(result.manifest, rev, branches, project.place)]
    looked_at = {**result.looked_at, "branches": len(revisions)}
    return replace(result, findings=(*result.findings, *found), looked_at=looked_at)


def _with_images(result: "CheckResult", project: "ProjectFiles", root: Path) -> "CheckResult":
    """What `image check` finds too, where the project is a repository. A Dockerfile that is not there was said before."""
    images = [one for one in result.manifest.images.values() if one.dockerfile and (root / one.dockerfile).is_file()]
    if not images:
        return result
    from msgspec.structs import replace  # noqa: PLC0415 - only for a project that builds images

    from regraft.adapters.git import Git  # noqa: PLC0415
    from regraft.adapters.source_trees import IndexedFiles  # noqa: PLC0415
    from regraft.errors import InputError  # noqa: PLC0415
    from regraft.flows.image_check import image_check  # noqa: PLC0415

    with Git(os.environ) as git:
        try:
            files = IndexedFiles(git, root)
        except InputError as error:
            if error.code != "not-a-repository":
                raise
            return replace(result, looked_at={**result.looked_at, "builds": 0})
        found = image_check(images, result.manifest, files, project.place)
    looked_at = {**result.looked_at, "builds": len(images)}
    return replace(result, findings=(*result.findings, *found.findings), looked_at=looked_at)
