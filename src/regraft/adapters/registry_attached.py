"""The baselines that are attached to an image, over the distribution API."""

from collections.abc import Sequence

from regraft.adapters import http
from regraft.adapters.registry import MANIFEST_LIMIT, Registry, failure, next_address, read_answer, same_bytes
from regraft.core import image_attached as attached
from regraft.core.document import LIMIT
from regraft.core.image_reference import Digest, Repository
from regraft.core.patterns import regex
from regraft.errors import OutsideError

PAGES = 5  # of one list

_TYPES = {"accept": f"{attached.INDEX}, {attached.MANIFEST}"}
_UNKNOWN = frozenset({400, 404, 405, 501})  # of a registry that does not list what is attached
_NEXT = regex(r'\s*<([^<>\s]{1,2000})>\s*;\s*rel="?next"?\s*')


def attached_baselines(registry: Registry, repository: Repository, subject: Digest) -> tuple[bytes, ...]:
    """The different baselines that are attached to the image of that digest: one, none, or more, which contradict each other.

    Raises what `Registry.look` raises.
    """
    where = f"{repository.text}@{subject}"
    blobs: dict[Digest, None] = {}
    for digest in _listed(registry, repository, subject, where):
        answer = registry.ask("GET", repository, f"manifests/{digest}", _TYPES, None, MANIFEST_LIMIT, where)
        manifest = _body(answer, digest, where)
        blobs[read_answer(lambda: attached.read_attached(manifest, subject), where)] = None  # noqa: B023 - read at once
    found = ((blob, registry.ask("GET", repository, f"blobs/{blob}", {}, None, LIMIT, where)) for blob in blobs)
    return tuple(_body(answer, blob, where) for blob, answer in found)


def _listed(registry: Registry, repository: Repository, subject: Digest, where: str) -> Sequence[Digest]:
    kind = attached.ARTIFACT.replace("/", "%2F").replace("+", "%2B")
    path = f"referrers/{subject}?artifactType={kind}"
    found: list[Digest] = []
    for _ in range(PAGES):
        answer = registry.ask("GET", repository, path, _TYPES, None, MANIFEST_LIMIT, where)
        if answer.status in _UNKNOWN and not found:
            tag = attached.referrers_tag(subject)
            answer = registry.ask("GET", repository, f"manifests/{tag}", _TYPES, None, MANIFEST_LIMIT, where)
            if answer.status == 404:
                return ()
        if answer.status != http.OK:
            raise failure(answer, where)
        body = answer.body
        found += read_answer(lambda: attached.listed_baselines(body), where)  # noqa: B023 - read at once
        match = _NEXT.fullmatch(answer.headers.get("link", ""))
        if match is None:
            return tuple(dict.fromkeys(found))
        path = next_address(f"{repository.api}/", match[1], where)
    raise OutsideError("registry-shape", f"what is attached is listed on more than {PAGES} pages", where=where)


def _body(answer: http.Response, digest: Digest, where: str) -> bytes:
    """What came, which is what was asked for."""
    if answer.status != http.OK:
        raise failure(answer, where)
    same_bytes(answer, digest, where)
    return answer.body
