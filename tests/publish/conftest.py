"""A registry on loopback that answers as the distribution specification says, and wrongly where a test tells it to."""

import base64
import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_CONFIG = "application/vnd.oci.image.config.v1+json"


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


@dataclass
class Answer:
    """What one path is answered with, in place of the truth. `times` runs down; 0: never again."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    times: int = -1
    drop: bool = False  # close without an answer


class StandIn(ThreadingHTTPServer):
    """`blobs` and `manifests` by repository and name. `seen` are (method, path, Authorization)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.blobs: dict[tuple[str, str], bytes] = {}
        self.manifests: dict[tuple[str, str], tuple[str, bytes]] = {}
        self.answers: dict[str, Answer] = {}  # by what a path begins with
        self.seen: list[tuple[str, str, str | None]] = []
        self.token: str | None = None  # the bearer token that is asked for
        self.login: str | None = None  # `user:password` that the token server asks for
        self.basic: str | None = None  # `user:password` that the registry itself asks for
        self.realm: str | None = None
        self.referrers = False  # whether it lists what is attached
        self.deletes = "tag"  # what may be deleted: `tag` (alone), `image` (with its tag), `digest`, `nothing`
        self.stopping = threading.Event()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def put_image(self, repository: str, tag: str, labels: dict[str, str] | None = None, **more: Any) -> str:
        """A one-platform image; returns its digest."""
        digest, _ = self._image(repository, labels or {}, **more)
        self.manifests[repository, tag] = self.manifests[repository, digest]
        return digest

    def put_list(self, repository: str, tag: str, parts: dict[str, dict[str, str]], **more: Any) -> str:
        """A list of images, by `os/architecture`, with their labels."""
        entries = []
        for platform, labels in parts.items():
            digest, size = self._image(repository, labels, platform=platform, **more)
            system, architecture = platform.split("/")
            entries.append(
                {
                    "mediaType": OCI_MANIFEST,
                    "digest": digest,
                    "size": size,
                    "platform": {"os": system, "architecture": architecture},
                }
            )
        return self.put_manifest(
            repository, tag, {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries}, OCI_INDEX
        )

    def put_manifest(self, repository: str, tag: str, document: Any, kind: str = OCI_MANIFEST) -> str:
        data = json.dumps(document).encode()
        digest = sha256(data)
        self.manifests[repository, digest] = self.manifests[repository, tag] = (kind, data)
        return digest

    def _image(
        self,
        repository: str,
        labels: dict[str, str],
        *,
        platform: str = "linux/amd64",
        layers: tuple[str, ...] = (sha256(b"layer"),),
    ) -> tuple[str, int]:
        system, architecture = platform.split("/")
        config = json.dumps(
            {
                "os": system,
                "architecture": architecture,
                "config": {"Labels": labels},
                "rootfs": {"type": "layers", "diff_ids": list(layers)},
            }
        ).encode()
        self.blobs[repository, sha256(config)] = config
        manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": OCI_MANIFEST,
                "config": {"mediaType": OCI_CONFIG, "digest": sha256(config), "size": len(config)},
                "layers": [],
            }
        ).encode()
        self.manifests[repository, sha256(manifest)] = (OCI_MANIFEST, manifest)
        return sha256(manifest), len(manifest)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StandIn

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        state = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, _query = self.path.partition("?")
        given = self.headers.get("Authorization")
        state.seen.append((self.command, self.path, given))
        for start, answer in state.answers.items():
            if path.startswith(start) and answer.times != 0:
                answer.times -= 1
                if answer.delay and state.stopping.wait(answer.delay):
                    return
                if answer.drop:
                    self.close_connection = True
                    return
                self._answer(answer.status, answer.headers, answer.body)
                return
        if path == "/token":
            self._token(given, body)
        elif state.token is not None and given != f"Bearer {state.token}":
            realm = state.realm or f"http://{state.host}/token"
            challenge = f'Bearer realm="{realm}",service="stand-in",scope="repository:o/r:pull"'
            self._answer(
                401, {"WWW-Authenticate": challenge}, b'{"errors":[{"code":"UNAUTHORIZED","message":"log in"}]}'
            )
        elif state.basic is not None and given != "Basic " + base64.b64encode(state.basic.encode()).decode():
            self._answer(401, {"WWW-Authenticate": 'Basic realm="r"'}, b"")
        else:
            self._registry(path, body)

    def _token(self, given: str | None, body: bytes) -> None:
        state = self.server
        wanted = None if state.login is None else "Basic " + base64.b64encode(state.login.encode()).decode()
        if wanted is not None and given != wanted and b"refresh_token=the-identity" not in body:
            self._answer(401, {}, b'{"errors":[{"code":"UNAUTHORIZED","message":"wrong password"}]}')
        else:
            self._answer(200, {"Content-Type": "application/json"}, json.dumps({"token": state.token}).encode())

    def _registry(self, path: str, body: bytes) -> None:
        state = self.server
        for kind in ("/manifests/", "/blobs/", "/referrers/"):
            if path.startswith("/v2/") and kind in path:
                repository, _, name = path.removeprefix("/v2/").partition(kind)
                if name.startswith("uploads/"):
                    self._upload(repository, body)
                elif self.command == "PUT" and kind == "/manifests/":
                    self._put(repository, name, body)
                elif self.command == "DELETE":
                    self._delete(repository, name)
                elif kind == "/referrers/" and state.referrers:
                    self._list(repository, name)
                elif kind == "/manifests/" and (repository, name) in state.manifests:
                    media, data = state.manifests[repository, name]
                    self._answer(200, {"Content-Type": media, "Docker-Content-Digest": sha256(data)}, data)
                elif kind == "/blobs/" and (repository, name) in state.blobs:
                    self._answer(200, {"Content-Type": "application/octet-stream"}, state.blobs[repository, name])
                else:
                    self._answer(404, {}, b'{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}')
                return
        self._answer(404, {}, b"<html>not here</html>")

    def _upload(self, repository: str, body: bytes) -> None:
        query = self.path.partition("?")[2]
        if self.command == "POST":
            self._answer(202, {"Location": f"/v2/{repository}/blobs/uploads/1?state=a%2Bb"}, b"")
        elif query == f"state=a%2Bb&digest={sha256(body)}":
            self.server.blobs[repository, sha256(body)] = body
            self._answer(201, {}, b"")
        else:
            self._answer(400, {}, b'{"errors":[{"code":"DIGEST_INVALID","message":"other content"}]}')

    def _put(self, repository: str, name: str, body: bytes) -> None:
        state, kind = self.server, self.headers["Content-Type"]
        document = json.loads(body)
        parts = [document.get("config"), *document.get("layers", ())]
        if any(one and (repository, one["digest"]) not in state.blobs for one in parts):
            self._answer(404, {}, b'{"errors":[{"code":"MANIFEST_BLOB_UNKNOWN","message":"blob unknown"}]}')
            return
        state.manifests[repository, name] = state.manifests[repository, sha256(body)] = (kind, body)
        told = {"OCI-Subject": document["subject"]["digest"]} if state.referrers and "subject" in document else {}
        self._answer(201, {"Docker-Content-Digest": sha256(body), **told}, b"")

    def _delete(self, repository: str, name: str) -> None:
        state, by_digest = self.server, name.startswith("sha256:")
        if state.deletes == "nothing":
            self._answer(405, {}, b'{"errors":[{"code":"UNSUPPORTED","message":"deletion is off"}]}')
        elif state.deletes == "digest" and not by_digest:
            self._answer(400, {}, b'{"errors":[{"code":"DIGEST_INVALID","message":"give a digest"}]}')
        elif (repository, name) not in state.manifests:
            self._answer(404, {}, b"")
        else:
            gone = state.manifests.pop((repository, name))
            if by_digest or state.deletes == "image":
                for key in [key for key, one in state.manifests.items() if key[0] == repository and one == gone]:
                    del state.manifests[key]
            self._answer(202, {}, b"")

    def _list(self, repository: str, subject: str) -> None:
        found = {}
        for (of, _), (kind, data) in self.server.manifests.items():
            document = json.loads(data)
            if of == repository and document.get("subject", {}).get("digest") == subject:
                found[sha256(data)] = {
                    "mediaType": kind, "digest": sha256(data), "size": len(data), "artifactType": document["artifactType"],
                }  # fmt: skip
        index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [*found.values()]}
        self._answer(200, {"Content-Type": OCI_INDEX}, json.dumps(index).encode())

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.stopping.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def answer() -> type[Answer]:
    return Answer


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def clock() -> float:
    return time.time()
