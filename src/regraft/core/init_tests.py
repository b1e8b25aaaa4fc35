"""Conditions of a shell, answered where the variables and the project's files tell."""

from collections.abc import Sequence

from regraft.core.init_shell import Shell
from regraft.core.shell_values import Command


def judged_test(shell: Shell, command: Command) -> bool | None:
    """Whether `[ … ]`, `[[ … ]]` or `test …` holds; None where nobody can tell."""
    words = [word for word in command.words[1:] if word.text not in ("]", "]]")]
    negated = bool(words) and words[0].text == "!"
    values = [shell.value(word) for word in (words[1:] if negated else words)]
    # A build argument without a value is empty; anything else that is not known is not known.
    texts = [value.text if value.known else _empty(shell, value.text) for value in values]
    if len(words) - negated == 2 and not (texts[0] or "").startswith("-"):
        left, right = words[-2:]  # the parser keeps the operator between them to itself
        between = shell.text[left.span.stop : right.span.start].decode("utf-8", "replace")
        texts.insert(1, between.strip().strip("\\").strip())
    found = _judged(shell, texts)
    return None if found is None else found is not negated


def _empty(shell: Shell, text: str) -> str | None:
    name = text.strip("${}")
    return "" if name in shell.variables and shell.variables[name] is None and text.startswith("$") else None


def _judged(shell: Shell, texts: Sequence[str | None]) -> bool | None:
    match texts:
        case ["-n", str() as value]:
            return bool(value)
        case ["-z", str() as value]:
            return not value
        case [str() as value] if not value.startswith("-"):
            return bool(value)
        case [str() as left, "=" | "==", str() as right]:
            return left == right if "*" not in right else None
        case [str() as left, "!=", str() as right]:
            return left != right if "*" not in right else None
        case [str() as left, "-eq" | "-ne" as operator, str() as right] if left.isdigit() and right.isdigit():
            return (int(left) == int(right)) is (operator == "-eq")
        case ["-f" | "-e" | "-s" | "-r", str() as path]:
            return True if shell.files.find(shell.path(path)) is not None else None
        case ["-d", str() as path]:
            return True if shell.path(path) in shell.held.checkouts else None
        case _:
            return None
