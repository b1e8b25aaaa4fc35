"""Questions about statements as a whole: whether they move the shell, undo each other, or are about a loop's variable."""

from regraft.core.drop_command import idle, state
from regraft.core.drop_target import Where
from regraft.core.shell_values import Command, For, Group, Nested, Node, Word, commands_of, inside
from regraft.core.spans import Span


def is_cd(node: Node) -> bool:
    return isinstance(node, Command) and node.name in ("cd", "pushd") and len(node.words) == 2 and not node.redirects


def undoes(there: Node, back: Node) -> bool:
    """Whether the second change of folder undoes the first: `cd a/b` and `cd ../..`, `cd a` and `cd -`, `pushd` and `popd`."""
    if not isinstance(there, Command) or not isinstance(back, Command) or back.redirects:
        return False
    if there.name == "pushd":
        return back.name == "popd" and len(back.words) == 1
    if back.name != "cd" or len(back.words) != 2:
        return False
    folder, way = there.words[1], back.words[1].text
    if way == "-":
        return True
    parts = folder.text.rstrip("/").split("/")
    named = folder.plain and not folder.glob and not any(part in ("", ".", "..", "~") for part in parts)
    return named and way.rstrip("/") == "/".join([".."] * len(parts))


def moves(node: Node) -> bool:
    """Whether a statement with statements in it may leave the shell in another folder."""
    waiting: list[Node] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Command) and one.name in ("cd", "pushd", "popd"):
            return True
        ends = (isinstance(one, Group) and one.kind == "subshell") or (
            isinstance(one, Nested) and one.kind == "function"
        )
        waiting += () if ends else inside(one)
    return False


def _all_words(command: Command) -> list[Word]:
    return [*command.words, *(one.target for one in command.redirects if one.target is not None)]


def stands_for_patch(loop: For, word: Word, where: Where) -> bool:
    """Whether the loop's body means the patch when its variable is this word."""
    if where.is_patch(word.text):
        return True
    name = f"${loop.variable}"
    for command in commands_of(loop.body):
        for one in _all_words(command):
            before, found, after = one.text.partition(name)
            if found and not (after[:1].isalnum() or after[:1] == "_") and where.is_patch(before + word.text + after):
                return True
    return False


def all_about(loop: For) -> bool:
    """Whether everything in a loop's body is about its variable, or talks."""
    name = f"${loop.variable}"
    return all(
        idle(command, ends=True) or state(command) or any(name in word.text for word in _all_words(command))
        for command in commands_of(loop.body)
    )


def before_list(loop: For) -> Span:
    """Where the list begins: right after the word `in`."""
    first = loop.words[0].span.start
    return Span(loop.span.start, first - 1)
