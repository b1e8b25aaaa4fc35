"""What a script does to an image, followed command by command: folders, variables, conditions, loops.

Nothing is run. A command that is not known is taken to end well, since the build would stop there otherwise; a condition that
nobody can tell makes what depends on it doubtful (`Shell.doubt`).
"""

from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from regraft.core.drop_target import resolved
from regraft.core.init_expand import Copied, Files, Value, expand, value_of
from regraft.core.init_listing import Listing, by_version, listing
from regraft.core.init_values import Held, Place, Remark
from regraft.core.patterns import regex
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import (
    Block,
    Chain,
    Command,
    For,
    Group,
    If,
    Negated,
    Nested,
    Node,
    Pipeline,
    Word,
    commands_of,
    inside,
)
from regraft.core.spans import Span

SERIES = "$:series:"  # what a loop over a series file gives its variable, with the file's path in the project
STEPS = 20_000
_MOST = 200  # turns of one loop
_DEEPEST = 4  # scripts that run scripts
_TELLING = regex(rb"\bgit\b[^\n]{0,80}\b(?:apply|am|clone|checkout|reset)\b|\bpatch\b|\bpip\b[^\n]{0,80}\binstall\b")
_CAT = regex(r"\$\(\s*(?:cat|<)\s*\"?([^\s\"|;&()]+)\"?\s*\)")

Run = Callable[["Shell", Command], bool | None]


def unknown(name: str) -> str:
    """What a variable stands for whose value nobody can tell: itself, and so neither empty nor unset."""
    return f"${name}" if name.isidentifier() else ""


