"""The shell line that is in force."""

import pytest

from regraft.core.runner_shell import shell_line
from regraft.errors import InputError


@pytest.mark.parametrize(
    ("shell", "argv"),
    [
        (None, ["bash", "-e", "S"]),
        ("", ["bash", "-e", "S"]),
        ("bash", ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "S"]),
        ("sh", ["sh", "-e", "S"]),
        ("python", ["python", "S"]),
        ("bash {0}", ["bash", "S"]),
        ("bash -el {0}", ["bash", "-el", "S"]),
        ("perl -w {0}", ["perl", "-w", "S"]),
        ('env -S "a b" bash {0}', ["env", "-S", "a b", "bash", "S"]),
        ("bash '-c' {0}", ["bash", "'-c'", "S"]),
    ],
)
def test_what_stands_for_what(shell: str | None, argv: list[str]) -> None:
    assert shell_line(shell).argv("S") == argv


def test_without_bash_it_is_sh() -> None:
    assert shell_line(None, bash=False).argv("S") == ["sh", "-e", "S"]


@pytest.mark.parametrize("shell", ["zsh", "bash -x", "cmd"])
def test_a_shell_that_nobody_knows_needs_a_place_for_the_script(shell: str) -> None:
    with pytest.raises(InputError, match="holds"):
        shell_line(shell)


def test_powershell_stops_at_an_error_by_what_is_put_around_the_script() -> None:
    text = shell_line("pwsh").script("one")
    assert text.startswith("$ErrorActionPreference = 'stop'\none\n")
    assert shell_line("bash").script("one") == "one"
