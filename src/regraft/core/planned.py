"""What `regraft plan` answers: the plans, how far each directive reaches, and what stops the run."""

from msgspec import Struct

from regraft.core.asked import Asked
from regraft.core.findings import Finding
from regraft.core.plan import Plan, Source


class Overruled(Struct, frozen=True):
    """An image in which something else holds, and what named that."""

    image: str
    by: Source


class Reach(Struct, frozen=True):
    """How far one directive goes: the images whose plan it decides, their suites, and where something beat it."""

    text: str
    source: Source
    images: tuple[str, ...]
    suites: tuple[str, ...]
    overruled: tuple[Overruled, ...]


class Planned(Struct, frozen=True):
    """The plans by image, and all that was found on the way. An error among the findings is a stop."""

    plans: dict[str, Plan]
    findings: tuple[Finding, ...]
    asked: Asked
    reach: tuple[Reach, ...]

    @property
    def stopped(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def overridden(self) -> bool:
        return any(one.action == "override" for plan in self.plans.values() for one in plan.dependencies.values())
