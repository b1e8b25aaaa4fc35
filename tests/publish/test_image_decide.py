"""Reuse, rebuild or refuse: what each state of the world answers, and why."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from regraft.core import image_labels as labels
from regraft.core.directives import TagDirective
from regraft.core.image_decided import Decided
from regraft.core.image_decision import Occasion
from regraft.core.image_labels import Pin, Pins
from regraft.core.image_published import Absent, Found, Part, Published, Unread
from regraft.core.image_reference import Digest, Reference
from regraft.core.image_state import read_state
from regraft.core.image_values import ImageInputs, Input, Loose, Moved, Place
from regraft.core.manifest import Dependency, Image, Manifest
from regraft.core.objects import Commit, Sha256
from regraft.core.plan import Source
from regraft.core.precedence import TagChoice
from regraft.core.registry_answers import Config
from regraft.core.resolution import Tip
from regraft.errors import InputError, OutsideError
from regraft.flows.image_decide import Ports, Question, decide_image
from regraft.flows.image_pins import Asking, resolve_pins

NOW = 1_800_000_000.0
HEAD, BASE, OLD = (Commit(char * 40) for char in "abc")
D1 = Digest("sha256:" + "1" * 64)
LAYER = Digest("sha256:" + "7" * 64)


def image(**more: Any) -> Image:
    given: dict[str, Any] = {
        "name": "gpu", "repository": "r.io/o/gpu", "tag": "nightly", "tag_directive": "ci-image-tag", "dockerfile": "Dockerfile",
        "unnamed": ("keep",), "python": "python3", "python_path": (), "requirements": "report", "env": (), "baked": {},
    }  # fmt: skip
    return Image(**{**given, **more})


def inputs(commit: Commit, *files: tuple[str, str], name: str = "gpu", loose: Sequence[Loose] = ()) -> ImageInputs:
    made = tuple(Input("file", path, f"100644 {value}", Place("Dockerfile", 3)) for path, value in files)
    return ImageInputs(name, commit, "Dockerfile", "", None, made, tuple(loose))


def compare(before: ImageInputs, after: ImageInputs) -> Sequence[Moved]:
    old, new = ({one.name: one for one in side.inputs} for side in (before, after))
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [
        Moved("file", name, old[name].value if name in old else None, new[name].value if name in new else None, Place("Dockerfile", 3))
        for name in names
    ]  # fmt: skip


def published(
    tag: str, given: dict[str, str], *, digest: Digest = D1, layers: tuple[Digest, ...] = (LAYER,)
) -> Published:
    return Published(f"r.io/o/gpu:{tag}", digest, "", (Part(digest, Config("linux/amd64", given, layers, None)),))


def labelled(of: ImageInputs, *pins: Pin, age: float = 3600.0) -> dict[str, str]:
    return labels.labels_of(of.image, of.hash, of.commit, pins=pins, source=None, now=NOW - age)


class World:
    """A repository with three commits, and a registry: what is not in `tags` is absent."""

    def __init__(self) -> None:
        self.commits = {
            "HEAD": inputs(HEAD, ("a", "1")),
            HEAD: inputs(HEAD, ("a", "1")),
            BASE: inputs(BASE, ("a", "1")),
        }
        self.tags: dict[str, Found] = {}
        self.parents: tuple[Commit, ...] = (BASE, OLD)
        self.pins = Pins((), (), ())
        self.asked: list[str] = []

    def head(self, *files: tuple[str, str]) -> None:
        self.commits["HEAD"] = self.commits[HEAD] = inputs(HEAD, *files)

    def inputs(self, _: Image, revision: str) -> ImageInputs:
        if revision not in self.commits:
            raise InputError("no-such-revision", f"{revision} is no commit here")
        return self.commits[revision]

    def find(self, reference: Reference) -> Found:
        self.asked.append(reference.name)
        return self.tags.get(reference.name, Absent(reference.text))

    def decide(self, of: Image | None = None, occasion: Occasion = "push", **more: Any) -> Decided:
        ports = Ports(self.inputs, compare, lambda _: self.parents, lambda *_: self.pins, self.find, lambda: NOW)
        number = 7 if occasion == "pull_request" else None
        return decide_image(of or image(), Question(occasion, number, **more), ports)


def codes(decided: Decided) -> list[str]:
    return [reason.code for reason in decided.judged.reasons]


@pytest.fixture
def world() -> World:
    made = World()
    made.tags["nightly"] = published("nightly", labelled(made.commits[HEAD]))
    return made


def directive(tag: str, kind: Any = "body", line: int | None = 3) -> TagDirective:
    return TagDirective("ci-image-tag", None, tag, Source(kind, line, 1 if line else None))


def test_an_image_of_the_same_inputs_is_used_again_by_its_digest(world: World) -> None:
    decided = world.decide()
    assert decided.judged.answer == "reuse"
    assert decided.reference == f"r.io/o/gpu@{D1}"
    assert decided.judged.exit_code == 0


def test_each_of_the_changed_inputs_is_named_with_its_place(world: World) -> None:
    world.commits[OLD] = inputs(OLD, ("a", "0"), ("gone", "1"))
    world.tags["nightly"] = published("nightly", labelled(world.commits[OLD]))
    decided = world.decide()
    assert decided.judged.answer == "rebuild"
    assert codes(decided) == ["inputs-changed", "input-changed", "input-changed"]
    said = " / ".join(reason.message for reason in decided.judged.reasons)
    assert "file a changed (Dockerfile:3)" in said
    assert "file gone is gone" in said


def test_after_a_failed_build_nothing_changed_and_it_is_built_all_the_same(world: World) -> None:
    """The hash is the one of last night, whose build failed: there is no image of it."""
    world.tags.clear()
    decided = world.decide(occasion="schedule")
    assert decided.judged.answer == "rebuild"
    assert codes(decided) == ["absent"]


def test_a_moved_upstream_is_named_with_both_commits(world: World) -> None:
    """A clone layer is keyed by its text: the branch has moved, and nothing in the repository did."""
    old, new = (
        Pin("engine", "https://h/o/engine@main", "1" * 40, "REF"),
        Pin("engine", "https://h/o/engine@main", "2" * 40, "REF"),
    )
    world.tags["nightly"] = published("nightly", labelled(world.commits[HEAD], old))
    world.pins = Pins((new,), (), ())
    decided = world.decide(occasion="schedule")
    assert codes(decided) == ["upstream-moved"]
    assert "2" * 40 in decided.judged.reasons[0].message
    assert "1" * 40 in decided.judged.reasons[0].message
    assert decided.build_arguments == {"REF": "2" * 40}
    assert decided.labels["io.regraft.pin.engine"] == "2" * 40


def test_a_pull_request_does_not_pay_for_an_upstream_that_moved(world: World) -> None:
    world.tags["nightly"] = published("nightly", labelled(world.commits[HEAD], Pin("engine", "e@main", "1" * 40)))
    world.pins = Pins((Pin("engine", "e@main", "2" * 40),), (), ())
    decided = world.decide(occasion="pull_request")
    assert decided.judged.answer == "reuse"
    assert "upstream-moved" in [note.code for note in decided.notes]


@pytest.mark.parametrize(("hours", "answer"), [(23, "reuse"), (24, "reuse"), (25, "rebuild")])
def test_an_image_gets_too_old_after_its_time(world: World, hours: float, answer: str) -> None:
    world.tags["nightly"] = published("nightly", labelled(world.commits[HEAD], age=hours * 3600))
    decided = world.decide(occasion="schedule", max_age=24 * 3600.0)
    assert decided.judged.answer == answer
    assert codes(decided) == (["too-old"] if answer == "rebuild" else ["same-inputs"])


@pytest.mark.parametrize(
    "when", ["", "yesterday", "2026-01-01", "2026-01-01T00:00:00", "2126-01-01T00:00:00Z", "9" * 5000]
)
def test_an_age_that_cannot_be_read_means_build(world: World, when: str) -> None:
    given = labelled(world.commits[HEAD]) | {labels.CREATED: when}
    world.tags["nightly"] = published("nightly", given)
    assert codes(world.decide(occasion="schedule", max_age=24 * 3600.0)) == ["age-unreadable"]


@pytest.mark.parametrize(
    "data",
    [b"", b"garbage", b"{}", b"a\nb\nc\nd\ne\n", b'{"schema": "regraft.image-state/1"}', b"[" * 100_000, b"\xff"],
)
def test_a_state_file_that_is_damaged_means_build(world: World, data: bytes) -> None:
    world.tags["nightly"] = read_state(data, "gpu", "state.json", "linux/amd64")
    decided = world.decide(occasion="schedule")
    assert decided.judged.answer == "rebuild"
    assert codes(decided) == ["state-unreadable"]


@pytest.mark.parametrize(
    "code", ["registry-refused", "registry-busy", "registry-failed", "no-answer", "registry-shape"]
)
def test_a_registry_that_does_not_answer_means_build(world: World, code: str) -> None:
    world.tags["nightly"] = Unread("r.io/o/gpu:nightly", code, "it says no")
    decided = world.decide()
    assert decided.judged.answer == "rebuild"
    assert codes(decided) == ["state-unreadable"]
    assert code in decided.judged.reasons[0].message


def test_the_reasons_stand_apart(world: World) -> None:
    world.commits[OLD] = inputs(OLD, ("a", "0"))
    world.tags["nightly"] = published("nightly", labelled(world.commits[OLD], Pin("e", "e@main", "1" * 40), age=90_000))
    world.pins = Pins((Pin("e", "e@main", "2" * 40),), ("Dockerfile:4: clone of x: no answer",), ())
    decided = world.decide(occasion="schedule", max_age=86_400.0, requested="--rebuild asks for it")
    assert codes(decided) == [
        "requested",
        "inputs-changed",
        "input-changed",
        "upstream-moved",
        "pin-unknown",
        "too-old",
    ]


def test_an_image_without_the_label_is_not_trusted(world: World) -> None:
    world.tags["nightly"] = published("nightly", {})
    assert codes(world.decide()) == ["no-label"]


def test_a_label_that_came_with_a_base_image_is_not_trusted(world: World) -> None:
    given = labelled(world.commits[HEAD]) | {labels.LAYERS: labels.layers_label((LAYER,))}
    seal = Digest("sha256:" + "8" * 64)
    world.tags["nightly"] = published("nightly", given, layers=(LAYER, seal))
    assert world.decide().judged.answer == "reuse"
    world.tags["nightly"] = published("nightly", given, layers=(LAYER, seal, LAYER))
    assert codes(world.decide()) == ["inherited-label"]


def test_each_variant_is_decided_for_itself(world: World) -> None:
    """Of two variants only the one whose base moved is built again."""
    world.commits["HEAD"] = inputs(HEAD, ("a", "1"), name="cpu")
    world.tags["cpu-nightly"] = published("cpu-nightly", labelled(inputs(OLD, ("a", "0"), name="cpu")))
    assert world.decide(image(name="cpu", tag="cpu-nightly")).judged.answer == "rebuild"
    world.commits["HEAD"] = world.commits[HEAD]
    assert world.decide().judged.answer == "reuse"


def test_the_image_of_another_variant_under_this_tag_is_not_used(world: World) -> None:
    given = labelled(world.commits[HEAD]) | {labels.IMAGE: "cpu"}
    world.tags["nightly"] = published("nightly", given)
    assert codes(world.decide()) == ["other-image"]


def two_parts(**other: str) -> Published:
    own = labelled(inputs(HEAD, ("a", "1")))
    parts = (
        Part(D1, Config("linux/amd64", own, (LAYER,), None)),
        Part(D1, Config("linux/arm64", {**own, **other}, (LAYER,), None)),
    )
    return Published("r.io/o/gpu:nightly", D1, "", parts)


def test_a_list_whose_parts_come_from_different_commits_is_not_used(world: World) -> None:
    """Two workflows wrote one tag, each for its own architecture."""
    world.tags["nightly"] = two_parts()
    assert world.decide().judged.answer == "reuse"
    world.tags["nightly"] = two_parts(**{labels.REVISION: OLD})
    assert codes(world.decide()) == ["mixed-list"]
    world.tags["mine"] = world.tags["nightly"]
    refused = world.decide(occasion="pull_request", tag=TagChoice(directive("mine"), ()))
    assert refused.judged.answer == "refuse"
    assert codes(refused) == ["mixed-list"]


def test_a_list_without_this_platform_is_not_used(world: World) -> None:
    world.tags["nightly"] = two_parts()
    assert codes(world.decide(platform="linux/riscv64")) == ["no-such-platform"]


@pytest.mark.parametrize("platform", ["linux/arm64", "unknown"])
def test_a_lone_image_of_another_platform_is_not_used(world: World, platform: str) -> None:
    """It is no list, and would not start here all the same."""
    config = Config(platform, labelled(world.commits[HEAD]), (LAYER,), None)
    world.tags["nightly"] = Published("r.io/o/gpu:nightly", D1, "", (Part(D1, config),))
    assert codes(world.decide()) == ["no-such-platform"]
    world.tags["mine"] = world.tags["nightly"]
    refused = world.decide(tag=TagChoice(directive("mine"), ()))
    assert (refused.judged.answer, codes(refused)) == ("refuse", ["no-such-platform"])


def test_an_image_from_another_commit_says_so_though_its_inputs_are_the_same(world: World) -> None:
    """The image of a release holds another commit than the tag of that release."""
    world.tags["nightly"] = published("nightly", labelled(inputs(OLD, ("a", "1"))))
    notes = {note.code: note.message for note in world.decide().notes}
    assert OLD in notes["other-revision"]
    assert HEAD in notes["other-revision"]


# Pull requests


def test_a_pull_request_that_does_not_touch_the_image_uses_the_default(world: World) -> None:
    decided = world.decide(occasion="pull_request")
    assert decided.judged.answer == "reuse"
    assert decided.winner.kind == "default"
    assert "untouched" in [note.code for note in decided.notes]


def test_a_pull_request_that_touches_the_image_builds_its_own_and_never_the_default(world: World) -> None:
    world.head(("a", "2"))
    decided = world.decide(occasion="pull_request")
    assert decided.judged.answer == "rebuild"
    assert decided.winner.tag == f"pr-7-{world.commits[HEAD].hash[:16]}"
    assert [loser.tag for loser in decided.losers] == ["nightly"]
    assert "file a changed" in " ".join(note.message for note in decided.notes)


def test_a_pull_requests_own_image_is_used_again_until_its_inputs_change(world: World) -> None:
    world.head(("a", "2"))
    tag = f"pr-7-{world.commits[HEAD].hash[:16]}"
    world.tags[tag] = published(tag, labelled(world.commits[HEAD]))
    assert world.decide(occasion="pull_request").judged.answer == "reuse"
    world.head(("a", "3"))
    assert world.decide(occasion="pull_request").judged.answer == "rebuild"


def test_where_the_default_is_behind_a_pull_request_builds_under_its_own_tag(world: World) -> None:
    world.tags["nightly"] = published("nightly", labelled(inputs(OLD, ("a", "0"))))
    decided = world.decide(occasion="pull_request")
    assert decided.judged.answer == "rebuild"
    assert decided.winner.kind == "own"
    assert codes(decided)[0] == "inputs-changed"
    assert [loser.kind for loser in decided.losers] == ["default"]


@pytest.mark.parametrize("parents", [(), (BASE,)])
def test_what_is_no_merge_commit_is_taken_to_change_the_image(world: World, parents: tuple[Commit, ...]) -> None:
    world.parents = parents
    decided = world.decide(occasion="pull_request")
    assert decided.judged.answer == "rebuild"
    assert decided.winner.kind == "own"
    assert "no-merge-commit" in [note.code for note in decided.notes]


def test_a_first_parent_whose_dockerfile_cannot_be_read_is_said(world: World) -> None:
    del world.commits[BASE]
    assert "base-unreadable" in [note.code for note in world.decide(occasion="pull_request").notes]


def test_a_forks_pull_request_builds_and_cannot_publish(world: World) -> None:
    world.head(("a", "2"))
    decided = world.decide(occasion="pull_request", fork=True)
    assert (decided.judged.answer, decided.publish) == ("rebuild", False)
    assert "fork-cannot-publish" in [note.code for note in decided.notes]
    assert world.decide(occasion="pull_request").publish is True


def test_a_tag_directive_beats_the_own_image_and_the_losers_are_named(world: World) -> None:
    world.head(("a", "2"))
    world.tags["mine"] = published("mine", {})
    choice = TagChoice(directive("mine", "input", None), (directive("theirs"),))
    decided = world.decide(occasion="pull_request", tag=choice)
    assert decided.judged.answer == "reuse"
    assert decided.winner.tag == "mine"
    assert [(loser.kind, loser.where) for loser in decided.losers] == [
        ("directive", "body:3:1"), ("own", "pull request 7"), ("default", "images.gpu.tag"),
    ]  # fmt: skip
    assert "other-inputs" in [note.code for note in decided.notes]


@pytest.mark.parametrize(
    ("order", "kind"),
    [(("directive", "own", "default"), "directive"), (("own", "directive", "default"), "own"), (("own",), "own"),
     (("directive",), "directive")],
)  # fmt: skip
def test_the_manifest_says_which_image_comes_first(world: World, order: tuple[Any, ...], kind: str) -> None:
    world.head(("a", "2"))
    world.tags["mine"] = published("mine", {})
    decided = world.decide(image(prefer=order), "pull_request", tag=TagChoice(directive("mine"), ()))
    assert decided.winner.kind == kind


def test_a_tag_that_was_built_and_never_published_stops_before_the_tests(world: World) -> None:
    decided = world.decide(occasion="pull_request", tag=TagChoice(directive("variant-c"), ()))
    assert decided.judged.answer == "refuse"
    assert decided.judged.exit_code == 2
    assert "body:3:1 names r.io/o/gpu:variant-c" in decided.judged.reasons[0].message


def test_a_named_tag_that_cannot_be_looked_up_is_refused_and_nothing_is_built_in_its_place(world: World) -> None:
    world.tags["mine"] = Unread("r.io/o/gpu:mine", "no-answer", "no answer")
    decided = world.decide(occasion="pull_request", tag=TagChoice(directive("mine"), ()))
    assert (decided.judged.answer, decided.judged.exit_code) == ("refuse", 3)


def test_a_request_rebuilds_what_could_be_used(world: World) -> None:
    decided = world.decide(occasion="pull_request", requested="the label 'rebuild-image' asks for it")
    assert decided.judged.answer == "rebuild"
    assert codes(decided)[0] == "requested"
    assert decided.requested is True


def test_a_lane_without_an_image_has_nothing_to_decide(world: World) -> None:
    with pytest.raises(InputError) as caught:
        world.decide(image(repository=None, tag=None, tag_directive=None))
    assert caught.value.code == "no-repository"


# Pins

URL = "https://github.com/o/engine"
MANIFEST = Manifest(
    "p",
    (),
    (),
    {"engine": Dependency("engine", URL, "main", "ci-engine-pr", (), "TOKEN", None)},
    {},
    {},
    Sha256("0" * 64),
)


def pins(
    *loose: Loose, tips: Callable[[Any], Sequence[Tip]] | None = None, find: Any = None, head: Commit | None = None
) -> Pins:
    listed = tips or (lambda _: (Tip("refs/heads/main", Commit("1" * 40), Commit("1" * 40)),))
    asking = Asking(listed, lambda _: head, find or (lambda one: Absent(one.text)))
    baked: dict[str, Any] = {"engine": None}
    return resolve_pins(inputs(HEAD, loose=loose), image(baked=baked), MANIFEST, asking)


def clone(ref: str | None = "main", url: str = URL + ".git", argument: str | None = "REF") -> Loose:
    return Loose("clone", "git clone", "a hash", Place("Dockerfile", 4), url, ref, argument)


def test_a_branch_that_is_cloned_is_resolved_and_handed_over() -> None:
    found = pins(clone())
    assert found.pins == (Pin("engine", f"{URL}@main", "1" * 40, "REF"),)
    assert found.arguments == {"REF": "1" * 40}


def test_a_pin_that_the_build_cannot_be_handed_is_recorded_and_said() -> None:
    cloned = msgspec.structs.replace(clone(), unfit="REF is used elsewhere")
    based = Loose(
        "base", "FROM b:1", "a digest", Place("Dockerfile", 1), ref="b:1", argument="B", unfit="B is a part of it"
    )
    found = pins(cloned, based, find=lambda _: published("1", {}))
    assert found.arguments == {}
    assert [pin.value for pin in found.pins] == ["1" * 40, D1]
    assert found.uncovered == (
        f"Dockerfile:4: git clone: the build is not handed {'1' * 40}: REF is used elsewhere",
        f"Dockerfile:1: FROM b:1: the build is not handed {D1}: B is a part of it",
    )


def test_the_token_goes_to_the_dependencys_own_server_only() -> None:
    asked = []

    def tips(remote: Any) -> Sequence[Tip]:
        asked.append((remote.url, remote.token_env))
        return ()

    pins(clone(), clone(url="https://evil.org/o/engine"), tips=tips)
    assert asked == [(URL, "TOKEN"), ("https://evil.org/o/engine", None)]


def test_a_branch_that_is_not_there_is_not_resolved_and_said() -> None:
    found = pins(clone("gone"), clone(None))
    assert found.pins == ()
    assert len(found.unresolved) == 2


def test_the_default_branch_is_resolved_where_none_is_named() -> None:
    found = pins(clone(None), head=Commit("5" * 40))
    assert found.pins == (Pin("engine", f"{URL}@HEAD", "5" * 40, None),)
    assert found.unresolved == ()
    (said,) = pins(clone(None)).unresolved
    assert said.endswith(f"{URL} has no default branch")


def test_an_address_that_has_no_value_here_is_asked_of_nobody() -> None:
    def tips(_: Any) -> Sequence[Tip]:
        raise AssertionError("asked")

    (said,) = pins(clone(url="https://e.org/o/$1"), tips=tips).unresolved
    assert said.endswith("its address has no value here")


def test_a_ref_that_has_no_value_here_is_not_the_default_branch() -> None:
    unknown = Loose("clone", "clone at $REF", "a commit", Place("Dockerfile", 4), argument="REF")
    found = pins(unknown, head=Commit("5" * 40))
    assert (found.pins, len(found.uncovered)) == ((), 1)


def test_an_upstream_that_does_not_answer_is_said() -> None:
    def tips(_: Any) -> Sequence[Tip]:
        raise OutsideError("no-answer", "it is silent")

    assert "it is silent" in pins(clone(), tips=tips).unresolved[0]


def test_a_floating_base_is_resolved_to_its_digest() -> None:
    """What is called pinned has only a tag."""
    loose = Loose(
        "base", "FROM nvidia/cuda:12", "a digest", Place("Dockerfile", 1), ref="nvidia/cuda:12", argument="BASE"
    )
    found = pins(loose, find=lambda _: published("12", {}))
    assert found.pins == (Pin("base-nvidia-cuda-12", "nvidia/cuda:12", f"nvidia/cuda@{D1}", "BASE"),)


def test_a_download_without_a_checksum_is_listed_as_not_covered() -> None:
    """What is behind an unchanged address changes, and no hash sees it."""
    found = pins(Loose("download", "curl https://x/y", "--checksum", Place("Dockerfile", 9)))
    assert found.uncovered == ("Dockerfile:9: curl https://x/y is not covered: --checksum",)


def test_values_survive_being_written_down() -> None:
    assert msgspec.json.decode(msgspec.json.encode(pins(clone())), type=Pins) == pins(clone())
