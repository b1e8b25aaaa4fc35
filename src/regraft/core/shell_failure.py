"""Whether the failure of some commands makes a script fail: the script is run in thought, with all others doing well."""

from collections.abc import Mapping, Sequence
from typing import Literal

from regraft.core.shell_asking import ENDING_NAMES, USUAL, Asked, ends, kills, passes
from regraft.core.shell_ends import Killed, Left, Returned, Turned, Unclear
from regraft.core.shell_options import Shell, set_options, trapped
from regraft.core.shell_reach import Reach
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
    Opaque,
    Pipeline,
)

Outcome = Literal["stops", "goes-on", "unclear"]

STEPS = 20_000  # of one script: functions that call each other can ask for any number
_ENDS = frozenset({"exit", "return"})
_LOOP_ENDS = frozenset({"break", "continue"})


def outcome(
    block: Block, failing: Sequence[Command], shell: Shell, sourced: Mapping[int, Block] | None = None
) -> tuple[Outcome, Node | None]:
    """What becomes of a script when all of `failing` fail, and the statement that swallows that, where one does.

    `sourced`: the scripts that `.` reads, by the `id` of the command.
    """
    run = _Run(failing, shell.copy(), sourced or {})
    try:
        status = run.whole(block)
    except Killed:
        return "stops", None
    except (Unclear, RecursionError):
        return "unclear", None
    if status:
        return "stops", None
    return ("goes-on", run.swallowed) if run.failed else ("unclear", None)


