"""From what was planned and what was found to a receipt."""

from collections.abc import Iterable, Iterator, Sequence

from regraft.core.baseline import Baseline
from regraft.core.findings import Finding
from regraft.core.manifest import Baked, Image
from regraft.core.objects import Sha256
from regraft.core.observation import Checkout, Observation
from regraft.core.observation import Environment as FoundEnvironment
from regraft.core.plan import Plan
from regraft.core.receipt import SCHEMA, Environment, FoundDependency, FoundImport, Held, Receipt, Times
from regraft.core.receipt_document import seal
from regraft.core.verdict_distributions import installed_versions
from regraft.core.verdict_environment import as_distributions

_UNSEALED = Sha256("0" * 64)


def receipt_of(  # noqa: PLR0913 - one value for each thing that a receipt is made of
    plan: Plan,
    image: Image,
    baseline: Baseline | None,
    observation: Observation,
    *,
    findings: tuple[Finding, ...],
    times: Times,
    before: Observation | None = None,
    roots: Sequence[str] = (),
) -> Receipt:
    """The sealed receipt. Its verdict is no where a finding is an error. `roots` are the names that `--root` has here.

    What was there before is what was looked at then, or else what the baseline says.
    """
    looked = before.environment if before and isinstance(before.environment, FoundEnvironment) else None
    environment = observation.environment if isinstance(observation.environment, FoundEnvironment) else None
    return seal(
        Receipt(
            schema=SCHEMA,
            digest=_UNSEALED,
            plan=plan.digest,
            request=plan.request,
            project=plan.project,
            manifest=plan.manifest,
            suites=plan.suites,
            image=plan.image,
            baseline=plan.baseline,
            verdict="no" if any(finding.severity == "error" for finding in findings) else "yes",
            dependencies={
                name: FoundDependency(
                    planned=planned,
                    before=_after(image.baked[name], before, looked) if before else _before(name, baseline),
                    after=_after(image.baked[name], observation, environment),
                    imports=tuple(_imports(image.baked[name], observation, environment, roots)),
                )
                for name, planned in plan.dependencies.items()
            },
            environment=Environment(
                python=environment.version if environment else None,
                before=as_distributions(looked) if looked else baseline.environment if baseline else None,
                after=as_distributions(environment) if environment else (),
            ),
            findings=findings,
            notes=plan.notes,
            times=times,
        )
    )


def _before(name: str, baseline: Baseline | None) -> Held:
    held = baseline.dependencies.get(name) if baseline else None
    return Held(held.commit, held.tree, held.distributions) if held else Held(None, None, None)


def _after(baked: Baked, observation: Observation, environment: FoundEnvironment | None) -> Held:
    checkout = observation.checkouts.get(baked.dependency)
    versions = installed_versions(environment, baked.distributions) if environment else None
    if not isinstance(checkout, Checkout):
        return Held(None, None, versions)
    return Held(checkout.head, checkout.tree, versions)


def _imports(
    baked: Baked, observation: Observation, environment: FoundEnvironment | None, roots: Sequence[str]
) -> Iterator[FoundImport]:
    for name in baked.imports:
        one = observation.imports.get(name)
        yield FoundImport(name, _in_image(one.places if one else (), roots))
    for name in baked.locate:
        module = environment.modules.get(name) if environment else None
        yield FoundImport(name, _in_image(module.effective.paths if module and module.effective else (), roots))


def _in_image(paths: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
    """Below which folder of this machine an image lies is nothing that two machines share."""
    tops = [root.rstrip("/") for root in roots]
    return tuple(next((path[len(top) :] for top in tops if path.startswith(f"{top}/")), path) for path in paths)
