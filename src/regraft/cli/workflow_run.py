"""`regraft workflow run`: the steps of a job, run here as GitHub's runner runs them."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.cli.arguments import seconds

if TYPE_CHECKING:
    from regraft.core.runner_given import Told
    from regraft.core.runner_values import Stub

_WORDS = {
    "inputs": ("--input", "NAME=VALUE", "an input of the workflow"),
    "env": ("--env", "NAME=VALUE", "a variable of the image, below all `env:`"),
    "secrets": ("--secret", "NAME=VALUE", "a secret (default: a placeholder for each that is read)"),
    "vars": ("--var", "NAME=VALUE", "a variable of the repository"),
    "matrix": ("--matrix", "NAME=VALUE", "a value of the matrix (default: the first of each)"),
    "needs": ("--need", "JOB=RESULT", "how a job before it went, or JOB.OUTPUT=VALUE (default: success)"),
    "github": ("--github", "NAME=VALUE", "a value of the `github` context"),
    "steps": ("--step-output", "STEP.NAME=VALUE", "an output of a step that does not run"),
    "uses": ("--uses-output", "ACTION.NAME=VALUE", "an output of an action that does not run"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a workflow: its path, or its name below .github/workflows")
    parser.add_argument("job", metavar="JOB", help="a job of it")
    parser.add_argument("step", metavar="STEP", nargs="*", help="only this step, by id, name or number")
    parser.add_argument("--event", metavar="FILE", help="the event's payload, as JSON")
    parser.add_argument("--event-name", metavar="NAME", help="the event (default: what the payload looks like)")
    parser.add_argument(
        "--given", metavar="FILE", help="a JSON document with any of these, and stubs with their answers"
    )
    for field, (option, metavar, line) in _WORDS.items():
        parser.add_argument(option, dest=field, metavar=metavar, action="append", default=[], help=line)
    parser.add_argument(
        "--map",
        metavar="PATH=DIR",
        action="append",
        default=[],
        help="a folder that stands for an absolute path of the image",
    )
    parser.add_argument(
        "--upstream",
        metavar="OWNER/NAME=DIR",
        action="append",
        default=[],
        help="a repository that is here, for git to find under its URL on github.com",
    )
    parser.add_argument(
        "--stub",
        metavar="NAME[=CODE]",
        action="append",
        default=[],
        help="a program that is recorded and not run, and its exit code",
    )
    parser.add_argument("--real", metavar="NAME", action="append", default=[], help="run this program, not its stub")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=seconds, default=600.0, help="for each step (default: 600)"
    )


def run(args: argparse.Namespace) -> int:
    from regraft.cli import workflow_ports as ports  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.core.runner_given import over, pairs  # noqa: PLC0415
    from regraft.flows.workflow_job import Asked  # noqa: PLC0415
    from regraft.render import workflow_run as render  # noqa: PLC0415

    told = _told(args)
    given = over(told.given(), {field: getattr(args, field) for field in _WORDS if getattr(args, field)})
    stubs = (*map(_stub, args.stub), *told.stubs)
    result = ports.run(
        ports.Workflows(Path(args.project)),
        args.file,
        Asked(args.job, given, tuple(args.step), args.timeout, pairs(args.map, "--map")),
        environ=os.environ,
        stubs=_all(stubs, args.real),
        lent={name: Path(path) for name, path in pairs(args.upstream, "--upstream").items()},
        made=told.upstreams,
    )
    print(render.run_json(result) if args.format == "json" else "\n".join(render.run_lines(result)))
    return 0 if result.result == "success" else 1


def _told(args: argparse.Namespace) -> "Told":
    from msgspec.structs import replace  # noqa: PLC0415

    from regraft.adapters import files  # noqa: PLC0415
    from regraft.core.runner_given import LIMIT, Told, read_object, read_told  # noqa: PLC0415

    told = Told() if args.given is None else read_told(files.read(Path(args.given), LIMIT), args.given)
    if args.event is not None:
        told = replace(told, event=read_object(files.read(Path(args.event), LIMIT), args.event))
    return replace(told, event_name=args.event_name) if args.event_name else told


def _stub(word: str) -> "Stub":
    from regraft.core.runner_values import Answer, Stub  # noqa: PLC0415
    from regraft.errors import InputError  # noqa: PLC0415

    name, equals, code = word.partition("=")
    if equals and not code.isdecimal():
        raise InputError("usage", f"{code!r:.80} is no exit code", where="--stub")
    return Stub(name, (Answer(code=int(code)),) if equals else ())


def _all(own: "Sequence[Stub]", real: Sequence[str]) -> "tuple[Stub, ...]":
    from regraft.cli.workflow_ports import usual_stubs  # noqa: PLC0415

    return (*own, *usual_stubs([*(one.name for one in own), *real]))
