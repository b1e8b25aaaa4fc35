"""Names of images: repository, tag and digest, by the grammar of the OCI distribution specification.

What a tag may be is the manifest's and the directives' question too: one grammar, `manifest_texts.TAG`.
"""

from typing import NewType

from msgspec import Struct

from regraft.core import manifest_texts as texts
from regraft.core.patterns import regex
from regraft.core.quoting import quoted
from regraft.errors import InputError

Digest = NewType("Digest", str)
"""`sha256:` and 64 hex digits, or `sha512:` and 128, in lower case."""

DOCKER_HUB = "docker.io"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
RESERVED = (".example", ".invalid", ".test", ".localhost")  # RFC 6761: no server is there, and none is asked

_DIGEST = regex(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_TAG = regex(texts.TAG.pattern)
_REPOSITORY = regex(texts.REPOSITORY.pattern)
_LONGEST = 255


class Repository(Struct, frozen=True):
    """`registry` is `host` or `host:port` as written, `docker.io` where none is; `path` is what the registry calls it."""

    registry: str
    path: str
    text: str  # as written

    @property
    def host(self) -> str:
        """Without a port and without the brackets of an IPv6 address."""
        if self.registry.startswith("["):
            return self.registry[1:].partition("]")[0]
        return self.registry.partition(":")[0]

    @property
    def local(self) -> bool:
        return self.host in LOOPBACK

    @property
    def reserved(self) -> bool:
        """Whether its name is one that leads nowhere, by its ending."""
        return self.host.endswith(RESERVED)

    @property
    def api(self) -> str:
        """Where its registry answers. Plain HTTP is for this machine only."""
        host = "registry-1.docker.io" if self.registry == DOCKER_HUB else self.registry
        return f"{'http' if self.local else 'https'}://{host}/v2/{self.path}"


class Reference(Struct, frozen=True):
    """One image of a repository, by tag or by digest; with both, the digest counts."""

    repository: Repository
    tag: str | None
    digest: Digest | None

    @property
    def text(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return self.repository.text + tag + (f"@{self.digest}" if self.digest else "")

    @property
    def name(self) -> str:
        """The last part of an address in the distribution API."""
        return self.digest or self.tag or "latest"


def parse_digest(text: str) -> Digest:
    """The digest that `text` is. Raises InputError `bad-digest`."""
    if not _DIGEST.fullmatch(text):
        hint = "write sha256: and 64 hexadecimal digits in lower case"
        raise InputError("bad-digest", f"{quoted(text)} is no digest", hint=hint)
    return Digest(text)


def parse_image_tag(text: str) -> str:
    """The tag that `text` is, to the letter. Raises InputError `bad-tag`."""
    if not _TAG.fullmatch(text):
        raise InputError("bad-tag", f"{quoted(text)} is no image tag", hint=f"write {texts.TAG.says}")
    return text


def parse_repository(text: str) -> Repository:
    """The repository that `text` names, as `docker pull` reads it. Raises InputError `bad-repository`."""
    if len(text) > _LONGEST or not _REPOSITORY.fullmatch(text):
        raise InputError("bad-repository", f"{quoted(text)} names no image repository", hint="write host/owner/name")
    first, slash, rest = text.partition("/")
    if slash and (first == "localhost" or "." in first or ":" in first):
        registry, path = first, rest
    else:
        registry, path = DOCKER_HUB, text
    if registry in ("index.docker.io", "registry-1.docker.io"):
        registry = DOCKER_HUB
    if registry == DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    return Repository(registry, path, text)


def parse_reference(text: str) -> Reference:
    """`repository[:tag][@digest]`. Raises InputError: bad-repository, bad-tag, bad-digest."""
    rest, at, digest = text.partition("@")
    head, slash, last = rest.rpartition("/")
    name, colon, tag = last.partition(":")
    return Reference(
        parse_repository(head + slash + name),
        parse_image_tag(tag) if colon else None,
        parse_digest(digest) if at else None,
    )
