"""The rules that `regraft workflow check` runs, each in a file of its own."""

from regraft.core.workflow_rule import Rule
from regraft.core.workflow_rules import (
    call_mismatch,
    condition_padded,
    condition_part_dead,
    env_unset,
    gate_always_open,
    gate_never_opens,
    input_never_passed,
    input_undeclared,
    input_unread,
    label_cancels_run,
    missing_file,
    needs_undeclared,
    nightly_runs_nothing,
    output_unwritten,
    permission_above_caller,
    skip_counts_as_passed,
    skipped_by_ancestor,
    swallowed_failure,
)

RULES: tuple[Rule, ...] = (
    call_mismatch.RULE,
    condition_padded.RULE,
    condition_part_dead.RULE,
    env_unset.RULE,
    gate_always_open.RULE,
    gate_never_opens.RULE,
    input_never_passed.RULE,
    input_undeclared.RULE,
    input_unread.RULE,
    label_cancels_run.RULE,
    missing_file.RULE,
    needs_undeclared.RULE,
    nightly_runs_nothing.RULE,
    output_unwritten.RULE,
    permission_above_caller.RULE,
    skip_counts_as_passed.RULE,
    skipped_by_ancestor.RULE,
    swallowed_failure.RULE,
)
