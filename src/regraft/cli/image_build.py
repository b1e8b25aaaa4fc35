"""`regraft image build`: build an image, look into it, and only then let anybody have it."""

import argparse
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.adapters import files
from regraft.errors import InputError

if TYPE_CHECKING:
    from regraft.adapters.build_context import ProjectCommits
    from regraft.core.engine_commands import Program, Volume
    from regraft.core.image_build import Built
    from regraft.core.image_labels import Pins
    from regraft.core.image_values import ImageInputs
    from regraft.core.manifest import Image
    from regraft.core.objects import Commit


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--image", metavar="NAME", help="the image (default: the only one that is built and published)")
    parser.add_argument("--push", action="store_true", help="push it, and let its tags name it in the end")
    parser.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="a tag to move (default: the manifest's); may be repeated",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the command that builds, and do nothing")
    parser.add_argument(
        "--engine", choices=("docker", "podman", "buildah"), help="the engine (default: the first that works)"
    )
    parser.add_argument(
        "--regraft", metavar="PROGRAM", default="regraft", help="how regraft is called in the image (default: regraft)"
    )
    parser.add_argument(
        "--volume",
        action="append",
        default=[],
        metavar="HERE:THERE",
        help="lend the image a folder while it is probed; may be repeated",
    )
    parser.add_argument("--state", metavar="FILE", help="write what was published here, for `image decide --state`")


def run(args: argparse.Namespace) -> int:
    from regraft.adapters.engines import Engine, find_engine  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.cli import image_ports as wired  # noqa: PLC0415
    from regraft.cli.wiring import open_project, platform_here  # noqa: PLC0415
    from regraft.flows.image_build import Options, Ports, build_image, rolling_tags  # noqa: PLC0415
    from regraft.render import safe  # noqa: PLC0415

    environ = dict(os.environ)
    project = open_project(args.project)
    found = wired.chosen([args.image] if args.image else [], project)
    if len(found) > 1:
        known = ", ".join(one.name for one in found)
        raise InputError("unknown-image", f"which image? It has {known}", where="--image")
    image = found[0]
    tags = rolling_tags(image, args.tag)
    volumes = tuple(map(_volume, args.volume))

    def say(line: str) -> None:
        print(safe.log_line(line), file=sys.stderr, flush=True)

    shown = args.dry_run and args.engine is not None  # what is only printed need not be here
    engine = Engine(args.engine, environ, say) if shown else find_engine(args.engine, environ, say)
    with wired.image_ports(project, environ) as ports:
        if args.dry_run:
            inputs = ports.inputs(image, "HEAD")
            return _print_command(engine.program, inputs, ports.pins(inputs, image), args, tags)
        options = Options(
            tags=tags, push=args.push, platform=platform_here(), regraft=args.regraft, volumes=volumes,
            source=wired.source_of(environ),
        )  # fmt: skip
        built = build_image(
            image,
            options,
            Ports(
                ports.inputs,
                ports.compare,
                ports.pins,
                _context(ports.commits),
                engine,
                ports.registry,
                wired.now,
                secrets.token_hex(4),
            ),
        )
    _tell(args, image, built, environ)
    return 0 if built.ok else 1


def _volume(text: str) -> "Volume":
    from regraft.core.engine_commands import Volume  # noqa: PLC0415

    here, colon, there = text.partition(":")
    if (
        not colon
        or not Path(here).is_absolute()
        or not there.startswith("/")
        or ":" in there
        or not Path(here).exists()
    ):
        hint = "write /folder/here:/folder/there, and see that the first one exists"
        raise InputError("usage", f"{text!r:.200} is no HERE:THERE", where="--volume", hint=hint)
    return Volume(here, there)


def _context(commits: "ProjectCommits") -> "Callable[[Commit], AbstractContextManager[str]]":
    @contextmanager
    def context(commit: "Commit") -> Iterator[str]:
        with commits.checked_out(commit) as folder:
            yield str(folder)

    return context


def _print_command(
    program: "Program", inputs: "ImageInputs", pins: "Pins", args: argparse.Namespace, tags: "Sequence[str]"
) -> int:
    """The build as it would run; the real one runs on a checkout of the commit, whatever lies in the work tree."""
    import json  # noqa: PLC0415
    import shlex  # noqa: PLC0415

    from regraft.core.engine_commands import build_argv  # noqa: PLC0415
    from regraft.flows.image_build import job_of  # noqa: PLC0415
    from regraft.render import safe  # noqa: PLC0415

    job = job_of(inputs, pins, args.project, f"localhost/regraft-build/{inputs.image}:{inputs.hash[:16]}")
    argv = build_argv(program, job)
    notes = [*pins.unresolved, *pins.uncovered]
    if args.format == "json":
        print(json.dumps({"argv": argv, "commit": inputs.commit, "tags": list(tags), "notes": notes}, indent=2))
        return 0
    print(safe.text(shlex.join(argv), 100_000))
    for note in notes:
        print(safe.log_line(f"note: {note}"), file=sys.stderr)
    return 0


def _tell(args: argparse.Namespace, image: "Image", built: "Built", environ: Mapping[str, str]) -> None:
    from regraft.render import image_build as render  # noqa: PLC0415

    print(render.built_json(built) if args.format == "json" else "\n".join(render.built_lines(built)))
    if environ.get("GITHUB_ACTIONS") == "true":
        from regraft.render import actions  # noqa: PLC0415

        if path := environ.get("GITHUB_STEP_SUMMARY"):
            files.append(Path(path), render.summary(built).encode())
        if (path := environ.get("GITHUB_OUTPUT")) and built.ok:
            files.append(Path(path), actions.outputs(render.outputs(built, image.repository)))
    if args.state and built.ok and built.digest is not None:
        from regraft.core.image_state import SCHEMA, ImageState, encode_state  # noqa: PLC0415

        told = {name: value for name, value in built.labels.items() if not name.endswith((".baseline", ".layers"))}
        state = ImageState(SCHEMA, image.name, f"{image.repository}:{image.tag}", built.digest, told)
        files.write(Path(args.state), encode_state(state))
