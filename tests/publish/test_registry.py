"""A registry is asked what a name stands for; whatever it answers, the result is the truth or a named error."""

import base64
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.registry import Registry
from regraft.adapters.registry_logins import Login, Logins
from regraft.adapters.registry_publish import PublishingRegistry
from regraft.core.image_published import Absent, Published, Unread
from regraft.core.image_reference import parse_reference
from regraft.errors import InputError, OutsideError

AMD, ARM = "linux/amd64", "linux/arm64"


def nobody(_: str) -> Login | None:
    return None


def registry(login: Callable[[str], Login | None] = nobody, slept: list[float] | None = None, **more: Any) -> Registry:
    return Registry(login, timeout=2, sleep=(slept if slept is not None else []).append, **more)


def look(stand_in: Any, name: str = "o/r:t", **more: Any) -> Published | None:
    return registry(**more).look(parse_reference(f"{stand_in.host}/{name}"))


def error(stand_in: Any, name: str = "o/r:t", **more: Any) -> OutsideError:
    with pytest.raises(OutsideError) as caught:
        look(stand_in, name, **more)
    return caught.value


def test_a_tag_is_resolved_to_the_digest_of_the_bytes_that_came_and_no_layer_is_asked_for(stand_in: Any) -> None:
    digest = stand_in.put_image("o/r", "t", {"a": "b"})
    found = look(stand_in)
    assert found is not None
    assert found.digest == digest
    assert [part.config.labels for part in found.parts] == [{"a": "b"}]
    assert len(stand_in.seen) == 2  # the manifest and its configuration


def test_a_list_is_read_with_all_of_its_parts(stand_in: Any) -> None:
    digest = stand_in.put_list("o/r", "t", {AMD: {"who": "amd"}, ARM: {"who": "arm"}})
    found = look(stand_in)
    assert found is not None
    assert found.digest == digest
    assert {part.config.platform: part.config.labels["who"] for part in found.parts} == {AMD: "amd", ARM: "arm"}


def test_an_attestation_in_a_list_is_no_part_of_it(stand_in: Any) -> None:
    stand_in.put_list("o/r", "t", {AMD: {}, "unknown/unknown": {}})
    found = look(stand_in)
    assert found is not None
    assert [part.config.platform for part in found.parts] == [AMD]


def test_what_is_not_there_is_nothing_and_no_error(stand_in: Any) -> None:
    assert look(stand_in) is None
    assert registry().find(parse_reference(f"{stand_in.host}/o/r:t")) == Absent(f"{stand_in.host}/o/r:t")


def test_a_bearer_challenge_is_met_as_nobody(stand_in: Any) -> None:
    digest = stand_in.put_image("o/r", "t")
    stand_in.token = "a-token"
    found = look(stand_in)
    assert found is not None
    assert found.digest == digest
    asked = [path for _, path, _ in stand_in.seen if path.startswith("/token")]
    assert asked == ["/token?service=stand-in&scope=repository:o/r:pull"]  # once, for manifest and configuration


def test_a_bearer_challenge_is_met_with_the_login(stand_in: Any) -> None:
    stand_in.put_image("o/r", "t")
    stand_in.token, stand_in.login = "a-token", "me:secret"
    assert look(stand_in, login=lambda _: Login("me", "secret")) is not None
    assert error(stand_in).code == "registry-refused"


def test_an_identity_token_is_changed_for_a_bearer_token(stand_in: Any) -> None:
    stand_in.put_image("o/r", "t")
    stand_in.token, stand_in.login = "a-token", "me:secret"
    assert look(stand_in, login=lambda _: Login("", "", "the-identity")) is not None


def test_a_basic_challenge_is_met_with_the_login_alone(stand_in: Any) -> None:
    stand_in.put_image("o/r", "t")
    stand_in.basic = "me:secret"
    assert look(stand_in, login=lambda _: Login("me", "secret")) is not None
    assert error(stand_in).code == "registry-refused"


def test_no_login_goes_to_a_token_server_without_tls_elsewhere(stand_in: Any) -> None:
    stand_in.put_image("o/r", "t")
    stand_in.token, stand_in.realm = "a-token", "http://10.0.0.1/token"
    found = error(stand_in, login=lambda _: Login("me", "secret"))
    assert found.code == "registry-shape"
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "registry-refused"), (403, "registry-refused"), (429, "registry-busy"), (500, "registry-failed"),
     (503, "registry-failed"), (204, "registry-failed"), (400, "registry-failed")],
)  # fmt: skip
def test_each_refusal_has_its_name(stand_in: Any, answer: Any, status: int, code: str) -> None:
    stand_in.answers["/v2/"] = answer(status=status, body=b"" if status == 204 else b"<html>no</html>")
    assert error(stand_in).code == code


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"<html></html>", b'{"schemaVersion": 1}', b'{"schemaVersion": 2}', b"[" * 100_000,
     b'{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": {"digest": "sha256:no"}}',
     b'{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}',
     b'{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [1]}', b"\xff\xfe"],
)  # fmt: skip
def test_nonsense_is_named_nonsense(stand_in: Any, answer: Any, body: bytes) -> None:
    stand_in.answers["/v2/"] = answer(body=body, headers={"Content-Type": "application/vnd.oci.image.manifest.v1+json"})
    assert error(stand_in).code == "registry-shape"


