"""Where in a script the commands stand whose failure is looked at, and what leads to them."""

import re
from collections.abc import Mapping, Sequence

from regraft.core.shell_values import Block, Command, Nested, Node, all_commands


class Reach:
    """`sourced`: the scripts that `.` reads, by the `id` of the command. Functions are added as the script defines them."""

    def __init__(self, failing: Sequence[Command], sourced: Mapping[int, Block]) -> None:
        self._failing = {id(one) for one in failing}
        self._sourced = sourced
        self._functions: set[str] = set()

    def fails(self, command: Command) -> bool:
        return id(command) in self._failing

    def define(self, name: str, function: Nested) -> None:
        if self.holds(function):
            self._functions.add(name)

    def holds(self, node: Node) -> bool:
        """Whether one of the commands stands in it, or is reached by a function or a file that it runs."""
        waiting, seen = [node], set[int]()
        while waiting:
            for one in all_commands(waiting.pop()):
                if id(one) in self._failing or one.name in self._functions:
                    return True
                if id(one) in self._sourced and id(one) not in seen:
                    seen.add(id(one))
                    waiting.append(self._sourced[id(one)])
        return False

    def varies(self, body: Block, variable: str) -> bool:
        """Whether a turn of a loop may do well where another does not."""
        mine = [one for one in all_commands(body) if id(one) in self._failing]
        named = re.compile(rf"\$\{{?{re.escape(variable)}(?![A-Za-z0-9_])")
        return not mine or any(named.search(word.text) for one in mine for word in (*one.words, *one.targets))
