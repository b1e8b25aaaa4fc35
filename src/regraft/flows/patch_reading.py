"""A carried patch as git and our own walk of its lines read it, before it is tried anywhere."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from regraft.core.patch_glance import patch_fault
from regraft.core.patch_paths import unsafe
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_scan import scan
from regraft.core.patch_text import PatchText, Problem, Section
from regraft.core.quoting import quoted
from regraft.core.trees import shown
from regraft.flows.ports import GateStore

LIMIT = 16 * 1024 * 1024


class PatchFile(Struct, frozen=True):
    """One patch file of the project: its path there, its bytes as they are in the checkout, and what the manifest declares.

    `strip` is None where nothing is declared; `root` is "" for the top of the tree.
    """

    path: str
    data: bytes
    strip: int | None = None
    root: bytes = b""


class FileChange(Struct, frozen=True):
    """What a patch does to one file, or to several that hang together (by a rename, or by being touched twice)."""

    changes: tuple[tuple[bytes, Section], ...]

    @property
    def paths(self) -> frozenset[bytes]:
        """Old names and new ones."""
        origins = {section.origin for _, section in self.changes if section.origin is not None}
        return frozenset({path for path, _ in self.changes} | origins)

    @property
    def new_paths(self) -> tuple[bytes, ...]:
        return tuple(dict.fromkeys(path for path, _ in self.changes))

    @property
    def old_paths(self) -> tuple[bytes, ...]:
        return tuple(dict.fromkeys(section.origin or path for path, section in self.changes))

    @property
    def name(self) -> str:
        return shown(self.changes[0][0])


class Reading(Struct, frozen=True):
    """`trouble` is why the patch is unreadable. `data` has no carriage returns at line ends where headers had them."""

    data: bytes
    text: PatchText
    files: tuple[FileChange, ...]
    touched: frozenset[bytes]
    trouble: str | None
    mended: bool = False  # the carriage returns are the only trouble, and `data` is without them


def read_carried(patch: PatchFile, exists: Callable[[bytes], bool]) -> PatchText:
    """What the patch says, where files are as `exists` tells. Git is not asked: `confirmed` does that."""
    text = read_patch_text(patch.data, strip=patch.strip, root=patch.root, exists=exists)
    if text.problems and len(patch.data) <= LIMIT:
        from regraft.core.patch_repair import repair  # noqa: PLC0415 - only a damaged patch needs it

        mended = repair(patch.data)
        text.offered = mended.what if mended else ()
    return text


def confirmed(text: PatchText, patch: PatchFile, store: GateStore) -> PatchText:
    """The same, or with one more problem where git reads the file otherwise than we do: git's word counts."""
    if text.problems:
        return text
    announced = store.numstat(patch.data, names=text.git_arguments)
    if announced.complaint is not None:
        text.problems.append(Problem(1, f"git says {quoted(announced.complaint)}", announced.complaint))
    elif announced.paths != tuple(section.path for section in text.sections):
        said = ", ".join(map(shown, announced.paths[:3]))
        text.problems.append(Problem(1, f"git reads other files in it than regraft does: {said}"))
    return text


def read_patch(patch: PatchFile, store: GateStore) -> Reading:
    """What the patch announces. Nothing of the repository is looked at."""
    trouble = _not_a_patch(patch.data)
    if trouble is not None:
        return Reading(patch.data, PatchText(), (), frozenset(), trouble)
    text = scan(patch.data)
    if text.returns is None:
        return _read(patch.data, text, store)
    mended = patch.data.replace(b"\r\n", b"\n")
    reading = _read(mended, scan(mended), store)
    trouble = f"line {text.returns}: a diff header ends in a carriage return; something rewrote the file's line ends"
    return Reading(mended, reading.text, reading.files, reading.touched, trouble, mended=reading.trouble is None)


def _not_a_patch(data: bytes) -> str | None:
    if len(data) > LIMIT:
        return f"the file holds {len(data)} bytes; at most {LIMIT} are read"
    fault = patch_fault(data)
    return f"the file {fault}" if fault else None


def _read(data: bytes, text: PatchText, store: GateStore) -> Reading:
    forward, backward = store.numstat(data), store.numstat(data, reverse=True)
    touched = frozenset((*forward.paths, *backward.paths))
    trouble = _trouble(text, forward.complaint, forward.paths) or _unsafe((*forward.paths, *backward.paths), text)
    if trouble is not None:
        return Reading(data, text, (), touched, trouble)
    files = _connected(zip(forward.paths, text.sections, strict=True))
    return Reading(data, text, files, touched, None)


def _trouble(text: PatchText, complaint: str | None, paths: tuple[bytes, ...]) -> str | None:
    said = [f"git says {quoted(complaint)}"] if complaint is not None else []
    said += [f"line {problem.line}: {problem.message}" for problem in text.problems[:3]]
    if len(text.problems) > 3:
        said.append(f"and {len(text.problems) - 3} more")
    if not said and len(paths) != len(text.sections):
        said.append(f"it announces {len(text.sections)} files, and git reads {len(paths)}")
    return "; ".join(said) or None


def _unsafe(paths: Iterable[bytes], text: PatchText) -> str | None:
    origins = (section.origin for section in text.sections if section.origin is not None)
    for path in (*paths, *origins):
        if why := unsafe(path):
            return f"the path {shown(path)} {why}"
    return None


def _connected(changes: Iterable[tuple[bytes, Section]]) -> tuple[FileChange, ...]:
    files: list[FileChange] = []
    for change in changes:
        one = FileChange((change,))
        joined = [file for file in files if file.paths & one.paths]
        merged = FileChange(tuple(part for file in (*joined, one) for part in file.changes))
        if joined:
            files[files.index(joined[0])] = merged
            files = [file for file in files if file not in joined[1:]]
        else:
            files.append(merged)
    return tuple(files)
