"""A large upstream and carried patches over it, the same ones every time, made by `git fast-import` within seconds."""

import os
import random
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FOLDERS, FILES = 320, 8_000
PATCHES, SECTIONS, HUNKS = 12, 150, 380
COMMITS = 5_100  # along first parents
EVERY = 12  # one of so many commits touches a patched file: some 420 altogether
SPACE = 60  # lines between two hunks of a file
SEED = 2_024

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
}


@dataclass
class World:
    """A bare repository with `main`, and the patches' bytes in their order."""

    repository: Path
    patches: tuple[bytes, ...]


def git(folder: Path, *arguments: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None) -> bytes:
    env = {**ENVIRONMENT, **(extra or {})}
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=env, input=stdin, check=True, stdout=subprocess.PIPE
    ).stdout


def source(number: int, lines: int) -> list[str]:
    """Lines as code has them: most are its own, some are everybody's."""
    found = []
    for line in range(lines):
        match line % 6:
            case 0:
                found.append("")
            case 1:
                found.append(f"def step_{number}_{line}(state, amount={line}):")
            case 5:
                found.append("    return state")
            case _:
                found.append(f"    state = combine(state, amount, {number * 7 + line})  # stage {line}")
    return found


@dataclass
class _Maker:
    chance: random.Random
    stream: list[bytes] = field(default_factory=list)
    files: dict[str, list[str]] = field(default_factory=dict)
    mark: int = 0
    stamp: int = 1_600_000_000

    def commit(self, ref: str, subject: str, changed: Mapping[str, list[str] | None], parents: Iterator[int]) -> int:
        self.mark += 1
        self.stamp += 600
        message = subject.encode()
        head = f"commit {ref}\nmark :{self.mark}\ncommitter A <a@example.org> {self.stamp} +0000\ndata {len(message)}\n"
        self.stream.append(head.encode() + message + b"\n")
        for word, parent in zip(("from", "merge", "merge"), parents, strict=False):
            self.stream.append(f"{word} :{parent}\n".encode())
        for path, lines in changed.items():
            if lines is None:
                self.stream.append(f"D {path}\n".encode())
                continue
            text = ("\n".join(lines) + "\n").encode()
            self.stream.append(f"M 100644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n")
        return self.mark


def _places() -> list[tuple[str, list[int]]]:
    """The patched files and the lines that are changed in each: 150 sections and 380 hunks."""
    extra = HUNKS - 2 * SECTIONS
    found = []
    for number in range(SECTIONS):
        hunks = 3 if number < extra else 2
        index = number if number < SECTIONS - 10 else number - (SECTIONS - 10)  # ten files are in two patches
        name = f"pkg/part{index * 2:03}/core{index:03}.py"
        offset = 20 if number < SECTIONS - 10 else 40
        found.append((name, [offset + SPACE * hunk for hunk in range(hunks)]))
    return found


def _patched(lines: list[str], at: int, number: int) -> list[str]:
    """Two lines more in place of one."""
    block = [
        f"    state = guard(state, {number}, {at})",
        f"    state = combine(state, amount, {at})  # carried {number}",
    ]
    return [*lines[:at], *block, *lines[at + 1 :]]


def _edit(lines: list[str], carried: list[str], chance: random.Random) -> tuple[list[str] | None, str]:
    """What upstream does to a patched file, as (new lines, or None for a deletion; in a word)."""
    kind = chance.choices(("shift", "apart", "beside", "land", "back", "delete"), (48, 30, 10, 6, 3, 3))[0]
    at = chance.randrange(230, len(lines) - 4)
    match kind:
        case "shift":
            return [*lines[:4], f"# note {chance.random()}", *lines[4:]], kind
        case "apart":
            return [*lines[: at + 2], f"    state = later(state, {chance.random()})", *lines[at + 3 :]], kind
        case "beside":
            at = min(20 + SPACE * chance.randrange(3) + chance.choice((-2, -1, 1, 2)), len(lines) - 1)
            return [*lines[:at], f"    state = other(state, {chance.random()})", *lines[at + 1 :]], kind
        case "land":
            return list(carried), kind
        case "back":
            return source(int(chance.random() * 1000), len(lines)), kind
    return None, kind


def make(folder: Path, commits: int = COMMITS, files: int = FILES) -> World:
    """The repository at `folder / "upstream.git"`."""
    repository = folder / "upstream.git"
    repository.mkdir(parents=True)
    git(repository, "init", "--quiet", "--bare", "--template=", ".")
    git(repository, "symbolic-ref", "HEAD", "refs/heads/main")
    maker = _Maker(random.Random(SEED))
    places = _places()
    patched = {name: source(index, 320) for index, name in enumerate(dict.fromkeys(name for name, _ in places))}
    others = {
        f"pkg/part{number % FOLDERS:03}/module{number}.py": source(number, 60 + number % 90)
        for number in range(files - len(patched))
    }
    base = maker.commit("refs/heads/main", "Begin", {**others, **patched}, iter(()))
    carried = _carry(maker, places, dict(patched), base)
    _history(maker, commits, patched, carried, others, base)
    git(repository, "fast-import", "--quiet", "--force", stdin=b"".join(maker.stream))
    tips = [f"refs/heads/carried{number}" for number in range(PATCHES)]
    patches = tuple(
        git(repository, "diff", "--no-ext-diff", "--full-index", before, after)
        for before, after in zip([f"{tips[0]}^", *tips[:-1]], tips, strict=True)
    )
    return World(repository, patches)


def _carry(
    maker: _Maker, places: list[tuple[str, list[int]]], files: dict[str, list[str]], base: int
) -> dict[str, list[str]]:
    """One branch a patch, each on the one before; returns the files with all of them."""
    share = -(-len(places) // PATCHES)
    parent = base
    for number in range(PATCHES):
        changed = {}
        for name, lines in places[number * share : (number + 1) * share]:
            for at in reversed(lines):
                files[name] = _patched(files[name], at, number)
            changed[name] = files[name]
        parent = maker.commit(f"refs/heads/carried{number}", f"carry {number}", changed, iter((parent,)))
    return files


def _history(  # noqa: PLR0913, PLR0917 - all of it is the world
    maker: _Maker,
    commits: int,
    patched: dict[str, list[str]],
    carried: dict[str, list[str]],
    others: dict[str, list[str]],
    base: int,
) -> None:
    chance, here = maker.chance, dict(patched)
    names, other_names = list(patched), list(others)
    parent = base
    for number in range(1, commits):
        changed: dict[str, list[str] | None] = {}
        for name in chance.sample(other_names, chance.randint(1, 4)):
            lines = others[name]
            lines[chance.randrange(len(lines))] = f"    state = moved(state, {number})"
            changed[name] = lines
        word = "elsewhere"
        if number % EVERY == 0:
            name = chance.choice(names)
            now = here.get(name)
            new, word = _edit(now, carried[name], chance) if now is not None else (list(patched[name]), "restore")
            changed[name] = new
            if new is None:
                del here[name]
            else:
                here[name] = new
        if number % (EVERY * 5) == 0:  # by a branch that is merged
            side = maker.commit(f"refs/heads/side{number}", f"{word} ({number})", changed, iter((parent,)))
            parent = maker.commit(
                "refs/heads/main",
                f"Merge pull request #{number} from someone/side{number}",
                changed,
                iter((parent, side)),
            )
        else:
            parent = maker.commit("refs/heads/main", f"{word} (#{number})", changed, iter((parent,)))
