"""What is on this machine, for one image of the manifest. Looks, and changes nothing."""

from collections.abc import Callable, Iterable, Mapping

from regraft.core.baseline import SCHEMA, Baseline, BaselineDependency, BaselinePatch
from regraft.core.imports import modules_of
from regraft.core.manifest import Baked, Image, Manifest
from regraft.core.objects import Sha256
from regraft.core.observation import (
    CarriedPatch,
    Checkout,
    Environment,
    Import,
    Observation,
    Unreadable,
    Wanted,
)
from regraft.core.requirements import normalized
from regraft.core.verdict_distributions import installed_versions
from regraft.core.verdict_environment import as_distributions
from regraft.core.verdict_site import site_of
from regraft.errors import OutsideError
from regraft.flows.patch_files import LIMIT
from regraft.flows.ports import Checkouts, Interpreter, ProjectFiles


def observe(  # noqa: PLR0913 - keyword-only but for what is looked at
    image: Image,
    manifest: Manifest,
    wanted: Mapping[str, Wanted],
    *,
    interpreter: Interpreter,
    checkouts: Checkouts,
    imports: bool = True,
) -> Observation:
    """Look at each checkout, at the environment meanwhile, and then try the declared imports: those run code.

    Without `imports` none is tried, and no module is looked for.

    `wanted` says for each dependency what to compare it with; what is not in it is compared with its own HEAD.
    What cannot be looked at is `Unreadable` in the answer and never raised.
    """
    found: dict[str, Checkout | Unreadable] = {}
    modules = dict.fromkeys(name for baked in image.baked.values() for name in modules_of(baked))
    names = _distributions(image, manifest)
    with interpreter.describing(image, [*modules] if imports else None, names) as described:  # it looks meanwhile
        for name, baked in image.baked.items():
            try:
                found[name] = checkouts.look(name, baked.path, wanted.get(name, Wanted(None, None)))
            except OutsideError as error:
                found[name] = _unreadable(error)
        environment = _environment(described)
    tried: dict[str, Import] = {}
    if imports and isinstance(environment, Environment):
        declared = dict.fromkeys(name for baked in image.baked.values() for name in baked.imports)
        tried = {name: _try(image, name, interpreter) for name in declared}
    return Observation(image.name, environment, tried, found)


def _distributions(image: Image, manifest: Manifest) -> list[str]:
    names = [*manifest.distributions, *(name for baked in image.baked.values() for name in baked.distributions)]
    return [*dict.fromkeys(normalized(name) for name in names)]


def _environment(described: Callable[[], Environment]) -> Environment | Unreadable:
    try:
        return described()
    except OutsideError as error:
        return _unreadable(error)


def _try(image: Image, name: str, interpreter: Interpreter) -> Import:
    try:
        return interpreter.try_import(image, name)
    except OutsideError as error:
        return Import(name, ok=False, error=error.message)


def _unreadable(error: OutsideError) -> Unreadable:
    return Unreadable(error.code, error.message, error.hint)


def as_baked(image: Image, files: ProjectFiles) -> dict[str, Wanted]:
    """What to compare each dependency with where no plan is at hand: its own HEAD, with the project's patches on it."""
    return {
        name: Wanted(None, None, tuple(carried(baked.patches, baked, files))) for name, baked in image.baked.items()
    }


def carried(paths: Iterable[str], baked: Baked, files: ProjectFiles) -> Iterable[CarriedPatch]:
    """The patches as the project has them. Raises InputError where one leaves the project or is no file."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, which only the commands that look at files need

    for path in paths:
        data = files.read(path, LIMIT)
        digest = Sha256(hashlib.sha256(data).hexdigest()) if data is not None else None
        declared = baked.format(path)
        yield CarriedPatch(path, digest, data, declared.strip, declared.root, merges=baked.apply == "3way")


def as_baseline(observation: Observation, image: Image, reference: str | None) -> Baseline:
    """The observation of an untouched image (by `as_baked`) as its baseline.

    Raises OutsideError where the environment or a checkout could not be looked at: a baseline has no holes.
    """
    environment = observation.environment
    for error in not_looked_at(observation, image):
        raise error
    assert isinstance(environment, Environment)
    dependencies = {}
    for name, baked in image.baked.items():
        found = observation.checkouts[name]
        assert isinstance(found, Checkout)
        dependencies[name] = _held(baked, found, environment)
    installed = as_distributions(environment)
    return Baseline(SCHEMA, image.name, reference, environment.version, dependencies, installed, site_of(environment))


def not_looked_at(observation: Observation, image: Image) -> list[OutsideError]:
    """What could not be looked at: nothing, or one error that is about the environment and every checkout of which that holds."""
    unread: list[tuple[str, Unreadable]] = []
    if isinstance(observation.environment, Unreadable):
        unread.append((image.python, observation.environment))
    unread += [(image.baked[name].path, one) for name, one in unread_checkouts(observation, image).items()]
    if not unread:
        return []
    (where, first), *others = unread
    more = "".join(f"; {path}: {one.message}" for path, one in others)
    return [OutsideError(first.code, f"{first.message}{more}", where=where, hint=first.hint)]


def unread_checkouts(observation: Observation, image: Image) -> dict[str, Unreadable]:
    """By dependency, why what its checkout holds cannot be told."""
    found: dict[str, Unreadable] = {}
    for name in image.baked:
        there = observation.checkouts[name]
        if isinstance(there, Unreadable):
            found[name] = there
        elif there.tree is None:
            message = f"what {name} holds cannot be told: {there.trouble or there.reason or there.state}"
            hint = "look whether `path` names the checkout in this image"
            found[name] = Unreadable("checkout-unreadable", message, hint)
    return found


def _held(baked: Baked, found: Checkout, environment: Environment) -> BaselineDependency:
    """The patches are in it where they all fit on HEAD and the files are what they make; else that is not known."""
    whole = found.judged == "entries" and found.tree == found.expected
    patches = [one for one in found.patches if one.outcome == "applied"] if whole else []
    untracked = sorted((one for one in found.extras if one.kind == "untracked"), key=lambda one: one.path)
    return BaselineDependency(
        commit=found.head,
        tree=found.tree,
        patches=tuple(BaselinePatch(one.path, one.sha256) for one in patches if one.sha256 is not None),
        distributions=installed_versions(environment, baked.distributions),
        untracked=tuple(one.path for one in untracked),
        untracked_content={one.path: one.sha256 for one in untracked if one.sha256 is not None},
        empty_submodules=tuple(one.path for one in found.differences if one.kind == "submodule-empty"),
    )
