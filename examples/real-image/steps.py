"""Runs one command after another, prints each with what it said, and remembers which did not end as announced."""

import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT = 1800.0  # seconds for one command
SHOWN = 40  # lines of one command's output
NOISE = re.compile(
    r"^(subprocess exited with status|Error: exit status) \d+\n", re.MULTILINE
)  # buildah's, of a command inside


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run: `prefix` leads there, `words` are the real ones for a command's first word."""

    name: str
    env: Mapping[str, str]
    cwd: Path | None = None
    prefix: Sequence[str] = ()
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def argv(self, command: Sequence[str]) -> list[str]:
        return [*self.prefix, *self.words.get(command[0], command[:1]), *command[1:]]


@dataclass(slots=True)
class Story:
    """`surprises` names what did not end as announced; a story without any is true."""

    chapters: int = 0
    commands: int = 0
    surprises: list[str] = field(default_factory=list)

    def chapter(self, title: str, text: str = "") -> None:
        self.chapters += 1
        say(f"\n{self.chapters}. {title}\n")
        if text:
            say(f"{text}\n")

    def run(
        self,
        place: Place,
        *command: str,
        ends: int = 0,
        says: Sequence[str] = (),
        means: str = "",
        shown: int = SHOWN,
    ) -> str:
        """Run it, show the last `shown` lines of what it said, and give back all of that."""
        say(f"{place.name}$ {' '.join(command)}")
        begin = time.monotonic()
        code, said = started(place, command)
        lines = said.splitlines()
        for line in (["..."] if len(lines) > shown else []) + (lines[-shown:] if shown else []):
            say(f"    {line}")
        took = time.monotonic() - begin
        if code or ends or took >= 1:
            say(f"    [exit {code}, {took:.1f} s]")
        self.commands += 1
        missing = [f"it did not say {words!r}" for words in says if words not in said]
        for surprise in ([f"it ended with {code} and not {ends}"] if code != ends else []) + missing:
            self.surprise(f"{' '.join(command)}: {surprise}")
        if means:
            say(f"-> {means}\n")
        return said

    def expect(self, holds: bool, claim: str) -> None:
        if holds:
            say(f"-> {claim}\n")
        else:
            self.surprise(f"not so: {claim}")

    def surprise(self, text: str) -> None:
        self.surprises.append(text)
        say(f"!!! {text}")


def say(line: str) -> None:
    print(line, flush=True)


def started(place: Place, command: Sequence[str]) -> tuple[int, str]:
    """(exit code, what it said on both streams)."""
    try:
        done = subprocess.run(
            place.argv(command),
            cwd=place.cwd,
            env=dict(place.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return 124, f"{(late.output or b'').decode('utf-8', 'replace')}\nno end after {TIMEOUT:.0f} s\n"
    return done.returncode, NOISE.sub("", done.stdout.decode("utf-8", "replace"))


def must(place: Place, *command: str) -> str:
    """What a command of the preparation said. Raises SystemExit where it failed: there is nothing to tell then."""
    code, said = started(place, command)
    if code:
        raise SystemExit(f"the example could not be prepared: {' '.join(command)} ended with {code}:\n{said[-4000:]}")
    return said
