"""What a simple command is for, by its name and arguments: what a failure of it means."""

from collections.abc import Sequence
from typing import Literal

from regraft.core.once import once
from regraft.core.patterns import regex
from regraft.core.shell_apply import apply_of
from regraft.core.shell_values import Command, Word

Kind = Literal["probe", "harmless", "tests", "ref", "apply", "install", "network", "other"]

_VALUED = frozenset({"-u", "--user", "-n", "--name", "-p", "--prefix", "-k", "-s", "--signal", "-C", "-g", "-a", "--group", "--extra", "--with", "--python"})  # fmt: skip
_WRAPPERS = frozenset({"sudo", "env", "time", "timeout", "nice", "ionice", "stdbuf", "xvfb-run", "catchsegv", "command", "exec", "nohup", "flock", "setsid", "unbuffer", "numactl", "taskset", "retry", "travis_retry"})  # fmt: skip
_RUNNERS = frozenset({"poetry", "uv", "pdm", "hatch", "pipenv", "conda", "mamba", "micromamba", "rye", "pixi", "bundle"})  # fmt: skip
_CONTAINERS = frozenset({"docker", "podman"})

_PROBES = frozenset(
    {
        *("[", "[[", "test", "grep", "egrep", "fgrep", "rg", "which", "type", "hash", "pgrep", "pidof", "expr", "cmp", "diff"),
        *("id", "getent", "mountpoint", "ls", "stat", "file", "nc", "ping", "sleep", "kill", "wait", "read", "((", "let"),
    }
)  # fmt: skip
_GIT_PROBES = frozenset({"diff", "rev-parse", "show-ref", "ls-files", "merge-base", "cat-file", "status", "diff-index", "check-ref-format", "ls-tree", "config", "describe", "log", "branch", "remote", "tag", "rev-list", "show", "ls-remote"})  # fmt: skip
_HARMLESS = frozenset({"echo", "printf", "true", ":", "export", "set", "unset", "shopt", "mkdir", "touch", "rm", "cat", "pwd", "date", "local", "declare", "readonly", "chmod", "chown", "ln", "alias", "env", "uname", "nproc", "df", "free", "nvidia-smi", "continue", "break", "shift", "trap", "ulimit", "umask", "hostname", "whoami", "clear", "tree", "sync", "exit", "return", "pushd", "popd", "eval", "head", "tail", "sort", "wc", "sed", "awk", "tr", "cut"})  # fmt: skip
_TESTS = frozenset({"pytest", "py.test", "tox", "nox", "ctest", "jest", "vitest", "mocha", "rspec", "phpunit", "make", "gmake", "ninja", "bazel", "bazelisk", "gradle", "gradlew", "mvn", "mvnw", "xcodebuild", "sbt", "gotestsum", "nosetests", "playwright", "meson", "scons", "mypy", "pyright"})  # fmt: skip
_BUILDS = frozenset({"make", "gmake", "ninja", "bazel", "bazelisk", "gradle", "gradlew", "mvn", "mvnw", "xcodebuild", "meson", "scons"})  # fmt: skip
_MODULES = frozenset({"pytest", "unittest", "tox", "nox", "nose", "build", "mypy"})
_WITH_VERB = {
    "cargo": frozenset({"test", "build", "nextest", "check", "clippy", "t", "b"}),
    "go": frozenset({"test", "build", "vet"}),
    "npm": frozenset({"test", "t", "tst"}),
    "yarn": frozenset({"test", "build"}),
    "pnpm": frozenset({"test", "build"}),
    "dotnet": frozenset({"test", "build"}),
    "swift": frozenset({"test", "build"}),
    "mix": frozenset({"test"}),
    "docker": frozenset({"build"}),
    "cmake": frozenset({"--build"}),
}
_LISTS = frozenset({"--version", "-V", "--help", "-h", "--collect-only", "--co", "--list", "-list", "--listTests", "--dry-run", "--markers", "--fixtures", "--show-only", "--list-tests", "-print-targets", "--list-tests-only", "--no-run"})  # fmt: skip
_TEST_FILE = regex(r"(?:^|[/_.-])(?:run_?)?(?:tests?|check|unittests?|suites?|e2e|integration|build|ci)(?:[/_.-]|$)")
_RUN = regex(r"(?:^|:)(?:test|build|ci|check|lint|e2e|typecheck)")
_PYTHON = regex(r"python(?:\d(?:\.\d+)?)?|pypy3?")


