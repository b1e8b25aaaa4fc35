"""GitHub's REST API, as far as regraft asks it."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from regraft.adapters import http
from regraft.core.patterns import regex
from regraft.core.pull_request import PullRequest, parse_pull_request
from regraft.errors import InputError, OutsideError

_DOWN = 500
_MOVED = range(300, 400)
_TOKEN = regex(r"[!-~]+")


class GitHub:
    """One server and one token. `server` is the host that repositories live on (`github.com`)."""

    def __init__(self, api: str, server: str, token: str) -> None:
        self._api = api.rstrip("/")
        self.server = server
        self._token = token

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "GitHub | None":
        """The server that a workflow run's environment names, or None where there is no token. InputError: bad-token."""
        name = "GITHUB_TOKEN" if environ.get("GITHUB_TOKEN") else "GH_TOKEN"
        token = environ.get(name, "").strip()  # a secret that was pasted with its line end
        if not token:
            return None
        if not _TOKEN.fullmatch(token):
            raise InputError(
                "bad-token", "it holds characters that no token has", where=name, hint="set the secret anew"
            )
        api = environ.get("GITHUB_API_URL") or "https://api.github.com"
        server = urlsplit(environ.get("GITHUB_SERVER_URL") or "https://github.com").hostname or "github.com"
        return cls(api, server, token)

    def pull_request(self, repository: str, number: int) -> PullRequest | None:
        """The pull request as it is now, or None where the token sees none of that number.

        Raises OutsideError: no-answer, api-refused, rate-limited, api-shape.
        """
        import gidgethub  # noqa: PLC0415 - only a run with a token needs it
        from gidgethub import sansio  # noqa: PLC0415

        url = f"{self._api}/repos/{repository}/pulls/{number}"
        where = f"{repository}#{number}"
        headers = sansio.create_headers("regraft", oauth_token=self._token)
        answer = http.get(url, headers=headers)
        try:
            raw, _, _ = sansio.decipher_response(answer.status, answer.headers, answer.body)
            return parse_pull_request(raw, number)
        except gidgethub.RateLimitExceeded:
            raise OutsideError(
                "rate-limited", "the API's rate limit is used up", where=where, hint="run again when it has reset"
            ) from None
        except gidgethub.HTTPException as error:
            if answer.status == 404:
                return None
            if answer.status in _MOVED:
                hint = "the repository was renamed or moved; run from its new name"
            else:
                hint = "run again later" if answer.status >= _DOWN else "give a token that may read pull requests there"
            raise OutsideError(
                "api-refused", f"the API answers {answer.status}: {str(error)[:200]}", where=where, hint=hint
            ) from None
        except (ValueError, LookupError, gidgethub.GitHubException) as error:
            raise OutsideError("api-shape", f"the API's answer is no pull request: {error}", where=where) from None
