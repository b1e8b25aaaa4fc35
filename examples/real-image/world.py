"""The upstream, the project and the pull requests' bodies in one folder, as both halves of the example want them."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import upstream
from steps import Place, Story

HERE = Path(__file__).resolve().parent
BAKED = "8.1.7"
PATCHES = ("patches/click-no-editor.patch", "patches/click-empty-default.patch")
PULL = upstream.Pull(
    number=7,
    release="8.2.1",
    path="src/click/globals.py",
    old="There is no active click context.",
    new="There is no active click context in this thread.",
    title="Say where the context is missing",
)
# Its sixth case races with the pager that it kills, in click 8.2's own releases.
CLICK_TESTS = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--deselect", "tests/test_utils.py::test_echo_via_pager")
SHOW_VERSION = "import importlib.metadata as m, click; print(m.version('click'), click.__file__)"
PROJECT_TESTS = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")


def lay_out(work: Path, sdists: Sequence[Path], env: Mapping[str, str]) -> None:
    """Make `work/upstream/click.git`, `work/project` (a repository) and `work/bodies`."""
    upstream.build(work / "upstream/click.git", sdists, [PULL])
    for name in ("project", "bodies"):
        shutil.copytree(HERE / name, work / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "Begin tinycli")):
        subprocess.run(["git", *words], cwd=work / "project", env=dict(env), check=True)


def quiet_environment(machine: Mapping[str, str], home: Path) -> dict[str, str]:
    """Nothing of the user's but the place of the programs; pip asks no registry."""
    home.mkdir(parents=True, exist_ok=True)
    people = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PERSON}
    return {
        "PATH": machine.get("PATH", "/usr/bin:/bin"),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONNOUSERSITE": "1",
        **people,
    }


PERSON = (("NAME", "Example"), ("EMAIL", "example@example.org"), ("DATE", "2026-01-05T12:00:00Z"))


def passed(story: Story, place: Place, python: str, *arguments: str) -> str:
    """Run tests; the last line, `737 passed, ...` without the time that it took."""
    said = story.run(place, python, *arguments, says=[" passed"], shown=1)
    return said.rstrip().rpartition("\n")[2].partition(" in ")[0]


def differences(before: str, after: str) -> list[str]:
    """The lines of two listings that only one of them has, marked by - and +."""
    old, new = set(before.splitlines()), set(after.splitlines())
    return [f"- {line}" for line in sorted(old - new)] + [f"+ {line}" for line in sorted(new - old)]


def changed(story: Story, before: str, after: str) -> None:
    """The listings differ: what `same` will be asked about is not the same all along."""
    count = len(differences(before, after))
    story.expect(count > 100, f"{count} lines of what was written down before are different now.")


def same(story: Story, before: str, after: str) -> None:
    """Both listings hold the same, and something."""
    different = differences(before, after)
    for line in different[:20]:
        story.surprise(line)
    count = len(before.splitlines())
    story.expect(
        count > 1000 and not different,
        f"All {count} lines that were written down before are there again, and no other.",
    )
