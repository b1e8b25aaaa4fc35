"""What an apply has to know before it changes anything, and what it refuses then."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core import apply_edits, apply_guard
from regraft.core.apply_values import Target
from regraft.core.baseline import Baseline
from regraft.core.findings import Finding
from regraft.core.journal import Subject
from regraft.core.manifest import Baked, Image, Manifest
from regraft.core.observation import Checkout, Difference, Environment, Observation, Unreadable, Wanted
from regraft.core.plan import Plan, PlannedDependency
from regraft.core.requirements import normalized
from regraft.core.resolution import Remote
from regraft.core.tree_record import is_at_or_below, without_inner
from regraft.core.verdict_checkout import CheckoutCase, judge_checkout
from regraft.core.verdict_environment import judge_changes
from regraft.errors import OutsideError, RefusedError
from regraft.flows.apply_steps import Ports
from regraft.flows.guard import Guard, Guarded, repository_of, sources_of, written_in
from regraft.flows.observe import carried, observe
from regraft.flows.verify import wanted_of


class Looked(Struct, frozen=True):
    """`targets` are the overrides in the order of the manifest. `edits` are the unexplained edits in each baked tree."""

    observation: Observation
    environment: Environment
    targets: tuple[Target, ...]
    edits: dict[str, tuple[Difference, ...]]
    notes: tuple[Finding, ...]
    subjects: tuple[Subject, ...]
    kept: tuple[Subject, ...]  # what is to be recorded besides, so that it could be given back
    guard: Guard
    named: frozenset[str]

    @property
    def externally_managed(self) -> bool:
        return self.environment.externally_managed is not None


def look(  # noqa: PLR0913, PLR0917 - once, in `apply`
    plan: Plan, manifest: Manifest, image: Image, baseline: Baseline | None, ports: Ports, root: str
) -> Looked:
    """`root` is the absolute path of `--root`, or "".

    Raises RefusedError (other-machine, no-repository, local-edits) and OutsideError: nothing is changed then.
    """
    overridden = [name for name in image.baked if _overridden(plan, name)]
    wanted = {
        name: _as_built(baked, ports) if name in overridden else wanted_of(plan.dependencies[name], baked, ports.files)
        for name, baked in image.baked.items()
        if name in plan.dependencies
    }
    seen = observe(image, manifest, wanted, interpreter=ports.interpreter, checkouts=ports.checkouts, imports=False)
    environment = seen.environment
    if isinstance(environment, Unreadable):
        raise OutsideError(environment.code, environment.message, where=image.python, hint=environment.hint)
    named = apply_guard.named_distributions(plan, manifest, image)
    _check_kept(plan, image, baseline, seen, environment)
    _check_environment(environment, baseline, named, image)
    targets = tuple(_target(plan.dependencies[name], manifest, image.baked[name], ports) for name in overridden)
    edits = {name: _edits(image.baked[name], baseline, wanted[name], seen, ports) for name in overridden}
    subjects = _subjects(image, targets, ports)
    guarded = _guarded(image, environment, seen, subjects, overridden, root, ports)
    return Looked(
        observation=seen,
        environment=environment,
        targets=targets,
        edits=edits,
        notes=tuple(_decided(image, edits)),
        subjects=tuple(dict.fromkeys((*subjects, *guarded.environment, *guarded.others))),
        kept=tuple(one for subjects in guarded.kept.values() for one in subjects),
        guard=Guard(guarded, image, ports.snapshots, ports.installed, ports.interpreter),
        named=named,
    )


def _overridden(plan: Plan, name: str) -> bool:
    planned = plan.dependencies.get(name)
    return planned is not None and planned.action == "override"


def _as_built(baked: Baked, ports: Ports) -> Wanted:
    """Its own HEAD, with the project's patches on it."""
    return Wanted(None, None, tuple(carried(baked.patches, baked, ports.files)))


def _target(planned: PlannedDependency, manifest: Manifest, baked: Baked, ports: Ports) -> Target:
    if planned.commit is None or planned.tree is None:
        message = f"{baked.dependency}: the plan overrides it, and names no commit or no tree"
        raise RefusedError("incomplete-plan", message, hint="plan again")
    found = wanted_of(planned, baked, ports.files)
    for patch, of_plan in zip(found.patches, planned.patches, strict=True):
        if patch.sha256 != of_plan.sha256:
            message = f"{baked.dependency}: the patch {patch.path!r:.200} is not the one that was planned"
            hint = "check out what was planned, or plan again"
            raise RefusedError("patch-changed", message, where=patch.path, hint=hint)
    dependency = manifest.dependencies[baked.dependency]
    token = dependency.token_env if planned.url == dependency.url else None
    patches = tuple(patch for patch in found.patches if patch.data is not None)
    return Target(baked.dependency, baked.path, Remote(planned.url, token), planned.commit, planned.tree, patches)


