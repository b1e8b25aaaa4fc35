"""What the documents claim is read by a test: pages, links, targets, help texts, and every example."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from regraft.cli.main import COMMANDS
from regraft.core.manifest_reader import read_manifest
from regraft.demo import world as worlds
from regraft.demo.world import World

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND_PAGES = ROOT / "docs/commands"
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def anchors(text: str) -> set[str]:
    """The names that GitHub gives a page's headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_page_that_the_index_names(command: str) -> None:
    page = COMMAND_PAGES / f"{command.replace(' ', '-')}.md"
    assert page.read_text("utf-8").startswith(f"# regraft {command}\n")


def test_each_page_is_in_the_index() -> None:
    index = (ROOT / "docs/README.md").read_text("utf-8")
    linked = {(ROOT / "docs" / target.partition("#")[0]).resolve() for target in LINK.findall(index)}
    pages = set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs/README.md"}
    assert sorted(name_of(page) for page in pages - linked) == []


def test_no_page_of_a_command_that_is_gone() -> None:
    pages = {page.stem for page in COMMAND_PAGES.glob("*.md")}
    assert pages - {command.replace(" ", "-") for command in COMMANDS} == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    dead = []
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there.read_text("utf-8"))):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_that_are_named_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    text = re.sub(r"<!-- help -->.*?<!-- /help -->", "", page.read_text("utf-8"), flags=re.DOTALL)
    named = set(re.findall(r"`make ([a-z-]+)", text)) | set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE))
    assert named - targets == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_paths_of_the_repository_that_are_named_exist(page: Path) -> None:
    named = re.findall(r"`((?:src|tests|scripts|bench|docs|\.ci|\.github)/[\w./-]+)`", page.read_text("utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_tests_that_are_named_exist(page: Path) -> None:
    named = re.findall(r"`(tests/[\w./-]+\.py)::(\w+)`", page.read_text("utf-8"))
    missing = [f"{path}::{test}" for path, test in named if f"def {test}(" not in (ROOT / path).read_text("utf-8")]
    assert missing == []


@pytest.mark.slow
def test_the_pasted_help_texts_are_the_real_ones() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/paste_help.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0


def test_an_old_help_text_is_noticed() -> None:
    paste = script("paste_help")
    page = "# regraft show\n\n<!-- help -->\n```text\n$ regraft show --help\nold\n```\n<!-- /help -->\nafter\n"
    renewed = paste.pasted(page, "show")
    assert "old" not in renewed
    assert "usage: regraft show" in renewed
    assert renewed.endswith("<!-- /help -->\nafter\n")
    with pytest.raises(ValueError, match="has 0"):
        paste.pasted("# regraft show\n", "show")


def test_the_readme_names_the_commands_that_ci_runs() -> None:
    found = script("readme_commands").commands((ROOT / "README.md").read_text("utf-8"))
    assert found == ["make demo", "make test", "make check", "make example", "make bench"]


def test_a_command_of_the_readme_that_nobody_runs_is_refused() -> None:
    commands = script("readme_commands").commands
    block = "```sh\ngit clone https://example.org/regraft\ncd regraft\nmake demo  # the story\n```\n"
    assert commands(block) == ["make demo"]
    with pytest.raises(ValueError, match="nobody runs 'npm install'"):
        commands("```sh\nnpm install\n```\n")


def blocks(language: str, whole: str, without: str = "-") -> Iterator[object]:
    for page in (one for one in PAGES if not name_of(one).startswith(without)):
        for number, (found, block) in enumerate(FENCE.findall(page.read_text("utf-8"))):
            if found == language and whole in block:
                yield pytest.param(block, id=f"{name_of(page)}:{number}")


@pytest.mark.parametrize("block", list(blocks("toml", "[project]")))
def test_manifests_that_are_shown_are_valid(block: str) -> None:
    assert read_manifest(block.encode(), "regraft.toml").images


@pytest.mark.parametrize("block", list(blocks("yaml", "jobs:", without="docs/rules/")))  # those are of one fault each
def test_workflows_that_are_shown_pass_the_audit_that_ours_pass(block: str, tmp_path: Path) -> None:
    workflow = tmp_path / ".github/workflows/shown.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(block)
    zizmor = Path(sys.executable).parent / "zizmor"
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", "--persona", "pedantic", "--strict-collection", workflow],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("block", list(blocks("yaml", "jobs:", without="docs/rules/")))
def test_workflows_that_are_shown_have_no_error_for_our_own_check(block: str, tmp_path: Path) -> None:
    workflow = tmp_path / ".github/workflows/shown.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(block)
    words = [sys.executable, "-m", "regraft", "workflow", "check", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# The examples: each `console` block runs, in the project of the demo's world; the blocks of a page share one world.


def examples(page: Path) -> list[tuple[str, str]]:
    """(command, what it prints) in order; `[exit N]` ends the output of a command that does not end with 0."""
    found = []
    for language, block in FENCE.findall(page.read_text("utf-8")):
        if language == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append((command, output))
    return found


def pattern(expected: str) -> re.Pattern[str]:
    """A line `...` stands for any lines, and `...` within a line for anything in it."""
    lines = expected.splitlines()
    parts = ["(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n" for line in lines]
    return re.compile("".join(parts))


def run_example(world: World, command: str) -> tuple[str, int]:
    argv = shlex.split(command)
    done = world.run([sys.executable, "-m", *argv] if argv[0] == "regraft" else argv)
    return (done.stdout + done.stderr).decode(), done.returncode


def shown(output: str) -> tuple[str, int]:
    """What an example is to print, and the exit code that it says on a last line `[exit N]`."""
    body, last, _ = output.rpartition("[exit ")
    return (body, int(output.removeprefix(body + last).rstrip("]\n"))) if last else (output, 0)


def with_examples() -> Iterator[object]:
    for page in PAGES:
        commands = [command for command, _ in examples(page)]
        if commands:
            needs_image = any("../image" in command for command in commands)
            yield pytest.param(page, needs_image, id=name_of(page), marks=[pytest.mark.slow] if needs_image else [])


@pytest.mark.parametrize(("page", "needs_image"), list(with_examples()))
def test_examples_do_what_they_show(page: Path, needs_image: bool, tmp_path: Path) -> None:
    make = worlds.build if needs_image else worlds.outline
    world = make(tmp_path / "world", os.environ)
    for command, expected in examples(page):
        said, code = run_example(world, command)
        lines, expected_code = shown(expected)
        assert code == expected_code, f"$ {command}\n{said}"
        assert pattern(lines).fullmatch(said), f"$ {command}\n{said}"


def test_an_example_that_prints_something_else_is_noticed() -> None:
    assert pattern("a ... c\n...\nend\n").fullmatch("a b c\n1\n2\nend\n")
    assert not pattern("a\n").fullmatch("a\nb\n")
    assert not pattern("a ... c\n").fullmatch("a b\nc\n")
    assert shown("a\n[exit 2]\n") == ("a\n", 2)
    assert shown("a\n") == ("a\n", 0)


def test_a_command_is_listed_by_the_help() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regraft", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert [line.split("  ")[1] for line in done.stdout.splitlines() if line.startswith("  ")] == list(COMMANDS)
