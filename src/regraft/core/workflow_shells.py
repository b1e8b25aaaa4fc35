"""Which shell runs a step's script, and with which options.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell: nothing named is
`bash -e {0}`, or `sh -e {0}` in a job's container; `shell: bash` adds `-o pipefail`; on Windows nothing named is `pwsh`.
"""

from collections.abc import Iterator, Sequence

from regraft.core.patterns import regex
from regraft.core.runner_shell import ShellLine, shell_line
from regraft.core.shell_options import Shell
from regraft.core.workflow_values import Data, Job, Step, Text, Workflow
from regraft.errors import InputError

_WINDOWS = regex(r"(?i)windows|\bwin[-_0-9]")
_SHELLS = frozenset({"bash", "sh", "dash", "ash", "ksh", "zsh"})


def shell_of(workflow: Workflow | None, job: Job | None, step: Step) -> ShellLine | None:
    """The line in force; None where it depends on something, is none that the runner takes, or may be Windows' own.

    `workflow` and `job` are None for a step of an action, which has to name its shell.
    """
    named = (step.shell, job.shell if job is not None else None, workflow.shell if workflow is not None else None)
    text = next((one.value for one in named if one is not None and one.value.strip()), None)
    if text is not None:
        return None if "${{" in text else _line(text.strip())
    if job is None or _may_be_windows(job, step):
        return None
    return shell_line(None, bash=job.data.get("container") is None)


def options_of(line: ShellLine) -> Shell | None:
    """What the shell has set when the script begins; None where it is no shell, or started by another program."""
    if line.program.rpartition("/")[2] not in _SHELLS or "{0}" not in line.arguments:
        return None
    return options(line.arguments[: line.arguments.index("{0}")])


def options(words: Sequence[str]) -> Shell:
    """Of a shell's arguments, or those of `set`."""
    found = Shell()
    waiting = iter(words)
    for word in waiting:
        if word[:1] not in ("-", "+") or word.startswith("--"):
            continue
        on = word[0] == "-"
        if "e" in word[1:]:
            found.errexit = on
        if word.endswith("o"):
            name = next(waiting, "")
            if name == "pipefail":
                found.pipefail = on
            elif name == "errexit":
                found.errexit = on
    return found


def _line(text: str) -> ShellLine | None:
    try:
        return shell_line(text)
    except InputError:
        return None


def _may_be_windows(job: Job, step: Step) -> bool:
    """Whether this step can run on Windows, where a script without a shell is PowerShell's."""
    runs_on = job.data.get("runs-on")
    labels = " ".join(_texts(runs_on))
    if _WINDOWS.search(labels):
        return True
    if step.condition is None or "${{" not in labels:
        return False
    asked = step.condition.text.value
    around = " ".join([*_texts(job.data.get("strategy")), asked])
    return bool(_WINDOWS.search(around)) and ("runner." in asked or "matrix." in asked or bool(_WINDOWS.search(asked)))


def _texts(data: Data | None) -> Iterator[str]:
    if data is None:
        return
    if isinstance(data.value, Text):
        yield data.value.value
    elif isinstance(data.value, tuple):
        for one in data.value:
            yield from _texts(one)
    else:
        for one in data.value.values():
            yield from _texts(one)
