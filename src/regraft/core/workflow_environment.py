"""Which variables a step's script finds set: by the workflow, the job, the step, earlier steps, the runner."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.runner_names import RUNNER, runner_meant
from regraft.core.shell_text import syntax_tree
from regraft.core.shell_variables import variables
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_run_by import program_text, programs
from regraft.core.workflow_scripts import kept
from regraft.core.workflow_values import Data, Job, Place, Step, Text, Value, Workflow

# the variables of GitHub's own images and of common tools
_OF_MACHINES = """
CI HOME PATH USER SHELL LANG LANGUAGE TERM PWD OLDPWD TMPDIR TEMP TMP LOGNAME DISPLAY EDITOR PAGER MAIL TZ HOSTNAME
RANDOM SRANDOM SECONDS LINENO FUNCNAME PIPESTATUS UID EUID GROUPS PPID HOSTTYPE MACHTYPE OSTYPE OPTARG OPTIND OPTERR
IFS REPLY SHLVL COLUMNS LINES EPOCHSECONDS EPOCHREALTIME PS1 PS2 PS4 DIRSTACK COPROC MAPFILE SHELLOPTS COMP_WORDS
LD_LIBRARY_PATH DYLD_LIBRARY_PATH LD_PRELOAD LIBRARY_PATH CPATH MANPATH INFOPATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
CMAKE_ARGS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CXX FC AR LD MAKEFLAGS RUSTFLAGS RUSTDOCFLAGS VIRTUAL_ENV
PROMPT_COMMAND ImageOS ImageVersion AGENT_TOOLSDIRECTORY CHROMEWEBDRIVER CHROME_BIN EDGEWEBDRIVER GECKOWEBDRIVER
SELENIUM_JAR_PATH VCPKG_INSTALLATION_ROOT NVM_DIR SWIFT_PATH ACCEPT_EULA DEBIAN_FRONTEND DEPLOYMENT_BASEPATH
LEIN_HOME LEIN_JAR SGX_AESM_ADDR AZURE_EXTENSION_DIR ANT_HOME M2_HOME MAVEN_HOME GRADLE_HOME pythonLocation
SSH_AUTH_SOCK SSH_AGENT_PID KUBECONFIG USERPROFILE APPDATA LOCALAPPDATA PROGRAMFILES ProgramFiles SystemRoot WINDIR
HF_HOME HF_TOKEN NVIDIA_VISIBLE_DEVICES NPROC SUDO_USER SOURCE_DATE_EPOCH BOOTSTRAP_HASKELL_NONINTERACTIVE
"""
_NAMES = frozenset(_OF_MACHINES.split())
_FAMILIES = regex(
    r"(?:RUNNER|ACTIONS|BASH|LC|XDG|JAVA_HOME|GOROOT|GOPATH|GOBIN|GOOS|GOARCH|ANDROID|CONDA|CUDA|NVIDIA|NCCL|ROCM|HIP|PYTHON|Python"
    r"|PIPX|PIP|UV|NODE|NPM|PNPM|YARN|CARGO|RUSTUP|HOMEBREW|DOTNET|DOCKER|POSTGRESQL|PG|GHCUP|STATS|KUBERNETES|SLURM|OMPI"
    r"|POWERSHELL|PS(?:Module)|XCODE|MSYS|MSYSTEM|MINGW|VS|VC|VCPKG)(?:_?[A-Za-z0-9_]*)?|(?i:https?|no|all|ftp)_proxy|(?i:NO_PROXY)"
)
_QUIET = regex(
    r"(?:actions|docker|github|codecov|pypa|peter-evans|softprops|peaceiris|dorny|tj-actions|dtolnay|Swatinem|pre-commit"
    r"|step-security|jlumbroso|astral-sh|actions-rs|actions-rust-lang|oven-sh|pnpm|denoland|ruby|marocchino|EndBug|stefanzweifel"
    r"|slackapi|8398a7|mikepenz|test-summary|EnricoMi|crazy-max|easimon|hadolint|ludeeus|zizmorcore|taiki-e)/.*"
)
_GITHUB_OTHERS = regex(
    r"(?:PYTHON|Python|JAVA|GO|NODE|pythonLocation|CARGO|RUST|UV|PNPM|BUNDLE|DENO|BUN|CODEQL|BUILDX)[A-Za-z0-9_]*"
)
_WRITES = regex(r"GITHUB_ENV|exportVariable|set-env|getenv\(['\"]GITHUB")
_ASSIGNED = regex(r"(?<![\w$.{-])([A-Za-z_][A-Za-z0-9_]*)(?==|<<|['\"]\s*,)")
_LINE = regex(r"GITHUB_ENV\b")
_WORD = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_HOSTED = regex(r"(?:ubuntu|macos|windows)-[a-z0-9.-]+")
_ACTIVATE = regex(r"(?:.*/)?(?:activate|\.bashrc|\.profile|\.bash_profile|os-release|\.cargo/env|env)")


class Environment(Struct, frozen=True):
    """`names` that are set, each with the line that does it where there is one. `open`: others may be set as well."""

    names: Mapping[str, Place | None]
    open: bool


def is_known(name: str) -> bool:
    """Whether the runner, the shell or what usually stands on a machine may set it."""
    return (
        name in _NAMES
        or name in RUNNER
        or (_FAMILIES.fullmatch(name) is not None and runner_meant(name) is None)
        or _GITHUB_OTHERS.fullmatch(name) is not None
    )


def environment(graph: Graph, workflow: Workflow, job: Job, step: Step) -> Environment:
    """What a step of a job finds, besides what `is_known`."""
    names: dict[str, Place | None] = {}
    is_open = not _is_hosted(job) or job.data.get("container") is not None
    for data, values in ((workflow.data, workflow.env), (job.data, job.env), (step.data, step.env)):
        names |= _places(data.get("env"), values)
        found = data.get("env")
        is_open = is_open or (found is not None and isinstance(found.value, Text) and bool(found.value.value.strip()))
    container = job.data.get("container", "env")
    if container is not None and isinstance(container.value, Mapping):
        names |= {name: container.keys[name].place for name in container.value}
    for one in job.steps[: step.index]:
        added, opens = _added(graph, one, ())
        names |= {name: place for name, place in added.items() if name not in names}
        is_open = is_open or opens
    return Environment(names, is_open)


def _is_hosted(job: Job) -> bool:
    """Whether it runs on a machine of GitHub's, whose variables are known."""
    runs_on = job.data.get("runs-on")
    if runs_on is None or not isinstance(runs_on.value, Text):
        return False
    text = runs_on.value.value.strip()
    if _HOSTED.fullmatch(text):
        return True
    matrix = job.data.get("strategy", "matrix")
    name = regex(r"\$\{\{\s*matrix\.([\w-]+)\s*\}\}").fullmatch(text)
    values = matrix.get(name[1]) if matrix is not None and name is not None else None
    if values is None or not isinstance(values.value, tuple):
        return False
    return all(isinstance(one.value, Text) and _HOSTED.fullmatch(one.value.value) is not None for one in values.value)


