"""`regraft plan` takes an image's baseline from its label, without pulling, and its digest into the plan."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.project_files import ProjectFolder
from regraft.adapters.registry_publish import PublishingRegistry
from regraft.core import image_labels as labels
from regraft.core.baseline import SCHEMA, Baseline, BaselineDependency
from regraft.core.baseline_document import encode_baseline
from regraft.core.image_reference import Digest, parse_reference
from regraft.core.objects import Commit, Tree
from regraft.core.plan import Plan
from regraft.core.plan_document import decode_plan
from regraft.errors import InputError
from regraft.flows.baselines import INSIDE, baseline_of

MANIFEST = """\
[project]
name = "proj"

[dependencies.dep]
url = "{upstream}"
branch = "main"

[images.gpu]
repository = "{host}/o/r"
tag = "nightly"
tag-directive = "ci-image-tag"

[images.gpu.baked.dep]
path = "/opt/dep"
"""
LAYER, SEAL = (Digest("sha256:" + char * 64) for char in "78")
HELD = Baseline(
    SCHEMA, "gpu", None, "3.11.2",
    {"dep": BaselineDependency(Commit("1" * 40), Tree("2" * 40), (), {})}, (),
)  # fmt: skip


class Project:
    def __init__(self, folder: Path, host: str, upstream: Path) -> None:
        self.folder, self.host = folder, host
        folder.mkdir()
        (folder / "regraft.toml").write_text(MANIFEST.format(upstream=upstream, host=host))

    def plan(self, *words: str, body: str = "") -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder.parent)}
        argv = [sys.executable, "-m", "regraft", "plan", "--output", "plan.json", "--body", "-", *words]
        return subprocess.run(argv, cwd=self.folder, env=env, input=body, capture_output=True, text=True, check=False)

    def planned(self, *words: str, body: str = "") -> Plan:
        done = self.plan(*words, body=body)
        assert done.returncode == 0, done.stderr
        return decode_plan((self.folder / "plan.json").read_bytes(), "plan.json")


@pytest.fixture
def project(tmp_path: Path, stand_in: Any, make_repository: Any) -> Project:
    repository = make_repository("o/dep")
    repository.commit("main")
    return Project(tmp_path / "project", stand_in.host, repository.path)


def labelled(baseline: Baseline = HELD) -> dict[str, str]:
    packed = labels.pack_baseline(baseline)
    assert packed is not None
    return {labels.BASELINE: packed, labels.LAYERS: labels.layers_label((LAYER,))}


def codes(plan: Plan) -> list[str]:
    return [note.code for note in plan.notes]


def test_the_baseline_is_the_labels_and_the_tag_is_a_digest_in_the_plan(project: Project, stand_in: Any) -> None:
    digest = stand_in.put_image("o/r", "nightly", labelled(), layers=(LAYER, SEAL))
    plan = project.planned()
    assert plan.image.digest == digest
    assert plan.baseline is not None
    assert plan.baseline.source == "label"
    assert plan.dependencies["dep"].commit == "1" * 40
    assert "baseline-unknown" not in codes(plan)
    assert not any(path.endswith("/blobs/" + LAYER) for _, path, _ in stand_in.seen)


def test_the_label_comes_before_the_committed_file(project: Project, stand_in: Any) -> None:
    committed = project.folder / "baselines/gpu.json"
    committed.parent.mkdir()
    other = BaselineDependency(Commit("3" * 40), Tree("2" * 40), (), {})
    committed.write_bytes(
        encode_baseline(Baseline(SCHEMA, "gpu", f"{stand_in.host}/o/r:nightly", "3.11.2", {"dep": other}, ()))
    )
    stand_in.put_image("o/r", "nightly", {})
    assert project.planned().dependencies["dep"].commit == "3" * 40
    stand_in.put_image("o/r", "nightly", labelled(), layers=(LAYER, SEAL))
    assert project.planned().dependencies["dep"].commit == "1" * 40
    assert project.planned("--no-registry").dependencies["dep"].commit == "3" * 40


def attach(stand_in: Any, baseline: Baseline, tag: str = "nightly") -> None:
    registry = PublishingRegistry(lambda _: None)
    found = registry.look(parse_reference(f"{stand_in.host}/o/r:{tag}"))
    assert found is not None
    registry.attach(parse_reference(f"{stand_in.host}/o/r").repository, found.parts[0], encode_baseline(baseline))


@pytest.mark.parametrize("referrers", [True, False])
def test_without_a_label_the_baseline_is_what_is_attached(project: Project, stand_in: Any, referrers: bool) -> None:
    stand_in.referrers = referrers
    stand_in.put_image("o/r", "nightly", {})
    assert project.planned().baseline is None
    attach(stand_in, HELD)
    plan = project.planned()
    assert plan.baseline is not None
    assert plan.baseline.source == "attached"
    assert plan.dependencies["dep"].commit == "1" * 40
    assert "baseline-unknown" not in codes(plan)


def test_with_a_label_nobody_asks_what_is_attached(project: Project, stand_in: Any) -> None:
    stand_in.put_image("o/r", "nightly", labelled(), layers=(LAYER, SEAL))
    project.planned()
    assert not any("referrers" in path or "/manifests/sha256-" in path for _, path, _ in stand_in.seen)


def test_what_is_attached_counts_where_the_label_is_the_base_images(project: Project, stand_in: Any) -> None:
    stand_in.put_image("o/r", "nightly", labelled(), layers=(LAYER, SEAL, SEAL))
    attach(stand_in, HELD)
    plan = project.planned()
    assert plan.baseline is not None
    assert plan.baseline.source == "attached"
    assert "inherited-label" not in codes(plan)


def test_attached_baselines_that_differ_or_cannot_be_read_are_none_and_said(
    project: Project, stand_in: Any, answer: Any
) -> None:
    stand_in.put_image("o/r", "nightly", {})
    attach(stand_in, HELD)
    stand_in.answers["/v2/o/r/referrers/"] = answer(status=500)
    plan = project.planned()
    assert plan.baseline is None
    assert "attached-unread" in codes(plan)
    assert plan.image.digest is not None
    stand_in.answers.clear()
    attach(stand_in, Baseline(SCHEMA, "gpu", None, "3.12.0", HELD.dependencies, ()))
    plan = project.planned()
    assert plan.baseline is None
    assert {"attached-differ", "baseline-unknown"} <= set(codes(plan))


def test_a_baseline_of_another_image_is_not_taken(project: Project, stand_in: Any) -> None:
    stand_in.put_image("o/r", "nightly", {})
    attach(stand_in, Baseline(SCHEMA, "cpu", None, "3.11.2", HELD.dependencies, ()))
    plan = project.planned()
    assert plan.baseline is None
    assert "bad-attached" in codes(plan)


def test_a_tag_that_moved_makes_another_plan(project: Project, stand_in: Any) -> None:
    """One runner has the old bytes of a tag, the next one pulls the new ones."""
    stand_in.put_image("o/r", "nightly", {"build": "1"})
    first = project.planned()
    assert project.planned().digest == first.digest
    stand_in.put_image("o/r", "nightly", {"build": "2"})
    assert project.planned().digest != first.digest


@pytest.mark.parametrize(("status", "code"), [(401, "log in"), (429, "429"), (500, "500")])
def test_a_registry_that_does_not_answer_is_a_note_and_no_stop(
    project: Project, stand_in: Any, answer: Any, status: int, code: str
) -> None:
    stand_in.answers["/v2/"] = answer(status=status)
    plan = project.planned()
    assert plan.image.digest is None
    assert plan.baseline is None
    assert {"registry-unread", "baseline-unknown"} <= set(codes(plan))
    assert code in " ".join(note.message for note in plan.notes)


def test_a_tag_directive_for_an_image_that_nobody_published_stops_at_the_gate(project: Project, stand_in: Any) -> None:
    stand_in.put_image("o/r", "nightly")
    done = project.plan(body="ci-image-tag: variant-c\n")
    assert done.returncode == 2
    assert "body:1:1: the registry has no image" in done.stderr
    assert "no-such-tag" in done.stderr


def test_a_list_from_two_commits_stops_at_the_gate(project: Project, stand_in: Any) -> None:
    stand_in.put_list("o/r", "nightly", {"linux/amd64": {labels.REVISION: "a"}, "linux/arm64": {labels.REVISION: "b"}})
    done = project.plan()
    assert done.returncode == 2
    assert "mixed-list" in done.stderr


def test_a_label_that_came_with_the_base_image_is_not_this_images_baseline(project: Project, stand_in: Any) -> None:
    stand_in.put_image("o/r", "nightly", labelled(), layers=(LAYER, SEAL, LAYER))
    plan = project.planned()
    assert plan.baseline is None
    assert "inherited-label" in codes(plan)


@pytest.mark.parametrize("value", ["", "1:", "2:AAAA", "1:AAAA", "1:!!", "1:eJwDAAAAAAE="])
def test_a_damaged_label_is_a_note(project: Project, stand_in: Any, value: str) -> None:
    stand_in.put_image("o/r", "nightly", {labels.BASELINE: value})
    assert "bad-baseline-label" in codes(project.planned())


def test_a_label_that_unpacks_without_end_is_not_unpacked(project: Project, stand_in: Any) -> None:
    import base64
    import zlib

    bomb = "1:" + base64.b64encode(zlib.compress(b" " * (64 * 1024 * 1024), 9)).decode()
    stand_in.put_image("o/r", "nightly", {labels.BASELINE: bomb})
    assert "bad-baseline-label" in codes(project.planned())


def test_where_no_image_has_a_repository_nothing_that_speaks_http_is_imported(project: Project) -> None:
    path = project.folder / "regraft.toml"
    lines = [line for line in path.read_text().splitlines() if not line.startswith(("repository", "tag"))]
    path.write_text("\n".join(lines) + "\n")
    code = (
        "import sys; from regraft.cli.main import main; code = main(['plan', '--set', 'ci_dep_pr=']); "
        "print([name for name in sys.modules if name.startswith(('httpx', 'regraft.adapters.registry', 'regraft.core.registry', 'ssl'))])"
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(project.folder.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_what_the_machine_has_must_be_the_baseline_that_was_planned_with(
    project: Project, stand_in: Any, tmp_path: Path
) -> None:
    stand_in.put_image("o/r", "nightly", labelled(), layers=(LAYER, SEAL))
    project.planned()
    root = tmp_path / "image"
    root.mkdir()
    argv = [sys.executable, "-m", "regraft", "verify", "plan.json", "--root", str(root), "--format", "json"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def verified() -> Any:
        done = subprocess.run(argv, cwd=project.folder, env=env, capture_output=True, text=True, check=False)
        return (json.loads(done.stdout).get("error") or {}).get("code")

    assert verified() == "other-baseline"
    inside = root / "usr/share/regraft/baselines/gpu.json"
    inside.parent.mkdir(parents=True)
    inside.write_bytes(encode_baseline(HELD))
    assert verified() != "other-baseline"
    inside.write_bytes(encode_baseline(Baseline(SCHEMA, "gpu", None, "3.12.0", {}, ())))
    assert verified() == "other-baseline"


@pytest.mark.parametrize("attached", [True, False])
def test_the_image_that_runs_is_the_planned_one_by_the_file_in_it(
    project: Project, stand_in: Any, attached: bool
) -> None:
    stand_in.put_image("o/r", "nightly", {} if attached else labelled(), layers=(LAYER, SEAL))
    if attached:
        attach(stand_in, HELD)
    plan = project.planned()
    files = ProjectFolder(project.folder)
    path = f"{INSIDE}/gpu.json"
    assert baseline_of(plan, files, {path: encode_baseline(HELD)}.get) == HELD
    other = Baseline(SCHEMA, "gpu", None, "3.12.0", HELD.dependencies, ())
    for held in ({}, {path: encode_baseline(other)}):
        with pytest.raises(InputError) as caught:
            baseline_of(plan, files, held.get)
        assert caught.value.code == "other-baseline"
