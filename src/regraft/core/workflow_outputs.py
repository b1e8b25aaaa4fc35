"""Which outputs a step writes: names in its script's text, and whether it may write others.

It is a reading of texts: a name counts as written wherever it could be, and what runs a program that nobody knows is open.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_run_by import program_text, programs
from regraft.core.workflow_scripts import Script, job_scripts, masked
from regraft.core.workflow_values import Job, Step

_NAME = regex(r"(?<![\w$.{/-])([A-Za-z_][\w-]*)(?:=(?![=~])|<<)")
_OLD = regex(r"set-output\s+name=([\w.-]+)")
_SAID = regex(r"\b(?:echo|printf)\s+(?:-\w+\s+){0,4}[\"']?([A-Za-z_][\w-]*)(?:=|<<)")
_CALLED = regex(r"(?:setOutput|set_output)\(\s*[\"'`]([\w.-]+)")
_ASSIGNS = regex(r"\s*(?:(?:export|local|readonly|declare|typeset)\s+(?:-\w+\s+)*)?[A-Za-z_]\w*\+?=")
_DYNAMIC = regex(r"\$\{?[\w@#*]+\}?[\"']?(?:=(?![=~])|<<(?!<))|%[sdq][\"']?=|\}[\"']?=(?![=~])|name=[\"']?[${]")
_SPEAKS = regex(r"GITHUB_OUTPUT|set-output|set_output|setOutput")
# What a program has that writes under names which are no words of it
_ANY_NAME = regex(
    r"\}[\"'`]?\s*(?:=(?![=~])|<<)|%s[\"']?=|[\"']=[\"']|\.format\(|(?:write|print|log|writelines|appendFileSync)\(\s*\w+\s*[,)]"
    r"|(?:setOutput|set_output)\(\s*[^\"'`\s]|\$\{?[\w@#*]+\}?[\"']?=(?![=~])|(?:echo|printf)\s+[\"']?[$%]|(?:cat|tee|jq)\b.{0,200}GITHUB_OUTPUT"
)
_MENTION = regex(r"GITHUB_OUTPUT")
_TO = r"(?:\d?>>?|\btee\s+(?:-a\s+|--append\s+)?)\s*[\"']?\$\{?(?:env:)?"
_TO_OUTPUT, _TO_ENV = regex(rf"{_TO}GITHUB_OUTPUT"), regex(rf"{_TO}GITHUB_ENV")
_HARMLESS_MENTION = regex(r"(?:-[a-z]|\bcat|\btouch|\brm|:|\bwc -l)\s+(?:-\w+\s+){0,4}[\"']?\$\{?GITHUB_OUTPUT")
_HERE = regex(r"<<-?\s*[\"'\\]?(\w+)")
_VALUE = regex(r"\w<<-?[\"'\\]?\$?\{?(\w+)")
_SAYS = regex(r"\b(?:echo|printf|awk|jq|sed|print)\b")
_CLOSES = regex(r"\s*(?:\}|\)|done|fi|esac)")
_PLAIN_LINE = regex(r"\s*(?:echo|printf|if|then|else|elif|fi|for|do|done|case|esac|\{|\}|\(|\)|#|;;|[\w|*\"'.-]+\)|$)")
_SETS = regex(r"\bsetOutput\b")
_SET = regex(r"\bcore\.setOutput\(\s*[\"'`]([\w-]+)[\"'`]")
_HANDED = regex(r"\bcore\b(?!\s*\??\.)|GITHUB_OUTPUT|\$\{\{")
_FUNCTION = regex(r"(?m)^[ \t]*(?:function[ \t]+)?([\w-]+)[ \t]*\(\)")
_WORD = regex(r"[A-Za-z_][\w-]*")
_INTERPRETERS = regex(r"(?:bash|sh|dash|zsh|python[\d.]*|node|ruby|perl)")
_QUIET_MODULES = frozenset({"pip", "venv", "build", "twine", "json.tool", "http.server", "virtualenv", "ensurepip"})
_PROGRAMS = """
: [ [[ alias apk apt apt-get awk base64 basename bc brew bzip2 cat cd chmod chown cksum clear cmp column comm command
continue break cp curl cut date dd declare df diff dig dirname dnf docker dpkg du echo egrep exit export expr false
fgrep file find fold free getconf getent git gh grep gunzip gzip head hash hostname id ifconfig ip jobs jq kill
killall ldd let ln local ls lsb_release lscpu lsof mapfile md5sum mkdir mktemp mv nproc nvidia-smi openssl paste
patch pgrep pip pip3 pkill popd printenv printf ps pushd pwd read readarray readlink readonly realpath return rev
rm rmdir rsync sed seq set sha1sum sha256sum sha512sum shasum shift shopt sleep sort split ssh-keygen stat
sysctl tac tail tar tee test touch tr trap true tty type ulimit umask uname uniq unset unzip update-alternatives uptime
wait wc wget which whoami xxd xz yum yq zip zstd rustup rustc nvcc crane skopeo oras cosign aws az gcloud
helm kubectl
"""
_HARMLESS = frozenset(_PROGRAMS.split())
_BEFORE = frozenset({"sudo", "time", "nohup", "command", "exec", "nice", "then", "else", "do"})


class Written(Struct, frozen=True):
    """Names in lower case, with the file's line that writes each. `env`: those that go to GITHUB_ENV.

    `sure`: those of `names` that a line writes by `echo NAME=… >> "$GITHUB_OUTPUT"` or the like; others only look so.
    `maybe`: words of the programs `by` that write outputs. `open`: other names may be written than all of these.
    """

    names: Mapping[str, int] = {}
    sure: Mapping[str, int] = {}
    env: Mapping[str, int] = {}
    maybe: frozenset[str] = frozenset()
    by: tuple[str, ...] = ()
    open: bool = False

    def has(self, name: str) -> bool:
        return name.lower() in self.names or name.lower() in self.maybe


def written(graph: Graph, path: str, job: Job | None, step: Step) -> Written:
    """Of a step with a script. One that uses an action is open."""
    key = ("written", step.place)
    found = graph.memo.get(key)
    if found is None:
        found = graph.memo[key] = _written(graph, path, job, step)
    assert isinstance(found, Written)
    return found


def _written(graph: Graph, path: str, job: Job | None, step: Step) -> Written:
    if step.run is None:
        return _of_github_script(step) if is_github_script(step) else Written(open=True)
    script = next((one for one in job_scripts(graph, path, job) if one.step is step), None)
    text = masked(step.run)
    names, env, is_open = _read(text)
    maybe: set[str] = set()
    run = programs(graph, step)
    by = []
    for one in run:
        said = program_text(graph, one)
        if not said:
            is_open = True
        elif _SPEAKS.search(said):
            by.append(one)
            is_open = is_open or _ANY_NAME.search(said) is not None
            maybe |= {word.lower() for word in _WORD.findall(said)}
    if script is None:
        is_open = True
    elif not is_open:
        functions = frozenset(_FUNCTION.findall(text))
        is_open = any(_is_open(words, run, text, functions) for words in _commands(script))
    line = step.run.text.line
    placed = {name: line(at) for name, at in names.items()}
    sure = {name: line(at) for name, at in _sure(text)}
    return Written(placed, sure, {name: line(at) for name, at in env.items()}, frozenset(maybe), tuple(by), is_open)


def is_github_script(step: Step) -> bool:
    return step.uses is not None and step.uses.value.startswith("actions/github-script@") and "script" in step.arguments


def _of_github_script(step: Step) -> Written:
    """`core.setOutput('name', …)`, and the `result` that it returns. Whoever is handed `core` may write anything."""
    text = step.arguments["script"].text
    names = {"result": text.place.line}
    for found in _SET.finditer(text.value):
        names.setdefault(found[1].lower(), text.line(found.start()))
    is_open = _HANDED.search(text.value) is not None or len(_SETS.findall(text.value)) > len(_SET.findall(text.value))
    return Written(names, names if len(names) > 1 else {}, open=is_open)


def _read(text: str) -> tuple[dict[str, int], dict[str, int], bool]:
    """Outputs and variables that a script writes, each with where its line begins, and whether it writes others."""
    names: dict[str, int] = {}
    env: dict[str, int] = {}
    speaks = _SPEAKS.search(text) is not None
    for at, line in _lines(text):
        for piece in _pieces(line):
            if _TO_ENV.search(piece):
                for name in _names(piece):
                    env.setdefault(name, at)
    if not speaks:
        return names, env, False
    has_here = _HERE.search(text) is not None and "cat" in text
    lines = list(_lines(text))
    for at, line in lines:
        if not has_here and _ASSIGNS.match(line) and not _MENTION.search(line):
            continue
        for piece in _pieces(line):
            if not _TO_ENV.search(piece):
                for name in (*_names(piece), *(one.lower() for one in _OLD.findall(piece) + _CALLED.findall(piece))):
                    names.setdefault(name, at)
    return names, env, _is_dynamic(text, lines)


def _sure(text: str) -> Iterator[tuple[str, int]]:
    for at, line in _lines(text):
        for piece in _pieces(line):
            if _TO_OUTPUT.search(piece):
                yield from ((name.lower(), at) for name in _SAID.findall(piece))
            yield from ((name.lower(), at) for name in _OLD.findall(piece))


def _is_dynamic(text: str, lines: list[tuple[int, str]]) -> bool:
    if len(_MENTION.findall(text)) > len(_TO_OUTPUT.findall(text)) + len(_HARMLESS_MENTION.findall(text)):
        return True
    delimiter: str | None = None  # of a value of several lines, whose lines are no names
    for index, (_, line) in enumerate(lines):
        if delimiter is not None:
            delimiter = None if delimiter in line and "<<" not in line else delimiter
            continue
        if _DYNAMIC.search(line) and not _ASSIGNS.match(line):
            return True
        value = _VALUE.search(line)
        if value is not None and _SAID.search(line):
            delimiter = value[1]
        elif not _TO_OUTPUT.search(line) or _HERE.search(line):
            continue
        elif _CLOSES.match(line):
            group = list(_group(lines, index))
            if not any(map(_VALUE.search, group)) and not all(map(_PLAIN_LINE.match, group)):
                return True
        elif not (_names(line) and _SAYS.search(line)):
            return True
    return False


def _group(lines: list[tuple[int, str]], stop: int) -> Iterator[str]:
    """The lines of a group that ends there, by how they are indented."""
    indent = len(lines[stop][1]) - len(lines[stop][1].lstrip())
    for _, line in reversed(lines[:stop]):
        own = len(line) - len(line.lstrip())
        if line.strip() and own <= indent:
            return
        yield line


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those that they go on in, each with where it begins."""
    at = 0
    begin, whole = 0, ""
    for line in text.split("\n"):
        if not whole:
            begin = at
        at += len(line) + 1
        if line.endswith("\\"):
            whole += f"{line[:-1]} "
            continue
        yield begin, whole + line
        whole = ""
    if whole:
        yield begin, whole


def _pieces(line: str) -> list[str]:
    """A line's commands, as far as `&&` and `;` tell."""
    return line.replace(";", "&&").split("&&") if "GITHUB_ENV" in line else [line]


def _names(text: str) -> list[str]:
    return [one.lower() for one in _NAME.findall(text) if one != "name" or "set-output" not in text]


def _commands(script: Script) -> Iterator[list[str]]:
    """Every command's words, those in `$( )` too."""
    from tree_sitter import QueryCursor  # noqa: PLC0415 - only what judges scripts needs it

    for node in QueryCursor(_query()).captures(script.root).get("command", []):
        yield [
            (one.text or b"").decode("utf-8", "replace").strip("\"'")
            for one in node.named_children
            if one.type in _WORDS
        ]


_WORDS = frozenset(
    {"command_name", "word", "string", "raw_string", "concatenation", "simple_expansion", "expansion", "number"}
)


@lru_cache(maxsize=1)
def _query() -> Any:
    from tree_sitter import Language, Query  # noqa: PLC0415 - likewise
    from tree_sitter_bash import language  # noqa: PLC0415 - likewise

    return Query(Language(language()), "(command) @command")


def _is_open(words: Iterable[str], run: tuple[str, ...], script: str, functions: frozenset[str]) -> bool:
    """Whether a command may write outputs of its own: it is no program that is known, and none that was read."""
    left = list(words)
    while left and (left[0] in _BEFORE or left[0].startswith("-")):
        left = left[1:]
    if not left:
        return False
    name, rest = left[0], left[1:]
    if name in _HARMLESS or name in functions:
        return False
    if _INTERPRETERS.fullmatch(name):
        return _interprets(rest, run, script)
    return not _is_read(name, run)


def _interprets(words: list[str], run: tuple[str, ...], script: str) -> bool:
    """Of an interpreter: whether it runs what was not read. A text in the script itself has been."""
    for at, word in enumerate(words):
        if word in ("-c", "-e"):
            return words[at + 1 : at + 2] == [] or words[at + 1].startswith("$")
        if word in ("-V", "--version"):
            return False
        if word == "-m":
            module = words[at + 1] if at + 1 < len(words) else ""
            ends = tuple(f"/{module.replace('.', '/')}{end}" for end in (".py", "/__main__.py"))
            return module not in _QUIET_MODULES and not any(f"/{one}".endswith(ends) for one in run)
        if not word.startswith("-"):
            return not _is_read(word, run)
    return _HERE.search(script) is None


def _is_read(word: str, run: tuple[str, ...]) -> bool:
    tail = word.rpartition("/")[2]
    return bool(tail) and "$" not in tail and any(one.rpartition("/")[2] == tail for one in run)


def quoted(names: Iterable[str]) -> str:
    """`a`, `b`, and how many more."""
    some = list(names)
    return ", ".join(f"`{one}`" for one in some[:8]) + (f" and {len(some) - 8} more" if len(some) > 8 else "")
