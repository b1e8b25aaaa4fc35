"""The kinds of text that a manifest holds: names, paths, variables, module names, and how each is judged."""

import json
import posixpath
import re

from regraft.core.manifest_shapes import Fault, Text
from regraft.core.manifest_urls import PATTERN, SAYS, url_fault
from regraft.core.patch_address import PATTERN as ADDRESS
from regraft.core.patch_address import address_fault, is_address
from regraft.core.patterns import regex

_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SECRET = regex(r"(?:gh[oprsu]_|github_pat_|glpat-|hf_)[A-Za-z0-9_-]{16,}")
_BRANCH = r"(?!-|/|@$|HEAD$|refs/)(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|$)|[./]$))[^.\x00-\x20\x7f~^:?*\[\\][^\x00-\x20\x7f~^:?*\[\\]*"
_COMPONENT = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_DOMAIN = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_REGISTRY = rf"(?:localhost|{_DOMAIN}(?:\.{_DOMAIN})+|{_DOMAIN}(?=:)|\[[0-9A-Fa-f:]+\])(?::[0-9]{{1,5}})?/"
_INSIDE = r"(?![-/~])(?!(?:.*/)?\.{0,2}(?:/|$))(?!(?:.*/)?\.[gG][iI][tT](?:/|$))[^\\\x00-\x1f\x7f]+"
_ABSOLUTE = r"/(?!(?:.*/)?\.{0,2}(?:/|$))[^\\\x00-\x1f\x7f]+"

# A variable that decides which interpreter runs or where it imports from would make the proof depend on itself.
_SUBVERT = {
    "PYTHONPATH": "name the folders in `python-path`",
    "PATH": "name the interpreter in `python`, and other programs by their whole path",
    **dict.fromkeys(
        ("PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONSAFEPATH", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE",
         "PYTHONINSPECT", "PYTHONSTARTUP", "LD_PRELOAD"),
        "take it out; what the image itself sets stays set",
    ),
}  # fmt: skip
_FREE_VARIABLE = rf"(?!(?:{'|'.join(_SUBVERT)})$)(?!GIT_)[A-Za-z_][A-Za-z0-9_]*"


def _variable_fault(name: str) -> Fault | None:
    if name in _SUBVERT:
        return Fault("decides what Python imports, or from where, and would subvert the proof", _SUBVERT[name])
    if name.startswith("GIT_"):
        return Fault("changes what git does", "take it out: regraft gives git a configuration of its own")
    return None


def _token_fault(name: str) -> Fault | None:
    if _SECRET.fullmatch(name):
        hint = "revoke the token, and write the name of the environment variable that holds the new one"
        return Fault("looks like a token itself", hint, "credentials-in-manifest")
    return None


def _branch_fault(name: str) -> Fault | None:
    if name.startswith("refs/heads/"):
        return Fault("must be the branch's short name", f"write {name[11:]!r:.120}")
    return None


def _path_fault(path: str) -> Fault | None:
    """A path below the project's root, in its one normal form."""
    if path.startswith("/"):
        return Fault("must be relative to the project, not absolute")
    if ".." in path.split("/"):
        return Fault(
            "must not hold `..`", "what lies outside cannot be named: let a folder that holds both be the project"
        )
    return _form_fault(path)


def _patch_fault(patch: str) -> Fault | None:
    return address_fault(patch) if is_address(patch) else _path_fault(patch)


def _form_fault(path: str) -> Fault | None:
    if _CONTROL.search(path):
        return Fault("holds a control character")
    if "\\" in path:
        return Fault("holds a backslash", f"write {path.replace(chr(92), '/')!r:.200}")
    parts = path.split("/")
    if ".." in parts:
        return Fault("must not hold `..`")
    normal = posixpath.normpath(path)
    if path and normal not in {path, ".", "/", "//"} and not normal.startswith("//"):
        return Fault("is not in its normal form", f"write {normal!r:.200}")
    return None


def _baked_fault(path: str) -> Fault | None:
    return _form_fault(path) if path.startswith("/") else _path_fault(path)


def _search_fault(path: str) -> Fault | None:
    if ":" in path:
        return Fault("holds a colon, which separates folders on Python's path", "write one folder an entry")
    return _baked_fault(path)


def _python_fault(path: str) -> Fault | None:
    if "/" in path and not path.startswith("/"):
        return Fault("is a relative path", "write the absolute path in the image, or a bare name such as `python3`")
    return _form_fault(path)


def _glob_fault(glob: str) -> Fault | None:
    if glob.startswith("!"):
        return Fault("must not begin with `!`: there is no negation")
    if any("**" in part and part != "**" for part in glob.split("/")):
        return Fault("holds `**` beside other characters", "write `**` alone between slashes")
    if glob.endswith("/"):
        return Fault("ends with `/`", f"write {glob + '**'!r:.200} for all files below it")
    return _path_fault(glob)


def _allowed_fault(name: str) -> Fault | None:
    url = re.fullmatch(r"https://[^/]+/([^/]+/[^/]+?)(?:\.git)?/?", name)
    if url:
        return Fault("is a URL", f"write {url[1]!r:.200}")
    if name and "/" not in name:
        return Fault("names an owner and no repository", f"write {name + '/*'!r:.200}")
    return None