def _places(data: Data | None, values: Mapping[str, Value]) -> dict[str, Place | None]:
    return {name: data.keys[name].place if data is not None and name in data.keys else None for name in values}


def _added(graph: Graph, step: Step, above: tuple[str, ...]) -> tuple[dict[str, Place | None], bool]:
    """What a step hands on by `GITHUB_ENV`, and whether that may be anything."""
    found: tuple[dict[str, Place | None], bool] = kept(
        graph, ("adds", step.place, above), lambda: _find_added(graph, step, above)
    )
    return found


def _find_added(graph: Graph, step: Step, above: tuple[str, ...]) -> tuple[dict[str, Place | None], bool]:
    names: dict[str, Place | None] = {}
    is_open = False
    if step.uses is not None:
        action = graph.action(step)
        if action is not None and action.path not in above:
            for one in action.steps:
                more, opens = _added(graph, one, (*above, action.path))
                names |= more
                is_open = is_open or opens
            if not action.steps:
                is_open = True
        elif _QUIET.fullmatch(step.uses.value) is None:
            is_open = True
    for value in [step.run, step.arguments.get("script")]:
        if value is not None and _WRITES.search(value.text.value):
            added, opens = written_names(value)
            names |= added
            is_open = is_open or opens
    for path in programs(graph, step):
        text = program_text(graph, path)
        if _WRITES.search(text):
            names |= dict.fromkeys(_WORD.findall(text), None)
    return names, is_open


def written_names(value: Value) -> tuple[dict[str, Place | None], bool]:
    """The names that a script seems to write to `GITHUB_ENV`, each with its line, and whether it writes others."""
    text = value.text
    names: dict[str, Place | None] = {}
    at = 0
    is_open = False
    for line in text.value.split("\n"):
        found = _ASSIGNED.findall(line)
        place = Place(text.place.path, text.line(at))
        for name in found:
            names.setdefault(name, place)
        bare = line.strip().strip(";").strip()
        if (
            _LINE.search(line)
            and not found
            and not bare.startswith(("}", "EOF", "echo", "with ", "cat <<", "done", "fi", ")"))
        ):
            is_open = True
        if _LINE.search(line) and regex(r"\b(?:echo|printf)\s+[\"']?\$").search(line):
            is_open = True
        at += len(line) + 1
    return names, is_open


def sourced(graph: Graph, paths: Iterable[str]) -> tuple[frozenset[str], bool]:
    """What the scripts set that are read with `source`, by their words, and whether others may be set."""
    names: set[str] = set()
    is_open = False
    for word in paths:
        path = word.removeprefix("./")
        data = graph.repository.read(path)
        root = syntax_tree(data) if data is not None else None
        if data is not None and root is not None:
            found = variables(root, data)
            names |= found.sets
            is_open = is_open or found.open or bool(found.sources)
        elif _ACTIVATE.fullmatch(word) is None or word.endswith("env"):
            is_open = True
    return frozenset(names), is_open