class _Run:
    def __init__(self, failing: Sequence[Command], shell: Shell, sourced: Mapping[int, Block]) -> None:
        self._reach = Reach(failing, sourced)
        self._shell = shell
        self._sourced = sourced
        self._guarded = 0
        self.failed = False
        self._last = 0
        self._functions: dict[str, Nested] = {}
        self._within: list[str] = []
        self._passed = [False]  # for each function: its words are a command that fails
        self._reading: list[Block] = []
        self._foreign = False  # it reads functions from files that are not known
        self._asked = Asked()
        self._on_error: Block | None = None
        self._on_exit: Block | None = None
        self._steps = 0
        self.swallowed: Node | None = None

    def whole(self, block: Block) -> int:
        """The status that the script ends with."""
        try:
            status = self.node(block)
        except Left as left:
            status = left.status
        except Turned:
            status = 0
        if self._on_exit is not None and self.failed:
            self._last, self._on_error = status, None
            try:
                self._quietly(self._on_exit)
            except Left as left:
                status = left.status
        return status

    def node(self, node: Node) -> int:
        """Its status. Raises Left where the script ends in it."""
        before = self.failed
        self._steps += 1
        if self._steps > STEPS:
            raise Unclear
        status = self._status(node)
        if status == 0 and self.failed and not before and self.swallowed is None:
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
            case For(variable=name, body=body, words=words):
                single = len(words) == 1 and not words[0].glob and words[0].plain
                return self._loop(node, body, once=single or (bool(words) and not self._reach.varies(body, name)))
            case Nested(kind="while" | "until", blocks=blocks) if blocks:
                return self._while(node, blocks[:-1], blocks[-1])
            case Nested(kind="case", blocks=blocks):
                here = [one for one in blocks if self._reach.holds(one)]
                if not here and self.failed and self._asked and any(ends(one, self._functions) for one in blocks):
                    raise Unclear  # it may well ask for what failed
                return self.node(here[0]) if here else 0
            case Nested(kind="function", name=name):
                self._reach.define(name, node)
                self._functions[name] = node
                return 0
            case Opaque(held=held):
                if not held and self.failed and self._asked:
                    raise Unclear
                return self.node(held[0]) if held else 0
            case _:
                return 0

    def _call(self, name: str, *, passed: bool = False) -> int:
        """Run a function. A call within itself is taken to do well."""
        if name in self._within:
            return 0
        self._within.append(name)
        self._passed.append(passed)
        try:
            status = self.node(self._functions[name].blocks[0])
        except Returned as back:
            status = back.status
        finally:
            self._within.pop()
            self._passed.pop()
        return self._checked(status)

    def _checked(self, status: int) -> int:
        if status and not self._guarded:
            handler, self._on_error = self._on_error, None
            if handler is not None and (not self._within or self._shell.errtrace):
                self._last = status
                self._quietly(handler)
            self._on_error = handler
            if self._shell.errexit:
                raise Left(status)
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
        shell, functions, handlers = self._shell.copy(), dict(self._functions), (self._on_error, self._on_exit)
        self._on_exit = None
        if not self._shell.errtrace:
            self._on_error = None
        try:
            return self.node(node)
        except Left as left:
            return left.status
        except Turned:
            return 0
        finally:
            self._shell, self._functions = shell, functions
            self._on_error, self._on_exit = handlers

    def _substituted(self, command: Command) -> int:
        """The status of the last `$(…)` in it. Bash lets go of `set -e` there, and other shells do not."""
        status = 0
        for one in command.inner:
            status = self._alone(one) if self._reach.holds(one) else 0
            if status and self._shell.errexit and not self._guarded and len(one.items) > 1:
                raise Unclear
        return status

    def _command(self, command: Command) -> int:
        within = self._substituted(command) if command.inner else 0
        words = [word.text for word in command.words]
        name = words[0] if words else ""
        known = name in self._functions and bool(self._functions[name].blocks)
        if self._reach.fails(command) or (self._passed[-1] and passes(words)):
            if known and self._reach.fails(command):
                return self._given(name)
            self.failed = True
            if name == "exec":
                raise Left(1)
            return self._checked(1)
        if known:
            return self._call(name)
        if id(command) in self._sourced:
            return self._read(self._sourced[id(command)])
        if not words:
            self._asked.assigned(command, failed=self.failed)
            return self._checked(within)
        self._foreign |= name in (".", "source")
        return self._builtin(name, words, command)

    def _read(self, block: Block) -> int:
        """Run a file that `.` reads. One within itself is taken to do well."""
        if any(one is block for one in self._reading):
            return 0
        self._reading.append(block)
        try:
            status = self.node(block)
        except Returned as back:
            status = back.status
        finally:
            self._reading.pop()
        return self._checked(status)

    def _given(self, name: str) -> int:
        """A function that is given the command: `retry git apply …`."""
        before, self.failed = self.failed, False
        status = self._call(name, passed=True)
        if not self.failed:
            raise Unclear
        self.failed = before or self.failed
        return status

    def _builtin(self, name: str, words: list[str], command: Command) -> int:
        if name == "set":
            set_options(self._shell, words[1:])
        elif name == "trap":
            given = trapped(words[1:])
            self._on_exit = given.get("EXIT", self._on_exit)
            self._on_error = given.get("ERR", self._on_error)
        if not self.failed:
            return self._checked(1) if name == "false" else 0  # it was not by `exit` that the failing one was reached
        if name in _ENDS:
            status = self._ended(words)
            raise Returned(status) if name == "return" and (self._within or self._reading) else Left(status)
        if kills(words):
            raise Killed
        if name == "exec" and len(words) > 1:
            raise Left(int(words[1] == "false"))
        if name in _LOOP_ENDS:
            raise Turned(name)
        self._asked.assigned(command, failed=True)
        if self._asked.by(command):
            raise Unclear
        return self._checked(1) if name == "false" else 0

    def _ended(self, words: list[str]) -> int:
        if len(words) == 1 or words[1] in ("$?", "${?}"):
            return self._last
        if "$" in words[1]:
            raise Unclear
        return int(words[1] != "0")

    def _chain(self, chain: Chain) -> int:
        last = len(chain.items) - 1
        status, asked = 0, False
        for index, item in enumerate(chain.items):
            operator = chain.operators[index - 1].text if index else "&&"
            holds = self._reach.holds(item)
            if asked:
                self._asked.within(item, self._functions)
            # what leads to a failing command need not do well
            if (operator == "&&") == (status == 0) or (holds and not self.failed):
                if asked and isinstance(item, Command) and self._may_end(item.name):
                    raise Unclear
                status = self.node(item) if index == last else self._quietly(item)
            asked |= holds
        return status

    def _may_end(self, name: str) -> bool:
        """Whether it may be a function of a file that is not known, which ends the script."""
        if not name or name in self._functions:
            return False
        return name in ENDING_NAMES or (self._foreign and name not in USUAL and "/" not in name)

    def _if(self, node: If) -> int:
        asked = False
        for condition, body in node.branches:
            if condition is not None and self._reach.holds(condition):
                asked = True
                for _, one in node.branches:
                    self._asked.within(one, self._functions)
                if self._quietly(condition) == 0:
                    return self.node(body)
            elif (self._reach.holds(body) and not asked) or (asked and condition is None):
                return self.node(body)
            elif self.failed and not asked and ends(body, self._functions):
                raise Unclear  # it may well ask for what failed
        return 0

    def _loop(self, node: Node, body: Block, *, once: bool) -> int:
        try:
            status = self.node(body)
        except Turned:
            return 0
        if not once and status and self._reach.holds(node):
            return 0  # the next turn does well, and its status is the loop's
        return status

    def _while(self, node: Nested, conditions: tuple[Block, ...], body: Block) -> int:
        if not any(self._reach.holds(one) for one in conditions):
            return self._loop(node, body, once=False)
        self._asked.within(body, self._functions)
        status = 0
        for one in conditions:
            status = self._quietly(one)
        if (status == 0) == (node.kind == "until"):
            return 0
        try:
            self.node(body)
        except Turned as turned:
            if turned.how == "break":
                return 0
        raise Unclear  # it tries again, and nobody knows for how long
