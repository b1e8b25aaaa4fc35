"""Which simple commands say something about an image's checkouts, and who follows them."""

from collections.abc import Sequence

from msgspec.structs import replace

from regraft.core.init_expand import Value
from regraft.core.init_git import READ, enclosing, run_git
from regraft.core.init_locks import read_by
from regraft.core.init_patching import run_apply, run_patch, run_quilt
from regraft.core.init_pip import interpreter, run_install, run_setup
from regraft.core.init_shell import Shell, unknown
from regraft.core.init_tests import judged_test
from regraft.core.init_values import FromGit, Install, Place
from regraft.core.init_words import parted
from regraft.core.patterns import regex
from regraft.core.shell_values import Command, Word

_PREFIXES = frozenset({"sudo", "command", "time", "exec", "nice", "env", "nohup"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_UNSURE = frozenset({"grep", "egrep", "which", "type", "hash", "cmp", "diff", "ls", "curl", "ping", "nvidia-smi"})
_ASSIGNED = regex(r"([A-Za-z_]\w*)=(.*)", 16)  # DOTALL
_PYTHON = regex(r"(?:.*/)?python(?:\d(?:\.\d+)?)?")
_PIP = regex(r"(?:.*/)?pip(?:\d(?:\.\d+)?)?")


def run_command(shell: Shell, command: Command) -> bool | None:
    """Follow one command: whether it ends well, None where nobody can tell."""
    env = {name: value for name, one in command.assignments if (value := _known(shell, one)) is not None}
    if not command.words:
        _assign(shell, command)
        return True
    words = list(command.words)
    while len(words) > 1 and words[0].text in _PREFIXES:
        words = words[1:]
        while len(words) > 1 and (one := _ASSIGNED.fullmatch(words[0].text)):
            env[one[1]] = shell.value(words[0]).text.partition("=")[2]
            words = words[1:]
    return _followed(shell, command, words, env)


def _known(shell: Shell, word: Word | None) -> str | None:
    value = shell.value(word) if word is not None else None
    return value.text if value is not None and value.known else None


def _assign(shell: Shell, command: Command) -> None:
    for name, word in command.assignments:
        if word is None:  # `export NAME`
            shell.variables.setdefault(name, None)
            continue
        value, text = _known(shell, word), shell.value(word).text
        shell.variables[name] = unknown(name) if value is None else value
        shell.variables[f"{READ}{name}"] = text if read_by(text) else None


def _followed(shell: Shell, command: Command, words: Sequence[Word], env: dict[str, str]) -> bool | None:
    place = shell.place(command.span.start)
    name, rest = words[0].text.rpartition("/")[2], words[1:]
    values = [shell.value(word) for word in rest]
    match name:
        case "cd" | "pushd":
            targets = [value for value in values if not value.text.startswith("--")]
            shell.cd(targets[0].text if targets else "~")
        case "popd":
            shell.cd("-")
        case "export" | "declare" | "readonly" | "local":
            _assign(shell, command)
        case "unset":
            for value in values:
                shell.variables.pop(value.text, None)
        case "[" | "[[" | "test":
            return judged_test(shell, command)
        case "true" | ":":
            return True
        case "false" | "exit" | "return":
            return name != "false"
        case "git":
            return _git(shell, command, rest, values)
        case "patch":
            return run_patch(shell, command, rest)
        case "quilt":
            return run_quilt(shell, values, place)
        case "cp" | "mv" | "ln":
            operands = parted(values, frozenset({"-t", "-m"})).operands
            if len(operands) > 1:
                _moved(shell, name, [one.text for one in operands])
        case "rm":
            _removed(shell, [one for one in values if not one.text.startswith("-")], place)
        case "sed" | "perl":
            _edited(shell, name, values, place)
        case "." | "source" if values:
            _source(shell, values[0].text)
        case _ if name in _SHELLS:
            return _shell(shell, values, rest, place)
        case _ if name in _UNSURE:
            return None
        case _:
            return _python(shell, words[0].text, values, env, place)
    return True


def _git(shell: Shell, command: Command, rest: Sequence[Word], values: Sequence[Value]) -> bool | None:
    folder = shell.folder
    for at, value in enumerate(values):
        if value.text in ("apply", "am"):
            return run_apply(shell, value.text, command, rest[at + 1 :], folder)
        if at and values[at - 1].text == "-C":
            folder = shell.path(value.text)
        elif not value.text.startswith("-") and (
            at == 0 or values[at - 1].text not in ("-c", "--git-dir", "--work-tree")
        ):
            break
    return run_git(shell, values, shell.place(command.span.start))


def _moved(shell: Shell, name: str, texts: Sequence[str]) -> None:
    *sources, target = texts
    for source in sources if name == "mv" else ():
        path = shell.path(source)
        if path in shell.held.checkouts and len(sources) == 1:
            one = shell.held.checkouts.pop(path)
            one.path = shell.path(target)
            shell.held.checkouts[one.path] = one
            return
    shell.brings(sources, target)


def _removed(shell: Shell, values: Sequence[Value], place: Place) -> None:
    """What is gone is in no image. What was installed from it before is there, but nothing that a run could move."""
    gone = [shell.path(value.text.removesuffix("/*")) for value in values if value.known]
    checkouts = shell.held.checkouts
    for path in [one for one in checkouts if any(one == top or one.startswith(f"{top}/") for top in gone)]:
        one = checkouts[path]
        if shell.doubt is not None:
            one.doubt = one.doubt or shell.doubt
            continue
        del checkouts[path]
        shell.say(f"the checkout at {path} ({one.place}) is removed here", place)
        if one.installs and one.url is not None:
            ref = one.ref.text if one.ref is not None else None
            shell.held.from_git.append(FromGit(None, one.url.text, ref, one.installs[0].place))


def _edited(shell: Shell, name: str, values: Sequence[Value], place: Place) -> None:
    """An edit in place of a file that a checkout tracks: nothing in the project says what it is."""
    in_place = any(value.text.startswith(("-i", "--in-place")) or value.text in ("-pi", "-pie") for value in values)
    if not in_place or not values:
        return
    path = shell.path(values[-1].text)
    one = enclosing(shell, path)
    if one is not None:
        text = f"{one.path}: `{name} -i` edits {values[-1].text!r:.120}, which no patch file explains; make it one?"
        shell.ask(text, place)


def _source(shell: Shell, text: str) -> None:
    if text.endswith("/bin/activate"):
        shell.variables["VIRTUAL_ENV"] = shell.path(text).removesuffix("/bin/activate")
    else:
        shell.call(text, here=True)


def _shell(shell: Shell, values: Sequence[Value], rest: Sequence[Word], place: Place) -> bool | None:
    """`sh -c TEXT`, or a script of the project."""
    for at, value in enumerate(values):
        if value.text.startswith("-") and not value.text.startswith("--") and value.text.endswith("c"):
            if at + 1 < len(values):
                return shell.script(rest[at + 1].text.encode("utf-8", "surrogateescape"), lambda _: place)
            return True
        if not value.text.startswith("-"):
            return shell.call(value.text, here=False)
    return True


def _python(shell: Shell, program: str, values: Sequence[Value], env: dict[str, str], place: Place) -> bool | None:
    texts = [value.text for value in values]
    name = program.rpartition("/")[2]
    like = Install(("python",), place, tuple(env.items()), python=interpreter(shell, program))
    if _PYTHON.fullmatch(program):
        if texts[:2] == ["-m", "pip"] and "install" in texts:
            _pip(shell, like, values[2:])
        elif texts[:2] == ["-m", "venv"] or texts[:2] == ["-m", "virtualenv"]:
            _venv(shell, values[2:])
        elif texts and texts[0].rpartition("/")[2] == "setup.py":
            run_setup(shell, like, values)
    elif _PIP.fullmatch(program) and "install" in texts:
        _pip(shell, like, values)
    elif name == "uv" and texts[:2] == ["pip", "install"]:
        run_install(shell, replace(like, argv=("uv", "pip", "install"), python=None), values[2:])
    elif (name == "uv" and texts[:1] == ["venv"]) or name == "virtualenv":
        _venv(shell, values[1:] if name == "uv" else values)
    elif "/" in program:
        return shell.call(program, here=False)
    return True


def _pip(shell: Shell, like: Install, values: Sequence[Value]) -> None:
    at = next(index for index, value in enumerate(values) if value.text == "install")
    before = [value.text for value in values[:at]]
    run_install(shell, replace(like, argv=("python", "-m", "pip", *before, "install")), values[at + 1 :])


def _venv(shell: Shell, values: Sequence[Value]) -> None:
    operands = parted(values, frozenset({"--prompt", "-p", "--python"})).operands
    if operands and operands[0].known:
        made = shell.variables.get("$venvs") or ""
        shell.variables["$venvs"] = f"{made}\n{shell.path(operands[0].text)}"
