"""Where pip looks for packages on this machine, from its configuration files and its environment variables.

Understood are `index-url`, `extra-index-url`, `no-index`, `find-links`, `cert` and `timeout` of `[global]` and `[install]`.
"""

from collections.abc import Iterable, Mapping
from configparser import Error, RawConfigParser

from msgspec import Struct

from regraft.errors import InputError

DEFAULT_INDEX = "https://pypi.org/simple"  # pip's own
TIMEOUT = 15.0  # likewise, in seconds

_KEYS = ("index-url", "extra-index-url", "no-index", "find-links", "cert", "timeout")
_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})


class PipSettings(Struct, frozen=True):
    """`indexes` are the base addresses, in the order in which they are asked; `links` folders, pages and files besides them.

    Both may hold credentials: for no message.
    """

    indexes: tuple[str, ...] = (DEFAULT_INDEX,)
    links: tuple[str, ...] = ()
    ca: str | None = None
    timeout: float = TIMEOUT


def pip_settings(texts: Iterable[tuple[str, str]], environ: Mapping[str, str]) -> PipSettings:
    """From the configuration files' (path, text), the weakest first, and the environment, which beats them.

    Raises InputError `bad-pip-config`.
    """
    found: dict[str, str] = {}
    for section in ("global", "install"):
        for path, text in texts:
            found.update(_section(path, text, section))
    for key in _KEYS:
        name = f"PIP_{key.upper().replace('-', '_')}"
        if environ.get(name):
            found[key] = environ[name]
    indexes: tuple[str, ...] = ()
    if found.get("no-index", "").strip().lower() not in _TRUE:
        indexes = (found.get("index-url", "").strip() or DEFAULT_INDEX, *found.get("extra-index-url", "").split())
    ca = found.get("cert", "").strip() or None
    links = tuple(found.get("find-links", "").split())
    try:
        timeout = float(found.get("timeout") or environ.get("PIP_DEFAULT_TIMEOUT") or TIMEOUT)
    except ValueError:
        timeout = TIMEOUT
    return PipSettings(tuple(dict.fromkeys(one.rstrip("/") for one in indexes)), links, ca, max(timeout, 0.1))


def _section(path: str, text: str, section: str) -> dict[str, str]:
    parser = RawConfigParser()
    try:
        parser.read_string(text, path)
        items = parser.items(section) if parser.has_section(section) else []
    except Error as error:
        message = f"pip's configuration cannot be read: {str(error)!r:.150}"
        raise InputError("bad-pip-config", message, where=path, hint="mend it: pip cannot read it either") from None
    return {key.lower().replace("_", "-"): value for key, value in items if value}
