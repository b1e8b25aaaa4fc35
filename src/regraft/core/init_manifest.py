"""A proposed manifest as values, and its text: each value with the place that it comes from, each question with its key."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from regraft.core import manifest_texts as texts
from regraft.core.manifest_shapes import Text
from regraft.core.patterns import regex

HEAD = """\
# What `regraft init` found in this repository. Beside a value stands the line that it comes from. What cannot be known from here
# stands as a question, and its key is left out: answer it, and take the comment away. `regraft init --check` compares again later.
"""
_BARE = regex(r"[A-Za-z0-9_-]+")
_TEXTS: dict[str, Text] = {
    "name": texts.PROJECT,
    "url": texts.URL,
    "allow": texts.ALLOWED,
    "token-env": texts.TOKEN,
    "branch": texts.BRANCH,
    "directive": texts.DIRECTIVE,
    "repository": texts.REPOSITORY,
    "tag": texts.TAG,
    "tag-directive": texts.DIRECTIVE,
    "dockerfile": texts.PATH,
    "python": texts.PYTHON,
    "python-path": texts.SEARCH_PATH,
    "path": texts.BAKED_PATH,
    "distributions": texts.DISTRIBUTION,
    "locate": texts.MODULE,
    "patches": texts.PATH,
    "series": texts.PATH,
    "package": texts.DISTRIBUTION,
    "install": texts.ARGUMENT,
    "context": texts.PATH,
    "target": Text("the name of a stage", r"[A-Za-z0-9][A-Za-z0-9._-]*"),
}


class Entry(Struct, frozen=True):
    """A key with its value, or (`value` None) the question that stands for it. `why` is where the value comes from."""

    key: str
    value: Any = None
    why: str | None = None
    question: str | None = None
    offer: str | None = None  # the line to take, should the answer be yes


class Table(Struct):
    """One table. `off`: a required key of it is not known, so that all of it stands as a comment."""

    path: tuple[str, ...]
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    off: str | None = None

    @property
    def dotted(self) -> str:
        return dotted(self.path)

    def put(self, key: str, value: Any, why: object) -> None:
        """A value; where no manifest may hold it, a question in its place."""
        fault = _fault(key, value)
        if fault is not None:
            self.ask(key, f"what is it? {why} says a text that cannot stand here: it {fault}")
        else:
            self.entries.append(Entry(key, value, str(why) if why else None))

    def ask(self, key: str, question: str, offer: str | None = None) -> None:
        self.entries.append(Entry(key, question=question, offer=offer))

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


class Proposal(Struct):
    """`remarks` are questions and notes that belong to no table: (key path or None, text)."""

    tables: list[Table] = field(default_factory=list)
    remarks: list[tuple[str | None, str]] = field(default_factory=list)

    @property
    def questions(self) -> int:
        asked = sum(one.question is not None for table in self.tables for one in table.entries)
        off = sum(table.off is not None for table in self.tables)
        return asked + off + sum(key is not None for key, _ in self.remarks)


_NAMES = {"env": texts.VARIABLE, "build-args": Text("the name of a build argument", r"[A-Za-z_][A-Za-z0-9_]*")}


def _fault(key: str, value: Any) -> str | None:
    if key in _NAMES:
        faults = [_NAMES[key].judge(name) or texts.VALUE.judge(text) for name, text in value.items()]
        return next((one.message for one in faults if one is not None), None)
    shape = _TEXTS.get(key)
    for one in _strings(value):
        try:
            one.encode("utf-8")
        except UnicodeEncodeError:
            return "is not UTF-8"
        fault = shape.judge(one) if shape is not None else None
        if fault is not None:
            return fault.message
    return None


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from _strings(value.get("file"))
        case list():
            for one in value:
                yield from _strings(one)


def dotted(path: Iterable[str]) -> str:
    return ".".join(part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False) for part in path)


def manifest_text(proposal: Proposal) -> str:
    """The manifest's text. Every line of it that could come from somebody else is a TOML string or printable."""
    lines = [HEAD]
    for table in proposal.tables:
        lines += [*_table(table), ""]
    lines += [_comment(text if key is None else f"question: {key}: {text}") for key, text in proposal.remarks]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(table: Table) -> Iterator[str]:
    mark = "# " if table.off is not None else ""
    if table.off is not None:
        yield _comment(f"question: {table.dotted}{table.off}")
    yield f"{mark}[{table.dotted}]"
    for one in table.entries:
        if one.question is not None:
            yield _comment(f"question: {table.dotted}.{one.key}: {one.question}")
            if one.offer is not None:
                yield from (_comment(line) for line in one.offer.split("\n"))
        else:
            yield from (mark + line for line in _entry(one))
    yield from (_comment(text) for text in table.notes)


def _entry(one: Entry) -> Iterator[str]:
    beside = f"  {_comment(one.why)}" if one.why else ""
    text = f"{one.key} = {toml(one.value)}"
    if isinstance(one.value, list) and len(text) > 100 and len(one.value) > 1:
        yield f"{one.key} = [{beside}"
        yield from (f"    {toml(item)}," for item in one.value)
        yield "]"
    else:
        yield text + beside


def toml(value: Any) -> str:
    """A string, a number, a list or a table as TOML writes it on one line; a string as JSON does."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return "{ " + ", ".join(f"{dotted((key,))} = {toml(one)}" for key, one in value.items()) + " }"
        case _:
            return json.dumps(value)


def _comment(text: str) -> str:
    return "# " + "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
