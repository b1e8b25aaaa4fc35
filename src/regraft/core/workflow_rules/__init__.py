"""The rules that `regraft workflow check` runs, each in a file of its own."""

from regraft.core.workflow_rule import Rule
from regraft.core.workflow_rules import gate_never_opens

RULES: tuple[Rule, ...] = (gate_never_opens.RULE,)
