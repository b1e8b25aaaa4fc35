"""Which Python versions a source tree says that it needs, read from its metadata files without running any of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regraft.core.manifest import Command
from regraft.core.patterns import regex
from regraft.core.quoting import quoted
from regraft.errors import InputError

if TYPE_CHECKING:
    import ast

_VALUED = frozenset(
    {
        *("-r", "--requirement", "-c", "--constraint", "-t", "--target", "-i", "--index-url", "--extra-index-url"),
        *("-f", "--find-links", "--prefix", "--root", "--src", "--no-binary", "--only-binary", "--progress-bar"),
        *("-C", "--config-settings", "--config-setting", "--python", "-p", "--report", "--implementation", "--abi"),
        *("--platform", "--python-version", "--upgrade-strategy", "--global-option", "--trusted-host", "--cache-dir"),
        *(
            "--timeout",
            "--retries",
            "--proxy",
            "--cert",
            "--log",
            "--keyring-provider",
            "--use-feature",
            "-b",
            "--group",
        ),
    }
)
_FOLDER = regex(r"(?P<path>[^\[\]<>=!~;@:\s]+)(?:\[[^\[\]]*\])?")
_CARET = regex(r"\^\s*(\d+)(\.\d+)?(\.\d+)?")
_TILDE = regex(r"~\s*(\d+)\.(\d+)(\.\d+)?")


def requires_python(files: Mapping[str, bytes]) -> str | None:
    """The specifier that `pyproject.toml`, `setup.py` and `setup.cfg` of one folder (those that are there) declare.

    What is computed rather than written is not seen. Raises InputError `broken-metadata` for a file that cannot be read.
    """
    found: str | None
    if (data := files.get("pyproject.toml")) is not None:
        found, final = _from_pyproject(data)
        if final:
            return found
    for name, read in (("setup.py", _from_setup_py), ("setup.cfg", _from_setup_cfg)):
        if (data := files.get(name)) is not None and (found := read(data)):
            return found
    return None


def candidate_folders(install: Sequence[Command]) -> tuple[str, ...]:
    """The folders of the checkout that install commands may install from, "" for its root; some may not exist.

    A name that pip would look up on an index is among them: only a look at the tree can tell.
    """
    folders = [
        folder for command in install for argument in _targets(command) if (folder := _folder(argument)) is not None
    ]
    return tuple(dict.fromkeys(folders))


def satisfies(version: str, specifier: str) -> bool:
    """Whether a Python version ("3.12.3") is one that the specifier allows. Raises InputError `broken-specifier`."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - only a gate with a baseline needs it
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - likewise

    try:
        return SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except InvalidSpecifier:
        raise InputError("broken-specifier", f"requires-python is no valid specifier: {quoted(specifier)}") from None
    except InvalidVersion:
        raise InputError("broken-version", f"this is no Python version: {quoted(version)}") from None


def _targets(command: Command) -> Iterator[str]:
    """What follows `install` in a pip command, options left out; "." for a `setup.py` that is run."""
    words = list(command)
    if any(word.endswith("setup.py") for word in words[:3]):
        yield next(word for word in words if word.endswith("setup.py")).removesuffix("setup.py") or "."
        return
    if "install" not in words:
        return
    arguments = iter(words[words.index("install") + 1 :])
    for word in arguments:
        if word in ("-e", "--editable"):
            yield next(arguments, "")
        elif word.startswith("--editable="):
            yield word.removeprefix("--editable=")
        elif word.startswith("-e") and not word.startswith("--"):
            yield word[2:]
        elif word in _VALUED:
            next(arguments, None)
        elif not word.startswith("-"):
            yield word


def _folder(argument: str) -> str | None:
    match = _FOLDER.fullmatch(argument.removeprefix("file:") if not argument.startswith("file:/") else argument)
    if match is None or match["path"].startswith("/"):
        return None
    parts = [part for part in match["path"].split("/") if part not in ("", ".")]
    return None if ".." in parts else "/".join(parts)


def _from_pyproject(data: bytes) -> tuple[str | None, bool]:
    """The specifier, and whether that is the last word: a `[project]` table leaves nothing to the other files."""
    import tomllib  # noqa: PLC0415 - only a gate with a baseline reads metadata

    try:
        document: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _broken("pyproject.toml", error) from None
    project = document.get("project")
    if isinstance(project, dict):
        found = project.get("requires-python")
        dynamic = project.get("dynamic")
        if isinstance(found, str):
            return found, True
        if not (isinstance(dynamic, list) and "requires-python" in dynamic) and _poetry(document) is None:
            return None, True
    found = _poetry(document)
    return found, found is not None


def _poetry(document: Mapping[str, Any]) -> str | None:
    table: Any = document
    for key in ("tool", "poetry", "dependencies", "python"):
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, str):
        return None
    return ",".join(_plain(part.strip()) for part in table.split(","))


def _plain(constraint: str) -> str:
    """Poetry's `^3.8` and `~3.8` as PEP 440 writes them; what is neither is left as it is."""
    if match := _CARET.fullmatch(constraint):
        return f">={constraint[1:].strip()},<{int(match[1]) + 1}"
    if match := _TILDE.fullmatch(constraint):
        return f">={constraint[1:].strip()},<{match[1]}.{int(match[2]) + 1}"
    return constraint


def _from_setup_cfg(data: bytes) -> str | None:
    import configparser  # noqa: PLC0415 - only a gate with a baseline reads metadata

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(data.decode("utf-8"))
    except (configparser.Error, ValueError) as error:
        raise _broken("setup.cfg", error) from None
    found = parser.get("options", "python_requires", fallback=None) or parser.get(
        "options", "python-requires", fallback=None
    )
    return found.strip() if found else None


def _from_setup_py(data: bytes) -> str | None:
    import ast  # noqa: PLC0415 - only a gate with a baseline reads metadata
    import warnings  # noqa: PLC0415 - likewise

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the escapes in somebody else's strings
            module = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _broken("setup.py", error) from None
    constants: dict[str, str] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and (text := _string(statement.value, {})) is not None:
            constants.update({target.id: text for target in statement.targets if isinstance(target, ast.Name)})
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _called(node.func) == "setup":
            for keyword in node.keywords:
                if keyword.arg == "python_requires":
                    return _string(keyword.value, constants)
    return None


def _called(function: "ast.expr") -> str | None:
    return getattr(function, "id", None) or getattr(function, "attr", None)


def _string(value: "ast.expr", constants: Mapping[str, str]) -> str | None:
    literal = getattr(value, "value", None)
    if isinstance(literal, str):
        return literal
    return constants.get(getattr(value, "id", ""))


def _broken(name: str, error: Exception) -> InputError:
    reason = str(error).split("\n", 1)[0]
    return InputError("broken-metadata", f"{name} cannot be read: {quoted(reason)}")