@pytest.mark.parametrize(
    "config",
    [b"", b"[]", b"{}", b'{"rootfs": {"diff_ids": "x"}}', b'{"rootfs": {"diff_ids": []}, "config": {"Labels": [1]}}',
     b'{"rootfs": {"diff_ids": []}, "config": {"Labels": {"a": 1}}}', b'{"rootfs": {"diff_ids": ["no"]}}'],
)  # fmt: skip
def test_a_configuration_that_is_none_is_named_nonsense(stand_in: Any, config: bytes) -> None:
    import hashlib

    digest = "sha256:" + hashlib.sha256(config).hexdigest()
    stand_in.blobs["o/r", digest] = config
    stand_in.put_manifest(
        "o/r",
        "t",
        {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": {"digest": digest}},
    )
    assert error(stand_in).code == "registry-shape"


def test_a_manifest_that_names_a_configuration_that_is_not_there_is_nonsense(stand_in: Any) -> None:
    stand_in.put_image("o/r", "t")
    stand_in.blobs.clear()
    assert error(stand_in).code == "registry-shape"


def test_other_bytes_than_the_digest_says_are_refused(stand_in: Any, answer: Any) -> None:
    digest = stand_in.put_image("o/r", "t")
    other = stand_in.put_image("o/r", "u", {"evil": "1"})
    stand_in.manifests["o/r", digest] = stand_in.manifests["o/r", other]
    assert error(stand_in, f"o/r@{digest}").code == "other-digest"
    stand_in.manifests.clear()
    stand_in.put_image("o/r", "t")
    for name in list(stand_in.blobs):
        stand_in.blobs[name] = b'{"rootfs": {"diff_ids": []}}'
    assert error(stand_in).code == "other-digest"


def test_no_answer_is_no_answer(stand_in: Any, answer: Any) -> None:
    stand_in.answers["/v2/"] = answer(drop=True)
    assert error(stand_in).code == "no-answer"
    assert registry().find(parse_reference("127.0.0.1:1/o/r:t")) == Unread(
        "127.0.0.1:1/o/r:t",
        "no-answer",
        registry().find(parse_reference("127.0.0.1:1/o/r:t")).message,  # type: ignore[union-attr]
    )


@pytest.mark.slow
def test_a_server_that_takes_too_long_is_not_waited_for(stand_in: Any, answer: Any) -> None:
    stand_in.answers["/v2/"] = answer(delay=30)
    assert error(stand_in).code == "no-answer"


def test_more_than_a_manifest_can_have_is_not_read(stand_in: Any, answer: Any) -> None:
    stand_in.answers["/v2/"] = answer(body=b" " * (5 * 1024 * 1024))
    assert error(stand_in).code == "too-much-output"


def test_a_busy_server_is_asked_again_when_it_says_so(stand_in: Any, answer: Any) -> None:
    digest = stand_in.put_image("o/r", "t")
    stand_in.answers["/v2/"] = answer(status=429, headers={"Retry-After": "7"}, times=1)
    slept: list[float] = []
    found = look(stand_in, slept=slept)
    assert found is not None
    assert found.digest == digest
    assert slept == [7.0]


@pytest.mark.parametrize("header", ["3600", "99999999999", "Wed, 01 Jan 2125 00:00:00 GMT", "soon", "-1", ""])
def test_a_busy_server_is_not_waited_for_without_bound(stand_in: Any, answer: Any, header: str) -> None:
    stand_in.answers["/v2/"] = answer(status=429, headers={"Retry-After": header})
    slept: list[float] = []
    assert error(stand_in, slept=slept).code == "registry-busy"
    assert slept == []


def test_a_server_that_is_always_busy_is_given_up(stand_in: Any, answer: Any) -> None:
    stand_in.answers["/v2/"] = answer(status=429, headers={"Retry-After": "1"})
    slept: list[float] = []
    assert error(stand_in, slept=slept).code == "registry-busy"
    assert slept == [1.0, 1.0]


def test_a_redirect_is_followed_without_the_token(stand_in: Any, answer: Any) -> None:
    digest = stand_in.put_image("o/r", "t")
    config = next(iter(stand_in.blobs.values()))
    stand_in.token = "a-token"
    other = f"http://localhost:{stand_in.server_port}/elsewhere"
    stand_in.answers["/v2/o/r/blobs/"] = answer(status=307, headers={"Location": other})
    stand_in.answers["/elsewhere"] = answer(body=config)
    found = look(stand_in)
    assert found is not None
    assert found.digest == digest
    assert [given for _, path, given in stand_in.seen if path == "/elsewhere"] == [None]


@pytest.mark.parametrize("target", ["http://10.0.0.1/x", "ftp://127.0.0.1/x", "", "http://[", "/v2/o/r/manifests/t"])
def test_a_redirect_that_leads_nowhere_good_has_its_name(stand_in: Any, answer: Any, target: str) -> None:
    stand_in.answers["/v2/"] = answer(status=302, headers={"Location": target})
    assert error(stand_in).code == "registry-redirect"


def test_a_registry_elsewhere_is_asked_over_tls_only() -> None:
    assert parse_reference("registry.example:5000/o/r:t").repository.api == "https://registry.example:5000/v2/o/r"
    assert parse_reference("localhost.evil.org/o/r").repository.api == "https://localhost.evil.org/v2/o/r"


def test_a_name_that_is_reserved_is_not_asked_for() -> None:
    found = registry().find(parse_reference("registry.example/o/r:t"))
    assert isinstance(found, Unread)
    assert found.code == "reserved-name"


def test_a_tag_is_moved_to_what_is_there_by_its_digest(stand_in: Any) -> None:
    digest = stand_in.put_image("o/r", "candidate", {"new": "1"})
    stand_in.put_image("o/r", "nightly")
    found = look(stand_in, "o/r:candidate")
    assert found is not None
    PublishingRegistry(nobody, timeout=2).put_tag(parse_reference(f"{stand_in.host}/o/r").repository, "nightly", found)
    moved = look(stand_in, "o/r:nightly")
    assert moved is not None
    assert moved.digest == digest


def test_two_builds_that_write_one_tag_are_noticed(stand_in: Any) -> None:
    stand_in.put_image("o/r", "candidate", {"new": "1"})
    found = look(stand_in, "o/r:candidate")
    assert found is not None
    stand_in.put_image("o/r", "other", {"theirs": "1"})
    original = stand_in.manifests["o/r", "other"]

    class Racing(dict):  # type: ignore[type-arg]
        def __setitem__(self, key: Any, value: Any) -> None:
            super().__setitem__(key, original if key == ("o/r", "nightly") else value)

    stand_in.manifests = Racing(stand_in.manifests)
    with pytest.raises(OutsideError) as caught:
        PublishingRegistry(nobody, timeout=2).put_tag(
            parse_reference(f"{stand_in.host}/o/r").repository, "nightly", found
        )
    assert caught.value.code == "tag-raced"


# Logins


def written(folder: Path, document: Any) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(document) if not isinstance(document, str) else document)
    return {"DOCKER_CONFIG": str(folder), "PATH": "/usr/bin:/bin"}


