"""What git's own words on a failed call to a remote mean. Git speaks English here: the adapter sets the locale."""

import re

from msgspec import Struct

from regraft.core.patterns import regex

TAIL = 200

_MISSING = regex(
    r"(?:couldn't find remote ref|no such remote ref|not our ref|unadvertised object) (\S+)", re.IGNORECASE
)
_NO_HASH_WANTS = regex(r"does not allow request for unadvertised object", re.IGNORECASE)
_FILTER_IGNORED = regex(r"filtering not recognized by server", re.IGNORECASE)
_FILTER_REFUSED = regex(r"filter '[^']*' not supported|tree filter allows max depth", re.IGNORECASE)


class Failure(Struct, frozen=True):
    """`code` and `hint` are ours; `message` follows the repository's URL in a sentence."""

    code: str
    message: str
    hint: str


# Patterns are compiled when a call has failed, and not before.
_FAILURES = (
    (
        r"No space left on device|Disk quota exceeded|file write error",
        "disk-full",
        "there is no room left for what is fetched",
        "make room, or name a folder with room in TMPDIR",
    ),
    (
        r"dubious ownership|unsafe repository",
        "dubious-ownership",
        "git does not trust the owner of this repository",
        "make it the owner that runs regraft, or add it to safe.directory of the user that serves it",
    ),
    (
        r"mismatched algorithms|unknown object format|unsupported object format",
        "sha256-repository",
        "is a repository of sha256 objects, which regraft does not read",
        "name a sha1 repository",
    ),
    (
        r"Host key verification failed",
        "unknown-host-key",
        "ssh does not know this server's key",
        "add it to known_hosts",
    ),
    (
        r"SSL certificate|certificate verif|SSL_|gnutls|OpenSSL|SSL peer|error setting certificate",
        "tls-failed",
        "the server's certificate cannot be verified",
        "name your authority in http.sslCAInfo or SSL_CERT_FILE, and look at this machine's clock",
    ),
    (
        (
            r"Authentication failed|could not read (?:Username|Password)|returned error: 40[137]|HTTP 40[137]"
            r"|Permission denied \((?:publickey|password|keyboard|gssapi)|terminal prompts disabled|Invalid username"
        ),
        "authentication-failed",
        "the server wants a login: the repository is private, or does not exist",
        "",
    ),
    (
        r"Could not resolve (?:host|proxy)|Name or service not known|Temporary failure in name resolution",
        "no-such-host",
        "the server's name cannot be resolved",
        "look at the URL and at this machine's network, then run again",
    ),
    (
        r"Operation too slow|timed out|time-?out",
        "upstream-slow",
        "the server gave no answer in time",
        "run again when the server answers",
    ),
    (
        r"repository .* not found|Repository not found|returned error: 404|access denied or repository not exported",
        "no-such-repository",
        "the server knows no such repository, or does not show it without a login",
        "",
    ),
    (
        r"does not appear to be a git repository|is this a git repository\?|not a git repository|invalid gitfile",
        "not-a-repository",
        "there is no git repository",
        "look at the URL in the manifest",
    ),
    (
        r"Permission denied|insufficient permission|Operation not permitted|Read-only file system",
        "no-permission",
        "this user may not read the repository or write the temporary folder",
        "look at the permissions of both",
    ),
    (
        r"transport '.*' not allowed|Unable to find remote helper|is not a git command",
        "no-such-transport",
        "git may not, or cannot, use this kind of URL",
        "write an https, ssh, git or file URL, or a path",
    ),
    (
        (
            r"Connection refused|Failed to connect|Couldn't connect|Connection (?:reset|closed)|unable to access"
            r"|early EOF|hung up|unexpected disconnect|RPC failed|Empty reply|returned error: 5[0-9][0-9]"
            r"|bad line length|expected flush|invalid index-pack|index-pack failed|unable to connect|unreachable"
        ),
        "upstream-down",
        "the server does not answer, or broke off",
        "run again when the server answers",
    ),
)

_UNKNOWN = Failure("git-failed", "git failed", "run the git command by hand to see more")


def failure(stderr: str) -> Failure:
    """The kind of a failure that is about the world; `git-failed` where git's words are not known."""
    own = "\n".join(line for line in stderr.splitlines() if not line.startswith("remote:"))
    for pattern, code, message, hint in _FAILURES:
        if re.search(pattern, own, re.IGNORECASE):
            return Failure(code, message, hint)
    return _UNKNOWN


def missing_object(stderr: str) -> str | None:
    """The full ref name or the hash that the server does not have, or does not hand out."""
    match = _MISSING.search(stderr) if stderr else None
    return match[1] if match else None


def wants_no_hash(stderr: str) -> bool:
    """Whether the server hands out tips only."""
    return bool(stderr) and _NO_HASH_WANTS.search(stderr) is not None


def filter_ignored(stderr: str) -> bool:
    """Whether everything was sent although a filter was asked for."""
    return bool(stderr) and _FILTER_IGNORED.search(stderr) is not None


def filter_refused(stderr: str) -> bool:
    """Whether nothing was sent because of the filter."""
    return bool(stderr) and _FILTER_REFUSED.search(stderr) is not None


def tail(stderr: str) -> str:
    """The end of what git said, on one line, escaped, bounded."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return repr(" | ".join(told[-2:])[-TAIL:])