class Shell(Struct):
    """One shell, at one point of its script. `place` gives the line of an offset in the script at hand.

    `run` is what judges a simple command: the answer is whether it ends well, None where nobody can tell.
    """

    held: Held
    files: Files
    folder: str
    variables: dict[str, str | None]
    place: Callable[[int], Place]
    run: Run
    read: Callable[[str], bytes | None]  # a file of the project
    text: bytes = b""
    doubt: str | None = None
    pattern: str | None = None  # the glob that the loop at hand goes over
    before: list[str] = field(default_factory=list)  # folders to come back to
    depth: int = 0
    project: str | None = None  # where the project's own checkout is
    steps: int = STEPS  # statements that are still followed

    def value(self, word: Word) -> Value:
        return value_of(word, self.variables)

    def path(self, text: str) -> str:
        """`text` from the folder at hand."""
        for here in ("$PWD", "$(pwd)", "`pwd`"):
            if text == here or text.startswith(f"{here}/"):
                text = f"{self.folder}{text[len(here) :]}"
        return resolved(self.folder, text)

    def cd(self, text: str) -> None:
        if text == "-":
            self.folder, self.before = (self.before[-1] if self.before else self.folder), self.before[:-1]
        else:
            self.before.append(self.folder)
            self.folder = self.path(text)

    def ask(self, text: str, place: Place) -> None:
        remark = Remark(text, place)
        if remark not in self.held.remarks:
            self.held.remarks.append(remark)

    def say(self, text: str, place: Place) -> None:
        self.held.remarks.append(Remark(text, place, question=False))

    def script(self, text: bytes, place: Callable[[int], Place]) -> bool | None:
        """Follow a whole script in this shell."""
        block = read_shell(text)
        if block is None:
            if _TELLING.search(text):
                self.ask("what does this script do? It cannot be read as one", place(0))
            return None
        kept = self.text, self.place
        self.text, self.place = text, place
        status = self.walk(block)
        self.text, self.place = kept
        return status

    def walk(self, node: Node) -> bool | None:
        """Follow a statement; the answer is whether it ends well, None where nobody can tell."""
        self.steps -= 1
        if self.steps < 0:
            if self.steps == -1:
                self.ask("what follows? This script does more than is followed", self.place(node.span.start))
            return None
        match node:
            case Command():
                return self.run(self, node)
            case Block(items=items):
                status: bool | None = True
                for one in items:
                    status = self.walk(one)
                return status
            case Chain():
                return self._chain(node)
            case Negated(item=item):
                status = self.walk(item)
                return None if status is None else not status
            case Group(kind=kind, body=body):
                return self.walk(body) if kind == "group" else self._apart(body)
            case If():
                return self._if(node)
            case For():
                return self._for(node)
            case Pipeline():
                return self._pipeline(node)
            case _:
                self._other(node)
                return None

    def _chain(self, chain: Chain) -> bool | None:
        status = self.walk(chain.items[0])
        for operator, item in zip(chain.operators, chain.items[1:], strict=True):
            wanted = operator.text == "&&"
            if status is None:
                why = f"only where {self.place(chain.items[0].span.start)} ends {'well' if wanted else 'badly'}"
                other = self._doubting(why, item)
                status = other if other is None or other is not wanted else None
            elif status is wanted:
                status = self.walk(item)
            elif not wanted and _tells(item):
                line = self.place(item.span.start)
                self.say("what follows `||` here is taken to be there for a failure only", line)
        return status

    def _doubting(self, why: str, node: Node) -> bool | None:
        kept, self.doubt = self.doubt, self.doubt or why
        before = dict(self.variables)
        try:
            return self.walk(node)
        finally:
            self.doubt = kept
            for name, value in list(self.variables.items()):
                if name not in before or before[name] != value:
                    self.variables[name] = unknown(name)

    def _apart(self, node: Node) -> bool | None:
        kept = self.folder, dict(self.variables), list(self.before)
        try:
            return self.walk(node)
        finally:
            self.folder, self.variables, self.before = kept

    def _if(self, node: If) -> bool | None:
        for condition, body in node.branches:
            status = True if condition is None else self.walk(condition)
            if status is True:
                return self.walk(body)
            if status is None:
                self._doubting(f"only where the condition at {self.place(body.span.start)} holds", body)
        return True

    def _for(self, loop: For) -> bool | None:
        kept = self.variables.get(loop.variable), self.pattern
        known = loop.variable in self.variables
        for word in loop.words:
            for text, pattern in self.listed(word):
                self.variables[loop.variable], self.pattern = text, pattern or self.pattern
                self.walk(loop.body)
                self.pattern = kept[1]
        if known:
            self.variables[loop.variable] = kept[0]
        return True

    def listed(self, word: Word) -> list[tuple[str, str | None]]:
        """What a word of a list stands for: each text, and the pattern where it came from one."""
        series = _CAT.fullmatch(word.text)
        if series and (found := self.files.find(self.path(expand(series[1], self.variables).text))):
            return [(f"{SERIES}{found}", None)]
        value = self.value(word)
        if (listed := listing(value.text)) is not None:
            return self._matched(listed, word)
        if word.glob or (value.known and any(char in value.text for char in "*?")):
            return self._matched(Listing(tuple(value.text.split()), versions=False), word)
        if not value.known:
            return [(value.text, None)]
        return [(one, None) for one in value.text.split()[:_MOST]] or [("", None)]

    def _matched(self, listed: Listing, word: Word) -> list[tuple[str, str | None]]:
        """An order of versions is one that is declared; that of a pattern is the locale's."""
        found: list[tuple[str, str | None]] = []
        for pattern in listed.patterns:
            path = self.path(pattern)
            here = [one for one, _ in self.files.matching(path)]
            if not here and listed.command:  # `ls FOLDER` says names without it
                here = [one.rpartition("/")[2] for one, _ in self.files.matching(f"{path.rstrip('/')}/*")]
            declared = len(here) == 1 or (listed.versions and not any("~" in one for one in here))
            found += [(one, None if declared else pattern) for one in here[:_MOST]]
            if not here:
                self.ask(f"what does {pattern!r:.200} match? No file of the project", self.place(word.span.start))
        return sorted(found, key=lambda one: by_version(one[0])) if listed.versions else found

    def _pipeline(self, node: Pipeline) -> bool | None:
        """`cat PATCHES | patch`: as if the second had them as its operands. Else each part is followed by itself."""
        first, last = node.items[0], node.items[-1]
        if isinstance(last, Command) and last.name == "xargs" and _tells(last):
            self.ask("which patches, and in which order? They come through a pipe", self.place(node.span.start))
            return True
        if isinstance(first, Command) and isinstance(last, Command) and first.name == "cat" and len(node.items) == 2:
            named = tuple(word for word in first.words[1:] if not word.text.startswith("-"))
            if named and last.name in ("git", "patch"):
                return self.run(self, replace(last, words=(*last.words, Word(Span(0, 0), "|"), *named)))
        status: bool | None = True
        for one in node.items:
            status = self._apart(one)
        return status

    def _other(self, node: Node) -> None:
        """Loops, cases and functions, which are followed as far as nothing is claimed, and what has no value."""
        telling = _TELLING.search(self.text[node.span.start : node.span.stop])
        if isinstance(node, Nested) and node.kind != "function":
            for block in inside(node):
                self._doubting(f"only where {self.place(node.span.start)} comes to it", block)
        elif telling:
            what = "a function" if isinstance(node, Nested) else "a statement that cannot be followed"
            self.ask(f"what does this do? It stands in {what}", self.place(node.span.start + telling.start()))

    def call(self, path: str, *, here: bool) -> bool | None:
        """Follow a script of the project; with `here` in this very shell, as `source` does."""
        project = self.files.find(self.path(path))
        data = self.read(project) if project is not None and self.depth < _DEEPEST else None
        if project is None or data is None:
            return True
        kept = self.folder, dict(self.variables), list(self.before), self.depth
        self.depth += 1
        from regraft.core.spans import Places  # noqa: PLC0415 - only what runs scripts needs it

        places = Places(data)
        status = self.script(data, lambda at: Place(project, places.of(at)[0]))
        if here:
            self.depth = kept[3]
        else:
            self.folder, self.variables, self.before, self.depth = kept
        return status

    def brings(self, sources: Sequence[str], target: str) -> None:
        """A copy within the image: what stood at the sources stands at the target too."""
        known = [(one, there) for one in sources if (there := self.files.project_path(self.path(one))) is not None]
        many = len(sources) > 1 or target.endswith("/") or target in (".", "..")
        for one, there in known:
            name = one.rstrip("/").rpartition("/")[2]
            inside = self.path(f"{target.rstrip('/')}/{name}" if many else target)
            self.files.copied.append(Copied(inside, there))


def _tells(node: Node) -> bool:
    """Whether a statement holds a command that would change a checkout."""
    for command in commands_of(node):
        words = [word.text for word in command.words]
        if command.name.rpartition("/")[2] == "patch" or ("git" in words[:2] and {"apply", "am", "clone"} & {*words}):
            return True
        if "install" in words and any(one.rpartition("/")[2].startswith("pip") for one in words):
            return True
        if command.name == "xargs" and {"patch", "apply", "am"} & {*words}:
            return True
    return False
