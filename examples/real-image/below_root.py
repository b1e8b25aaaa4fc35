"""The first half: an image's file system below a folder, on this machine, with real software in it."""

import sys
from pathlib import Path

import world
from steps import Place, Story, must
from supplies import Supplies

PYTHON = "/opt/venv/bin/python"


def tell(story: Story, work: Path, supplies: Supplies) -> None:
    env = world.quiet_environment(supplies.machine.env, work / "home")
    world.lay_out(work, supplies.sdists(), env)
    image = work / "image"
    _bake(Place("", env, work), image, supplies.image_wheels())
    words = {"regraft": [sys.executable, "-m", "regraft"], PYTHON: [str(image / PYTHON.lstrip("/"))]}
    project = Place("project", env, work / "project", words=words)
    click = Place("/opt/src/click", env, image / "opt/src/click", words=words)
    before, baked = _what_is_baked(story, project, click)
    _gate(story, project)
    _apply(story, project, click, baked)
    world.changed(story, before, _listing(project))
    _restore(story, project, click, (before, baked))


def _bake(place: Place, image: Path, wheels: Path) -> None:
    """What Containerfile says for the container, below a folder."""
    checkout = image / "opt/src/click"
    python = str(image / "opt/venv/bin/python")
    must(place, sys.executable, "-m", "venv", str(image / "opt/venv"))
    requirements = str(world.HERE / "image-requirements.txt")
    must(place, python, "-m", "pip", "install", "--quiet", "--find-links", str(wheels), "-r", requirements)
    must(place, "git", "clone", "--quiet", str(image.parent / "upstream/click.git"), str(checkout))
    must(place, "git", "-C", str(checkout), "checkout", "--quiet", "--detach", world.BAKED)
    patches = [str(image.parent / "project" / path) for path in world.PATCHES]
    must(place, "git", "-C", str(checkout), "apply", *patches)
    must(place, python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "-e", str(checkout))


def _listing(place: Place) -> str:
    return must(place, sys.executable, str(world.HERE / "listing.py"), "../image/opt/src/click", "../image/opt/venv")


def _what_is_baked(story: Story, project: Place, click: Place) -> tuple[str, str]:
    story.chapter(
        "An image below a folder, and what is known of it",
        "click 8.1.7 is installed from a checkout, with two patches of the project: one of its own, and a fix that\n"
        "click has had since 8.1.8.",
    )
    baked = world.passed(story, click, PYTHON, *world.CLICK_TESTS)
    before = _listing(project)
    said = story.run(project, "regraft", "image", "probe", "--root", "../image", "--write", shown=12)
    story.expect("click" in said, "The baseline is written, to be committed.")
    return before, baked


def _gate(story: Story, project: Place) -> None:
    story.chapter("A pull request names another release")
    story.run(
        project, "regraft", "plan", "--body", "../bodies/release-8.2.1.md", "--output", "plan.json",
        says=["click-no-editor.patch applies", "click-empty-default.patch already-there"],
        means="The project's own patch fits 8.2.1; the fix is there already, and is to be dropped.",
    )  # fmt: skip
    story.run(
        project, "regraft", "plan", "--body", "../bodies/release-8.3.1.md", "--output", "stopped.json", ends=1,
        says=["click-no-editor.patch", "conflict"],
        means="8.3.1 has changed the lines that the patch edits: known at the gate.",
    )  # fmt: skip


def _apply(story: Story, project: Place, click: Place, baked: str) -> None:
    story.chapter("The image is made to match the plan")
    apply = ("regraft", "apply", "plan.json", "--root", "../image", "--receipt", "receipt.json")
    story.run(project, *apply, shown=24)
    story.run(click, PYTHON, "-c", world.SHOW_VERSION, says=["8.2.1", "src/click/__init__.py"])
    tested = world.passed(story, click, PYTHON, *world.CLICK_TESTS)
    story.expect(tested != baked, f"Other tests than before: {tested}, and not {baked}.")
    world.passed(story, project, PYTHON, *world.PROJECT_TESTS)
    story.run(
        project,
        "regraft",
        "verify",
        "plan.json",
        "--root",
        "../image",
        "--receipt",
        "receipt-of-verify.json",
        says=["verdict   yes"],
    )
    story.run(project, *apply, says=["already applied"], means="The same plan again changes nothing.")


def _restore(story: Story, project: Place, click: Place, known: tuple[str, str]) -> None:
    story.chapter("And back")
    before, baked = known
    story.run(project, "regraft", "restore", "--root", "../image")
    world.same(story, before, _listing(project))
    story.run(click, PYTHON, "-c", world.SHOW_VERSION, says=["8.1.7", "src/click/__init__.py"])
    tested = world.passed(story, click, PYTHON, *world.CLICK_TESTS)
    story.expect(tested == baked, f"The same tests as in the beginning: {tested}.")
    story.run(project, "regraft", "verify", "plan.json", "--root", "../image", ends=1, shown=6)
