"""The command line by which GitHub's runner on Linux runs a script, from what `shell:` says.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell
"""

from collections.abc import Mapping

from msgspec import Struct

from regraft.errors import InputError

_PWSH = ("-command", ". '{0}'")
_KNOWN: Mapping[str, tuple[tuple[str, ...], str]] = {
    "bash": (("--noprofile", "--norc", "-e", "-o", "pipefail", "{0}"), ".sh"),
    "sh": (("-e", "{0}"), ".sh"),
    "python": (("{0}",), ".py"),
    "pwsh": (_PWSH, ".ps1"),
    "powershell": (_PWSH, ".ps1"),
}
_NOT_HERE = frozenset({"cmd"})


class ShellLine(Struct, frozen=True):
    """`arguments` hold `{0}` where the script's path goes. `suffix` is the script's. `shell`: it is written for bash or sh."""

    program: str
    arguments: tuple[str, ...]
    suffix: str = ""

    @property
    def shell(self) -> bool:
        return self.program.rpartition("/")[2] in ("bash", "sh", "dash")

    def argv(self, script: str) -> list[str]:
        return [self.program, *(one.replace("{0}", script) for one in self.arguments)]

    def script(self, text: str) -> str:
        """What the runner writes to the script's file."""
        if self.suffix != ".ps1":
            return text
        tail = "if ((Test-Path -LiteralPath variable:\\LASTEXITCODE)) { exit $LASTEXITCODE }"
        return f"$ErrorActionPreference = 'stop'\n{text}\n{tail}"


def shell_line(shell: str | None, *, bash: bool = True) -> ShellLine:
    """`shell` is what is in force, None or empty where nothing is named. `bash`: the machine has one.

    Raises InputError `bad-shell`, as the runner fails the step.
    """
    if not shell:
        return ShellLine("bash" if bash else "sh", ("-e", "{0}"), ".sh")
    program, _, rest = shell.partition(" ")
    known = _KNOWN.get(program.lower())
    arguments = _split(rest) if rest.strip() else known[0] if known else ()
    if program.lower() in _NOT_HERE or not any("{0}" in one for one in arguments):
        message = "a shell is bash, sh, python, pwsh, or a command line that holds {0}"
        raise InputError("bad-shell", f"{shell!r:.200}: {message}", hint="write `shell: bash`, or add {0}")
    return ShellLine(program, tuple(arguments), known[1] if known else "")


def _split(text: str) -> tuple[str, ...]:
    """Words as .NET splits a command line: at blanks outside of double quotes; a backslash before a quote makes it text."""
    words: list[str] = []
    word, quoted, begun, at = "", False, False, 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] == '"':
            word, begun, at = f'{word}"', True, at + 1
        elif char == '"':
            quoted, begun = not quoted, True
        elif char in " \t" and not quoted:
            if begun:
                words.append(word)
            word, begun = "", False
        else:
            word, begun = word + char, True
        at += 1
    return (*words, word) if begun else tuple(words)
