"""The plan that a receipt was made by, out of the receipt alone."""

from regraft.core.objects import Sha256
from regraft.core.plan import SCHEMA, Plan
from regraft.core.plan_document import plan_digest
from regraft.core.receipt import Receipt
from regraft.errors import InputError


def plan_of(receipt: Receipt) -> Plan:
    """The same plan, digest and all. Raises InputError `other-plan` where the receipt's parts do not make it."""
    plan = Plan(
        schema=SCHEMA,
        digest=Sha256(receipt.plan),
        request=receipt.request,
        project=receipt.project,
        manifest=receipt.manifest,
        suites=receipt.suites,
        image=receipt.image,
        baseline=receipt.baseline,
        dependencies={name: found.planned for name, found in receipt.dependencies.items()},
        notes=receipt.notes,
    )
    if plan_digest(plan) != receipt.plan:
        message = "what this receipt says was planned does not make the plan that it names"
        raise InputError("other-plan", message, hint="replay with the regraft that wrote it, or plan again")
    return plan