def _check_kept(
    plan: Plan, image: Image, baseline: Baseline | None, seen: Observation, environment: Environment
) -> None:
    """A machine whose kept copies are not the planned ones is not the image that was planned."""
    for name, planned in plan.dependencies.items():
        baked, found = image.baked.get(name), seen.checkouts.get(name)
        if baked is None or planned.action != "keep" or not isinstance(found, Checkout):
            continue
        held = baseline.dependencies.get(name) if baseline else None
        for finding in judge_checkout(CheckoutCase(baked, planned, found, held, (), environment.sys_path)):
            if finding.severity == "error":
                raise _other_machine(finding)


def _check_environment(
    environment: Environment, baseline: Baseline | None, named: frozenset[str], image: Image
) -> None:
    for finding in judge_changes(environment, baseline, named, image.python):
        if finding.severity == "error":
            raise _other_machine(finding)


def _other_machine(finding: Finding) -> RefusedError:
    message = f"this machine is not the image that was planned: {finding.message}"
    return RefusedError("other-machine", message, where=finding.path, hint="start from the planned image")


def _edits(
    baked: Baked, baseline: Baseline | None, wanted: Wanted, seen: Observation, ports: Ports
) -> tuple[Difference, ...]:
    found = seen.checkouts[baked.dependency]
    if isinstance(found, Unreadable):
        raise OutsideError(found.code, found.message, where=baked.path, hint=found.hint)
    held = baseline.dependencies.get(baked.dependency) if baseline else None
    if not found.differences or apply_edits.is_as_recorded(found, held):
        return ()
    looks = [found]
    for patches in apply_edits.prefixes(wanted.patches):
        if not apply_edits.edits(looks):
            break
        looks.append(ports.checkouts.look(baked.dependency, baked.path, Wanted(None, None, patches)))
    return apply_edits.edits(looks)


def _decided(image: Image, edits: dict[str, tuple[Difference, ...]]) -> Iterator[Finding]:
    """What `carry` can keep is only known when the planned commit is here."""
    for name, found in edits.items():
        baked = image.baked[name]
        if found and baked.local_edits != "carry":
            said = apply_edits.decide(name, baked.path, found, baked.local_edits, kept_by_plan=frozenset())
            if said is not None:
                yield Finding("local-edits", "warning", said, baked.path)


def _subjects(image: Image, targets: tuple[Target, ...], ports: Ports) -> tuple[Subject, ...]:
    """What the manifest itself says that an apply writes, besides the environment."""
    found = [one for target in targets for one in ports.writer.subjects(target.path)]
    return (*found, *(Subject("also", ports.writer.place(path)) for path in image.also_writes))


def _environment_subjects(environment: Environment) -> tuple[Subject, ...]:
    paths = (environment.purelib, environment.platlib, environment.scripts)
    mark = f"{environment.prefix.rstrip('/')}/pyvenv.cfg"  # what else is on the path it says, where it is there
    return (
        *(Subject("environment", path) for path in dict.fromkeys(paths)),
        Subject("environment", mark, recursive=False),
    )


def _other_subjects(
    environment: Environment, known: Sequence[Subject], own: Sequence[str], root: str
) -> tuple[Subject, ...]:
    """What else distributions and modules come from. What lies outside of `--root` is not the image's, and left out."""
    covered = (*(one.path for one in known), *own)
    found = [one for one in environment.folders if not any(is_at_or_below(one, folder) for folder in covered)]
    inside = [one for one in found if not root or is_at_or_below(one, root)]
    return tuple(Subject("environment", path) for path in without_inner(inside))


def _guarded(  # noqa: PLR0913, PLR0917 - once, in `look`
    image: Image,
    environment: Environment,
    seen: Observation,
    subjects: tuple[Subject, ...],
    overridden: list[str],
    root: str,
    ports: Ports,
) -> Guarded:
    kept = {
        name: (Subject("checkout", found.real), *_repository(found, ports))
        for name, found in seen.checkouts.items()
        if name not in overridden and isinstance(found, Checkout) and found.state not in {"absent", "no-folder"}
    }
    installs = {
        name: frozenset(map(normalized, image.baked[name].distributions))
        for name in overridden
        if image.baked[name].install and image.baked[name].distributions
    }
    sources = sources_of(seen.checkouts, overridden, ports.project)
    targets = [found for name in overridden if isinstance(found := seen.checkouts[name], Checkout)]
    written = [one for found in targets for one in written_in(*repository_of(found.real, _repository(found, ports)))]
    main = _environment_subjects(environment)
    checkouts = [one for found in kept.values() for one in found]
    own = (*sources, *(one.path for one in (*subjects, *checkouts)))
    return Guarded(
        environment=main,
        others=_other_subjects(environment, main, own, root),
        own=own,
        roots=tuple(one for one in (*subjects, *checkouts) if one.kind != "also"),
        kept=kept,
        sources=sources,
        installs=installs,
        written=tuple(written),
    )


def _repository(found: Checkout, ports: Ports) -> tuple[Subject, ...]:
    """The folders of its repository that lie elsewhere, as a linked worktree's do."""
    if found.state != "repository":
        return ()
    return tuple(one for one in ports.writer.subjects(found.path) if one.kind == "git-dir")