def test_the_login_of_docker_is_found_for_its_registry_and_no_other(tmp_path: Path) -> None:
    auth = base64.b64encode(b"me:pass:word").decode()
    environ = written(tmp_path, {"auths": {"ghcr.io": {"auth": auth}, "https://index.docker.io/v1/": {"auth": auth}}})
    logins = Logins(environ)
    assert logins.of("ghcr.io") == Login("me", "pass:word")
    assert logins.of("docker.io") == Login("me", "pass:word")
    assert logins.of("quay.io") is None
    assert "pass:word" not in repr(logins.of("ghcr.io"))


def test_an_identity_token_of_docker_is_found(tmp_path: Path) -> None:
    environ = written(tmp_path, {"auths": {"a.io": {"identitytoken": "xyz"}}})
    assert Logins(environ).of("a.io") == Login("", "", "xyz")


def test_a_credential_helper_is_asked(tmp_path: Path) -> None:
    environ = written(tmp_path, {"credHelpers": {"a.io": "mine"}, "auths": {"a.io": {}}})
    helper = tmp_path / "bin/docker-credential-mine"
    helper.parent.mkdir()
    helper.write_text('#!/bin/sh\n[ "$(cat)" = a.io ] && echo \'{"Username": "me", "Secret": "s"}\'\n')
    helper.chmod(helper.stat().st_mode | stat.S_IXUSR)
    environ["PATH"] = f"{helper.parent}:/usr/bin:/bin"
    assert Logins(environ).of("a.io") == Login("me", "s")
    assert Logins(environ).of("b.io") is None


@pytest.mark.parametrize(
    "document",
    ["{", "[]", {"auths": {"a.io": {"auth": "!!"}}}, {"auths": {"a.io": {"auth": base64.b64encode(b"me").decode()}}}],
)
def test_a_damaged_login_is_no_login_of_nobody(tmp_path: Path, document: Any) -> None:
    with pytest.raises(InputError) as caught:
        Logins(written(tmp_path, document)).of("a.io")
    assert caught.value.code == "bad-logins"


def test_without_any_file_there_is_no_login() -> None:
    assert Logins({"HOME": "/nonexistent"}).of("a.io") is None
