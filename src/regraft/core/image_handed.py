"""What commands get that are no `git apply` and no `patch`: patches in the hands of another program, folders that are filled."""

import posixpath
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from regraft.core.image_scripts import Script
from regraft.core.patterns import regex
from regraft.core.shell_programs import unwrapped
from regraft.core.shell_values import Pipeline
from regraft.core.shell_walk import Seen, at
from regraft.core.stage_files import StageFiles

PATCHES = (".patch", ".diff")
Read = Callable[[str], bytes | None]

# They do nothing to a tree with a patch that they are given.
_HARMLESS = frozenset(
    {
        *("ls", "head", "tail", "chmod", "chown", "cp", "mv", "ln", "rm", "mkdir", "rmdir", "cd", "pushd", "test", "["),
        *("[[", "echo", "printf", "find", "grep", "wc", "sort", "stat", "touch", "tar", "zip", "unzip", "sha256sum"),
        *("md5sum", "git", "export", "declare", "local", "readlink", "realpath", "basename", "dirname", "du"),
        *("dos2unix", "sed", "file", "set", "install", "rsync", "curl", "wget", "tree", "diff", "cmp"),
        *("pip", "pip3", "uv", "poetry", "conda", "mamba", "npm", "yarn", "pnpm", "cargo", "go", "cmake", "ninja"),
    }
)
_MAKE = frozenset({"make", "gmake"})
_MODULES = frozenset({"pip", "build", "venv", "compileall", "pytest", "uv"})  # of `python -m`
_SERIES = frozenset({"quilt", "stg", "guilt", "gbp", "dpkg-source", "dpkg-buildpackage", "debuild", "rpmbuild"})
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_APPLIES = regex(rb"\.(?:patch|diff)\b|\b(?:git|quilt|stg)\W{1,4}(?:apply|am|push|import)\b|\bpatch\W{1,4}-p")
_FILLS = frozenset({"cp", "mv", "ln", "curl", "wget", "tar", "unzip", "tee", "rsync", "aria2c", "install", "gh"})
_GIT_FILLS = frozenset({"clone", "format-patch", "init", "worktree", "archive"})
_ARCHIVE = regex(r".*\.(?:tar|tgz|tbz2?|txz|tar\.\w+)")
_URL = regex(r"(?:https?|git|ssh|ftp)://.*|git@[^:]+:.*")


def handed_in(scripts: Iterable[Script], read: Read) -> set[str]:
    """The patches that a command has which may well apply them: it is given their path, or that of their folder."""
    found: set[str] = set()
    for script in scripts:
        patches = StageFiles({there: one for there, one in script.files.items() if one.endswith(PATCHES)})
        everything = {origin for _, origin in patches.items()}
        if not everything:
            continue
        for seen in script.commands(inner=True):
            words = unwrapped(seen.command.words)
            name = posixpath.basename(words[0].text) if words else ""
            if name in _SERIES or (name not in _HARMLESS and _reads_applies(name, seen, script.files, read)):
                found |= everything
            elif not _only_looks(name, seen):
                texts = (text.partition("=")[2] if name in _MAKE else text for text in _texts(seen))
                found.update(path for text in texts if text for path in _named(text, seen, patches))
    return found


def _only_looks(name: str, seen: Seen) -> bool:
    if name == "cat":
        return not _in_pipe(seen)
    words = [word.text for word in seen.command.words]
    return name in _HARMLESS or any(a == "-m" and b in _MODULES for a, b in pairwise(words))


def _in_pipe(seen: Seen) -> bool:
    return any(isinstance(one, Pipeline) for one in seen.inside)


def _texts(seen: Seen) -> Iterator[str]:
    """What its words and the values of its options and assignments may stand for."""
    command = seen.command
    values = [word for _, word in command.assignments if word is not None] if command.words else []
    for word in (*command.words, *command.targets, *values):
        for text in seen.texts(word):
            yield text
            if "=" in text:
                yield text.partition("=")[2]
            elif text.startswith("-") and "/" in text[:4]:
                yield text[2:]


def _named(text: str, seen: Seen, patches: StageFiles) -> Iterator[str]:
    path = at(seen.folder, text)
    if "$" in path or "`" in path:
        path = path.partition("$")[0].rpartition("/")[0]
    if any(char in path for char in "*?["):
        yield from patches.matching(path)
    elif (origin := patches.at(path)) is not None:
        yield origin
    elif path.strip("/") and (path == seen.folder or "/" in text):
        yield from patches.folder(path)


def _reads_applies(name: str, seen: Seen, files: StageFiles, read: Read) -> bool:
    """Whether it runs a file of the repository that applies patches: a program in another language, a Makefile."""
    paths = [at(seen.folder, text) for text in _texts(seen) if "$" not in text]
    if name in _MAKE:
        paths += [f"{folder}/{one}" for folder in (seen.folder, *paths) for one in _MAKEFILES]
    origins = {origin for path in paths if (origin := files.at(path)) is not None and not origin.endswith(PATCHES)}
    return any(_APPLIES.search(read(origin) or b"") for origin in sorted(origins))


def filled_by(scripts: Iterable[Script]) -> tuple[str, ...]:
    """Paths below which something else than a COPY of the repository may put files."""
    found: list[str] = []
    stages = {}
    for script in scripts:
        stages[script.stage.index] = script.stage
        for seen in script.commands(inner=True):
            if _fills([posixpath.basename(word.text) for word in seen.command.words]):
                found += [seen.folder, *(at(seen.folder, text) for text in _texts(seen))]
            outputs = [one.target for one in seen.command.redirects if ">" in one.operator and one.target is not None]
            found += [at(seen.folder, text) for word in outputs for text in seen.texts(word)]
    for stage in stages.values():
        for step in stage.steps:
            words = [word.text for word in step.instruction.words]
            if step.keyword not in ("COPY", "ADD") or len(words) < 2:
                continue
            elsewhere = step.sources and step.sources[0].kind != "stage"
            packed = step.keyword == "ADD" and any(_URL.fullmatch(one) or _ARCHIVE.fullmatch(one) for one in words[:-1])
            if elsewhere or packed:
                found.append(at(step.folder, words[-1]))
    return tuple(dict.fromkeys(one for one in found if one != "/" and not one.startswith("$")))


def _fills(words: list[str]) -> bool:
    if "git" in words[:4]:
        return any(one in _GIT_FILLS for one in words)
    return any(one in _FILLS for one in words[:4])


def is_filled(folder: str, paths: Iterable[str]) -> bool:
    """Whether one of them is the folder, lies in it, or holds it."""
    return any(one == folder or one.startswith(f"{folder}/") or folder.startswith(f"{one}/") for one in paths)
