"""The demo notices by itself when a step did not end as it says."""

from pathlib import Path

from regraft.demo.story import STORY, Chapter, Step
from regraft.demo.teller import Outcome, tell
from regraft.demo.world import World


def told(tmp_path: Path, *steps: Step) -> tuple[list[Outcome], str]:
    world = World(tmp_path, {"PATH": "/usr/bin:/bin"})
    world.project.mkdir()
    lines: list[str] = []
    outcomes = tell(world, tmp_path / "stored", [Chapter("A chapter", steps)], lines.append)
    return outcomes, "\n".join(lines)


def test_a_step_that_ends_as_announced_is_no_surprise(tmp_path: Path) -> None:
    outcomes, text = told(tmp_path, Step("echo the words", "What it means.", says=("the words",)))
    assert [one.surprises for one in outcomes] == [()]
    assert "$ echo the words\n    the words\n-> What it means." in text


def test_another_exit_code_is_a_surprise(tmp_path: Path) -> None:
    outcomes, text = told(tmp_path, Step("false"), Step("true", exit=2))
    assert [one.surprises for one in outcomes] == [
        ("it ended with 1 and not 0",),
        ("it ended with 0 and not 2",),
    ]
    assert "!!! it ended with 1 and not 0" in text


def test_words_that_were_not_said_are_a_surprise(tmp_path: Path) -> None:
    outcomes, _ = told(tmp_path, Step("echo nothing", says=("something",)))
    assert outcomes[0].surprises == ("it did not say 'something'",)


def test_cd_moves_the_steps_after_it(tmp_path: Path) -> None:
    (tmp_path / "image").mkdir()
    _, text = told(tmp_path, Step("cd ../image"), Step("pwd"))
    assert str(tmp_path / "image") in text


def test_no_shell_reads_a_command(tmp_path: Path) -> None:
    _, text = told(tmp_path, Step("echo $HOME; false"))
    assert "    $HOME; false" in text


def test_a_plan_that_is_missing_names_no_commit(tmp_path: Path) -> None:
    _, text = told(tmp_path, Step("echo {commit}"))
    assert "(no-plan)" in text


def test_the_story_shows_the_main_job_and_four_stops() -> None:
    commands = [step for chapter in STORY for step in chapter.steps]
    used = {step.command.split()[1] for step in commands if step.command.startswith("regraft ")}
    assert {"plan", "verify", "diff"} <= used
    stops = [chapter for chapter in STORY if chapter.title.startswith("Stopped in time")]
    ends = [next(step.exit for step in chapter.steps if step.command.startswith("regraft ")) for chapter in stops]
    assert ends == [2, 2, 1, 1]
