"""`regraft image decide`: reuse an image, rebuild it, or refuse, with the reason."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.adapters import files
from regraft.errors import InputError, RegraftError

if TYPE_CHECKING:
    from regraft.adapters.registry import Registry
    from regraft.cli.wiring import Project
    from regraft.core.image_decided import Decided
    from regraft.core.image_event import ImageEvent
    from regraft.core.image_published import Found
    from regraft.core.image_reference import Reference
    from regraft.core.manifest import Image
    from regraft.core.precedence import TagChoice

LABEL = "rebuild-image"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--image",
        action="append",
        default=[],
        metavar="NAME",
        help="this image; may be repeated (default: all that are built)",
    )
    parser.add_argument(
        "--event", metavar="FILE", help="the event's payload (default in GitHub Actions: the run's own)"
    )
    parser.add_argument(
        "--occasion",
        choices=("pull_request", "push", "schedule", "manual"),
        help="decide as for this (default: the event's)",
    )
    parser.add_argument(
        "--body", metavar="FILE", help="the pull request's body, for tag directives; - is standard input"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=REF", help="an input, as `ci_image_tag=nightly`"
    )
    parser.add_argument(
        "--state",
        metavar="FILE",
        help="what was published, as `image build --state` wrote it, instead of the registry's answer",
    )
    parser.add_argument(
        "--max-age", metavar="SPAN", help="rebuild an image that is older, as 24h or 7d (default: age does not count)"
    )
    parser.add_argument("--platform", metavar="OS/ARCH", help="the platform that counts (default: this machine's)")
    parser.add_argument("--rebuild", action="store_true", help="ask for a rebuild")
    parser.add_argument(
        "--label",
        metavar="NAME",
        default=LABEL,
        help=f"the label of a pull request that asks for a rebuild (default: {LABEL})",
    )
    parser.add_argument(
        "--consume", action="store_true", help="take that label off the pull request, once it was heeded"
    )
    parser.add_argument(
        "--rebuild-ok", action="store_true", help="end with 0 for rebuild too: a workflow reads the outputs"
    )


def run(args: argparse.Namespace) -> int:
    from regraft.cli import image_ports as wired  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.cli.proposed import committed_manifests, project_or_proposed  # noqa: PLC0415
    from regraft.cli.wiring import platform_here  # noqa: PLC0415
    from regraft.flows.image_decide import Ports, Question, decide_image  # noqa: PLC0415

    environ = dict(os.environ)
    project = project_or_proposed(args.project)
    images = wired.chosen(args.image, project)
    max_age = wired.seconds_of(args.max_age) if args.max_age else None
    event = _event(args, environ)
    requested, notes = _requested(args, event, environ)
    tags = _tags(args, project, environ)
    platform = args.platform or platform_here()
    with wired.image_ports(project, environ, committed_manifests(args.project)) as ports:
        decided = []
        for image in images:
            question = Question(
                occasion=event.occasion, number=event.number, fork=event.fork, tag=tags(image), requested=requested,
                max_age=max_age, platform=platform, source=wired.source_of(environ),
                head=event.head, merge=event.merge, other=event.other,
            )  # fmt: skip
            find = _find(args.state, image, platform, ports.registry)
            decided.append(
                decide_image(
                    image,
                    question,
                    Ports(
                        ports.inputs, ports.compare, ports.commits.parents, ports.pins, find, wired.now, ports.between
                    ),
                )
            )
    notes += _consume(args, event, decided, environ)
    _tell(args, decided, notes, environ)
    codes = [0 if args.rebuild_ok and one.judged.answer == "rebuild" else one.judged.exit_code for one in decided]
    return max(codes)


def _event(args: argparse.Namespace, environ: Mapping[str, str]) -> "ImageEvent":
    from regraft.core.event import LIMIT  # noqa: PLC0415
    from regraft.core.image_event import ImageEvent, read_image_event  # noqa: PLC0415

    actions = environ.get("GITHUB_ACTIONS") == "true"
    path = args.event or (environ.get("GITHUB_EVENT_PATH") if actions else None)
    if path is None:
        if actions and args.occasion is None:
            raise InputError(
                "no-event", "no event was found: GITHUB_EVENT_PATH is not set", hint="give --event FILE or --occasion"
            )
        return ImageEvent(args.occasion or "push")
    kind = environ.get("GITHUB_EVENT_NAME") if actions and args.event is None else None
    if args.occasion is not None:
        kind = {"manual": "workflow_dispatch"}.get(args.occasion, args.occasion)
    return read_image_event(files.read(Path(path), LIMIT), path, kind)


def _requested(
    args: argparse.Namespace, event: "ImageEvent", environ: Mapping[str, str]
) -> tuple[str | None, list[str]]:
    """Who asks for a rebuild. The labels of a pull request are read anew: an event that is run again has old ones."""
    if args.rebuild:
        return "--rebuild asks for it", []
    if event.number is None:
        return None, []
    names, notes = event.labels, []
    if args.label in names and event.repository is not None:
        from regraft.adapters.github_labels import GitHubLabels  # noqa: PLC0415 - only where somebody asks

        api = GitHubLabels.of(environ)
        try:
            names = api.names(event.repository, event.number) if api else names
        except RegraftError as error:
            notes.append(f"the labels are those of the event, since they could not be read anew: {error}")
        if args.label not in names:
            notes.append(f"the label {args.label!r:.80} was heeded before, and is gone")
    return (f"the label {args.label!r:.80} asks for it" if args.label in names else None), notes


def _tags(
    args: argparse.Namespace, project: "Project", environ: Mapping[str, str]
) -> "Callable[[Image], TagChoice | None]":
    """By the one grammar of body and inputs. Raises every mistake of those at once."""
    from regraft.cli import plan, wiring  # noqa: PLC0415
    from regraft.core.precedence import choose_tag  # noqa: PLC0415
    from regraft.core.vocabulary import vocabulary  # noqa: PLC0415
    from regraft.errors import raise_all  # noqa: PLC0415
    from regraft.flows.ask import ask  # noqa: PLC0415

    event_is_there = args.event or environ.get("GITHUB_EVENT_PATH")
    asked = ask(
        vocabulary(project.manifest),
        settings=plan.settings_of(args.set),
        body=plan.body_of(args.body),
        event=plan.event_of(args, environ) if event_is_there else None,
        find_pull=wiring.find_pull(environ),
    )
    raise_all(asked.mistakes)
    return lambda image: choose_tag(image.tag_directive, image.name, asked.tags) if image.tag_directive else None


def _find(state: str | None, image: "Image", platform: str, registry: "Registry") -> "Callable[[Reference], Found]":
    """The registry's answer, or for the manifest's tag the file's."""
    from regraft.core.document import LIMIT  # noqa: PLC0415
    from regraft.core.image_published import Unread  # noqa: PLC0415
    from regraft.core.image_state import read_state  # noqa: PLC0415

    if state is None:
        return registry.find

    def find(reference: "Reference") -> "Found":
        if reference.tag != image.tag:
            return registry.find(reference)
        try:
            return read_state(files.read(Path(state), LIMIT), image.name, state, platform)
        except RegraftError as error:
            return Unread(state, error.code, str(error))

    return find


