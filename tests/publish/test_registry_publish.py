"""What is written to a registry besides an image: the tag of one build that is taken away, and an attached baseline."""

import json
from typing import Any

import pytest

from regraft.adapters.registry import Registry
from regraft.adapters.registry_attached import attached_baselines
from regraft.adapters.registry_publish import PublishingRegistry
from regraft.core import image_attached as attached
from regraft.core.image_published import Published
from regraft.core.image_reference import Digest, Repository, parse_reference
from regraft.errors import OutsideError

BASELINE = b'{"image": "gpu"}'
OTHER = b'{"image": "other"}'


class World:
    def __init__(self, stand_in: Any) -> None:
        self.stand_in = stand_in
        self.digest = Digest(stand_in.put_image("o/r", "nightly"))
        self.repository: Repository = parse_reference(f"{stand_in.host}/o/r").repository
        self.registry = PublishingRegistry(lambda _: None, timeout=2)

    def look(self, tag: str = "nightly") -> Published | None:
        return self.registry.look(parse_reference(f"{self.stand_in.host}/o/r:{tag}"))

    def attach(self, data: bytes = BASELINE) -> Digest:
        found = self.look()
        assert found is not None
        return self.registry.attach(self.repository, found.parts[0], data)

    def attached(self) -> tuple[bytes, ...]:
        return attached_baselines(Registry(lambda _: None, timeout=2), self.repository, self.digest)

    def names(self) -> set[str]:
        """The tags."""
        return {name for _, name in self.stand_in.manifests if not name.startswith("sha256:")}


@pytest.fixture
def world(stand_in: Any) -> World:
    return World(stand_in)


@pytest.mark.parametrize("deletes", ["tag", "digest"])
def test_a_tag_is_taken_away_and_the_image_stays(world: World, deletes: str) -> None:
    world.stand_in.deletes = deletes
    world.stand_in.manifests["o/r", "regraft-1"] = world.stand_in.manifests["o/r", "nightly"]
    assert world.registry.delete_tag(world.repository, "regraft-1") is None
    assert world.names() == {"nightly"}
    found = world.look()
    assert found is not None
    assert found.digest == world.digest
    deleted = [path for method, path, _ in world.stand_in.seen if method == "DELETE"]
    assert not any(world.digest in path for path in deleted)


def test_a_registry_that_deletes_nothing_says_why(world: World) -> None:
    world.stand_in.deletes = "nothing"
    why = world.registry.delete_tag(world.repository, "nightly")
    assert why == "the registry answers 405: UNSUPPORTED: deletion is off"


def test_a_tag_that_is_not_there_is_gone(world: World) -> None:
    assert world.registry.delete_tag(world.repository, "regraft-1") is None
    assert not any(method == "PUT" for method, _, _ in world.stand_in.seen)


def test_a_registry_that_refuses_to_delete_is_not_written_to(world: World, answer: Any) -> None:
    world.stand_in.answers["/v2/o/r/manifests/nightly"] = answer(status=403)
    assert world.registry.delete_tag(world.repository, "nightly") == "the registry answers 403"
    assert not any(method == "PUT" for method, _, _ in world.stand_in.seen)


@pytest.mark.parametrize("referrers", [True, False])
def test_what_is_attached_is_found_by_the_images_digest(world: World, referrers: bool) -> None:
    world.stand_in.referrers = referrers
    assert world.attached() == ()
    digest = world.attach()
    assert world.attached() == (BASELINE,)
    manifest = json.loads(world.stand_in.manifests["o/r", digest][1])
    assert manifest["artifactType"] == "application/vnd.regraft.baseline.v1+json"
    assert manifest["subject"]["digest"] == world.digest
    assert manifest["subject"]["size"] == len(world.stand_in.manifests["o/r", world.digest][1])
    listed = {"nightly"} if referrers else {"nightly", world.digest.replace(":", "-")}
    assert world.names() == listed


