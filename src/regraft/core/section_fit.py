"""Whether what a patch changes in one file would fit a given text, whatever that is called."""

from regraft.core.hunk_state import judge_hunks
from regraft.core.patch_text import Section
from regraft.core.plan import PatchState
from regraft.core.substitution_state import judge_substitutions


def state_on(section: Section, content: bytes) -> PatchState:
    """Of its hunks, or of its replacements and anchors, without what the file was made on."""
    if section.substitutions:
        return judge_substitutions(content, section.substitutions).state
    return judge_hunks(content, section.hunks).state
