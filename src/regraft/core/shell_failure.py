"""Whether the failure of some commands makes a script fail: the script is run in thought, with all others doing well."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

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
    commands_of,
)

Outcome = Literal["stops", "goes-on", "unclear"]

MOST = 100_000  # statements that are run in thought

_ENDS = frozenset({"exit", "return"})


class Shell(Struct):
    """The options in force, which the script may change."""

    errexit: bool = False
    pipefail: bool = False


def outcome(block: Block, failing: Sequence[Command], shell: Shell) -> tuple[Outcome, Node | None]:
    """What becomes of a script when all of `failing` fail, and the statement that swallows that, where one does."""
    run = _Run(failing, Shell(shell.errexit, shell.pipefail))
    try:
        status = run.node(block)
    except _Left as left:
        status = left.status
    except (_Unclear, RecursionError):
        return "unclear", None
    if status:
        return "stops", None
    if run.never_called():
        return "unclear", None
    return "goes-on", run.swallowed


class _Left(Exception):  # noqa: N818 - not an error: the script ends here
    def __init__(self, status: int) -> None:
        self.status = status


class _Returned(_Left):
    pass


class _Unclear(Exception):  # noqa: N818 - likewise
    pass


class _Run:
    def __init__(self, failing: Sequence[Command], shell: Shell) -> None:
        self._failing = {id(one) for one in failing}
        self._shell = shell
        self._guarded = 0
        self._failed = False
        self._last = 0
        self._functions: dict[str, Nested] = {}
        self._steps = 0
        self._reaching: set[str] = set()
        self._within: list[str] = []
        self.swallowed: Node | None = None

    def node(self, node: Node) -> int:
        """Its status. Raises _Left where the script ends in it."""
        before = self._failed
        self._steps += 1
        if self._steps > MOST:  # functions that call each other
            raise _Unclear
        status = self._status(node)
        if status == 0 and self._failed and not before and self.swallowed is None:
            self.swallowed = node
        self._last = status
        return status

    def _status(self, node: Node) -> int:
        match node:
            case Command():
                return self._command(node)
            case Negated(item=item):
                return 1 - self._quietly(item)
            case Pipeline(items=items):
                found = [self._alone(one) for one in items]
                return self._checked(max(found) if self._shell.pipefail else found[-1])
            case Chain():
                return self._chain(node)
            case Block(items=items, stops=stops):
                status = 0
                for one, stop in zip(items, stops, strict=True):
                    status = self._alone(one) * 0 if stop is not None and stop.text == "&" else self.node(one)
                return status
            case Group(kind="subshell", body=body):
                return self._checked(self._alone(body))
            case Group(body=body):
                return self.node(body)
            case If():
                return self._if(node)
            case For(body=body, words=words):
                return self._loop(node, body, once=len(words) == 1 and not words[0].glob and words[0].plain)
            case Nested(kind="while", blocks=blocks):
                self._refuse_in(blocks[:-1])
                return self._loop(node, blocks[-1], once=False) if blocks else 0
            case Nested(kind="case", blocks=blocks):
                here = [one for one in blocks if self._holds(one)]
                return self.node(here[0]) if here else 0
            case Nested(kind="function", name=name):
                if self._holds(node):
                    self._reaching.add(name)
                self._functions[name] = node
                return 0
            case Nested(blocks=blocks):
                self._refuse_in(blocks)
                return 0
            case _:
                return 0

    def never_called(self) -> bool:
        """Whether one of the commands stands in a function that nothing has called."""
        return not self._failed and any(self._holds(one) for one in self._functions.values())

    def _call(self, name: str) -> int:
        """Run a function. A call within itself is taken to do well."""
        if name in self._within:
            return 0
        self._within.append(name)
        try:
            status = self.node(self._functions[name].blocks[0])
        except _Returned as back:
            status = back.status
        finally:
            self._within.pop()
        return self._checked(status)

    def _refuse_in(self, blocks: tuple[Block, ...]) -> None:
        if any(self._holds(one) for one in blocks):
            raise _Unclear

    def _holds(self, node: Node) -> bool:
        """Whether one of the commands stands in it, or is reached by a function that it calls."""
        return any(id(one) in self._failing or one.name in self._reaching for one in commands_of(node))

    def _checked(self, status: int) -> int:
        if status and self._shell.errexit and not self._guarded:
            raise _Left(status)
        return status

    def _quietly(self, node: Node) -> int:
        """With `set -e` out of force, as in a condition."""
        self._guarded += 1
        try:
            return self.node(node)
        finally:
            self._guarded -= 1

    def _alone(self, node: Node) -> int:
        """In a shell of its own: what ends there ends that one."""
        before = Shell(self._shell.errexit, self._shell.pipefail)
        functions = dict(self._functions)
        try:
            return self.node(node)
        except _Left as left:
            return left.status
        finally:
            self._shell = before
            self._functions = functions

    def _command(self, command: Command) -> int:
        if id(command) in self._failing:
            self._failed = True
            return self._checked(1)
        words = [word.text for word in command.words]
        name = words[0] if words else ""
        if name in self._functions and self._functions[name].blocks:
            return self._call(name)
        if name in _ENDS and not self._failed:
            return 0  # it was not this way that led to the command
        if name in _ENDS:
            if len(words) > 1 and "$" in words[1]:
                raise _Unclear
            status = self._last if len(words) == 1 else int(words[1] != "0")
            raise _Returned(status) if name == "return" and self._within else _Left(status)
        if name == "set":
            self._set(words[1:])
        said = (*words, *(word.text for _, word in command.assignments if word is not None))
        if self._failed and any("$?" in word or "PIPESTATUS" in word for word in said):
            raise _Unclear
        return self._checked(1) if name == "false" else 0

    def _set(self, words: list[str]) -> None:
        for index, word in enumerate(words):
            on = word.startswith("-")
            if word[:1] not in ("-", "+"):
                continue
            if "e" in word[1:]:
                self._shell.errexit = on
            if word.endswith("o") and index + 1 < len(words):
                if words[index + 1] == "pipefail":
                    self._shell.pipefail = on
                elif words[index + 1] == "errexit":
                    self._shell.errexit = on

    def _chain(self, chain: Chain) -> int:
        last = len(chain.items) - 1
        status = 0
        for index, item in enumerate(chain.items):
            operator = chain.operators[index - 1].text if index else "&&"
            if (operator == "&&") == (status == 0):
                status = self.node(item) if index == last else self._quietly(item)
        return status

    def _if(self, node: If) -> int:
        asked = False
        for condition, body in node.branches:
            if condition is not None and self._holds(condition):
                asked = True
                if self._quietly(condition) == 0:
                    return self.node(body)
            elif (self._holds(body) and not asked) or (asked and condition is None):
                return self.node(body)
            elif self._failed and any(one.name in _ENDS or one.name == "false" for one in commands_of(body)):
                raise _Unclear  # it may well ask for what failed
        return 0

    def _loop(self, node: Node, body: Block, *, once: bool) -> int:
        status = self.node(body)
        if not once and status and self._holds(node):
            return 0  # the next turn does well, and its status is the loop's
        return status
