"""Is this machine what the plan says? Needs the plan, the project's files and the machine, and nothing that an apply left."""

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.baseline import Baseline, BaselineDependency
from regraft.core.findings import Finding
from regraft.core.lock import read_lock
from regraft.core.manifest import Baked, Image, Manifest
from regraft.core.objects import Commit
from regraft.core.observation import ByteCode, Checkout, Environment, Observation, Unreadable, Wanted
from regraft.core.plan import Plan, PlannedDependency
from regraft.core.python_requires import candidate_folders
from regraft.core.requirements import normalized
from regraft.core.verdict import Case, checks, judge
from regraft.core.verdict_environment import effective
from regraft.core.versions import is_computed, newer_tags
from regraft.errors import InputError
from regraft.flows.draft import LOCK_LIMIT
from regraft.flows.observe import carried, observe
from regraft.flows.ports import Checkouts, Interpreter, ProjectFiles
from regraft.flows.project import MANIFEST

METADATA = ("pyproject.toml", "setup.cfg", "setup.py")
TAGS = 3  # of the tags above a version, how many are looked at


class Verified(Struct, frozen=True):
    """`checks` counts the questions that were asked of the machine. An error among the findings means no."""

    observation: Observation
    findings: tuple[Finding, ...]
    checks: int

    @property
    def stopped(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)


def verify(  # noqa: PLR0913 - keyword-only but for what is compared
    plan: Plan,
    manifest: Manifest,
    baseline: Baseline | None,
    *,
    files: ProjectFiles,
    interpreter: Interpreter,
    checkouts: Checkouts,
) -> Verified:
    """Look at the machine and judge it. Raises InputError where the plan is not for this project, manifest or image."""
    image = image_of(plan, manifest, files)
    wanted = {
        name: wanted_of(planned, image.baked[name], files)
        for name, planned in plan.dependencies.items()
        if name in image.baked
    }
    observation = observe(image, manifest, wanted, interpreter=interpreter, checkouts=checkouts)
    observation = replace(observation, byte_code=_byte_code(image, observation, interpreter))
    case = Case(
        plan,
        manifest,
        image,
        baseline,
        observation,
        changed={
            name: _changed(
                image.baked[name],
                plan.dependencies[name],
                baseline.dependencies.get(name) if baseline else None,
                observation.checkouts[name],
                checkouts,
            )
            for name in wanted
        },
        newer_tags={name: _tags_aside(image.baked[name], observation, checkouts) for name in wanted},
        locks=_locks(manifest, image, files),
    )
    return Verified(observation, judge(case), checks(case))


def image_of(plan: Plan, manifest: Manifest, files: ProjectFiles) -> Image:
    """The image that a plan is for. Raises InputError: other-project, other-manifest, other-image."""
    if plan.project != manifest.name:
        raise InputError(
            "other-project", f"the plan is of project {plan.project!r:.80}, and this is {manifest.name!r:.80}"
        )
    if plan.manifest != manifest.sha256:
        raise InputError(
            "other-manifest",
            f"the plan was made for the manifest {plan.manifest[:12]}, and the one here is {manifest.sha256[:12]}",
            where=files.place(MANIFEST),
            hint="check out the commit that was planned, or plan again",
        )
    image = manifest.images.get(plan.image.name)
    if image is None:
        raise InputError("other-image", f"the manifest has no image {plan.image.name!r:.80}")
    return image


def wanted_of(planned: PlannedDependency, baked: Baked, files: ProjectFiles) -> Wanted:
    """A patch that the plan took for there already is not applied; one that changed since is not the planned one."""
    patches = []
    found = carried((patch.path for patch in planned.patches), baked, files)
    for patch, planned_patch in zip(found, planned.patches, strict=True):
        tried = patch.sha256 == planned_patch.sha256 and planned_patch.state in {None, "applies"}
        patches.append(patch if tried else replace(patch, data=None))
    texts = tuple(f"{folder}/{name}".lstrip("/") for folder in candidate_folders(baked.install) for name in METADATA)
    return Wanted(planned.commit, planned.tree, tuple(patches), texts)


def _byte_code(image: Image, observation: Observation, interpreter: Interpreter) -> dict[str, ByteCode]:
    """What the interpreter has cached of each checkout's tracked sources."""
    if isinstance(observation.environment, Unreadable):
        return {}
    found = {}
    for name, checkout in observation.checkouts.items():
        if isinstance(checkout, Checkout):
            sources = sorted(path for path in checkout.tracked if path.endswith(".py"))
            if sources:
                found[name] = interpreter.byte_code(image, [f"{checkout.real}/{path}" for path in sources])
    return found


def _changed(
    baked: Baked,
    planned: PlannedDependency,
    held: BaselineDependency | None,
    found: Checkout | Unreadable,
    checkouts: Checkouts,
) -> tuple[str, ...] | None:
    """The paths that differ between what was baked and what was planned; None where the objects are not at hand."""
    if planned.action == "keep" or not (baked.not_installed or baked.rebuild_when):
        return ()
    if held is None or held.commit is None or planned.commit is None or not isinstance(found, Checkout):
        return None
    moved = held.commit != planned.commit
    between = checkouts.changed_paths(baked.path, held.commit, planned.commit) if moved else ()
    before = [(patch.path, patch.sha256) for patch in held.patches]
    if between is None or before == [(patch.path, patch.sha256) for patch in planned.patches]:
        return between
    return tuple(dict.fromkeys((*between, *found.touched))) if found.judged == "entries" else None


def _tags_aside(baked: Baked, observation: Observation, checkouts: Checkouts) -> tuple[str, ...]:
    """Tags higher than the version that was derived for this checkout, which are no ancestors of its HEAD."""
    environment, found = observation.environment, observation.checkouts[baked.dependency]
    if not isinstance(environment, Environment) or not isinstance(found, Checkout) or found.head is None:
        return ()
    installed = effective(environment)
    versions = [installed[name].version for name in map(normalized, baked.distributions) if name in installed]
    computed = [version for version in versions if is_computed(version)]
    if not computed:
        return ()
    tags = checkouts.tags(baked.path)
    head = found.head
    candidates = newer_tags(computed[0], tags)[:TAGS]
    return tuple(tag for tag in candidates if checkouts.is_ancestor(baked.path, tags[tag], head) is False)


def _locks(manifest: Manifest, image: Image, files: ProjectFiles) -> dict[str, Commit | Unreadable]:
    found: dict[str, Commit | Unreadable] = {}
    for name in image.baked:
        lock = manifest.dependencies[name].lock
        if lock is None:
            continue
        try:
            found[name] = read_lock(files.read(lock.file, LOCK_LIMIT), lock)
        except InputError as error:
            found[name] = Unreadable(error.code, error.message, error.hint)
    return found
