"""Runs the story's commands in the demo's world, prints each with what it said, and checks how it ended."""

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from regraft.demo.story import Chapter, Step
from regraft.demo.world import World, fresh_image

Emit = Callable[[str], None]


class Outcome(Struct, frozen=True):
    chapter: str
    command: str  # as it was run
    exit: int
    surprises: tuple[str, ...]  # how it did not end as the story says


def tell(world: World, stored: Path, story: Sequence[Chapter], emit: Emit) -> list[Outcome]:
    """Run the chapters in order, on images made from `stored` where they ask for one; what became of each command."""
    outcomes = []
    for number, chapter in enumerate(story, 1):
        emit(f"\n{number}. {chapter.title}\n")
        if chapter.text:
            emit(f"{chapter.text}\n")
        if chapter.fresh:
            fresh_image(world, stored)
        outcomes += _chapter(world, chapter, emit)
    return outcomes


def _chapter(world: World, chapter: Chapter, emit: Emit) -> list[Outcome]:
    outcomes = []
    here = world.project
    for step in chapter.steps:
        command = step.command.replace("{commit}", _planned_commit(world))
        emit(f"$ {command}")
        if command.startswith("cd "):
            here = (here / command.removeprefix("cd ")).resolve()
            continue
        outcomes.append(_step(world, chapter, step, command, here, emit))
    return outcomes


def _step(  # noqa: PLR0913, PLR0917 - one command, where it runs, and what is expected of it
    world: World, chapter: Chapter, step: Step, command: str, here: Path, emit: Emit
) -> Outcome:
    argv = shlex.split(command)
    ours = {"regraft": [sys.executable, "-m", "regraft"], "python": [sys.executable]}
    completed = world.run([*ours.get(argv[0], [argv[0]]), *argv[1:]], here)
    said = "".join(stream.decode("utf-8", "replace") for stream in (completed.stdout, completed.stderr))
    emit("".join(f"    {line}\n" for line in said.splitlines()).rstrip("\n")) if said else None
    if completed.returncode or step.exit:
        emit(f"    [exit {completed.returncode}]")
    surprises = _surprises(step, completed.returncode, said, _planned_commit(world))
    for surprise in surprises:
        emit(f"!!! {surprise}")
    if step.means:
        emit(f"-> {step.means.replace(chr(10), chr(10) + '   ')}\n")
    return Outcome(chapter.title, command, completed.returncode, surprises)


def _surprises(step: Step, code: int, said: str, commit: str) -> tuple[str, ...]:
    found = [f"it ended with {code} and not {step.exit}"] if code != step.exit else []
    words = [word.replace("{commit}", commit) for word in step.says]
    return (*found, *(f"it did not say {word!r}" for word in words if word not in said))


def _planned_commit(world: World) -> str:
    """The commit that the plan gave `engine`; a word that git refuses where there is no plan."""
    try:
        plan = json.loads((world.project / "plan.json").read_bytes())
        return str(plan["dependencies"]["engine"]["commit"])
    except (OSError, ValueError, KeyError, TypeError):
        return "(no-plan)"
