"""What `pip install`, `uv pip install` and `setup.py` put into an image's environment: from a checkout, or straight from git."""

import posixpath
from collections.abc import Sequence

from msgspec.structs import replace

from regraft.core.init_expand import Value
from regraft.core.init_git import below, enclosing, told_url
from regraft.core.init_shell import Shell
from regraft.core.init_values import FromGit, Install, Place
from regraft.core.init_words import Parted, parted
from regraft.core.patterns import regex

_TAKING = frozenset(
    {
        *("-r", "--requirement", "-c", "--constraint", "-i", "--index-url", "--extra-index-url", "-f", "--find-links"),
        *("-t", "--target", "--prefix", "--root", "-C", "--config-settings", "--config-setting", "--no-binary"),
        *("--only-binary", "--src", "--python", "-p", "--upgrade-strategy", "--platform", "--progress-bar"),
        *("--timeout", "--retries", "--cache-dir", "--log", "--trusted-host", "-e", "--editable", "--global-option"),
        *("--install-option", "--build-option", "--proxy", "--python-version", "--implementation", "--abi", "--cert"),
        *("--index-strategy", "--torch-backend", "--index", "--default-index", "--exclude-newer", "--resolution"),
    }
)
_GIT = regex(
    r"(?:(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*@\s*)?git\+(?P<url>[^\s;#]+)(?:#(?P<fragment>\S*))?(?:\s*;.*)?"
)
_AT = regex(r"(?P<url>.+://[^/]+/.+?)@(?P<ref>[^@]+)")
_EGG = regex(r"(?:^|&)egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_EXTRAS = regex(r"(?P<path>.*?)(?P<extras>\[[A-Za-z0-9,._ -]+\])?")


def from_git(text: str, place: Place, *, editable: bool = False) -> FromGit | None:
    """What a requirement such as `name @ git+https://host/owner/name@ref#egg=name` says; None for any other."""
    match = _GIT.fullmatch(text.strip())
    if match is None:
        return None
    egg = _EGG.search(match["fragment"] or "")
    at = _AT.fullmatch(match["url"])
    url = told_url(Value(at["url"] if at else match["url"], known=True), place)
    if url is None:
        return None
    return FromGit(match["name"] or (egg[1] if egg else None), url.text, at["ref"] if at else None, place, editable)


def requirement_lines(data: bytes, path: str) -> list[FromGit]:
    """The lines of a requirements file that come straight from a repository."""
    found = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        text = line.strip()
        editable = text.startswith(("-e ", "--editable ", "--editable="))
        if editable:
            text = text.removeprefix("--editable").removeprefix("-e").lstrip("= ")
        if one := from_git(text, Place(path, number), editable=editable):
            found.append(one)
    return found


def run_install(shell: Shell, like: Install, words: Sequence[Value]) -> None:
    """`install` of pip or of uv: `like` has the words before its options, `words` are those after `install`."""
    options = parted(words, _TAKING, "erci")
    editable = [value for name, value in options.options if name in ("-e", "--editable") and value is not None]
    for named in (*editable, *options.operands):
        straight = from_git(named.text, like.place, editable=named in editable)
        if straight is not None:
            _from_git(shell, straight)
        elif "git+" in named.text:
            shell.ask(f"which repository is {named.text!r:.200}? Its value is not in the repository", like.place)
        elif named in editable or _is_path(named.text):
            _of_checkout(shell, like, options, named, editable=named in editable)
    for name, value in options.options:
        if name in ("-r", "--requirement") and value is not None:
            _required(shell, value.text)


def _from_git(shell: Shell, one: FromGit) -> None:
    if one not in shell.held.from_git:
        shell.held.from_git.append(one)


def _required(shell: Shell, text: str) -> None:
    path = shell.files.find(shell.path(text))
    data = shell.read(path) if path is not None else None
    if path is not None and data is not None:
        for one in requirement_lines(data, path):
            _from_git(shell, one)


def _is_path(text: str) -> bool:
    bare = text.partition("[")[0]
    return bare in (".", "..") or "/" in bare.partition("@")[0] or bare.startswith(("./", "../"))


def _of_checkout(shell: Shell, like: Install, options: Parted, value: Value, *, editable: bool) -> None:
    match = _EXTRAS.fullmatch(value.text.removeprefix("file://"))
    if match is None or match["path"].endswith((".whl", ".gz", ".zip")):
        return
    folder = shell.path(match["path"])
    argv = [*like.argv, *_kept(options)]
    one = enclosing(shell, folder)
    inside = below(one, folder) if one is not None else ""
    text = f"{inside or '.'}{match['extras'] or ''}"
    argv += ["-e", text] if editable else [text if inside == "" or text.startswith(".") else f"./{text}"]
    doubt = shell.doubt or ("its value is not in the repository" if not value.known or not _known(options) else None)
    install = replace(like, argv=tuple(argv), doubt=doubt)
    if one is not None:
        one.installs.append(install)
    elif folder == shell.project or (shell.files.project_path(folder) == "" and not inside):
        shell.held.project_installs.append(install)


def _kept(options: Parted) -> list[str]:
    """The options of the command, but for what it installs besides."""
    found: list[str] = []
    for name, value in options.options:
        if name in ("-e", "--editable", "-r", "--requirement"):
            continue
        found += [name] if value is None else [name, value.text]
    return found


def _known(options: Parted) -> bool:
    return all(value is None or value.known for name, value in options.options if name not in ("-r", "--requirement"))


def run_setup(shell: Shell, like: Install, words: Sequence[Value]) -> None:
    """`python setup.py develop` or `install`, in the folder at hand."""
    one = enclosing(shell, shell.folder)
    rest = [value.text for value in words[1:]]
    if one is None or not {"develop", "install"} & {*rest}:
        return
    inside = below(one, posixpath.dirname(shell.path(words[0].text)))
    doubt = shell.doubt or (None if all(value.known for value in words) else "its value is not in the repository")
    if inside:
        doubt = f"it runs in {inside}, and an install command runs at the top of the checkout"
    one.installs.append(replace(like, argv=(*like.argv, "setup.py", *rest), doubt=doubt))


def interpreter(shell: Shell, program: str) -> str | None:
    """The absolute path of the interpreter that a command goes by, where that is told."""
    if program.startswith("/"):
        folder, _, name = program.rpartition("/")
        return f"{folder}/{name.replace('pip', 'python')}"
    venv = shell.variables.get("VIRTUAL_ENV") or _first_bin(shell)
    return f"{venv.removesuffix('/bin')}/bin/python" if venv is not None and venv.startswith("/") else None


def _first_bin(shell: Shell) -> str | None:
    """The folder that somebody put before the others on PATH, where a virtual environment was made there."""
    first = (shell.variables.get("PATH") or "").partition(":")[0]
    made = shell.variables.get("$venvs") or ""
    return first if first.endswith("/bin") and first.removesuffix("/bin") in made.split("\n") else None
