"""Absolute paths of an image in a script, put below a folder."""

import pytest

from regraft.core.runner_paths import Paths
from regraft.core.runner_values import Mapped


def script(text: str, *, shell: bool = True) -> str:
    return Paths({"/root": "/T"}).script(text, is_shell=shell)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cd /root/x && git -C /root fetch", "cd /T/x && git -C /T fetch"),
        ('git -C "/root/$NAME" log', 'git -C "/T/$NAME" log'),
        ("export PYTHONPATH=/root/a:/root/b:$PYTHONPATH", "export PYTHONPATH=/T/a:/T/b:$PYTHONPATH"),
        ("echo x >/root/f 2>>'/root/g h'", "echo x >/T/f 2>>'/T/g h'"),
        ("pip install --target=/root/x -e /root/y[all]", "pip install --target=/T/x -e /T/y[all]"),
        ("for i in /root/*/a; do cd ${Y:-/root/d}; done", "for i in /T/*/a; do cd ${Y:-/T/d}; done"),
        ("cat <<E\n/root/a $HOME /root/b\nE\n", "cat <<E\n/T/a $HOME /T/b\nE\n"),
        ('bash -c "cd /root && ls"', 'bash -c "cd /T && ls"'),
        ("[ -d /root/k ] || exit 1", "[ -d /T/k ] || exit 1"),
    ],
)
def test_where_a_script_names_it(before: str, after: str) -> None:
    assert script(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "cd $PREFIX/root",
        'cd "${PREFIX}/root"',
        "cd ./root ../root a/root ~/root",
        "ls /rootfs /root-old /root.d /root$SUFFIX",
        "curl https://example.org/root",
        "true # in /root there is more",
    ],
)
def test_what_is_another_path_stays(text: str) -> None:
    assert script(text) == text


def test_the_longest_path_counts() -> None:
    paths = Paths({"/root": "/T", "/root/engine": "/E"})
    assert paths.script("cd /root/engine/x; cd /root/other", is_shell=True) == "cd /E/x; cd /T/other"


def test_a_script_for_another_program_is_plain_text() -> None:
    assert script("import os  # /root\nos.chdir('/root')\n", shell=False) == "import os  # /T\nos.chdir('/T')\n"


def test_a_command_by_its_path_is_the_stub_too() -> None:
    paths = Paths({}, {"pip": "/S/pip"})
    assert (
        paths.script("/opt/venv/bin/pip install /opt/venv/bin/pip", is_shell=True) == "/S/pip install /opt/venv/bin/pip"
    )


def test_unless_it_is_there_where_it_is_mapped_to() -> None:
    paths = Paths({"/opt/venv": "/V"}, {"python": "/S/python"}, lambda path: path == "/V/bin/python")
    assert paths.script("/opt/venv/bin/python -V", is_shell=True) == "/V/bin/python -V"


def test_a_variable_is_a_path_or_a_list_of_paths() -> None:
    paths = Paths({"/root": "/T"})
    assert paths.value("/root") == "/T"
    assert paths.value("/opt:/root/a:/rootfs") == "/opt:/T/a:/rootfs"


def test_text_that_only_mentions_a_path_is_nobodys_path() -> None:
    paths = Paths({"/root": "/T"})
    assert paths.value("/root is the home") == "/root is the home"
    assert paths.value("x\n/root") == "x\n/root"


def test_it_says_what_it_put_where() -> None:
    paths = Paths({"/root": "/T"})
    paths.script("cd /root; ls /root/a", is_shell=True)
    paths.value("/root")
    assert paths.used() == (Mapped("/root", "/T", 3),)
    assert paths.used() == ()
