"""Scripts that a command gives to another shell: `bash -c '…'`, also in a container or as another user, and `bash <<EOF`.

That shell has the options that its own words set, and nothing of the one that starts it.
"""

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.shell_options import Shell
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Block, Command, Word
from regraft.core.workflow_shells import options

_SHELLS = frozenset({"bash", "sh", "dash", "ash", "zsh"})
_STARTERS = frozenset({"sudo", "env", "time", "timeout", "nice", "nohup", "xvfb-run", "docker", "podman", "nerdctl", "kubectl", "docker-compose", "apptainer", "singularity", "srun", "chroot", "su", "runuser", "gosu", "setsid", "numactl", "retry", "stdbuf", "exec", "command", "arch", "unshare"})  # fmt: skip
_IN_QUOTES = regex(rb"\\([$`\"\\])")
_IN_HERE = regex(rb"\\([$`\\])")
_DELIMITER = regex(rb"<<-?[ \t]*(\S+)")


class Inner(Struct, frozen=True, eq=False):
    """`shell`: its options when it begins. `how`: the words that start it, as one would say them.

    A byte of `data` is the byte `at(…)` of the script around; `removed` are those before which a backslash was taken away.
    """

    data: bytes
    block: Block
    shell: Shell
    how: str
    start: int
    removed: tuple[int, ...] = ()

    def at(self, offset: int) -> int:
        return self.start + offset + bisect_right(self.removed, offset)


def inner_script(data: bytes, command: Command) -> Inner | None:
    """What a command of the script `data` has another shell run; None where that is nothing, or cannot be read."""
    words = command.words
    if not words:
        return None
    name = _base(words[0])
    if name == "ssh":
        return _by_ssh(data, command)
    at = next((index for index, word in enumerate(words) if _base(word) in _SHELLS), None)
    if at is None or (at and name not in _STARTERS):
        return None
    told, script = _told(words[at + 1 :])
    how = f"{name} … {_base(words[at])}" if at else name
    if script is not None:
        return _of_word(data, script, options(told), f"{how} -c")
    reads = any(one[0] == "-" and one[:2] != "--" and "s" in one for one in told)
    if not reads and any(not one.text.startswith(("-", "+")) for one in words[at + 1 :]):
        return None
    return _of_here(data, command, options(told), how)


def _told(words: Sequence[Word]) -> tuple[list[str], Word | None]:
    """The options of a shell, and the script that `-c` gives it."""
    told: list[str] = []
    rest = iter(words)
    has_script = False
    for word in rest:
        if not word.text.startswith(("-", "+")) or len(word.text) == 1:
            return told, word if has_script else None
        told.append(word.text)
        if not word.text.startswith("--"):
            has_script = has_script or "c" in word.text[1:]
            if word.text.endswith("o"):
                told += [one.text for one in [next(rest, None)] if one is not None]
    return told, None


def _by_ssh(data: bytes, command: Command) -> Inner | None:
    """The last word where it is a script, or what the shell over there reads."""
    last = command.words[-1]
    if len(command.words) > 2 and regex(r"[;\n]").search(last.text):
        return _of_word(data, last, Shell(), "ssh")
    told = " ".join(word.text for word in command.words[1:]).partition("sh ")[2].split()
    return _of_here(data, command, options(told), "ssh")


def _of_word(data: bytes, word: Word, shell: Shell, how: str) -> Inner | None:
    raw = data[word.span.start : word.span.stop]
    quote = raw[:1]
    if len(raw) < 2 or quote not in (b"'", b'"') or raw[-1:] != quote or (quote == b"'" and quote in raw[1:-1]):
        return None
    return _read(raw[1:-1], word.span.start + 1, _IN_QUOTES if quote == b'"' else None, (shell, how))


def _of_here(data: bytes, command: Command, shell: Shell, how: str) -> Inner | None:
    for one in command.redirects:
        if one.operator in ("<<", "<<-"):
            raw = data[one.span.start : one.span.stop]
            head, delimiter = raw.find(b"\n") + 1, _DELIMITER.match(raw)
            tail = raw.rstrip().rfind(b"\n")
            if not head or tail < head or delimiter is None:
                return None
            literal = any(quote in delimiter[1] for quote in (b"'", b'"', b"\\"))
            return _read(
                raw[head : tail + 1], one.span.start + head, None if literal else _IN_HERE, (shell, f"{how} <<")
            )
    return None


def _read(raw: bytes, start: int, escaped: object, given: tuple[Shell, str]) -> Inner | None:
    removed: tuple[int, ...] = ()
    if escaped is not None:
        pattern = _IN_HERE if escaped is _IN_HERE else _IN_QUOTES
        removed = tuple(one.start() - index for index, one in enumerate(pattern.finditer(raw)))
        raw = pattern.sub(rb"\1", raw)
    block = read_shell(raw)
    return None if block is None else Inner(raw, block, given[0], given[1], start, removed)


def _base(word: Word) -> str:
    return word.text.rpartition("/")[2]
