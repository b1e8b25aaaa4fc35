"""Is this machine what the plan says? Every answer that is not yes is a finding."""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from regraft.core.baseline import Baseline, BaselineDependency
from regraft.core.findings import Finding, Severity
from regraft.core.imports import judge_imports, judge_swallowed, modules_of
from regraft.core.manifest import Baked, Image, Manifest
from regraft.core.objects import Commit
from regraft.core.observation import Checkout, Environment, Observation, Unreadable, quoted
from regraft.core.plan import Plan, PlannedDependency
from regraft.core.python_requires import requires_python, satisfies
from regraft.core.requirements import normalized
from regraft.core.verdict_checkout import CheckoutCase, judge_checkout
from regraft.core.verdict_distributions import Owner, judge_distributions
from regraft.core.verdict_environment import judge_changes, judge_requirements, judge_shadowed, judge_start
from regraft.core.verdict_modules import ModulesCase, judge_modules
from regraft.core.verdict_site import judge_ambient, judge_site
from regraft.core.verdict_versions import judge_declared_versions
from regraft.errors import InputError


class Case(Struct, frozen=True):
    """All that a verdict is made of.

    `changed`: per dependency the paths that differ between the baseline's commit and the plan's, None where the objects
    are not at hand. `newer_tags`: tags that are higher than the installed version and no ancestors of HEAD. `locks`: the
    commits that the project's own files record, or why one cannot be read.
    """

    plan: Plan
    manifest: Manifest
    image: Image
    baseline: Baseline | None
    observation: Observation
    changed: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    newer_tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    locks: Mapping[str, Commit | Unreadable] = field(default_factory=dict)

    def held(self, dependency: str) -> BaselineDependency | None:
        return self.baseline.dependencies.get(dependency) if self.baseline else None


def judge(case: Case) -> tuple[Finding, ...]:
    """Findings in the order of the manifest: checkouts, then imports and distributions, then the environment.

    No error among them means yes.
    """
    findings = list(_checkouts(case))
    environment = case.observation.environment
    if isinstance(environment, Unreadable):
        findings.append(
            Finding(
                "environment-unreadable", "error", environment.message, case.image.python, fix=environment.hint or None
            )
        )
    else:
        findings += _environment(case, environment)
    findings += _locks(case)
    findings += _proved(case)
    return tuple(dict.fromkeys(findings))


def checks(case: Case) -> int:
    """How many questions were asked of the machine: zero is stated, and is red where something was planned."""
    seen = case.observation
    compared = [one for one in seen.checkouts.values() if isinstance(one, Checkout) and one.judged != "nothing"]
    environment = seen.environment
    if isinstance(environment, Unreadable):
        return len(compared)
    named = {name for baked in case.image.baked.values() for name in (*baked.imports, *baked.locate)}
    distributions = {name for baked in case.image.baked.values() for name in baked.distributions}
    return len(compared) + len(named) + len(distributions | set(case.manifest.distributions))


def _dependencies(case: Case) -> Iterator[tuple[Baked, PlannedDependency, Checkout | Unreadable]]:
    for name, planned in case.plan.dependencies.items():
        baked, found = case.image.baked.get(name), case.observation.checkouts.get(name)
        if baked is not None and found is not None:
            yield baked, planned, found


def _checkouts(case: Case) -> Iterator[Finding]:
    for name in case.plan.dependencies:
        if name not in case.image.baked or name not in case.observation.checkouts:
            message = f"{name} is planned, and the manifest's image does not have it: nothing was looked at"
            yield Finding("not-proved", "error", message, case.image.name)
    environment = case.observation.environment
    searched = environment.searched if isinstance(environment, Environment) else ()
    for baked, planned, found in _dependencies(case):
        if isinstance(found, Unreadable):
            message = f"{baked.dependency}: the checkout could not be looked at: {found.message}"
            yield Finding("not-proved", "error", message, baked.path, fix=found.hint)
            continue
        changed = case.changed.get(baked.dependency)
        yield from judge_checkout(CheckoutCase(baked, planned, found, case.held(baked.dependency), changed, searched))


