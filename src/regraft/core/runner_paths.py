"""Absolute paths of an image, in the texts of a step, put below a folder of this machine.

Only what a script says literally is seen: a path that is put together at run time, or that a program or file of the
repository holds, is not. In a shell script the syntax tree tells literal text from comments, names and expansions.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from regraft.core.runner_values import Mapped
from regraft.core.shell_text import syntax_tree
from regraft.core.spans import Edit, Span, edited

_LITERAL = frozenset({"word", "raw_string", "string_content", "heredoc_body", "ansi_c_string", "regex"})
_BEFORE = rb"(?<![\w./~$})\]*@%])"  # where a path begins: at the start, after a blank, a quote, `=`, `:` or `,`
_AFTER = rb"(?![\w.@%+~-])"  # `/root` is neither in `/rootfs` nor in `/root-old`


class Paths:
    """`folders` has what stands for each absolute path of the image. `programs`: what a command by an absolute path,
    whose last part is one of these names, is called instead, unless it `exists` where it is mapped to.
    """

    def __init__(
        self,
        folders: Mapping[str, str],
        programs: Mapping[str, str] | None = None,
        exists: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._exists = exists
        self._folders = {_trimmed(path): folder for path, folder in folders.items()}
        self._programs = programs or {}
        names = sorted(self._folders, key=len, reverse=True)
        joined = b"|".join(re.escape(name.encode("utf-8", "surrogateescape")) for name in names)
        self._pattern = re.compile(_BEFORE + rb"(" + joined + rb")" + _AFTER) if names else None
        self._times: Counter[tuple[str, str]] = Counter()

    @property
    def maps(self) -> bool:
        """Whether any path is mapped."""
        return self._pattern is not None

    def file(self, text: str) -> str:
        """A shell script of the project."""
        return self.script(text, is_shell=True)

    def used(self) -> tuple[Mapped, ...]:
        """What was put in another's place since this was asked last."""
        found = tuple(Mapped(path, folder, times) for (path, folder), times in sorted(self._times.items()))
        self._times.clear()
        return found

    def place(self, path: str) -> str:
        """A path alone: of a working directory."""
        return self.value(path) if path.startswith("/") else path

    def origin(self, path: str) -> str:
        """The image's path of what is below one of the folders; any other as it is."""
        found = [one for one, folder in self._folders.items() if path == folder or path.startswith(f"{folder}/")]
        best = max(found, key=lambda one: len(self._folders[one]), default=None)
        return path if best is None else best + path[len(self._folders[best]) :]

    def script(self, text: str, *, is_shell: bool) -> str:
        """A whole script. One that is no shell's, or cannot be read as one, is taken as plain text."""
        if self._pattern is None and not self._programs:
            return text
        data = text.encode("utf-8", "surrogateescape")
        root = syntax_tree(data) if is_shell and b"/" in data else None
        if root is None:
            done = self._plain(data) if self._pattern is not None else data
        else:
            done = edited(data, list(self._edits(root, data)))
        return done.decode("utf-8", "surrogateescape")

    def value(self, text: str) -> str:
        """A variable: a path, or a list of them with `:` between. Text with a blank in it is somebody's text, and stays."""
        if self._pattern is None or "/" not in text or any(char.isspace() for char in text):
            return text
        parts = [self._at_start(one) for one in text.split(":")]
        return ":".join(parts)

    def _at_start(self, part: str) -> str:
        path = self._above(part)
        if path is not None:
            self._times[path, self._folders[path]] += 1
        return self._put(part)

    def _above(self, part: str) -> str | None:
        """The longest path that is mapped and holds this one."""
        found = (one for one in self._folders if part == one or part.startswith(f"{one}/"))
        return max(found, key=len, default=None)

    def _put(self, part: str) -> str:
        path = self._above(part)
        return part if path is None else self._folders[path] + part[len(path) :]

    def _plain(self, data: bytes) -> bytes:
        assert self._pattern is not None
        return self._pattern.sub(self._replaced, data)

    def _replaced(self, match: "re.Match[bytes]") -> bytes:
        path = match[1].decode("utf-8", "surrogateescape")
        self._times[path, self._folders[path]] += 1
        return self._folders[path].encode("utf-8", "surrogateescape")

    def _edits(self, root: Any, data: bytes) -> Iterable[Edit]:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.type == "command_name" and (edit := self._program(node)) is not None:
                yield edit
                continue
            if node.type in _LITERAL and self._pattern is not None:
                yield from self._literal(node, data)
            waiting.extend(node.children)

    def _program(self, node: Any) -> Edit | None:
        """`/opt/venv/bin/pip` is the stub's too."""
        written = node.text.decode("utf-8", "surrogateescape")
        name = written.rpartition("/")[2]
        if not written.startswith("/") or name not in self._programs or self._exists(self._put(written)):
            return None
        self._times[written, self._programs[name]] += 1
        return Edit(Span(node.start_byte, node.end_byte), self._programs[name].encode("utf-8", "surrogateescape"))

    def _literal(self, node: Any, data: bytes) -> Iterable[Edit]:
        """The pieces of a literal that no expansion takes up; what is before one in the script says whether a path begins."""
        assert self._pattern is not None
        inner = [one for one in node.children if one.is_named and one.type != "heredoc_content"]
        starts = [node.start_byte, *(one.end_byte for one in inner)]
        stops = [*(one.start_byte for one in inner), node.end_byte]
        joined = _follows(node)
        for start, stop in zip(starts, stops, strict=True):
            for match in self._pattern.finditer(data, start, stop):
                if match.start(1) == start and (joined or start != node.start_byte):
                    continue  # it goes on from an expansion: `$PREFIX/root`
                if self._goes_on(data, match.end(1), stop, node):
                    continue
                yield Edit(Span(match.start(1), match.end(1)), self._replaced(match))

    @staticmethod
    def _goes_on(data: bytes, at: int, stop: int, node: Any) -> bool:
        """Whether an expansion goes on with the last part of the path: `/root$SUFFIX`."""
        return at == stop and data[at : at + 1] in (b"$", b"`") and node.type != "raw_string"


def _follows(node: Any) -> bool:
    """Whether it is the middle of a word."""
    before = node.prev_sibling
    if node.parent is None or node.parent.type not in ("string", "concatenation") or before is None:
        return False
    return bool(before.end_byte == node.start_byte and before.text != b'"')


def _trimmed(path: str) -> str:
    return "/" + path.strip("/")
