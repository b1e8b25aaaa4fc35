"""Submodules of a pinned commit: each must be there to be had, at the commit that the tree names, however deep."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from regraft.core.gitmodules import Module, RefusedModuleError, address, module_at, modules_by_path
from regraft.core.objects import Blob, Commit
from regraft.core.quoting import quoted
from regraft.core.repository_url import public
from regraft.core.trees import FILE, Entry, shown
from regraft.errors import InputError, OutsideError, raise_all
from regraft.flows.ports import GateStore

DEPTH = 8
COUNT = 256
TEXT_LIMIT = 1024 * 1024


class FetchSubmodule(Protocol):
    """Fetches into the store that the gate reads."""

    def commit(self, url: str, commit: Commit) -> bool:
        """One commit with its trees and without files; False where the repository does not hand it out.

        OutsideError: the server gives no answer, or refuses.
        """

    def blobs(self, url: str, blobs: Sequence[Blob]) -> None:
        """Files of a commit that was fetched."""


class Submodule(Struct, frozen=True):
    """`path` is from the root of the outermost tree, `url` without credentials."""

    path: str
    url: str
    commit: Commit


def check_submodules(url: str, commit: Commit, store: GateStore, fetch: FetchSubmodule) -> tuple[Submodule, ...]:
    """Every submodule of a commit in the repository at `url`, outer ones before those within them.

    One whose section says `update = none` is left out, as git leaves it out. Raises all mistakes at once, without a place, which
    the caller knows: InputError `submodule-missing` for a commit that cannot be had, `submodule-refused` for what must not be
    followed; and else OutsideError where a server failed.
    """
    found: list[Submodule] = []
    mistakes: list[InputError] = []
    waiting = [("", url, commit, 0)]
    while waiting:
        prefix, at, outer, depth = waiting.pop(0)
        for one in _level(prefix, at, outer, store, fetch, mistakes):
            if depth >= DEPTH or len(found) >= COUNT:
                message = (
                    f"{public(url)}: submodules are nested more than {DEPTH} deep, or are more than {COUNT}: "
                    f"{quoted(one.path)} is one more"
                )
                raise_all([*mistakes, InputError("submodule-refused", message)])
            found.append(one)
            try:
                _have(one, store, fetch)
            except InputError as error:
                mistakes.append(error)
            except OutsideError:
                raise_all(mistakes)
                raise
            else:
                waiting.append((f"{one.path}/", one.url, one.commit, depth + 1))
    raise_all(mistakes)
    return tuple(Submodule(one.path, public(one.url), one.commit) for one in found)


def _level(  # noqa: PLR0913, PLR0917 - one tree, the two ports, and where its mistakes go
    prefix: str, url: str, commit: Commit, store: GateStore, fetch: FetchSubmodule, mistakes: list[InputError]
) -> Iterator[Submodule]:
    """The submodules of one tree; those that are to be refused are among the mistakes."""
    entries = store.list_tree(store.commit_tree(commit))
    links = [entry for entry in entries if entry.kind == "commit"]
    if not links:
        return
    try:
        modules = _modules(prefix, url, entries, store, fetch)
    except InputError as error:
        mistakes.append(error)
        return
    for link in links:
        path = f"{prefix}{shown(link.path)}"
        try:
            module = module_at(link.name, modules)
            if module.update != "none":
                yield Submodule(path, address(module, url), Commit(link.oid))
        except RefusedModuleError as error:
            mistakes.append(_refused(f"submodule {quoted(path)} of {public(url)}: {error}"))


def _modules(
    prefix: str, url: str, entries: Sequence[Entry], store: GateStore, fetch: FetchSubmodule
) -> dict[str, Module]:
    where = f"{quoted(f'{prefix}.gitmodules')} of {public(url)}"
    entry = next((entry for entry in entries if entry.path == b".gitmodules"), None)
    if entry is None:
        return {}
    if entry.kind != "blob" or entry.mode not in (FILE, "100755"):
        raise _refused(f"{where} is not a regular file")
    blob = Blob(entry.oid)
    if store.missing([blob]):
        fetch.blobs(url, [blob])
    listed = store.config_list(store.read_blob(blob, TEXT_LIMIT))
    if isinstance(listed, str):
        raise _refused(f"{where} cannot be read: git says {quoted(listed)}")
    try:
        return modules_by_path(listed)
    except RefusedModuleError as error:
        raise _refused(f"{where}: {error}") from None


def _refused(message: str) -> InputError:
    return InputError("submodule-refused", message, hint="name a ref whose .gitmodules has no such entry")


def _have(one: Submodule, store: GateStore, fetch: FetchSubmodule) -> None:
    tried = public(one.url)
    try:
        had = fetch.commit(one.url, one.commit)
    except OutsideError as error:
        message = f"submodule {quoted(one.path)} at {one.commit}: {error.message}"
        raise OutsideError(error.code, message, where=error.where or tried, hint=error.hint) from error
    except InputError as error:
        raise _missing(one, tried, error.message) from error
    if not had:
        raise _missing(one, tried, "the repository there does not hand it out")
    store.commit_tree(one.commit)


def _missing(one: Submodule, tried: str, why: str) -> InputError:
    return InputError(
        "submodule-missing",
        f"submodule {quoted(one.path)} wants commit {one.commit}, which cannot be had from {tried}: {why}",
        hint="push that commit to the submodule's repository, or name a ref whose submodules are all pushed",
    )
