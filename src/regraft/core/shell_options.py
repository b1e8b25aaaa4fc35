"""What a shell script sets for the rest of itself: options by `set`, and what `trap` runs."""

from collections.abc import Sequence

from msgspec import Struct

from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Block

_LONG = {"errexit": "errexit", "pipefail": "pipefail", "errtrace": "errtrace"}


class Shell(Struct):
    """The options in force, which the script may change."""

    errexit: bool = False
    pipefail: bool = False
    errtrace: bool = False

    def copy(self) -> "Shell":
        return Shell(self.errexit, self.pipefail, self.errtrace)


def set_options(shell: Shell, words: Sequence[str]) -> None:
    """What `set WORDS` changes."""
    for index, word in enumerate(words):
        if word[:1] not in ("-", "+") or word in ("-", "--"):
            continue
        on = word.startswith("-")
        if "e" in word[1:]:
            shell.errexit = on
        if "E" in word[1:]:
            shell.errtrace = on
        if word.endswith("o") and index + 1 < len(words) and words[index + 1] in _LONG:
            setattr(shell, words[index + 1], on)


def trapped(words: Sequence[str]) -> dict[str, Block | None]:
    """What `trap WORDS` runs from now on at EXIT and ERR; None: nothing."""
    rest = [word for word in words if word != "--"]
    if len(rest) < 2:
        return {}
    block = None if rest[0] in ("-", "") else read_shell(rest[0].encode("utf-8", "surrogateescape"))
    names = {"EXIT" if one == "0" else one.upper().removeprefix("SIG") for one in rest[1:]}
    return {name: block for name in ("EXIT", "ERR") if name in names}
