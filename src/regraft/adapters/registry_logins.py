"""The credentials for registries that `docker login` and `podman login` left on this machine."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from regraft.adapters import files, process
from regraft.core.image_reference import DOCKER_HUB
from regraft.core.patterns import regex
from regraft.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT = 4 * 1024 * 1024
HELPER_TIMEOUT = 20  # seconds
HUB = "https://index.docker.io/v1/"  # the name that Docker keeps its own registry's login under

_HELPER = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Login(Struct, frozen=True):
    """A user with a password, or with `identity`, a token that stands for both."""

    user: str
    password: str
    identity: str | None = None

    @property
    def basic(self) -> str:
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")

    def __repr__(self) -> str:
        return f"Login({self.user!r}, ...)"


class Logins:
    """Reads the files when it is first asked. Raises InputError `bad-logins`, OutsideError where a helper fails."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._read: list[tuple[Path, dict[str, Any]]] | None = None

    def of(self, registry: str) -> Login | None:
        """What is known for `host` or `host:port`; the first file that knows one counts."""
        names = [registry, f"https://{registry}", f"https://{registry}/v1/", f"https://{registry}/v2/"]
        if registry == DOCKER_HUB:
            names = [HUB, "index.docker.io", *names]
        if self._read is None:
            self._read = [(path, _document(path)) for path in _paths(self._environ) if path.is_file()]
        for path, document in self._read:
            helpers = document.get("credHelpers")
            for name in names:
                helper = helpers.get(name) if isinstance(helpers, dict) else None
                found = self._ask(helper or document.get("credsStore"), name)
                if found is None:
                    found = _written(document.get("auths"), name, path)
                if found is not None:
                    return found
        return None

    def _ask(self, helper: object, name: str) -> Login | None:
        """By `docker-credential-HELPER get`, which ends with another code than 0 where it knows none."""
        if not isinstance(helper, str) or not _HELPER.fullmatch(helper):
            return None
        argv = [f"docker-credential-{helper}", "get"]
        done = process.run(argv, env=self._environ, stdin=name.encode(), timeout=HELPER_TIMEOUT, limit=LIMIT)
        if done.returncode:
            return None
        try:
            raw = json.loads(done.stdout)
            return _login(str(raw["Username"]), str(raw["Secret"]))
        except (ValueError, KeyError, TypeError):
            hint = f"ask `{argv[0]} get` yourself"
            raise InputError("bad-logins", "its answer is no login", where=argv[0], hint=hint) from None


def _login(user: str, secret: str) -> Login:
    return Login("", "", secret) if user == "<token>" else Login(user, secret)


def _paths(environ: Mapping[str, str]) -> list[Path]:
    """Where podman and docker keep them."""
    home = environ.get("HOME")
    config = environ.get("DOCKER_CONFIG") or (f"{home}/.docker" if home else None)
    runtime = environ.get("XDG_RUNTIME_DIR")
    own = environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else None)
    found = [
        environ.get("REGISTRY_AUTH_FILE"),
        f"{runtime}/containers/auth.json" if runtime else None,
        f"{own}/containers/auth.json" if own else None,
        f"{config}/config.json" if config else None,
    ]
    return [Path(one) for one in found if one]


def _document(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(files.read(path, LIMIT).decode("utf-8"))
    except (ValueError, RecursionError):
        raw = None
    if not isinstance(raw, dict):
        raise InputError("bad-logins", "it is no JSON object", where=str(path), hint="log in again with `docker login`")
    return raw


def _written(auths: object, name: str, path: Path) -> Login | None:
    entry = auths.get(name) if isinstance(auths, dict) else None
    if not isinstance(entry, dict) or not entry:
        return None
    if isinstance(entry.get("identitytoken"), str) and entry["identitytoken"]:
        return Login("", "", entry["identitytoken"])
    try:
        user, colon, password = (
            base64.b64decode(str(entry.get("auth", "")), validate=True).decode("utf-8").partition(":")
        )
    except ValueError:
        colon = ""
    if not colon:
        hint = "log in again with `docker login`"
        raise InputError("bad-logins", f"the login for {name} cannot be read", where=str(path), hint=hint) from None
    return Login(user, password.rstrip("\0"))
