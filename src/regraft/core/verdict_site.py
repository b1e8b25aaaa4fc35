"""Is the rest of the environment what the baseline says: not only by name and version, but by what lies in it?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.baseline import Baseline, EditedFile, HeldFile, Loose, Site
from regraft.core.findings import Finding, Witness
from regraft.core.observation import Environment, is_below, quoted
from regraft.core.verdict_environment import effective

SHOWN = 20

Held = TypeVar("Held", HeldFile, Loose, EditedFile)


class SiteCase(Struct, frozen=True):
    """`allowed` are the normalized names of the distributions that this run may change, `python` the interpreter's path."""

    environment: Environment
    baseline: Baseline
    allowed: frozenset[str]
    python: str

    def place(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.environment.prefix.rstrip('/')}/{path}"

    def finding(self, rule: str, what: str, changes: Sequence[tuple[str, str]]) -> Iterator[Finding]:
        """One for all of (path, what happened to it); the first is in the message, so that a single line says enough."""
        if not changes:
            return
        placed = [(self.place(path), how) for path, how in changes]
        first, how = placed[0]
        more = f", and {len(placed) - 1} more" if len(placed) > 1 else ""
        yield Finding(
            rule,
            "error",
            f"{what}, and that are not what the baseline says: {quoted(first)} {how}{more}",
            self.python,
            witnesses=tuple(Witness(path, None, said) for path, said in placed[:SHOWN]),
            fix="undo it, or let a distribution that the manifest names bring it",
        )

    def named(self, owners: Iterable[str]) -> bool:
        return not self.allowed.isdisjoint(owners)


def judge_site(
    environment: Environment, baseline: Baseline | None, allowed: frozenset[str], python: str
) -> Iterator[Finding]:
    """What came, went or changed in the site folders and is not a named distribution's. Nothing without a baseline."""
    if baseline is None:
        return
    case = SiteCase(environment, baseline, allowed, python)
    yield from _not_recorded(case)
    if baseline.site is None:
        return
    if environment.site is None:
        message = "what lies in its site folders was not looked at, and the baseline says what it should be"
        yield Finding("environment-unknown", "error", message, python)
        return
    yield from _installed_again(case, baseline.site)
    yield from _path_files(case, baseline.site, environment.site)
    yield from _finders(case, baseline.site, environment.site)
    yield from _loose(case, baseline.site, environment.site)
    yield from _edited(case, baseline.site, environment.site)


def _not_recorded(case: SiteCase) -> Iterator[Finding]:
    lacks = []
    if case.baseline.site is None:
        lacks.append(
            "the content of distributions, `.pth` files, finders, modules that no distribution owns, and edits of installed files"
        )
    if any(one.untracked and one.untracked_content is None for one in case.baseline.dependencies.values()):
        lacks.append("the content of untracked modules")
    if any(one.empty_submodules is None for one in case.baseline.dependencies.values()):
        lacks.append("which submodules are not checked out")
    if lacks:
        message = f"the baseline is an older one, and these were not compared with it: {'; '.join(lacks)}"
        fix = "record it anew with `regraft image probe --write`, in the untouched image"
        yield Finding("baseline-older", "note", message, case.python, fix=fix)


def _installed_again(case: SiteCase, before: Site) -> Iterator[Finding]:
    """Another version is another rule's affair."""
    installed, versions = effective(case.environment), {one.name: one.version for one in case.baseline.environment}
    for name in sorted(before.records.keys() & installed.keys() - case.allowed):
        now = installed[name]
        if now.version != versions.get(name) or now.record == before.records[name]:
            continue
        message = (
            f"{quoted(name)} {quoted(now.version)} was installed again, with other content: "
            f"{quoted(now.metadata)} is not what it was"
        )
        witnesses = (Witness(now.metadata, None, "its RECORD, or what stands for it, differs"),)
        fix = "install with --no-deps, or name it under `distributions`"
        yield Finding("environment-changed", "error", message, case.python, witnesses=witnesses, fix=fix)


