"""From what was planned and what was found to a receipt."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from regraft.core.baseline import Baseline, Distribution
from regraft.core.findings import Finding
from regraft.core.manifest import Baked, Image
from regraft.core.objects import Sha256
from regraft.core.observation import Checkout, Observation
from regraft.core.observation import Environment as FoundEnvironment
from regraft.core.plan import Plan
from regraft.core.receipt import SCHEMA, Environment, Failure, FoundDependency, FoundImport, Held, Receipt, Times
from regraft.core.receipt_document import seal
from regraft.core.verdict_distributions import installed_versions
from regraft.core.verdict_environment import as_distributions
from regraft.errors import Outcome, RegraftError

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
    outcome: Outcome | None = None,
    stands: bool = True,
) -> Receipt:
    """The sealed receipt. Its verdict is no where a finding is an error. `roots` are the names that `--root` has here.

    What was there before is what was looked at then, or else what the baseline says. What was observed is there afterwards
    if it `stands`; else it was given back, and nothing is said of it but the findings.
    """
    looked = before.environment if before and isinstance(before.environment, FoundEnvironment) else None
    environment = observation.environment if isinstance(observation.environment, FoundEnvironment) else None
    dependencies = {
        name: FoundDependency(
            planned=planned,
            before=_after(image.baked[name], before, looked) if before else _before(name, baseline),
            after=_after(image.baked[name], observation, environment) if stands else None,
            imports=tuple(_imports(image.baked[name], observation, environment, roots)) if stands else (),
        )
        for name, planned in plan.dependencies.items()
    }
    found = Environment(
        python=environment.version if environment and stands else None,
        before=as_distributions(looked) if looked else _environment(baseline),
        after=(as_distributions(environment) if environment else ()) if stands else None,
    )
    verdict: Literal["yes", "no"] = "no" if any(finding.severity == "error" for finding in findings) else "yes"
    return _receipt(plan, verdict, dependencies, found, times, findings=findings, outcome=outcome)


def receipt_of_failure(
    plan: Plan, baseline: Baseline | None, error: RegraftError, *, outcome: Outcome, times: Times
) -> Receipt:
    """The sealed receipt of an apply that raised. Its verdict is no, and what is there now nobody looked at."""
    dependencies = {
        name: FoundDependency(planned, _before(name, baseline), None, ()) for name, planned in plan.dependencies.items()
    }
    found = Environment(None, _environment(baseline), None)
    failure = Failure(error.code, str(error))
    return _receipt(plan, "no", dependencies, found, times, outcome=outcome, error=failure)


def _receipt(  # noqa: PLR0913 - one value for each thing that a receipt is made of
    plan: Plan,
    verdict: Literal["yes", "no"],
    dependencies: dict[str, FoundDependency],
    environment: Environment,
    times: Times,
    *,
    findings: tuple[Finding, ...] = (),
    outcome: Outcome | None = None,
    error: Failure | None = None,
) -> Receipt:
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
            verdict=verdict,
            dependencies=dependencies,
            environment=environment,
            findings=findings,
            notes=plan.notes,
            times=times,
            outcome=outcome,
            error=error,
        )
    )


def _environment(baseline: Baseline | None) -> tuple[Distribution, ...] | None:
    return baseline.environment if baseline else None


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
