"""Which program a command runs, whatever runs it: `sudo -u me git …`, `timeout 60 git …`, `retry git …`."""

from collections.abc import Collection, Sequence

from regraft.core.patterns import regex
from regraft.core.shell_values import Word

# They take the names of programs, and run none.
_TALK = frozenset(
    {
        *("echo", "printf", "cat", "grep", "sed", "awk", "test", "[", "[[", "which", "type", "hash", "export", "alias"),
        *("apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "zypper", "apk", "pacman", "brew", "conda", "mamba"),
        *("npm", "yarn", "cd", "cp", "mv", "ln", "rm", "mkdir", "install", "chmod", "chown", "touch", "tar", "unzip"),
    }
)


def started(words: Sequence[Word], programs: Collection[str]) -> Sequence[Word]:
    """The words from the one on that names one of these programs; none where the command runs none of them."""
    first = True
    for index, word in enumerate(words):
        name = word.text.rpartition("/")[2]
        if name in programs:
            return words[index:]
        if first and name in _TALK:
            break
        first = name in WRAPPERS and name != "command"
    return ()


WRAPPERS = frozenset(
    {
        *(
            "sudo",
            "env",
            "exec",
            "command",
            "time",
            "nice",
            "nohup",
            "timeout",
            "stdbuf",
            "setsid",
            "ionice",
            "chronic",
        ),
        *("tini", "dumb-init", "catchsegv", "gosu", "su-exec", "chroot", "busybox", "retry", "xargs", "parallel"),
    }
)
_FIRST = frozenset({"gosu", "su-exec", "chroot"})  # what follows is a user or a folder
_TAKES = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-D"}),
    "timeout": frozenset({"-k", "-s"}),
    "nice": frozenset({"-n"}),
}
_COUNT = regex(r"\d+(?:\.\d+)?[smhd]?")


def unwrapped(words: Sequence[Word]) -> Sequence[Word]:
    """The words without `sudo`, `env A=1`, `timeout 60`, `tini --` and the like before them."""
    at = 0
    while at < len(words) and words[at].text.rpartition("/")[2] in WRAPPERS:
        name = words[at].text.rpartition("/")[2]
        at += 1
        while at < len(words) and _is_option(words[at].text):
            at += 2 if words[at].text in _TAKES.get(name, ()) else 1
        at += name in _FIRST
    return words[at:]


def _is_option(text: str) -> bool:
    return text.startswith("-") or ("=" in text and not text.startswith("/")) or _COUNT.fullmatch(text) is not None
