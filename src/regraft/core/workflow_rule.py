"""What a rule over workflows is: a file of its own below `workflow_rules`, with a page of the same name below `docs/rules`."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from regraft.core.findings import Finding
from regraft.core.workflow_graph import Graph


class Rule(Struct, frozen=True):
    """`name` is the id of its findings, `about` one line on what it finds. `find` raises nothing."""

    name: str
    about: str
    find: Callable[[Graph], Iterable[Finding]]
