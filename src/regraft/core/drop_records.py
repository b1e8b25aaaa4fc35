"""Commands that fail where there is nothing to record: `git commit` after a patch that is applied no more."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, TypeVar

from regraft.core.drop_command import bare_words, git_words
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Command, commands_of
from regraft.core.spans import Span

Key = TypeVar("Key", bound=Hashable)
Act = Literal["change", "record"]

_LOOKS = frozenset({"--check", "--stat", "--numstat", "--summary", "--dry-run"})
_ASKS = frozenset({"--quiet", "--exit-code"})


def may_record(data: bytes) -> bool:
    """Whether a text could hold such a command at all."""
    return b"commit" in data or b"--quiet" in data or b"--exit-code" in data


def left_empty(scripts: Iterable[tuple[Key, bytes, Sequence[Span] | None]]) -> set[Key]:
    """The scripts whose cuts leave a later command nothing to record. They run one after another, in this order.

    Each comes with the spans of its text that go; None: all of it does. Another patch
    that stays in the same script is enough to record; what other scripts change may lie elsewhere.
    """
    found: set[Key] = set()
    gone: set[Key] = set()
    for key, text, spans in scripts:
        changed = False
        block = read_shell(text)
        for command in commands_of(block) if block is not None else ():
            act = _act(command)
            if act == "change" and (spans is None or any(one.holds(command.span) for one in spans)):
                gone.add(key)
            elif act == "change":
                changed = True
            elif act == "record":
                found |= gone if not changed else set()
                gone, changed = set(), False
    return found


def _act(command: Command) -> Act | None:
    words = bare_words(command.words)
    if not words:
        return None
    texts = {word.text for word in words[1:]}
    name = words[0].text.rpartition("/")[2]
    if name == "patch":
        return None if texts & _LOOKS else "change"
    at = git_words(words[1:]) if name == "git" else None
    match words[1 + at].text if at is not None else None:
        case "apply":
            return None if texts & _LOOKS else "change"
        case "commit":
            return None if "--allow-empty" in texts else "record"
        case "diff" | "diff-index" | "diff-files":
            return "record" if texts & _ASKS else None
    return None
