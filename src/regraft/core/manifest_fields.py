"""Every table and key of `regraft.toml`: the one registry from which the validation and the JSON schema come."""

import json
import re
from typing import Any

from regraft.core import manifest_texts as texts
from regraft.core.manifest_image_fields import BUILD, NEEDS
from regraft.core.manifest_shapes import Choice, Field, ListOf, MapOf, NamedTables, Number, TableOf, Text, TextOrTable
from regraft.core.patterns import regex

_SHELL = regex(r"[|&;<>$`\n\\*?]|\bcd\b")


def _split(line: str) -> list[str] | None:
    """The argument list that a shell line without any shell features is, else None."""
    import shlex  # noqa: PLC0415 - only a manifest with a mistake needs it

    try:
        return None if _SHELL.search(line) else shlex.split(line) or None
    except ValueError:
        return None


def _as_commands(value: Any) -> str | None:
    """How to write commands that somebody gave as one line, as lines, or as one argument list."""
    if isinstance(value, str):
        lines = [_split(value)]
    elif any(re.search(r"\s", item) for item in value):
        lines = [_split(item) for item in value]
    else:
        lines = [list(value)]
    whole = None if any(line is None for line in lines) else _written(lines)
    return whole or "write each command as a list of arguments; put what needs a shell into a script, and run that"


def _as_command(value: Any) -> str | None:
    split = _split(value) if isinstance(value, str) else None
    return (_written(split) if split else None) or "write each argument as a string of its own"


def _as_list(value: Any) -> str | None:
    return _written([value]) if isinstance(value, str) else None


def _written(value: Any) -> str | None:
    """A short value as TOML writes it, which for lists of strings is as JSON does."""
    text = json.dumps(value)
    return f"write {text}" if len(text) <= 300 else None