def stripped(command: Command) -> tuple[Word, ...]:
    """The words from the program on, without `sudo`, `timeout 10`, `poetry run` and the like."""
    words = command.words
    while words:
        name = _name(words[0])
        if name in _WRAPPERS:
            words = _after(words[1:], skip=1 if name in ("timeout", "flock", "taskset") else 0)
        elif name in _RUNNERS and _verb(words) in ("run", "exec"):
            at = next(i for i, one in enumerate(words) if one.text in ("run", "exec"))
            words = _after(words[at + 1 :])
        elif name == "coverage" and _verb(words) == "run":
            rest = _after(words[2:])
            words = rest if not rest or words[2].text != "-m" else words[3:]
        else:
            return words
    return ()


@once
def kind(command: Command) -> Kind:
    if apply_of(command) is not None:
        found = apply_of(command)
        return "probe" if found is not None and (found.asks or found.back) else "apply"
    words = stripped(command)
    if not words:
        return "harmless"
    name, rest = _name(words[0]), [one.text for one in words[1:]]
    if name in _PROBES or (name == "command" and "-v" in rest) or {"--version", "--help", "-V"} & {*rest[:1]}:
        return "probe"
    if command.words[0].text == "command" and any(one.text in ("-v", "-V") for one in command.words):
        return "probe"
    if name == "git":
        return _git(rest)
    if name in _HARMLESS:
        return "harmless"
    if _only_asks(name, rest):
        return "probe"
    other = _other(name, rest, words)
    return "probe" if other in ("network", "other") and _is_silenced(command) else other


def _only_asks(name: str, rest: Sequence[str]) -> bool:
    """Whether it looks at something and leaves all as it is."""
    if name in ("pip", "pip3", "uv") or (_PYTHON.fullmatch(name) and rest[:2] == ["-m", "pip"]):
        return next((one for one in rest if not one.startswith("-") and one != "pip"), "") in ("show", "list", "freeze")
    if name in _CONTAINERS:
        return rest[:1] in (["ps"], ["images"], ["inspect"], ["info"]) or rest[1:2] in (["inspect"], ["ls"])
    return _PYTHON.fullmatch(name) is not None and rest[:1] == ["-c"] and "exit(" in "".join(rest[1:2])


def _is_silenced(command: Command) -> bool:
    """Whether what it says is thrown away, so that only its status is wanted."""
    return any(
        one.target is not None and one.target.text == "/dev/null" and one.operator in (">", "&>", ">>", "&>>")
        for one in command.redirects
    )


def _other(name: str, rest: Sequence[str], words: Sequence[Word]) -> Kind:
    if name in ("dpkg", "rpm", "brew") and rest[:1] and rest[0] in ("-s", "-l", "-q", "list", "-V"):
        return "probe"
    if is_tests(words):
        return "tests"
    if name in ("pip", "pip3", "npm", "yarn", "pnpm", "apt", "apt-get", "uv", "conda", "mamba", "yum", "dnf", "apk", "brew", "poetry", "gem", "bundle", "cargo"):  # fmt: skip
        return "install"
    if _PYTHON.fullmatch(name) and rest[:2] == ["-m", "pip"]:
        return "install"
    return "network" if name in ("curl", "wget", "gh", "aws", "gsutil", "skopeo", "crane") else "other"