def _environment(case: Case, environment: Environment) -> Iterator[Finding]:
    python, baseline = case.image.python, case.baseline
    yield from judge_start(environment, python)
    for baked, planned, found in _dependencies(case):
        folder = found.real if isinstance(found, Checkout) else None
        if isinstance(found, Checkout):
            yield from judge_imports(baked, found, environment, case.observation.imports)
            code = case.observation.byte_code.get(baked.dependency)
            yield from judge_modules(ModulesCase(baked, found, environment, code, kept=planned.action == "keep"))
            yield from _requires_python(baked, planned, found, environment)
            yield from judge_declared_versions(baked, found, environment, kept=planned.action == "keep")
        yield from judge_distributions(_owner(case, baked, planned, folder), environment)
    yield from judge_swallowed(case.image, case.observation.imports)
    yield from judge_distributions(_project(case, environment), environment)
    named, allowed = _named(case)
    yield from judge_changes(environment, baseline, allowed, python)
    yield from judge_site(environment, baseline, allowed, python)
    yield from judge_ambient(environment, _homes(case), python)
    yield from judge_requirements(environment, baseline, case.image.requirements, python)
    yield from judge_shadowed(environment, named, python)


def _homes(case: Case) -> dict[str, str]:
    """Declared module, or a package above one -> the real path of the checkout that it should come from."""
    homes: dict[str, str] = {}
    for baked, _planned, found in _dependencies(case):
        if isinstance(found, Checkout):
            homes |= dict.fromkeys(modules_of(baked), found.real)
    return homes


def _owner(case: Case, baked: Baked, planned: PlannedDependency, folder: str | None) -> Owner:
    held = case.held(baked.dependency)
    return Owner(
        baked.dependency,
        baked.path,
        baked.distributions,
        folder,
        kept=planned.action == "keep",
        before=held.distributions if held else None,
        newer_tags=case.newer_tags.get(baked.dependency, ()),
        installs=bool(baked.install) and planned.action == "override",
    )


def _project(case: Case, environment: Environment) -> Owner:
    baseline = case.baseline
    return Owner(
        case.manifest.name,
        case.image.name,
        case.manifest.distributions,
        environment.project,
        kept=False,
        before={one.name: one.version for one in baseline.environment} if baseline else None,
        installs=bool(case.manifest.install),
        is_project=True,
    )


def _named(case: Case) -> tuple[frozenset[str], frozenset[str]]:
    """(all distributions that the manifest names here, those of them that this run may change)."""
    own = {normalized(name) for name in case.manifest.distributions}
    every, allowed = set(own), set(own)
    for baked in case.image.baked.values():
        names = {normalized(name) for name in baked.distributions}
        every |= names
        planned = case.plan.dependencies.get(baked.dependency)
        if planned is not None and planned.action == "override":
            allowed |= names
    return frozenset(every), frozenset(allowed)


def _requires_python(
    baked: Baked, planned: PlannedDependency, found: Checkout, environment: Environment
) -> Iterator[Finding]:
    folders: dict[str, dict[str, bytes]] = {}
    for path, data in found.texts:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, {})[name] = data
    for folder, files in folders.items():
        where = f"{baked.path}/{folder}".rstrip("/")
        try:
            specifier = requires_python(files)
            fits = specifier is None or satisfies(environment.version, specifier)
        except InputError as error:
            yield Finding("requires-python", "warning", f"{baked.dependency}: {error.message}", where)
            continue
        if not fits:
            message = (
                f"{baked.dependency} needs Python {quoted(str(specifier))}, and the image has {environment.version}"
            )
            fix = "rebuild the image with another Python, or name an older ref"
            severity: Severity = "warning" if planned.action == "keep" else "error"
            yield Finding("requires-python", severity, message, where, fix=fix)


def _locks(case: Case) -> Iterator[Finding]:
    for baked, _planned, found in _dependencies(case):
        locked = case.locks.get(baked.dependency)
        lock = case.manifest.dependencies[baked.dependency].lock
        if locked is None or lock is None:
            continue
        if isinstance(locked, Unreadable):
            message = f"{baked.dependency}: the locked commit is not known: {locked.message}"
            yield Finding("not-the-lock", "warning", message, lock.file, fix=locked.hint)
        elif isinstance(found, Checkout) and found.head is not None and found.head != locked:
            message = f"{baked.dependency}: the machine has {found.head}, and the project locks {locked}"
            yield Finding("not-the-lock", "warning", message, lock.file)


def _proved(case: Case) -> Iterator[Finding]:
    """An override that nothing was asked about is not proved by silence."""
    overrides = [name for name, planned in case.plan.dependencies.items() if planned.action == "override"]
    if overrides and checks(case) == 0:
        message = f"nothing was checked, and {', '.join(overrides)} should have been replaced"
        yield Finding("nothing-checked", "error", message, case.image.name)
    for name in overrides:
        baked = case.image.baked.get(name)
        if baked is not None and not (baked.imports or baked.locate):
            message = f"{name}: no import is declared, so that nothing shows which copy a test would take"
            yield Finding(
                "no-import-declared", "warning", message, baked.path, fix="declare `imports` or `locate` for it"
            )