def _pointer_fault(pointer: str) -> Fault | None:
    if pointer and not pointer.startswith("/"):
        keys = pointer.lstrip("#/") if "/" in pointer else pointer.strip(".").replace("~", "~0").replace(".", "/")
        return Fault("is no JSON pointer (RFC 6901)", f"write {'/' + keys!r:.200}")
    return None


def _repository_fault(name: str) -> Fault | None:
    if "://" in name:
        return Fault("holds a scheme", "write host/owner/name, as in `docker pull`")
    if "@" in name:
        return Fault("holds a digest or a user", "write the repository alone; regraft finds the digest and records it")
    if re.fullmatch(r"[^:]+(?::[0-9]+/[^:]+)?:[^:/]+", name):
        return Fault("holds a tag", "write the repository here and the tag in `tag`")
    if name != name.lower() and re.fullmatch(_COMPONENT + r"(?:/" + _COMPONENT + r")*", name.lower()):
        return Fault("holds capital letters", f"write {name.lower()!r:.200}")
    return None


def _argument_fault(argument: str) -> Fault | None:
    if not argument:
        return Fault("is empty", "take it out")
    return Fault("holds a NUL character") if "\0" in argument else None


def _program_fault(program: str) -> Fault | None:
    if len(program.split()) > 1:
        return Fault("is a whole line and no program", f"write {json.dumps(program.split()):.200}")
    if program.startswith("-"):
        return Fault("is an option and no program", 'begin with the program, such as "python"')
    return _argument_fault(program)


def _module_fault(name: str) -> Fault | None:
    if "-" in name or "/" in name:
        meant = name.removesuffix(".py").replace("-", "_").replace("/", ".")
        return Fault("is no module name", f"write the module that is imported, such as {meant!r:.120}")
    return None


def _clean_distribution(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


NAME = Text("a name of a-z, 0-9, `.`, `_`, `-`, beginning with a letter or digit", r"[a-z0-9][a-z0-9._-]*", longest=64)
PROJECT = Text(
    "a name of letters, digits, `.`, `_`, `-`, beginning with a letter or digit",
    r"[A-Za-z0-9][A-Za-z0-9._-]*",
    longest=64,
)
DIRECTIVE = Text("a key of a-z, 0-9, `-`, beginning with a letter", r"[a-z][a-z0-9-]*", longest=100)
URL = Text(SAYS, PATTERN, url_fault, longest=2000, secret=True)
BRANCH = Text("a valid branch name", _BRANCH, _branch_fault)
ALLOWED = Text(
    "owner/name, where `*` stands for any characters",
    r"(?![-.])[A-Za-z0-9._*-]+/(?!-|\.{1,2}$)[A-Za-z0-9._*-]+",
    _allowed_fault,
)
TOKEN = Text("the name of an environment variable", r"[A-Za-z_][A-Za-z0-9_]*", _token_fault, secret=True)
PATH = Text("a path inside the project, with `/`", _INSIDE, _path_fault, longest=1000)
PATCH = Text(
    "a path inside the project, with `/`, or https://host/name.patch#sha256=HEX",
    rf"(?:{_INSIDE}|{ADDRESS})",
    _patch_fault,
    longest=1000,
)
TREE_FOLDER = Text("a folder of the checkout, with `/`", _INSIDE, _form_fault, longest=1000)
SHA256 = Text("a sha256: 64 hexadecimal digits, lower case", "[0-9a-f]{64}")
BAKED_PATH = Text(
    "an absolute path in the image, or a path inside the project",
    rf"(?:{_ABSOLUTE}|{_INSIDE})",
    _baked_fault,
    longest=1000,
)
SEARCH_PATH = Text(BAKED_PATH.says, rf"(?!.*:)(?:{_ABSOLUTE}|{_INSIDE})", _search_fault, longest=1000)
GLOB = Text("a pattern of paths below the checkout", rf"(?!!){_INSIDE}", _glob_fault, longest=1000)
POINTER = Text("a JSON pointer (RFC 6901)", r"(?:/(?:[^~/]|~[01])*)*", _pointer_fault, longest=1000)
REPOSITORY = Text(
    "the name of an image repository, such as host/owner/name",
    rf"(?:{_REGISTRY})?{_COMPONENT}(?:/{_COMPONENT})*",
    _repository_fault,
)
TAG = Text(
    "an image tag: at most 128 letters, digits, `_`, `.`, `-`, beginning with a letter, digit or `_`",
    r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}",
)
PYTHON = Text(
    "an absolute path in the image, or a bare name",
    rf"(?:{_ABSOLUTE}|[A-Za-z0-9][A-Za-z0-9._+-]*)",
    _python_fault,
    longest=1000,
)
VARIABLE = Text("the name of an environment variable", _FREE_VARIABLE, _variable_fault)
VALUE = Text("text without NUL characters", r"[^\x00]*", longest=32_768, secret=True)
PROGRAM = Text("a program", r"(?!-)[^\x00\s]+", _program_fault, longest=32_768)
ARGUMENT = Text("an argument", r"[^\x00]+", _argument_fault, longest=32_768)
DISTRIBUTION = Text(
    "the name of a distribution: letters, digits, `.`, `_`, `-`, with a letter or digit at both ends",
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?",
    clean=_clean_distribution,
)
MODULE = Text("a dotted module name", r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*", _module_fault)
