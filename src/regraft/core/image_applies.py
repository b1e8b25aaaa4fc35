"""Where an image's build applies patches: which files of the repository, to which folder, and in which order."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from regraft.core.image_handed import PATCHES, filled_by, is_filled
from regraft.core.image_scripts import Script
from regraft.core.image_values import Place
from regraft.core.shell_apply import Apply, apply_of
from regraft.core.shell_values import Command, Node, Opaque, Pipeline, commands_of, inside
from regraft.core.shell_walk import Seen, at
from regraft.core.spelling import nearest


class Applied(Struct, frozen=True):
    """One command that applies patches. `paths` are in the repository, in order.

    `missing`: it names a file in a folder that was copied, which has no such file; with the nearest name that it has.
    `unclear`: it takes something that is not known.
    """

    script: Script
    seen: Seen
    apply: Apply
    place: Place
    folder: str
    paths: tuple[str, ...]
    missing: tuple[tuple[str, str | None], ...]
    unclear: bool


def applied_in(scripts: Iterable[Script]) -> list[Applied]:
    """Every one, in the order of the scripts."""
    scripts, found = tuple(scripts), []
    filled = _Filled(scripts)
    for script in scripts:
        if b"patch" in script.text or b"apply" in script.text or b" am" in script.text:
            for seen in script.commands(inner=True):
                apply = apply_of(seen.command)
                if apply is not None:
                    found.append(_applied(script, seen, apply, filled))
    return found


class _Filled:
    """Folders of which nobody knows all that is in them; looked for once, and only when it matters."""

    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self._scripts = scripts
        self._paths: tuple[str, ...] | None = None

    def has(self, folder: str) -> bool:
        if self._paths is None:
            self._paths = filled_by(self._scripts)
        return is_filled(folder, self._paths)


def _applied(script: Script, seen: Seen, apply: Apply, filled: _Filled) -> Applied:
    folder = seen.path(seen.text(apply.folder.text)) if apply.folder is not None else seen.folder
    inner = folder if apply.tool.startswith("git") else seen.folder
    paths: list[str] = []
    missing: list[tuple[str, str | None]] = []
    unclear = False
    words = [text for word in apply.files for text in seen.texts(word)]
    piped = [] if words else list(_piped(seen))
    for text in words or piped:
        found, lost = _files(script, text, inner, listing=not words)
        paths += found
        if lost is not None and words and filled.has(at(inner, text).rpartition("/")[0]):
            lost = None
        if lost is not None and words:
            missing.append(lost)
        unclear |= not found and lost is None and bool(words)
    unclear |= not words and not paths
    place = script.place(seen.command.span.start)
    return Applied(script, seen, apply, place, folder, tuple(dict.fromkeys(paths)), tuple(missing), unclear)


def _piped(seen: Seen) -> Iterator[str]:
    """The words of the commands that a pipe leads from: `cat X | git apply`, `ls X | xargs git apply`."""
    pipeline = next((one for one in reversed(seen.inside) if isinstance(one, Pipeline)), None)
    commands: list[Command] = [seen.command]
    if pipeline is not None:
        commands += [one for item in pipeline.items for one in commands_of(item) if one is not seen.command]
    for command in commands:
        for word in command.words[1:]:
            if not word.text.startswith("-"):
                yield from seen.texts(word)


def _files(script: Script, text: str, folder: str, *, listing: bool) -> tuple[list[str], tuple[str, str | None] | None]:
    """What a word stands for in the repository, or what it names that is not there; neither: not known."""
    files = script.files
    path = at(folder, text)
    if "$" in path or "`" in path:
        head = path.partition("$")[0].rpartition("/")[0]
        return (_patches(files.folder(head)) if head.count("/") > 1 or files.folder(head) else []), None
    if any(char in text for char in "*?["):
        found, folder = files.matching(path), path.rpartition("/")[0]
        known = any(origin.endswith(PATCHES) for one, origin in files.items() if one.rpartition("/")[0] == folder)
        return found, (text, None) if not found and known else None
    origin = files.at(path)
    if origin is not None:
        return [origin], None
    if listing or path.endswith("/"):
        return _patches(files.folder(path)), None
    parent, _, name = path.rpartition("/")
    beside = {one.rpartition("/")[2]: one for one, _ in files.items() if one.rpartition("/")[0] == parent}
    if any(one.endswith(PATCHES) for one in beside) and name.endswith(PATCHES):
        return [], (text, nearest(name, sorted(beside)))
    return [], None


def _patches(paths: Iterable[str]) -> list[str]:
    return [one for one in paths if one.endswith(PATCHES)]


def hidden_in(scripts: Iterable[Script]) -> set[str]:
    """The patches that statements without a value of their own may apply: a loop that reads a file, above all."""
    found: set[str] = set()
    for script in scripts:
        waiting: list[Node] = [script.block] if script.block is not None else []
        while waiting:
            node = waiting.pop()
            if isinstance(node, Opaque):
                text = script.text[node.span.start : node.span.stop]
                if b"patch" in text or b"apply" in text:
                    found.update(_patches(origin for _, origin in script.files.items()))
            waiting += inside(node)
    return found


def used_by(applied: Iterable[Applied]) -> set[str]:
    """The patches that reach the image. Where a command takes what is not known, all that its stage has may."""
    found: set[str] = set()
    for one in applied:
        if one.apply.asks or one.apply.back:
            continue
        found.update(one.paths)
        if one.unclear:
            found.update(_patches(origin for _, origin in one.script.files.items()))
    return found
