"""What a job sees of its run: the `github` and `runner` contexts, and the environment that GitHub makes of them.

https://docs.github.com/actions/reference/workflows-and-actions/variables#default-environment-variables
"""

from collections.abc import Iterable, Mapping
from typing import Any

from regraft.core.patterns import regex
from regraft.core.runner_values import Given

SERVER = "https://github.com"
TOKEN = "regraft-placeholder-token"  # noqa: S105 - it opens nothing, and is there to be seen where it is used

_EXPOSED = [
    "action",
    "action_path",
    "action_ref",
    "action_repository",
    "actor",
    "actor_id",
    "api_url",
    "base_ref",
    "env",
    "event_name",
    "event_path",
    "graphql_url",
    "head_ref",
    "job",
    "output",
    "path",
    "ref",
    "ref_name",
    "ref_protected",
    "ref_type",
    "repository",
    "repository_id",
    "repository_owner",
    "repository_owner_id",
    "retention_days",
    "run_attempt",
    "run_id",
    "run_number",
    "server_url",
    "sha",
    "state",
    "step_summary",
    "triggering_actor",
    "workflow",
    "workflow_ref",
    "workflow_sha",
    "workspace",
]
_SECRET = regex(rb"""secrets(?:\.|\[\s*'|\[\s*")([A-Za-z_][A-Za-z0-9_-]*)""", 0)
_PULL = ("pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment")


def event_name(given: Given, events: Iterable[str]) -> str:
    """What started the run: as it was said, or as the payload shows it, or the first that the workflow names."""
    if given.event_name:
        return given.event_name
    known = list(events)
    shown = "pull_request" if "pull_request" in given.event else "push" if "pusher" in given.event else None
    if "issue" in given.event and "comment" in given.event:
        shown = "issue_comment"
    if shown == "pull_request":
        return next((one for one in known if one in _PULL), shown)
    if shown is None and given.inputs and "workflow_dispatch" in known:
        return "workflow_dispatch"
    called = [one for one in known if one != "workflow_call"]
    return shown or (called[0] if called else "workflow_dispatch")


def github(given: Given, name: str, project: str, head: str) -> dict[str, Any]:
    """The `github` context, apart from workflow, job and the paths of the machine. `project` is `owner/name` where nothing else says one."""
    event = given.event
    repository = event.get("repository")
    full = repository.get("full_name") if isinstance(repository, Mapping) else None
    full = full if isinstance(full, str) and "/" in full else project
    pull = event.get("pull_request")
    number = pull.get("number") if isinstance(pull, Mapping) else None
    ref = f"refs/pull/{number}/merge" if isinstance(number, int) else "refs/heads/main"
    made = {
        "event_name": name,
        "event": dict(event),
        "repository": full,
        "repository_owner": full.partition("/")[0],
        "sha": head,
        "ref": ref,
        "ref_name": ref.removeprefix("refs/heads/").removeprefix("refs/pull/"),
        "ref_type": "branch",
        "ref_protected": False,
        "head_ref": _ref(pull, "head"),
        "base_ref": _ref(pull, "base"),
        "run_id": "1",
        "run_number": "1",
        "run_attempt": "1",
        "actor": _login(event),
        "triggering_actor": _login(event),
        "server_url": SERVER,
        "api_url": "https://api.github.com",
        "graphql_url": "https://api.github.com/graphql",
        "retention_days": "90",
        "token": TOKEN,
    }
    return made | dict(given.github)


def _ref(pull: object, side: str) -> str:
    about = pull.get(side) if isinstance(pull, Mapping) else None
    name = about.get("ref") if isinstance(about, Mapping) else None
    return name if isinstance(name, str) else ""


def _login(event: Mapping[str, Any]) -> str:
    sender = event.get("sender")
    login = sender.get("login") if isinstance(sender, Mapping) else None
    return login if isinstance(login, str) else "somebody"


def runner(temp: str, tools: str) -> dict[str, Any]:
    """The `runner` context."""
    return {
        "os": "Linux",
        "arch": "X64",
        "name": "regraft",
        "environment": "self-hosted",
        "temp": temp,
        "tool_cache": tools,
        "debug": "",
    }


def variables(context: Mapping[str, Any], machine: Mapping[str, Any]) -> dict[str, str]:
    """`GITHUB_*` and `RUNNER_*`: they are set last of all, whatever `env:` says. `CI` is none of them: `env:` may set that."""
    found = {"GITHUB_ACTIONS": "true"}
    for name in _EXPOSED:
        value = context.get(name)
        if isinstance(value, bool):
            value = "true" if value else "false"
        if isinstance(value, str):
            found[f"GITHUB_{name.upper()}"] = value
    found |= {f"RUNNER_{name.upper()}": str(value) for name, value in machine.items() if value}
    return found


def secrets(data: bytes, given: Mapping[str, str]) -> dict[str, str]:
    """Each secret that a file reads, with a text in its place that shows where it goes. `given` ones are as they are given."""
    named = dict.fromkeys(one.decode().upper() for one in _SECRET.findall(data))
    found = {name: TOKEN if name == "GITHUB_TOKEN" else f"regraft-placeholder-{name}" for name in named}
    return found | {name.upper(): value for name, value in given.items()}
