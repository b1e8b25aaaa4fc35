"""What a build writes to a registry besides the image: tags, and what is attached to it."""

from regraft.adapters import http
from regraft.adapters.registry import MANIFEST_LIMIT, Registry, failure, next_address, read_answer
from regraft.core import image_attached as attached
from regraft.core.image_published import Part, Published
from regraft.core.image_reference import Digest, Reference, Repository
from regraft.core.registry_answers import ACCEPT, read_errors
from regraft.errors import OutsideError

_MADE = frozenset({200, 201})
_GONE = frozenset({200, 202, 204})
_BY_DIGEST_ONLY = frozenset({400, 404, 405, 501})
_LIST = {"accept": attached.INDEX}


class PublishingRegistry(Registry):
    def put_tag(self, repository: Repository, tag: str, published: Published) -> None:
        """Let a tag name what is there already by its digest. Raises as `look`; afterwards the tag names just that."""
        where = f"{repository.text}:{tag}"
        self._put(repository, tag, published.media_type, published.document, where)
        found = self.look(Reference(repository, tag, None))
        if found is None or found.digest != published.digest:
            message = f"the tag was moved to {published.digest}, and now names {found.digest if found else 'nothing'}"
            hint = "look whether another workflow writes this tag, and let only one do that"
            raise OutsideError("tag-raced", message, where=where, hint=hint)

    def delete_tag(self, repository: Repository, tag: str) -> str | None:
        """Take a tag away, and never what it names: None where that was done, else why not. Raises as `look`.

        A registry that deletes by digest only is let have the tag name an empty manifest first, and that one is deleted.
        """
        where = f"{repository.text}:{tag}"
        answer = self._delete(repository, tag, where)
        if answer.status in _BY_DIGEST_ONLY:
            there = self.ask("GET", repository, f"manifests/{tag}", {"accept": ACCEPT}, None, MANIFEST_LIMIT, where)
            if there.status == 404:
                return None
            empty = attached.given_up_manifest(tag)
            self._upload(repository, attached.EMPTY, where)
            self._put(repository, tag, attached.MANIFEST, empty, where)
            answer = self._delete(repository, attached.digest_of(empty), where)
        if answer.status in _GONE:
            return None
        said = read_errors(answer.body)
        return f"the registry answers {answer.status}" + (f": {said}" if said else "")

    def attach(self, repository: Repository, part: Part, baseline: bytes) -> Digest:
        """Attach a baseline to an image that is there; gives the digest of what was attached. Raises as `look`."""
        where = f"{repository.text}@{part.digest}"
        manifest = attached.attached_manifest(attached.Subject(part.media_type, part.digest, part.size), baseline)
        for blob in (attached.EMPTY, baseline):
            self._upload(repository, blob, where)
        digest = attached.digest_of(manifest)
        answer = self._put(repository, digest, attached.MANIFEST, manifest, where)
        if answer.headers.get("oci-subject") != part.digest:
            self._list(repository, part.digest, manifest, where)
        return digest

    def _list(self, repository: Repository, subject: Digest, manifest: bytes, where: str) -> None:
        """In the list that stands in for the referrers API."""
        tag = attached.referrers_tag(subject)
        answer = self.ask("GET", repository, f"manifests/{tag}", _LIST, None, MANIFEST_LIMIT, where)
        if answer.status not in (http.OK, 404):
            raise failure(answer, where)
        before = answer.body if answer.status == http.OK else None
        after = read_answer(lambda: attached.with_attached(before, manifest), where)
        self._put(repository, tag, attached.INDEX, after, where)

    def _put(self, repository: Repository, name: str, kind: str, document: bytes, where: str) -> http.Response:
        headers = {"content-type": kind}
        answer = self.ask("PUT", repository, f"manifests/{name}", headers, document, MANIFEST_LIMIT, where)
        if answer.status not in _MADE:
            raise failure(answer, where)
        return answer

    def _delete(self, repository: Repository, name: str, where: str) -> http.Response:
        return self.ask("DELETE", repository, f"manifests/{name}", {}, None, MANIFEST_LIMIT, where)

    def _upload(self, repository: Repository, data: bytes, where: str) -> None:
        """A blob, in the two requests that every registry understands."""
        begun = self.ask("POST", repository, "blobs/uploads/", {"content-length": "0"}, None, MANIFEST_LIMIT, where)
        if begun.status != 202:
            raise failure(begun, where)
        address = next_address(f"{repository.api}/blobs/uploads/", begun.headers.get("location", ""), where)
        joint = "&" if "?" in address else "?"
        headers = {"content-type": "application/octet-stream"}
        path = f"{address}{joint}digest={attached.digest_of(data)}"
        answer = self.ask("PUT", repository, path, headers, data, MANIFEST_LIMIT, where)
        if answer.status not in _MADE:
            raise failure(answer, where)
