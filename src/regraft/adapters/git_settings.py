"""The configuration that regraft writes for git, and what of the machine's own is carried over, as values."""

import re

from regraft.core.patterns import regex

_MAY_BE_CARRIED = ("url.", "http", "credential.", "core.sshcommand", "core.gitproxy", "safe.")
_CARRIED = regex(
    r"url\..+\.(?:insteadof|pushinsteadof)"
    r"|http\.(?:.+\.)?(?:proxy|proxyauthmethod|sslcainfo|sslcapath|sslcert|sslkey|sslverify|schannelusesslcainfo)"
    r"|https?\.proxy"
    r"|credential\.(?:.+\.)?(?:helper|username|usehttppath)"
    r"|core\.(?:sshcommand|gitproxy)"
    r"|safe\.directory",
    re.DOTALL,
)

NEUTRAL = """\
[core]
\tautocrlf = false
\tsafecrlf = false
\tfileMode = true
\tsymlinks = true
\tquotePath = true
\tfsmonitor = false
\tuntrackedCache = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tpager = cat
\tprecomposeUnicode = false
[apply]
\twhitespace = nowarn
\tignoreWhitespace = no
[user]
\tname = regraft
\temail = regraft@localhost
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[rerere]
\tenabled = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\tdetachedHead = false
[init]
\tdefaultBranch = main
[transfer]
\tfsckObjects = false
[fetch]
\tfsckObjects = false
\trecurseSubmodules = false
[protocol]
\tversion = 2
\tallow = never
[protocol "https"]
\tallow = always
[protocol "http"]
\tallow = always
[protocol "ssh"]
\tallow = always
[protocol "git"]
\tallow = always
[protocol "file"]
\tallow = always
"""

# Version 2 is the default since 2.26 only, and without it a server lists every ref there is. The transports that are not
# named above run a helper program of the URL's choosing.

REMOTE = """\
[http]
\tlowSpeedLimit = 1000
\tlowSpeedTime = 60
"""

SSH = """\
[core]
\tsshCommand = ssh -o BatchMode=yes
"""


def is_carried(entry: str) -> bool:
    """Whether an entry of the machine's configuration (`KEY`, or `KEY`, newline, value) goes to git for remote calls."""
    key = entry.partition("\n")[0].lower()
    return key.startswith(_MAY_BE_CARRIED) and _CARRIED.fullmatch(key) is not None


def login(url: str, token: str | None) -> tuple[str, ...]:
    """The entry that hands the token to the URL's host and to no other; none where there is nothing to hand over."""
    host = re.match(r"https?://[^/@]+/", url)
    if not (token and host):
        return ()
    import base64  # noqa: PLC0415 - only a private repository needs it

    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode("ascii")
    return (f"http.{host[0]}.extraHeader\nAuthorization: Basic {basic}",)


def only_in_a_file(entry: str) -> bool:
    """Before 2.38 `safe.directory` counts from a file alone; and a key with a `=` cannot be told from its value."""
    key = entry.partition("\n")[0]
    return key.lower() == "safe.directory" or "=" in key


def parameter(entry: str) -> str:
    """An entry as `git -c` hands it on in GIT_CONFIG_PARAMETERS, in the form that every version reads.

    Only GIT_CONFIG_COUNT, which came with 2.31, is documented.
    """
    return "'" + entry.replace("\n", "=", 1).replace("'", "'\\''").replace("!", "'\\!'") + "'"


def section(entry: str) -> str:
    """An entry as a section of a configuration file."""
    key, given, value = entry.partition("\n")
    first, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    header = f"[{first} {_subsection(subsection)}]" if subsection else f"[{first}]"
    # A key without a value means true, an empty value false.
    return f"{header}\n\t{name} = {quoted(value)}\n" if given else f"{header}\n\t{name}\n"


def quoted(value: str) -> str:
    """A value as a configuration file holds it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _subsection(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