def site_of(environment: Environment) -> Site | None:
    """What lies in the environment, in the form of a baseline."""
    if environment.site is None:
        return None
    records = {name: one.record for name, one in sorted(effective(environment).items()) if one.record is not None}
    return replace(environment.site, records=records)


def _path_files(case: SiteCase, before: Site, now: Site) -> Iterator[Finding]:
    held, found = _by_path(before.path_files), _by_path(now.path_files)
    changes = _changes(held, found)
    kept = [(path, how) for path, how in changes if not case.named(_owners(held.get(path), found.get(path)))]
    yield from case.finding("path-file-changed", "`.pth` files that no named distribution owns", kept)


def _owners(*files: HeldFile | None) -> list[str]:
    return [owner for file in files if file is not None for owner in file.owners]


def _finders(case: SiteCase, before: Site, now: Site) -> Iterator[Finding]:
    held = {one.name: one for one in before.finders if not case.named(one.owners)}
    found = {one.name: one for one in now.finders if not case.named(one.owners)}
    for name in sorted(held.keys() ^ found.keys()):
        how = "is on sys.meta_path, and was not" if name in found else "is not on sys.meta_path any more"
        yield Finding("finder-changed", "error", f"the finder {quoted(name)} {how}", case.python)


def _loose(case: SiteCase, before: Site, now: Site) -> Iterator[Finding]:
    changes = _changes(_by_path(before.loose), _by_path(now.loose))
    yield from case.finding("loose-module", "modules and packages that no distribution owns", changes)


def _edited(case: SiteCase, before: Site, now: Site) -> Iterator[Finding]:
    """A file that was edited in the image already is as it was; one that is as its RECORD says again is not."""
    names = effective(case.environment).keys() - case.allowed
    held = _by_path(one for one in before.edited if one.distribution in names)
    found = _by_path(one for one in now.edited if one.distribution in names)
    changes = []
    for path, how in _changes(held, found):
        one = found.get(path)
        if one is None:
            changes.append((path, "was edited in the image, and is as installed again"))
        elif one.sha256 is None:
            changes.append((path, "is not there"))
        else:
            changes.append((path, f"was edited ({one.distribution})" if how.startswith("is new") else how))
    yield from case.finding("installed-file-edited", "installed files that changed without an install", changes)


def _by_path(held: Iterable[Held]) -> dict[str, Held]:
    return {one.path: one for one in held}


def _changes(before: Mapping[str, Held], now: Mapping[str, Held]) -> list[tuple[str, str]]:
    """(path, what happened to it), sorted. Who owns it is no difference."""
    changes = []
    for path in sorted(before.keys() | now.keys()):
        held, found = before.get(path), now.get(path)
        if held is None:
            changes.append((path, "is new"))
        elif found is None:
            changes.append((path, "is not there any more"))
        elif _content(held) != _content(found):
            changes.append((path, "has other content"))
    return changes


def _content(one: HeldFile | Loose | EditedFile) -> tuple[str | None, str | None]:
    return (one.kind if isinstance(one, Loose) else None, one.sha256)


def judge_ambient(environment: Environment, checkouts: Mapping[str, str], python: str) -> Iterator[Finding]:
    """A folder of the caller's PYTHONPATH that would bring a declared module from elsewhere.

    `checkouts`: module name -> the real path of the checkout that it should come from.
    """
    said = set()
    for folder, module in environment.ambient_modules:
        checkout = checkouts.get(module)
        if checkout is not None and not is_below(folder, checkout) and (folder, checkout) not in said:
            said.add((folder, checkout))
            message = (
                f"PYTHONPATH names {quoted(folder)} here, which holds {quoted(module)}: a test that is started with it "
                f"would not take the checkout's"
            )
            fix = "take it out of PYTHONPATH, or let python-path say what the suites will have"
            yield Finding("ambient-module", "warning", message, python, fix=fix)