def is_tests(words: Sequence[Word]) -> bool:
    """Whether it runs tests or a build, or a script that by its name does."""
    if not words or _LISTS & {one.text for one in words[1:]}:
        return False
    name, rest = _name(words[0]), [one.text for one in words[1:]]
    if name in _TESTS:
        return not {"-n", "-N"} & {*rest} or name in ("pytest", "py.test")
    if _PYTHON.fullmatch(name):
        if "-m" in rest:
            module = next(iter(rest[rest.index("-m") + 1 :]), "")
            return module.partition(".")[0] in _MODULES
        file = next((one for one in rest if not one.startswith("-")), "")
        return file.endswith(".py") and _is_test_file(file)
    if name in ("bash", "sh"):
        file = next((one for one in rest if not one.startswith("-")), "")
        return "-c" not in rest and _is_test_file(file)
    if name in _WITH_VERB and any(one in _WITH_VERB[name] for one in rest[:2]):
        return True
    if name in ("npm", "yarn", "pnpm") and rest[:1] == ["run"]:
        return len(rest) > 1 and _RUN.search(rest[1]) is not None
    if name in _CONTAINERS and rest[:1] and rest[0] in ("run", "exec"):
        inner = " ".join(rest[1:])
        return regex(r"(?:^|\s|/)(?:pytest|ctest|tox|unittest|run_tests?\.(?:sh|py))(?:\s|$)").search(inner) is not None
    return "/" in words[0].text and words[0].text.endswith((".sh", ".py")) and _is_test_file(words[0].text)


def is_build(words: Sequence[Word]) -> bool:
    """Whether what `is_tests` holds of builds, rather than running tests."""
    name, rest = _name(words[0]), [one.text for one in words[1:]]
    asks = any("test" in one or "check" in one for one in rest)
    return (name in _BUILDS or name in _WITH_VERB) and not asks


def script_path(words: Sequence[Word]) -> str | None:
    """The program file that it runs, as written, be it by an interpreter."""
    if not words:
        return None
    name, rest = _name(words[0]), [one.text for one in words[1:]]
    if name in ("bash", "sh", "node", "ruby", "perl") or _PYTHON.fullmatch(name):
        if {"-c", "-m", "-e"} & {*rest[:2]} and (name not in ("bash", "sh") or "-c" in rest):
            return None
        return next((one for one in rest if not one.startswith("-")), None)
    return words[0].text if "/" in words[0].text else None


def named_ref(command: Command) -> Literal["", "literal", "given"]:
    """Whether it checks out a ref: one that is given, or one that is written there."""
    words = stripped(command)
    if not words or words[0].text != "git":
        return ""
    rest = list(words[1:])
    while rest and rest[0].text.startswith("-"):
        del rest[: 2 if rest[0].text in ("-C", "-c") else 1]
    if not rest or rest[0].text not in ("checkout", "switch"):
        return ""
    options = [one for one in rest[1:] if one.text.startswith("-")]
    names = [one for one in rest[1:] if not one.text.startswith("-")]
    new = any(one.text in ("-b", "-B", "-c", "-C", "--orphan", "--", "-p", "--ours", "--theirs") for one in options)
    if new or len(names) != 1 or names[0].text in (".", "HEAD"):
        return ""
    return "literal" if names[0].plain else "given"


def is_python(name: str) -> bool:
    return _PYTHON.fullmatch(name.rpartition("/")[2]) is not None


def _is_test_file(file: str) -> bool:
    return _TEST_FILE.search(file.rpartition("/")[2].lower()) is not None


def _git(rest: list[str]) -> Kind:
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in ("-C", "-c") else 1
    verb, rest = (rest[at] if at < len(rest) else ""), rest[at + 1 :]
    if verb in ("checkout", "switch", "reset", "pull", "merge", "cherry-pick", "rebase", "fetch", "submodule"):
        return "ref" if verb != "reset" or rest else "harmless"
    if verb in ("diff", "rev-parse", "show-ref") or verb in _GIT_PROBES:
        return "probe"
    return "network" if verb in ("clone", "push") else "other"


def _name(word: Word) -> str:
    return word.text.rpartition("/")[2]


def _verb(words: Sequence[Word]) -> str:
    return next((one.text for one in words[1:] if not one.text.startswith("-")), "")


def _after(words: Sequence[Word], skip: int = 0) -> tuple[Word, ...]:
    """Without the options and assignments at the head, and `skip` more words."""
    at = 0
    while at < len(words) and (words[at].text.startswith("-") or "=" in words[at].text.partition("/")[0]):
        at += 2 if words[at].text in _VALUED else 1
    return tuple(words[at + skip :])
