"""What install commands are run with, and what is said of one that failed."""

import re
from collections.abc import Mapping

from regraft.core.apply_values import Ran, Step
from regraft.core.manifest import Image, Manifest
from regraft.core.plan import Plan
from regraft.core.trees import printable
from regraft.errors import RefusedError

SHOWN = 3  # lines of a failed command that its error repeats

_DROPPED = re.compile(r"(?:PYTHON|GIT_|PIP_|__PYVENV|REGRAFT_).*", re.DOTALL)

# How a machine reaches an index is the machine's; what is installed, and where, is the command's alone.
_REACH = frozenset(
    f"PIP_{name}"
    for name in (
        *("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "TRUSTED_HOST", "CERT", "CLIENT_CERT", "PROXY"),
        *("CACHE_DIR", "NO_CACHE_DIR", "RETRIES", "TIMEOUT", "DEFAULT_TIMEOUT", "CONFIG_FILE", "KEYRING_PROVIDER"),
    )
)


def environment(  # noqa: PLR0913 - one value for each thing that decides
    machine: Mapping[str, str],
    image: Image,
    *,
    run: str,
    folder: str,
    own_prefix: str,
    externally_managed: bool,
) -> dict[str, str]:
    """The variables of one install command, which runs in `folder`.

    `externally_managed`: the interpreter has the marker of PEP 668. The answer to it travels with this command and with
    no other. `own_prefix` is regraft's own environment, which must not be taken for the image's.
    """
    env = {name: value for name, value in machine.items() if name in _REACH or not _DROPPED.fullmatch(name)}
    if env.get("VIRTUAL_ENV") == own_prefix:
        del env["VIRTUAL_ENV"]
        env["PATH"] = ":".join(one for one in env.get("PATH", "").split(":") if one != f"{own_prefix}/bin")
    env.update(image.env)
    env.update(
        PIP_NO_INPUT="1",
        PIP_DISABLE_PIP_VERSION_CHECK="1",
        PYTHONDONTWRITEBYTECODE="1",  # what only imports a foreign distribution must not write beside it
        PYTHONUNBUFFERED="1",
        REGRAFT_RUN=run,
        # Git 2.38 and newer takes this for a checkout of another owner, from which a version is derived.
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="safe.directory",
        GIT_CONFIG_VALUE_0=folder,
    )
    if externally_managed:
        env["PIP_BREAK_SYSTEM_PACKAGES"] = "1"
    return env


def steps_of(plan: Plan, image: Image) -> dict[str, tuple[Step, ...]]:
    """The install commands by overridden dependency, in the order of the manifest."""
    return {
        name: tuple(Step(name, argv, baked.path) for argv in baked.install)
        for name, baked in image.baked.items()
        if name in plan.dependencies and plan.dependencies[name].action == "override"
    }


def project_steps(manifest: Manifest) -> tuple[Step, ...]:
    return tuple(Step(None, argv, None) for argv in manifest.install)


def shown(argv: tuple[str, ...]) -> str:
    return printable(" ".join(argv), 300)


def failed(step: Step, ran: Ran, timeout: int) -> RefusedError | None:
    """The error that a command's end stands for, or None where it ended well."""
    if ran.code == 0:
        return None
    if ran.code is None:
        end = f"did not end within {timeout} seconds, and was ended"
        hint = "raise `install-timeout` of the image, or look what it waits for"
    elif ran.code < 0:
        end, hint = f"was ended by signal {-ran.code}", "signal 9 is often the memory of the machine that ran out"
    else:
        end, hint = f"ended with exit code {ran.code}", _hint(ran)
    lines = [line.strip() for line in ran.tail if line.strip()][-SHOWN:]
    said = f": {' | '.join(printable(line, 300) for line in lines)}" if lines else ""
    whose = step.dependency or "the project"
    return RefusedError("install-failed", f"{whose}: `{shown(step.argv)}` {end}{said}", where=step.path, hint=hint)


def _hint(ran: Ran) -> str:
    text = "\n".join(ran.tail)
    if "No module named pip" in text:
        return "the image's interpreter has no pip: put one into the image, or install with another program"
    if "externally-managed-environment" in text:
        return "the interpreter that this command runs is not the image's: begin the command with `python`"
    if "No space left on device" in text:
        return "make room, then run again"
    return "its output is above"
