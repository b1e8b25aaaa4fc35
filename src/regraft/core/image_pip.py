"""What `pip install` gets from git by a name that may move: by its own words, and by the files that these lead to."""

from collections.abc import Callable, Iterator

from regraft.core.git_clones import HASH
from regraft.core.image_arguments import unfit
from regraft.core.image_scripts import Script
from regraft.core.image_values import Loose, Place
from regraft.core.patterns import regex
from regraft.core.shell_walk import Seen, at
from regraft.core.stage_files import StageFiles
from regraft.core.trees import printable

Read = Callable[[str], bytes | None]

# PIP_NAME @ git+URL@REF#…, where an `@` before the host belongs to the address
_GIT_URL = regex(
    r"(?:[^\s@]+\s*@\s*)?git\+([a-z+]+://(?:[^\s@/#;]*@)?[^\s@#;]+|[^\s@#;/]+@[^\s@#;]+)(?:@([^@#;\s]+))?(?:#\S*)?(?:\s*;.*)?"
)
_FILE = regex(r"(?:-r|-c|--requirement=|--constraint=)(.+)")
_FILES = frozenset({"-r", "-c", "--requirement", "--constraint"})
_EDITABLE = regex(r"(?:-e|--editable)[ =]?\s*")
_FOLDER = regex(r"(\.{1,2}|\.{0,2}/[^\s\[]*)(?:\[[^\]]*\])?")
_IN_PROJECT = regex(r"git\+[^\s\"',;\]]+")
_PROJECT = ("pyproject.toml", "setup.cfg", "setup.py")


def pip_loose(seen: Seen, words: list[str], script: Script, read: Read) -> Iterator[Loose]:
    """`words` are those after `install`."""
    place = script.place(seen.command.span.start)
    files = _Files(script.files, read)
    for index, word in enumerate(words):
        text = seen.text(word)
        yield from _requirement(text, word, seen, place)
        match = _FILE.fullmatch(text)
        if word in _FILES and index + 1 < len(words):
            yield from files.requirements(seen.path(seen.text(words[index + 1])))
        elif match is not None:
            yield from files.requirements(seen.path(match[1]))
        elif not (index and words[index - 1] in _FILES) and (folder := _FOLDER.fullmatch(_EDITABLE.sub("", text, 1))):
            yield from files.project(seen.path(folder[1]))


class _Files:
    """Files of the repository by where they lie in the image; each is read once."""

    def __init__(self, files: StageFiles, read: Read) -> None:
        self._files = files
        self._read = read
        self._done: set[str] = set()

    def _lines(self, place: str) -> Iterator[tuple[str, Place]]:
        path = self._files.at(place)
        if path is None or place in self._done:
            return
        self._done.add(place)
        data = self._read(path) or b""
        for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
            bare = line.partition(" #")[0].strip()
            if bare and not bare.startswith("#"):
                yield bare, Place(path, number)

    def requirements(self, place: str) -> Iterator[Loose]:
        """Those of a requirements or constraints file, and of the files that it names."""
        folder = place.rpartition("/")[0] or "/"
        for line, where in self._lines(place):
            head, _, rest = line.partition(" ")
            match = _FILE.fullmatch(line)
            bare = _EDITABLE.sub("", line, 1) if line.startswith(("-e", "--editable")) else line
            if head in _FILES:
                yield from self.requirements(at(folder, rest.strip()))
            elif match is not None:
                yield from self.requirements(at(folder, match[1].strip()))
            elif below := _FOLDER.fullmatch(bare):
                yield from self.project(at(folder, below[1]))
            else:
                yield from _requirement(bare, bare, None, where)

    def project(self, place: str) -> Iterator[Loose]:
        """Those that the project in a folder asks for."""
        for name in _PROJECT:
            for line, where in self._lines(at(place, name)):
                for match in _IN_PROJECT.finditer(line):
                    yield from _requirement(match[0], match[0], None, where)


def _requirement(text: str, written: str, seen: Seen | None, place: Place) -> Iterator[Loose]:
    match = _GIT_URL.fullmatch(text.strip())
    if match is None or (match[2] and HASH.fullmatch(match[2])):
        return
    url, ref = match[1], match[2]
    was = _GIT_URL.fullmatch(written.strip())
    argument = seen.argument(was[2]) if seen is not None and was and was[2] else None
    through = seen.through(written) if seen is not None and argument is None else None
    at = printable(ref) if ref else "its default branch"
    what, pin = f"pip install of {printable(url)} at {at}", f"git+{url}@<full commit>"
    if ref is not None and "$" in ref:
        yield Loose("pip", what, pin, place, argument=argument)
    else:
        yield Loose("pip", what, pin, place, url, ref, argument, unfit=unfit(through) if through else None)
