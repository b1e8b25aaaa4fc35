"""`regraft plan`: directives and inputs -> a plan per image, and the gate's outputs."""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.adapters import files
from regraft.cli.wiring import open_project
from regraft.core.asked import Asked
from regraft.core.event import LIMIT as EVENT_LIMIT
from regraft.core.event import Event, read_event
from regraft.core.manifest import Manifest
from regraft.core.planned import Planned
from regraft.errors import InputError, RegraftError, raise_all

if TYPE_CHECKING:
    from regraft.cli.image_ports import ImagePorts
    from regraft.cli.wiring import Project
    from regraft.core.image_reference import Digest, Repository
    from regraft.core.manifest import Image
    from regraft.flows.baselines import Registries
    from regraft.flows.draft import OwnOf
    from regraft.flows.image_choice import OwnImage, OwnUnknown

REGISTRY_TIMEOUT = 5.0  # seconds for one answer: without it there is a plan too, and a note
BODY_LIMIT = 4 * 65_536  # bytes: GitHub's limit of 65,536 is in characters


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--image", action="append", default=[], metavar="NAME", help="plan this image; may be repeated (default: all)"
    )
    parser.add_argument("--body", metavar="FILE", help="the pull request's body; - is standard input")
    parser.add_argument(
        "--event", metavar="FILE", help="the event's payload (default in GitHub Actions: the run's own)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=REF",
        help="an input, as `ci_sglang_pr=#12`; may be repeated",
    )
    parser.add_argument(
        "--no-registry",
        action="store_true",
        help="ask no registry what an image's tag stands for, and what the image holds",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="write the plan here: a file for one image, a folder for several"
    )


def run(args: argparse.Namespace) -> int:
    from regraft.cli import wiring  # noqa: PLC0415 - one import for what only this command needs
    from regraft.core.vocabulary import vocabulary  # noqa: PLC0415
    from regraft.flows.ask import ask  # noqa: PLC0415
    from regraft.flows.plan import plan  # noqa: PLC0415

    environ = dict(os.environ)
    project = open_project(args.project)
    _check_output(args.output, len(set(args.image)) or len(project.manifest.images))
    event = event_of(args, environ)
    asked = ask(
        vocabulary(project.manifest),
        settings=settings_of(args.set),
        body=body_of(args.body),
        event=event,
        find_pull=wiring.find_pull(environ),
    )
    with (
        _told(asked, environ),
        wiring.upstreams(project, environ) as ports,
        _own_images(event, project, environ) as own_of,
    ):
        planned = plan(project.manifest, asked, args.image, files=project.files, find_pull=ports.find_pull,
                       upstream=ports.upstream, gate=ports.gate, unset=_unset(project.manifest, environ),
                       registries=_registries(args, project.manifest, environ), own_of=own_of)  # fmt: skip
    if not planned.stopped:
        _write(planned, args.output)
    _print(planned, args.format)
    if environ.get("GITHUB_ACTIONS") == "true":
        _publish(planned, environ)
    return 1 if planned.stopped else 0


def settings_of(pairs: list[str]) -> list[tuple[str, str]]:
    settings, mistakes = [], []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            mistakes.append(InputError("usage", f"{pair!r:.120} is not NAME=REF", where="--set"))
        settings.append((name.strip(), value))
    raise_all(mistakes)
    return settings


