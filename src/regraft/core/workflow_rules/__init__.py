"""The rules that `regraft workflow check` runs, each in a file of its own."""

from regraft.core.workflow_rule import Rule

RULES: tuple[Rule, ...] = ()
