"""`.gitmodules`, after git's own parser has split it: which repository a submodule is, and what must not be followed.

The file is the upstream's, so a pull request may have written it. Formats: gitmodules(5), git-submodule(1) for relative URLs.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from regraft.core.patch_paths import unsafe
from regraft.core.patterns import regex
from regraft.core.quoting import quoted
from regraft.core.repository_url import parse_repository_url

_KEY = regex(r"submodule\.(?P<name>.*)\.(?P<key>[a-z0-9-]+)", re.DOTALL)
_SCHEME = regex(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_HELPER = regex(r"[A-Za-z0-9+.-]+::.*", re.DOTALL)
_CONTROL = regex(r"[\x00-\x1f\x7f]")
_REMOTE_SCHEMES = frozenset({"https", "http", "ssh", "git", "git+ssh", "ssh+git"})
_KEPT = ("path", "url", "update")


class Module(Struct, frozen=True):
    """One section of `.gitmodules`; a key that is not there is None."""

    name: str
    path: str | None
    url: str | None
    update: str | None


class RefusedModuleError(ValueError):
    """A section that git could be harmed by, or that does not say enough. The message may hold hostile text, quoted."""


def modules_by_path(entries: Iterable[tuple[str, str]]) -> dict[str, Module]:
    """The sections by the path that they name. Raises RefusedModuleError where two values or two sections contradict."""
    sections: dict[str, dict[str, str]] = {}
    for full, value in entries:
        match = _KEY.fullmatch(full)
        if match is None or match["key"] not in _KEPT:
            continue
        section = sections.setdefault(match["name"], {})
        if section.setdefault(match["key"], value) != value:
            raise RefusedModuleError(f"submodule {quoted(match['name'])} has two values for {match['key']}")
    found: dict[str, Module] = {}
    for name, section in sections.items():
        path = section.get("path")
        if path is None:
            continue
        if path in found:
            raise RefusedModuleError(f"two sections name the path {quoted(path)}")
        found[path] = Module(name, path, section.get("url"), section.get("update"))
    return found


def module_at(path: str, modules: Mapping[str, Module]) -> Module:
    """The section for a submodule in the tree. Raises RefusedModuleError: none, or one that must not be followed."""
    if path.startswith("-"):
        raise RefusedModuleError("its path begins with a dash")
    if why := unsafe(path.encode("utf-8", "surrogateescape")):
        raise RefusedModuleError(f"its path {why}")
    module = modules.get(path)
    if module is None:
        raise RefusedModuleError(".gitmodules has no section for it")
    parts = re.split(r"[/\\]", module.name)
    if not module.name or module.name.startswith("-") or ".." in parts or _CONTROL.search(module.name):
        raise RefusedModuleError(f"its name {quoted(module.name)} is not one that git takes safely")
    if (module.update or "").startswith("!"):
        raise RefusedModuleError(f"its section wants a command to be run: update = {quoted(module.update or '')}")
    return module


def address(module: Module, parent: str) -> str:
    """The URL to fetch a submodule of the repository at `parent` from. Raises RefusedModuleError."""
    url = module.url
    if not url:
        raise RefusedModuleError("its section has no url")
    if _CONTROL.search(url) or "%0a" in url.lower() or "%0d" in url.lower():
        raise RefusedModuleError(f"its url holds a control character: {quoted(url)}")
    if url.startswith("-"):
        raise RefusedModuleError(f"its url begins with a dash: {quoted(url)}")
    if _is_relative(url):
        resolved = _resolved(parent, url)
        if parse_repository_url(resolved).host != parse_repository_url(parent).host:
            raise RefusedModuleError(f"its url {quoted(url)} leads out of the server of {quoted(parent)}")
        return resolved
    _check_absolute(url, parent)
    return url


def _check_absolute(url: str, parent: str) -> None:
    if _HELPER.fullmatch(url):
        raise RefusedModuleError(f"its url would run a helper program: {quoted(url)}")
    match = _SCHEME.fullmatch(url)
    scheme = match["scheme"].lower() if match else ""
    if match and scheme not in _REMOTE_SCHEMES | {"file"}:
        raise RefusedModuleError(f"its url has a scheme that is not followed: {quoted(url)}")
    parsed = parse_repository_url(url)
    if parsed.local and not parse_repository_url(parent).local:
        raise RefusedModuleError(f"its url is a path on this machine, and the upstream is not: {quoted(url)}")
    if parsed.local and match is None and not url.startswith("/"):
        raise RefusedModuleError(
            f"its url is a path that is neither absolute nor relative to the upstream: {quoted(url)}"
        )
    if parsed.local:
        return
    authority = match["rest"].partition("/")[0] if match else url.partition(":")[0]
    if parsed.host in (None, "") or any(part.startswith("-") for part in (authority, parsed.host or "", parsed.path)):
        raise RefusedModuleError(f"its url names no server, or looks like an option: {quoted(url)}")


def _is_relative(url: str) -> bool:
    return url in (".", "..") or url.startswith(("./", "../"))


def _resolved(parent: str, url: str) -> str:
    """As git's relative_url() does it: each `../` takes one step off the parent, at a slash or else at the colon."""
    base, separator = parent.rstrip("/"), "/"
    if parse_repository_url(parent).local and not base.startswith(("/", "./", "../")) and ":" not in base:
        base = f"./{base}"
    rest = f"{url}/" if url in (".", "..") else url
    while True:
        if rest.startswith("../"):
            rest = rest[3:]
            at = base.rfind("/")
            if at < 0:
                at, separator = base.rfind(":"), ":"
            head = base[:at] if at > 0 else ""
            if not head or head.endswith((":/", "/")) or (separator == ":" and ":" in head):
                raise RefusedModuleError(f"its url {quoted(url)} takes more steps up than {quoted(parent)} has")
            base = head
        elif rest.startswith("./"):
            rest = rest[2:]
        else:
            break
    if rest.startswith(("/", ":", "-")) or ".." in rest.split("/"):
        raise RefusedModuleError(f"its url {quoted(url)} does not stay below its server")
    return f"{base}{separator}{rest}".rstrip("/")
