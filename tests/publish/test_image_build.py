# ruff: noqa: ARG002 - fakes stand at the ports
"""The order of a build: build, probe, imports, push by digest, and the rolling tag last. A red step moves nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from regraft.adapters.registry import Registry
from regraft.adapters.registry_attached import attached_baselines
from regraft.adapters.registry_publish import PublishingRegistry
from regraft.core import engine_commands as commands
from regraft.core import image_labels as labels
from regraft.core.baseline import SCHEMA, Baseline, BaselineDependency
from regraft.core.baseline_document import decode_baseline, encode_baseline
from regraft.core.dockerfile_text import read_dockerfile
from regraft.core.engine_commands import Job, Volume
from regraft.core.image_build import Built
from regraft.core.image_labels import Pin, Pins
from regraft.core.image_reference import Digest, parse_reference
from regraft.core.image_values import ImageInputs, Input, Moved, Place
from regraft.core.manifest import Baked, Image
from regraft.core.objects import Commit, Tree
from regraft.errors import InputError, RefusedError
from regraft.flows.image_build import PROJECT, Options, Ports, build_image, rolling_tags

HEAD, GREEN = Commit("a" * 40), Commit("b" * 40)
ENGINE = Commit("1" * 40)
LAYERS = (Digest("sha256:" + "7" * 64),)
SEAL = Digest("sha256:" + "8" * 64)
NOW = 1_800_000_000.0


class Ran:
    def __init__(self, returncode: int = 0, stdout: bytes = b"", stderr: bytes = b"") -> None:
        self.returncode, self.stdout, self.stderr = returncode, stdout, stderr


class FakeEngine:
    """What it did, in order; `fails` names a step that goes wrong."""

    def __init__(self, stand_in: Any) -> None:
        self.stand_in = stand_in
        self.did: list[str] = []
        self.jobs: list[Job] = []
        self.fails = ""
        self.commit = ENGINE
        self.labels: dict[str, str] = {}
        self.baseline = b""
        self.volumes: Sequence[Volume] = ()
        self.tampers: dict[str, str] = {}
        self.before_push: Callable[[], object] = lambda: None

    def build(self, job: Job) -> None:
        self.did.append("build")
        self.jobs.append(job)
        if self.fails == "build":
            raise RefusedError("build-failed", "`docker buildx` ended with 1: step 17 of 20: patch does not apply")

    def seal(self, image: str, tag: str, *, baseline: bytes | None, place: str, labels: Mapping[str, str]) -> None:
        self.did.append("seal")
        self.baseline, self.labels = baseline or b"", dict(labels)

    def run(self, image: str, argv: Sequence[str], *, volumes: Sequence[Volume], env: Mapping[str, str]) -> Ran:
        self.volumes = volumes
        if argv[1:3] == ["image", "probe"]:
            self.did.append("probe")
            if self.fails == "probe":
                return Ran(3, b'{"error": {"message": "there is no checkout at /opt/engine"}}')
            held = BaselineDependency(self.commit, Tree("2" * 40), (), {})
            return Ran(0, encode_baseline(Baseline(SCHEMA, "gpu", None, "3.11.2", {"engine": held}, ())))
        self.did.append(f"import {argv[-1]} {dict(env)}")
        return Ran(1, stderr=b"Traceback\nImportError: libcuda.so.1") if self.fails == "imports" else Ran()

    def layers(self, image: str) -> tuple[Digest, ...]:
        return LAYERS if ":raw-" in image else (*LAYERS, SEAL)

    def push(self, image: str, reference: str, *, local: bool) -> None:
        self.did.append("push")
        if self.fails == "push":
            raise RefusedError("push-failed", "denied")
        self.before_push()
        name = parse_reference(reference)
        self.stand_in.put_image("o/gpu", name.tag, {**self.labels, **self.tampers}, layers=self.layers(image))

    def remove(self, image: str) -> None:
        self.did.append("remove")


def inputs(commit: Commit, value: str = "1") -> ImageInputs:
    made = (
        Input("file", "docker/build.sh", f"100755 {value}", Place("Dockerfile", 3)),
        Input("build-argument", "A", "x", None),
    )
    return ImageInputs("gpu", commit, "docker/Dockerfile", "docker", "final", made, ())


class World:
    def __init__(self, stand_in: Any) -> None:
        self.stand_in = stand_in
        self.engine = FakeEngine(stand_in)
        self.commits = {"HEAD": inputs(HEAD), GREEN: inputs(GREEN, "0")}
        self.pins = Pins((Pin("engine", "https://h/o/engine@main", ENGINE, "ENGINE_REF"),), (), ())
        baked = Baked("engine", "/opt/engine", (), (), ("engine.core",), ("engine.cuda",), (), (), "stop", ())
        self.image = Image(
            "gpu", f"{stand_in.host}/o/gpu", "nightly", None, "docker/Dockerfile", ("keep",), "/opt/venv/bin/python",
            ("/opt/engine", "src"), "report", (("A", "1"),), {"engine": baked},
        )  # fmt: skip

    def inputs(self, _: Image, revision: str) -> ImageInputs:
        return self.commits[revision]

    def compare(self, before: ImageInputs, after: ImageInputs) -> Sequence[Moved]:
        pairs = zip(before.inputs, after.inputs, strict=True)
        return [Moved(b.kind, b.name, b.value, a.value, a.place) for b, a in pairs if a.value != b.value]

    def build(self, *, push: bool = True, tags: tuple[str, ...] = ("nightly",), **more: Any) -> Built:
        registry = PublishingRegistry(lambda _: None, timeout=5)
        ports = Ports(
            self.inputs, self.compare, lambda *_: self.pins, lambda _: nullcontext("/context"), self.engine, registry,
            lambda: NOW, "run1",
        )  # fmt: skip
        return build_image(self.image, Options(tags, push, "linux/amd64", **more), ports)

    def tag(self, name: str = "nightly") -> Any:
        return Registry(lambda _: None).look(parse_reference(f"{self.stand_in.host}/o/gpu:{name}"))

    def green(self, **pins: str) -> str:
        """What the rolling tag names before: the last image that went through all of it."""
        made = [Pin(name, name, value) for name, value in pins.items()]
        of = self.commits[GREEN]
        digest: str = self.stand_in.put_image(
            "o/gpu", "nightly", labels.labels_of("gpu", of.hash, GREEN, pins=made, source=None, now=NOW)
        )
        return digest


@pytest.fixture
def world(stand_in: Any) -> World:
    return World(stand_in)


def failed(built: Built) -> list[str]:
    return [step.name for step in built.steps if not step.ok]


def test_the_rolling_tag_is_the_last_thing_that_moves(world: World) -> None:
    before = world.green()
    seen_at_push = []
    world.engine.before_push = lambda: seen_at_push.append(world.tag().digest)
    built = world.build()
    assert built.ok, built.steps
    assert [step.name for step in built.steps] == [
        "build",
        "probe",
        "imports",
        "seal",
        "push",
        "check",
        "attach",
        "tag",
    ]
    assert seen_at_push == [before]
    assert world.tag().digest == built.digest
    assert built.tags == ("nightly",)


def test_every_pin_is_a_build_argument_and_a_label(world: World) -> None:
    built = world.build()
    assert world.engine.jobs[0].arguments == (("A", "x"), ("ENGINE_REF", ENGINE))
    (part,) = world.tag().parts
    assert part.config.labels["io.regraft.pin.engine"] == ENGINE
    assert part.config.labels["io.regraft.inputs"] == world.commits["HEAD"].hash
    assert part.config.labels["org.opencontainers.image.revision"] == HEAD
    assert built.labels == part.config.labels


def test_what_the_image_holds_is_in_it_and_in_its_label(world: World) -> None:
    world.build()
    (part,) = world.tag().parts
    inside = decode_baseline(world.engine.baseline, "gpu")
    assert labels.unpack_baseline(part.config.labels[labels.BASELINE], "gpu", "x") == inside
    assert inside.dependencies["engine"].commit == ENGINE
    assert not labels.inherited(part.config)


def test_the_build_runs_on_the_commits_files_and_the_probe_sees_them(world: World) -> None:
    lent = Volume("/opt/regraft", "/opt/regraft")
    world.build(volumes=(lent,))
    job = world.engine.jobs[0]
    assert (job.dockerfile, job.context, job.target) == ("/context/docker/Dockerfile", "/context/docker", "final")
    assert world.engine.volumes == (Volume("/context", PROJECT), lent)


def test_declared_imports_are_tried_as_the_suites_will_have_them(world: World) -> None:
    world.build()
    env = {"A": "1", "PYTHONPATH": f"/opt/engine:{PROJECT}/src"}
    assert f"import engine.core {env}" in world.engine.did
    assert f"import engine.cuda {env}" in world.engine.did


@pytest.mark.parametrize("step", ["build", "probe", "imports", "push"])
def test_a_red_step_leaves_every_tag_and_says_what_changed_since_the_last_green_image(world: World, step: str) -> None:
    """The nightly that fails explains itself on its first red night."""
    before = world.green(engine="9" * 40)
    world.engine.fails = step
    tags = {key for key in world.stand_in.manifests if not key[1].startswith("sha256:")}
    built = world.build()
    assert failed(built) == [step]
    assert built.tags == ()
    assert world.tag().digest == before
    assert {key for key in world.stand_in.manifests if not key[1].startswith("sha256:")} == tags
    assert built.changed == (
        f"https://h/o/engine@main was {'9' * 40}, and is {ENGINE}",
        "file docker/build.sh changed (Dockerfile:3)",
    )


def test_a_red_night_on_which_nothing_changed_says_that_too(world: World) -> None:
    world.commits[GREEN] = inputs(GREEN)
    world.green(engine=ENGINE)
    world.engine.fails = "build"
    assert world.build().changed == ("no input that is hashed changed since the last green image",)


def test_a_red_first_night_has_nothing_to_compare_with(world: World) -> None:
    world.engine.fails = "build"
    assert "cannot be read" in world.build().changed[0]


def test_an_old_layer_from_a_cache_is_found_out_before_anything_is_pushed(world: World) -> None:
    """The layer of a clone was served from a cache: another commit is inside than the one that was resolved."""
    world.engine.commit = Commit("9" * 40)
    built = world.build()
    assert failed(built) == ["probe"]
    assert "9" * 40 in built.steps[-1].detail
    assert ENGINE in built.steps[-1].detail
    assert "push" not in world.engine.did


def test_what_was_pushed_is_what_was_built(world: World) -> None:
    """Somebody else wrote the same tag in between."""
    before = world.green()
    world.engine.tampers = {labels.REVISION: GREEN}
    built = world.build()
    assert failed(built) == ["check"]
    assert world.tag().digest == before


def candidates(world: World) -> list[str]:
    """The tags that builds made for themselves and left."""
    return [name for _, name in world.stand_in.manifests if name.startswith("regraft-")]


@pytest.mark.parametrize("deletes", ["tag", "digest"])
def test_the_tag_of_one_build_is_gone_when_the_rolling_tag_has_moved(world: World, deletes: str) -> None:
    world.stand_in.deletes = deletes
    built = world.build()
    assert built.ok, built.steps
    assert candidates(world) == []
    assert world.tag().digest == built.digest
    assert not any("regraft-" in note for note in built.notes)


def test_it_is_gone_after_a_red_step_too(world: World, answer: Any) -> None:
    world.engine.tampers = {labels.REVISION: GREEN}
    assert failed(world.build()) == ["check"]
    assert candidates(world) == []
    world.engine.tampers = {}
    world.stand_in.answers["/v2/o/gpu/manifests/nightly"] = answer(status=403)
    assert failed(world.build()) == ["tag"]
    assert candidates(world) == []


def test_where_it_cannot_be_taken_away_that_is_said_and_no_error(world: World) -> None:
    world.stand_in.deletes = "nothing"
    built = world.build()
    (left,) = candidates(world)
    assert built.ok
    assert f"the tag {left} is still there: the registry answers 405: UNSUPPORTED: deletion is off" in built.notes


def test_without_a_rolling_tag_it_is_what_keeps_the_image(world: World) -> None:
    built = world.build(tags=())
    (left,) = candidates(world)
    assert built.ok
    assert f"the tag {left} stays: no other names the image" in built.notes


def test_a_registry_that_takes_the_image_along_gets_it_back(world: World) -> None:
    world.stand_in.deletes = "image"
    built = world.build(tags=("weekly", "nightly"))
    assert built.ok
    assert world.tag().digest == world.tag("weekly").digest == built.digest
    assert any("the registry took nightly away too" in note for note in built.notes)


@pytest.mark.parametrize("referrers", [True, False])
def test_the_baseline_is_attached_before_a_tag_leads_to_the_image(world: World, referrers: bool) -> None:
    world.stand_in.referrers = referrers
    built = world.build()
    assert built.digest is not None
    repository = parse_reference(f"{world.stand_in.host}/o/gpu").repository
    (data,) = attached_baselines(Registry(lambda _: None), repository, built.digest)
    assert data == world.engine.baseline
    writes = [path.partition("/manifests/")[2] for method, path, _ in world.stand_in.seen if method == "PUT"]
    assert writes.index("nightly") == len(writes) - 1


def test_a_registry_that_takes_no_attached_manifest_turns_nothing_red(world: World, answer: Any) -> None:
    world.stand_in.answers["/v2/o/gpu/blobs/uploads/"] = answer(status=403)
    built = world.build()
    assert built.ok
    assert any(note.startswith("the baseline is not attached to the image: ") for note in built.notes)


def test_a_registry_that_refuses_the_tag_moves_none_and_says_which_were_moved(world: World, answer: Any) -> None:
    before = world.green()
    world.stand_in.answers["/v2/o/gpu/manifests/nightly"] = answer(status=403)
    built = world.build(tags=("weekly", "nightly"))
    world.stand_in.answers.clear()
    assert failed(built) == ["tag"]
    assert built.tags == ("weekly",)
    assert world.tag().digest == before


def test_without_push_nothing_leaves_the_machine(world: World) -> None:
    built = world.build(push=False)
    assert built.ok
    assert built.local is not None
    assert world.stand_in.manifests == {}
    assert world.stand_in.seen == []


def test_the_same_content_under_new_labels_is_recognised(world: World) -> None:
    assert not any("same content" in note for note in world.build().notes)
    assert any("same content" in note for note in world.build().notes)


def test_a_pin_that_nothing_shows_is_not_in_the_labels(world: World) -> None:
    """A branch that is cloned by its name alone: what came is not what was resolved, perhaps."""
    world.pins = Pins((Pin("other", "https://h/o/other@main", "5" * 40),), (), ())
    built = world.build()
    assert "io.regraft.pin.other" not in built.labels
    assert any("nothing shows" in note for note in built.notes)


def test_an_image_without_a_repository_is_not_pushed(world: World) -> None:
    world.image = Image("gpu", None, None, None, "Dockerfile", ("keep",), "python3", (), "report", (), {})
    with pytest.raises(InputError) as caught:
        world.build()
    assert caught.value.code == "no-repository"


@pytest.mark.parametrize("tag", ["", "-x", "a b", "a:b", "a/b", "a\n", "x" * 129, "a\u0430"])
def test_a_tag_is_checked_as_a_tag(world: World, tag: str) -> None:
    with pytest.raises(InputError) as caught:
        rolling_tags(world.image, [tag])
    assert caught.value.code == "bad-tag"


# Command lines

JOB = Job("/c/Dockerfile", "/c", "localhost/x:1", "final", "linux/amd64", (("A", "1"), ("B", "$(touch x)")))


@pytest.mark.parametrize("program", commands.PROGRAMS)
def test_each_engine_is_given_the_same_build(program: Any) -> None:
    argv = commands.build_argv(program, JOB)
    head = {"docker": ["docker", "buildx", "build", "--load"]}.get(program, [program, "build"])
    assert argv == [
        *head, "--file", "/c/Dockerfile", "--tag", "localhost/x:1", "--target", "final", "--platform", "linux/amd64",
        "--build-arg", "A=1", "--build-arg", "B=$(touch x)", "/c",
    ]  # fmt: skip


def test_plain_http_is_for_a_registry_on_this_machine_only() -> None:
    for program in ("podman", "buildah"):
        assert "--tls-verify=false" in commands.push_argvs(program, "i", "localhost:1/r:t", local=True)[0]  # type: ignore[arg-type]
        assert "--tls-verify=false" not in commands.push_argvs(program, "i", "a.io/r:t", local=False)[0]  # type: ignore[arg-type]


def test_a_long_label_is_continued_on_further_lines_and_stays_one_value() -> None:
    value = "\\" * 16_500 + 'a"b\\c$d' * 9000
    text = commands.sealing("localhost/x:1", "baseline.json", "/usr/share/regraft/baselines/x.json", {"k": value})
    parsed = read_dockerfile(text.encode())
    assert [one.keyword for one in parsed.instructions] == ["FROM", "COPY", "LABEL"]
    joined = text.partition("LABEL ")[2].replace("\\\n", "").strip()
    assert re.sub(r"\\(.)", r"\1", joined) == f'k="{value}"'
    assert max(map(len, text.splitlines())) < 64_000


def test_a_label_cannot_bring_an_instruction_with_it() -> None:
    with pytest.raises(InputError) as caught:
        commands.sealing("localhost/x:1", None, "/x", {"k": 'a"\nRUN evil'})
    assert caught.value.code == "bad-label"
