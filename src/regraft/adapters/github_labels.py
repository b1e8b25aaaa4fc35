"""The labels of a pull request, as they are now: read, and taken away once they were heeded."""

import json
from collections.abc import Mapping
from urllib.parse import quote

from regraft.adapters import http
from regraft.errors import OutsideError

LIMIT = 4 * 1024 * 1024
_GONE = 404


class GitHubLabels:
    def __init__(self, api: str, token: str) -> None:
        self._api = api.rstrip("/")
        self._headers = {
            "authorization": f"token {token}",
            "accept": "application/vnd.github+json",
            "user-agent": "regraft",
        }

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "GitHubLabels | None":
        """None where there is no token."""
        token = (environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or "").strip()
        return cls(environ.get("GITHUB_API_URL") or "https://api.github.com", token) if token else None

    def names(self, repository: str, number: int) -> tuple[str, ...]:
        """Raises OutsideError: no-answer, api-refused, api-shape."""
        url = f"{self._api}/repos/{repository}/issues/{number}/labels?per_page=100"
        answer = http.send("GET", url, headers=self._headers, limit=LIMIT)
        where = f"{repository}#{number}"
        if answer.status != http.OK:
            raise OutsideError("api-refused", f"the API answers {answer.status} to a question for labels", where=where)
        try:
            return tuple(str(one["name"]) for one in json.loads(answer.body))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise OutsideError("api-shape", "the API's answer is no list of labels", where=where) from None

    def remove(self, repository: str, number: int, label: str) -> None:
        """Also where it is gone already. Raises OutsideError: no-answer, api-refused."""
        url = f"{self._api}/repos/{repository}/issues/{number}/labels/{quote(label, safe='')}"
        answer = http.send("DELETE", url, headers=self._headers, limit=LIMIT)
        if answer.status not in (http.OK, 204, _GONE):
            hint = "give the job `permissions: pull-requests: write`; a fork's pull request cannot have it"
            message = f"the API answers {answer.status}: the label {label!r:.80} is still there, and asks again"
            raise OutsideError("api-refused", message, where=f"{repository}#{number}", hint=hint)