def _consume(
    args: argparse.Namespace, event: "ImageEvent", decided: "Sequence[Decided]", environ: Mapping[str, str]
) -> list[str]:
    """A label that was heeded asks no more."""
    if args.rebuild or event.number is None or not any(one.requested for one in decided):
        return []
    if not args.consume or event.repository is None:
        return [f"the label {args.label!r:.80} is still there, and asks again: --consume takes it off"]
    from regraft.adapters.github_labels import GitHubLabels  # noqa: PLC0415

    api = GitHubLabels.of(environ)
    if api is None:
        return [f"the label {args.label!r:.80} is still there: without GITHUB_TOKEN it cannot be taken off"]
    try:
        api.remove(event.repository, event.number, args.label)
    except RegraftError as error:
        return [str(error)]
    return [f"the label {args.label!r:.80} is taken off"]


def _tell(
    args: argparse.Namespace, decided: "Sequence[Decided]", notes: Sequence[str], environ: Mapping[str, str]
) -> None:
    from regraft.render import image_decide as render  # noqa: PLC0415
    from regraft.render import safe  # noqa: PLC0415

    if args.format == "json":
        print(render.decided_json(decided))
    else:
        print("\n".join(line for one in decided for line in render.decided_lines(one)))
    for note in notes:
        print(safe.log_line(f"note: {note}"), file=sys.stderr)
    if environ.get("GITHUB_ACTIONS") == "true":
        from regraft.render import actions  # noqa: PLC0415

        if path := environ.get("GITHUB_STEP_SUMMARY"):
            files.append(Path(path), render.summary(decided).encode())
        if (path := environ.get("GITHUB_OUTPUT")) and all(one.judged.answer != "refuse" for one in decided):
            files.append(Path(path), actions.outputs(render.outputs(decided)))
