"""The variables that a runner sets for every step, and names that are one letter off: nobody gives a variable such a name.

https://docs.github.com/actions/reference/workflows-and-actions/variables
"""

from functools import lru_cache

from regraft.core.patterns import regex
from regraft.core.spelling import distance

_OF_GITHUB = """
ACTION ACTION_PATH ACTION_REPOSITORY ACTIONS ACTOR ACTOR_ID API_URL BASE_REF ENV EVENT_NAME EVENT_PATH GRAPHQL_URL
HEAD_REF JOB OUTPUT PATH REF REF_NAME REF_PROTECTED REF_TYPE REPOSITORY REPOSITORY_ID REPOSITORY_OWNER
REPOSITORY_OWNER_ID RETENTION_DAYS RUN_ATTEMPT RUN_ID RUN_NUMBER SERVER_URL SHA STATE STEP_SUMMARY TRIGGERING_ACTOR
WORKFLOW WORKFLOW_REF WORKFLOW_SHA WORKSPACE
"""
_OF_RUNNERS = "ARCH DEBUG ENVIRONMENT NAME OS TEMP TOOL_CACHE TRACKING_ID WORKSPACE USER GROUP PERFLOG"
RUNNER = frozenset(
    {*(f"GITHUB_{one}" for one in _OF_GITHUB.split()), *(f"RUNNER_{one}" for one in _OF_RUNNERS.split())}
)
_WORDS_OF_THEIR_OWN = frozenset({"GITHUB_PAT", "GITHUB_PATS", "GITHUB_STAGE", "GITHUB_STATS", "GITHUB_BOT"})
_PREFIXES = ("GITHUB_", "RUNNER_")
_DIGITS = regex(r"[0-9]")


@lru_cache(maxsize=4096)
def runner_meant(name: str) -> str | None:
    """The runner's variable that a name is one letter off, be it left out, added, changed or swapped with the next."""
    if name in RUNNER or name in _WORDS_OF_THEIR_OWN or _DIGITS.search(name):
        return None
    if name.startswith(_PREFIXES):
        return next((one for one in sorted(RUNNER) if one[:7] == name[:7] and distance(one, name, 1) == 1), None)
    for prefix in _PREFIXES:
        for at in (6, 7, 8):  # what is behind a prefix with one letter less, another one, one more
            one = prefix + name[at:]
            if one in RUNNER and distance(name, one, 1) == 1:
                return one
    return None
