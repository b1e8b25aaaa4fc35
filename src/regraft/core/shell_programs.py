"""Which program a command runs, whatever runs it: `sudo -u me git …`, `timeout 60 git …`, `retry git …`."""

from collections.abc import Collection, Sequence

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
    for index, word in enumerate(words):
        name = word.text.rpartition("/")[2]
        if name in programs:
            return words[index:]
        if index == 0 and name in _TALK:
            break
    return ()