def test_what_others_attached_stays_in_the_list(world: World) -> None:
    tag = attached.referrers_tag(world.digest)
    signature = {
        "mediaType": attached.MANIFEST,
        "digest": "sha256:" + "5" * 64,
        "size": 3,
        "artifactType": "a/signature",
    }
    index = {"schemaVersion": 2, "mediaType": attached.INDEX, "manifests": [signature]}
    world.stand_in.put_manifest("o/r", tag, index, attached.INDEX)
    world.attach()
    world.attach()
    listed = json.loads(world.stand_in.manifests["o/r", tag][1])["manifests"]
    assert listed[0] == signature
    assert len(listed) == 2
    assert world.attached() == (BASELINE,)


def test_baselines_that_differ_are_all_given(world: World) -> None:
    world.attach()
    world.attach(OTHER)
    assert set(world.attached()) == {BASELINE, OTHER}


def test_a_list_of_several_pages_is_read_to_its_end(world: World, answer: Any) -> None:
    digest = world.attach()
    entry = {"mediaType": attached.MANIFEST, "digest": digest, "size": 3, "artifactType": attached.ARTIFACT}
    pages = [{"schemaVersion": 2, "mediaType": attached.INDEX, "manifests": part} for part in ([], [entry])]
    more = {"Link": '</v2/o/r/second>; rel="next"'}
    world.stand_in.answers["/v2/o/r/referrers/"] = answer(body=json.dumps(pages[0]).encode(), headers=more)
    world.stand_in.answers["/v2/o/r/second"] = answer(body=json.dumps(pages[1]).encode())
    assert world.attached() == (BASELINE,)
    world.stand_in.answers["/v2/o/r/second"] = answer(body=json.dumps(pages[1]).encode(), headers=more)
    with pytest.raises(OutsideError, match="more than 5 pages"):
        world.attached()


def test_a_list_that_leads_to_another_server_gets_no_login(world: World, answer: Any, stand_in: Any) -> None:
    stand_in.token = "secret"
    index = json.dumps({"schemaVersion": 2, "mediaType": attached.INDEX, "manifests": []}).encode()
    elsewhere = stand_in.host.replace("127.0.0.1", "localhost")
    more = {"Link": f'<http://{elsewhere}/v2/o/r/second>; rel="next"'}
    stand_in.answers["/v2/o/r/referrers/"] = answer(body=index, headers=more)
    stand_in.answers["/v2/o/r/second"] = answer(body=index)
    assert world.attached() == ()
    assert [given for _, path, given in stand_in.seen if path == "/v2/o/r/second"] == [None]


@pytest.mark.parametrize("what", ["blob", "manifest", "subject", "kind", "list", "status"])
def test_what_is_not_what_it_says_is_an_error_and_no_baseline(world: World, answer: Any, what: str) -> None:
    digest = world.attach()
    kind, data = world.stand_in.manifests["o/r", digest]
    blob = attached.digest_of(BASELINE)
    if what == "blob":
        world.stand_in.blobs["o/r", blob] = OTHER
    elif what == "manifest":
        world.stand_in.manifests["o/r", digest] = (kind, data + b" ")
    elif what in ("subject", "kind"):
        old = world.digest.encode() if what == "subject" else attached.ARTIFACT.encode()
        new = b"sha256:" + b"9" * 64 if what == "subject" else b"application/other"
        changed = data.replace(old, new)
        entry = {"digest": attached.digest_of(changed), "mediaType": kind, "artifactType": attached.ARTIFACT, "size": 1}
        world.stand_in.manifests["o/r", attached.digest_of(changed)] = (kind, changed)
        index = {"schemaVersion": 2, "mediaType": attached.INDEX, "manifests": [entry]}
        world.stand_in.put_manifest("o/r", attached.referrers_tag(world.digest), index, attached.INDEX)
    elif what == "list":
        world.stand_in.answers["/v2/o/r/referrers/"] = answer(body=b"<html>")
    else:
        world.stand_in.answers["/v2/o/r/referrers/"] = answer(status=500)
    with pytest.raises(OutsideError) as caught:
        world.attached()
    codes = {"blob": "other-digest", "manifest": "other-digest", "status": "registry-failed"}
    assert caught.value.code == codes.get(what, "registry-shape")


def test_a_registry_that_takes_no_upload_is_an_error(world: World, answer: Any) -> None:
    world.stand_in.answers["/v2/o/r/blobs/uploads/"] = answer(status=403)
    with pytest.raises(OutsideError) as caught:
        world.attach()
    assert caught.value.code == "registry-refused"
