"""What install commands are run with, and what is said of one that failed."""

import pytest

from regraft.core.apply_install import environment, failed
from regraft.core.apply_values import Ran, Step
from regraft.core.manifest import Image

IMAGE = Image("i", None, None, None, None, ("keep",), "python3", (), "report", (("MODE", "image"),), {})
STEP = Step("lib", ("python", "-m", "pip"), "/src/lib")


def made(machine: dict[str, str], *, managed: bool = False, image: Image = IMAGE) -> dict[str, str]:
    return environment(
        machine, image, run="word", folder="/src/lib", own_prefix="/opt/regraft", externally_managed=managed
    )


def test_what_would_lead_an_install_elsewhere_is_dropped_and_how_an_index_is_reached_is_kept() -> None:
    env = made(
        {
            "HOME": "/root",
            "PATH": "/usr/bin",
            "PYTHONPATH": "/x",
            "PYTHONHOME": "/x",
            "GIT_DIR": "/x",
            "PIP_TARGET": "/x",
            "PIP_PREFIX": "/x",
            "PIP_REQUIRE_VIRTUALENV": "1",
            "PIP_INDEX_URL": "https://mirror/simple",
            "PIP_CERT": "/ca.pem",
            "REGRAFT_KILL_AT": "after:1",
            "MODE": "machine",
        }
    )
    assert env == {
        "HOME": "/root",
        "PATH": "/usr/bin",
        "PIP_INDEX_URL": "https://mirror/simple",
        "PIP_CERT": "/ca.pem",
        "MODE": "image",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "REGRAFT_RUN": "word",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "/src/lib",
    }


@pytest.mark.parametrize(("managed", "value"), [(True, "1"), (False, None)])
def test_the_answer_to_an_externally_managed_interpreter_travels_with_the_command(
    managed: bool, value: str | None
) -> None:
    env = made({"PIP_BREAK_SYSTEM_PACKAGES": "1"}, managed=managed)
    assert env.get("PIP_BREAK_SYSTEM_PACKAGES") == value


def test_regrafts_own_environment_is_not_taken_for_the_images() -> None:
    env = made({"VIRTUAL_ENV": "/opt/regraft", "PATH": "/opt/regraft/bin:/usr/bin"})
    assert "VIRTUAL_ENV" not in env
    assert env["PATH"] == "/usr/bin"
    assert made({"VIRTUAL_ENV": "/opt/venv"})["VIRTUAL_ENV"] == "/opt/venv"


def ran(code: int | None, *tail: str) -> Ran:
    return Ran(("python",), code, tail, 0, 1)


def test_a_command_that_ended_well_is_no_error() -> None:
    assert failed(STEP, ran(0, "anything"), 5) is None


@pytest.mark.parametrize(
    ("end", "message", "hint"),
    [
        (ran(None), "lib: `python -m pip` did not end within 5 seconds, and was ended", "install-timeout"),
        (ran(-9), "lib: `python -m pip` was ended by signal 9", "memory"),
        (ran(2, "a", "", "b\x1b[31m"), "lib: `python -m pip` ended with exit code 2: a | b\\x1b[31m", "output"),
        (ran(1, "python: No module named pip"), "ended with exit code 1: python: No module named pip", "has no pip"),
        (ran(1, "error: externally-managed-environment"), "externally-managed", "begin the command with `python`"),
    ],
)
def test_each_bad_end_is_said_with_its_remedy(end: Ran, message: str, hint: str) -> None:
    error = failed(STEP, end, 5)
    assert error is not None
    assert (error.code, error.exit_code, error.where) == ("install-failed", 1, "/src/lib")
    assert message in error.message
    assert hint in str(error.hint)


def test_the_projects_own_command_is_named_as_such() -> None:
    error = failed(Step(None, ("make",), None), ran(1), 5)
    assert error is not None
    assert error.message.startswith("the project: `make`")