def _as_lock(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    return f"write {{ file = {json.dumps(value)[:200]} }}, with a `key` where that file is JSON"


def _texts(item: Text) -> ListOf:
    return ListOf(item, unique=True, mend=_as_list)


_COMMAND = ListOf(texts.ARGUMENT, first=texts.PROGRAM, at_least=1, mend=_as_command)
_COMMANDS = ListOf(_COMMAND, mend=_as_commands)

PROJECT = TableOf(
    (
        Field("name", texts.PROJECT, "The project under test; it stands in plans and receipts.", required=True),
        Field("install", _COMMANDS, "Commands that install the project itself. They run always, and last.", default=[]),
        Field(
            "distributions",
            _texts(texts.DISTRIBUTION),
            "What these commands may change, besides the distributions of the overridden dependencies.",
            default=[],
        ),
    )
)

LOCK = TableOf(
    (
        Field("file", texts.PATH, "The file that records a commit.", required=True),
        Field(
            "key",
            texts.POINTER,
            "A JSON pointer to the commit in a JSON file.",
            default_text="absent: the file holds one commit and nothing else",
        ),
    ),
    mend=_as_lock,
)

DEPENDENCY = TableOf(
    (
        Field(
            "url",
            texts.URL,
            "Where refs are looked up: a URL, or a path relative to the project.",
            default_text="absent; required without `package`",
        ),
        Field(
            "package",
            texts.DISTRIBUTION,
            "A package whose released versions are its refs; only patches are judged on it.",
            default_text="absent; required without `url`",
        ),
        Field(
            "files",
            Choice(("wheel", "sdist")),
            "Which files of the package are judged: wheels, or source distributions.",
            default_text="absent: wheels where any version has one, else source distributions",
        ),
        Field(
            "branch", texts.BRANCH, "The moving head that the project follows.", default_text="absent: it follows none"
        ),
        Field(
            "directive",
            texts.DIRECTIVE,
            "The key of the line in a pull request's body that names a ref.",
            default_text="`ci-NAME-pr`, where `.` and `_` of the name become `-`",
        ),
        Field(
            "allow",
            _texts(texts.ALLOWED),
            "Other repositories that `owner:branch`, `owner/repo#12` and URLs may name, as `owner/name` with `*`.",
            default=[],
        ),
        Field(
            "token-env",
            texts.TOKEN,
            "The environment variable that holds a token for a private upstream.",
            default_text="absent: no token",
        ),
        Field(
            "lock",
            LOCK,
            "Where the project records the commit it is released with.",
            default_text="absent: there is none",
        ),
    ),
    needs={"files": ("package",)},
    either=("url", "package"),
    forbids={"package": ("branch", "allow", "token-env", "lock")},
)

PATCH = TableOf(
    (
        Field(
            "file",
            texts.PATCH,
            "The patch file: its path in the project, or its web address with its checksum.",
            required=True,
        ),
        Field(
            "strip",
            Number("a whole number from 0 to 24", 0, 24),
            "How many leading folders its names have before the path (`-p` of patch and git).",
            default_text="absent: its names tell, or else the files that exist",
        ),
        Field(
            "root",
            texts.TREE_FOLDER,
            "The folder of the checkout that its names are relative to, such as `python` for one made in site-packages.",
            default_text="absent: the top of the checkout",
        ),
        Field(
            "sha256",
            texts.SHA256,
            "The digest of its bytes; other bytes are an error.",
            default_text="absent: any bytes",
        ),
    )
)

BAKED = TableOf(
    (
        Field(
            "path",
            texts.BAKED_PATH,
            "The checkout: absolute in the image, or relative to the project's checkout.",
            required=True,
        ),
        Field(
            "install",
            _COMMANDS,
            "Commands that install it, run in the checkout; `[]` where moving the checkout is enough.",
            default=[],
        ),
        Field("distributions", _texts(texts.DISTRIBUTION), "What these commands may change.", default=[]),
        Field(
            "imports",
            _texts(texts.MODULE),
            "Modules that a fresh interpreter must import from the checkout.",
            default=[],
        ),
        Field(
            "locate",
            _texts(texts.MODULE),
            "Modules that are only located, since importing them would need an accelerator.",
            default=[],
        ),
        Field(
            "not-installed",
            _texts(texts.GLOB),
            "Paths in the checkout that the install commands do not bring in: a change there stops.",
            default=[],
        ),
        Field(
            "rebuild-when",
            _texts(texts.GLOB),
            "Compiled inputs that the install commands do not rebuild: a change there stops.",
            default=[],
        ),
        Field(
            "local-edits",
            Choice(("stop", "carry", "drop")),
            "What to do with edits in the baked tree that no carried patch explains.",
            default="stop",
        ),
        Field(
            "patches",
            ListOf(TextOrTable(texts.PATCH, PATCH), unique=True, mend=_as_list),
            "Patch files, in the order of application: paths in the project, or `https://host/name.patch#sha256=HEX`.",
            default=[],
        ),
        Field(
            "series",
            texts.PATH,
            "A file that lists the patch files beside it, in the order of application, as quilt writes it.",
            default_text="absent: `patches` lists them",
        ),
        Field(
            "apply",
            Choice(("exact", "3way")),
            "How its own build applies them: without fuzz, or by a three-way merge where they do not fit.",
            default="exact",
        ),
    )
)

IMAGE = TableOf(
    (
        Field(
            "repository",
            texts.REPOSITORY,
            "The image's repository, as `docker pull` takes it, without a tag.",
            default_text="absent: a lane of checkouts without an image",
        ),
        Field("tag", texts.TAG, "The tag that suites run on.", default_text="absent; required with `repository`"),
        Field(
            "tag-directive",
            texts.DIRECTIVE,
            "The key of the line in a pull request's body that names another tag; images may share one.",
            default_text="absent: this image takes none",
        ),
        Field(
            "prefer",
            ListOf(Choice(("directive", "own", "default")), at_least=1, unique=True, mend=_as_list),
            "Which image a run takes, the first that there is: the one of a tag directive, of the pull request itself, or `tag`.",
            default=["directive", "own", "default"],
        ),
        Field("dockerfile", texts.PATH, "What the image is built from.", default_text="absent: not known"),
        *BUILD,
        Field(
            "unnamed",
            ListOf(Choice(("keep", "lock", "head")), at_least=1, unique=True, mend=_as_list),
            "What a dependency that nobody named gets: the first of these that has an answer.",
            default=["keep"],
        ),
        Field(
            "python",
            texts.PYTHON,
            "The interpreter whose environment is guarded, 3.8 or newer: an absolute path in the image, or a bare name, which PATH finds inside the image and nothing below a `--root`.",
            default="python3",
        ),
        Field(
            "python-path",
            _texts(texts.SEARCH_PATH),
            "The folders that the suites have on PYTHONPATH: absolute in the image, or relative to the project's checkout.",
            default=[],
        ),
        Field(
            "requirements",
            Choice(("report", "stop")),
            "What to do about requirements of installed distributions that are newly violated.",
            default="report",
        ),
        Field(
            "env",
            MapOf(texts.VARIABLE, texts.VALUE),
            "Variables for install and probe commands, as they are.",
            default={},
        ),
        Field(
            "install-timeout",
            Number("a whole number of seconds, from 1 to 604800", 1, 604_800),
            "How long each install command may take, in seconds; past it all that it started is ended.",
            default=3600,
        ),
        Field(
            "also-writes",
            _texts(texts.BAKED_PATH),
            "Other files or folders that the install commands write: recorded by `apply`, and given back by `restore`.",
            default=[],
        ),
        Field(
            "baked",
            NamedTables(texts.NAME, BAKED, "DEPENDENCY"),
            "The dependencies that this image holds, by the name of their table in `dependencies`.",
            default={},
        ),
    ),
    needs={"repository": ("tag",), "tag": ("repository",), "tag-directive": ("repository",), **NEEDS},
)

SUITE = TableOf((Field("image", texts.NAME, "The image that this suite runs on.", required=True),))

ROOT = TableOf(
    (
        Field("project", PROJECT, "The repository under test.", required=True),
        Field("dependencies", NamedTables(texts.NAME, DEPENDENCY, "NAME"), "Upstream source trees.", default={}),
        Field("images", NamedTables(texts.NAME, IMAGE, "IMAGE"), "What suites run on.", default={}),
        Field("suites", NamedTables(texts.NAME, SUITE, "SUITE"), "The jobs that run tests.", default={}),
    )
)