def body_of(path: str | None) -> str | None:
    if path is None:
        return None
    data = files.read_standard_input(BODY_LIMIT) if path == "-" else files.read(Path(path), BODY_LIMIT)
    name = "standard input" if path == "-" else path
    if len(data) > BODY_LIMIT:
        raise InputError(
            "body-too-long", f"more than {BODY_LIMIT} bytes; a body has at most 65,536 characters", where=name
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not-utf-8", f"byte {error.start + 1} is not UTF-8", where=name) from None


def event_of(args: argparse.Namespace, environ: Mapping[str, str]) -> Event | None:
    """The event; with --body still the one that holds the run's inputs."""
    path: str | None = args.event
    if path is None and environ.get("GITHUB_ACTIONS") == "true":
        path = environ.get("GITHUB_EVENT_PATH") or None
        if path is None and args.body is None:
            raise InputError(
                "no-event",
                "no event was found: GITHUB_EVENT_PATH is not set, and without it there is no body to read",
                hint="hand GITHUB_EVENT_PATH on to where regraft runs, or give --event FILE or --body FILE",
            )
    return read_event(files.read(Path(path), EVENT_LIMIT), path) if path is not None else None


def _unset(manifest: Manifest, environ: Mapping[str, str]) -> frozenset[str]:
    """The variables that the manifest names for tokens, and that hold none."""
    named = (one.token_env for one in manifest.dependencies.values())
    return frozenset(name for name in named if name and not environ.get(name))


def _registries(args: argparse.Namespace, manifest: Manifest, environ: Mapping[str, str]) -> "Registries | None":
    """None where no image has a repository: what speaks HTTP is imported for those that do."""
    wanted = [one for one in manifest.images.values() if not args.image or one.name in args.image]
    if args.no_registry or not any(one.repository for one in wanted):
        return None
    from regraft.adapters.registry import Registry  # noqa: PLC0415
    from regraft.adapters.registry_logins import Logins  # noqa: PLC0415
    from regraft.cli.wiring import platform_here  # noqa: PLC0415
    from regraft.flows.baselines import Registries  # noqa: PLC0415

    registry = Registry(Logins(environ).of, timeout=REGISTRY_TIMEOUT, patience=0)

    def attached(repository: "Repository", digest: "Digest") -> "Sequence[bytes]":
        from regraft.adapters.registry_attached import attached_baselines  # noqa: PLC0415 - images without a label

        return attached_baselines(registry, repository, digest)

    return Registries(registry.find, platform_here(), attached)


@contextmanager
def _own_images(event: Event | None, project: "Project", environ: Mapping[str, str]) -> "Iterator[OwnOf | None]":
    """What image a pull request has of its own; what tells that is imported for one, and an image with a Dockerfile."""
    if event is None or event.number is None or event.head is None:
        yield None
        return
    number, head = event.number, event.head
    with ExitStack() as stack:
        opened: list[ImagePorts] = []

        def find(image: "Image") -> "OwnImage | OwnUnknown | None":
            from regraft.cli.image_ports import image_ports  # noqa: PLC0415 - only for such an image
            from regraft.flows.image_choice import OwnUnknown  # noqa: PLC0415
            from regraft.flows.image_decide import own_image  # noqa: PLC0415

            try:
                if not opened:
                    opened.append(stack.enter_context(image_ports(project, environ)))
                return own_image(image, number, head, opened[0].inputs, opened[0].commits.parents)
            except RegraftError as error:
                return OwnUnknown(str(error))

        yield find


@contextmanager
def _told(asked: Asked, environ: Mapping[str, str]) -> Iterator[None]:
    """On a stop the summary says what was read, as far as it got; the errors follow from the boundary."""
    try:
        yield
    except RegraftError:
        path = environ.get("GITHUB_STEP_SUMMARY")
        if path and environ.get("GITHUB_ACTIONS") == "true":
            from regraft.render.plan import asked_summary  # noqa: PLC0415

            with suppress(RegraftError):  # the error that is on its way says more than a full disk
                files.append(Path(path), asked_summary(asked).encode())
        raise


def _check_output(output: str | None, images: int) -> None:
    """Before anything is asked of a server."""
    if output is None:
        return
    path = Path(output)
    if not output:
        raise InputError(
            "usage", "--output names nothing", where="--output", hint="name a file, or a folder for several"
        )
    if images == 1 and (path.is_dir() or output.endswith("/")):
        raise InputError("usage", "one image is planned, and this is a folder", where=output, hint="name a file")
    if images > 1 and path.exists() and not path.is_dir():
        raise InputError("usage", "several images are planned, and this is a file", where=output, hint="name a folder")


def _write(planned: Planned, output: str | None) -> None:
    if output is None:
        return
    from regraft.core.plan_document import encode_plan  # noqa: PLC0415

    path = Path(output)
    if len(planned.plans) == 1:
        files.write(path, encode_plan(next(iter(planned.plans.values()))))
        return
    for name, one in planned.plans.items():
        files.write(path / f"{name}.json", encode_plan(one))


def _print(planned: Planned, form: str) -> None:
    from regraft.render import plan as render  # noqa: PLC0415

    if form == "json":
        print(render.planned_json(planned))
        return
    print("\n".join(render.planned_lines(planned)))


def _publish(planned: Planned, environ: Mapping[str, str]) -> None:
    from regraft.render import actions  # noqa: PLC0415
    from regraft.render.plan import summary  # noqa: PLC0415

    plans = list(planned.plans.values())
    notes = dict.fromkeys(note for one in plans for note in one.notes)
    print(actions.finding_annotations(planned.findings) + actions.note_annotations(notes), end="", file=sys.stderr)
    if path := environ.get("GITHUB_STEP_SUMMARY"):
        files.append(Path(path), summary(planned).encode())
    if (path := environ.get("GITHUB_OUTPUT")) and not planned.stopped:
        files.append(Path(path), actions.outputs(actions.gate_outputs(planned.plans, planned.overridden)))
