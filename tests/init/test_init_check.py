"""`init --check`: what a manifest and its repository say differently; and nothing on what `init` itself wrote."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.listed_project import ListedProject
from regraft.flows.check import check
from regraft.flows.init import ProposedFiles, compare, propose

ROOT = Path(__file__).resolve().parents[2]

DOCKERFILE = """
    FROM a
    COPY p /p
    RUN git clone -b work https://x.org/o/eng /eng && cd /eng && git apply /p/1.patch && git apply /p/2.patch
    RUN /v/bin/pip install -e /eng
"""
MANIFEST = """
    [project]
    name = "mine"
    [dependencies.engine]
    url = "https://x.org/o/eng"
    branch = "work"
    directive = "ci-eng-pr"
    [images.main]
    dockerfile = "Dockerfile"
    python = "/v/bin/python"
    repository = "r.org/eng"
    tag = "one"
    [images.main.baked.engine]
    path = "/eng"
    patches = ["p/1.patch", "p/2.patch"]
"""
GATE = "jobs:\n  t:\n    container: r.org/eng:one\n    steps:\n      - run: grep ci-eng-pr\n"


@pytest.fixture
def project(repository: Callable[..., Any], patch: Callable[..., str]) -> Any:
    files = {"p/1.patch": patch("f.py"), "p/2.patch": patch("f.py"), ".github/workflows/t.yml": GATE}
    return repository({"Dockerfile": DOCKERFILE, **files})


def test_a_manifest_that_says_the_same_in_other_words_is_silent(project: Any) -> None:
    assert project.differences(MANIFEST) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('path = "/eng"', 'path = "/opt/eng"', ("path-differs", "regraft.toml:13")),
        ("https://x.org/o/eng", "https://x.org/other/eng", ("url-differs", "regraft.toml:4")),
        ('branch = "work"', 'branch = "main"', ("branch-differs", "regraft.toml:5")),
        ('"ci-eng-pr"', '"ci-engine-pr"', ("directive-undeclared", ".github/workflows/t.yml:5")),
        ('"Dockerfile"', '"Dockerfile.gone"', ("dockerfile-missing", "regraft.toml:8")),
        ("/v/bin/python", "/w/bin/python", ("python-differs", "regraft.toml:9")),
        ('tag = "one"', 'tag = "two"', ("tag-differs", ".github/workflows/t.yml:3")),
        ('["p/1.patch", "p/2.patch"]', '["p/2.patch", "p/1.patch"]', ("patches-differ", "regraft.toml:14")),
        ('["p/1.patch", "p/2.patch"]', '["p/1.patch"]', ("patches-differ", "regraft.toml:14")),
        ('"p/2.patch"]', '"p/2.patch", "p/3.patch"]', ("patches-differ", "regraft.toml:14")),
        ('"p/2.patch"]', '{ file = "p/2.patch", root = "x" }]', ("patch-format-differs", "regraft.toml:14")),
    ],
)
def test_each_difference_has_its_place(project: Any, old: str, new: str, expected: tuple[str, str]) -> None:
    assert old in MANIFEST
    assert expected in project.differences(MANIFEST.replace(old, new))


def test_a_patch_at_an_address_is_no_difference(project: Any) -> None:
    """How a build comes to have one is not read, so nothing is said of it."""
    address = f"https://x.org/3.patch#sha256={'0' * 64}"
    assert project.differences(MANIFEST.replace('"p/2.patch"]', f'"p/2.patch", "{address}"]')) == []


def test_a_checkout_that_the_manifest_does_not_have(project: Any) -> None:
    project.files["Dockerfile"] += b"RUN git clone -b w https://x.org/o/new /new\n"
    assert project.differences(MANIFEST) == [("dependency-undeclared", "Dockerfile:5")]


def test_a_dockerfile_that_the_manifest_does_not_have(project: Any) -> None:
    project.files["more/Dockerfile"] = b"FROM a\nRUN git clone -b work https://x.org/o/eng /eng\n"
    assert project.differences(MANIFEST) == [("image-undeclared", "more/Dockerfile:2")]


def test_a_dependency_that_is_built_no_more(project: Any) -> None:
    project.files["Dockerfile"] = b"FROM a\nRUN git clone -b w https://x.org/o/new /new\n"
    assert ("baked-not-built", "regraft.toml:12") in project.differences(MANIFEST)


def test_a_lock_step_of_pip_that_the_manifest_does_not_have(project: Any) -> None:
    project.files["requirements.txt"] = b"a\ntwo @ git+https://x.org/o/two@main\n"
    assert project.differences(MANIFEST) == [("dependency-undeclared", "requirements.txt:2")]


def test_what_the_manifest_still_asks_about_is_no_difference(project: Any) -> None:
    asked = MANIFEST.replace('branch = "work"', "# question: dependencies.engine.branch: which one?").replace(
        'patches = ["p/1.patch", "p/2.patch"]', "# question: images.main.baked.engine.patches: in which order?"
    )
    assert project.differences(asked) == []
    assert project.differences(asked.replace("# question: images", "# answered: images")) != []


REPOSITORIES = {
    "order": {"Dockerfile": "FROM a\nCOPY p /p\nRUN git clone -b w https://x.org/o/e /e && cd /e && git apply /p/*.patch\n"},
    "base": {"Dockerfile": "FROM v\nRUN cd /s/e && git fetch origin w && git checkout FETCH_HEAD && pip install -e .\n"},
    "relative": {"Dockerfile": "FROM a\nRUN git clone https://x.org/o/e && cd e && pip install -e .\n"},
    "pip": {"Dockerfile": "FROM a\nRUN pip install git+https://x.org/o/e\n", "requirements.txt": "b @ git+https://x.org/o/b\n"},
    "twice": {"Dockerfile": "FROM a\nRUN git clone -b w https://x.org/o/e /a/e && git clone -b w https://x.org/o/e /b/e\n"},
    "maybe": {"Dockerfile": "FROM a\nRUN if which git; then git clone -b w https://x.org/o/e /e; fi\n"},
    "variable": {"Dockerfile": "FROM a\nARG U\nARG D\nRUN git clone $U /e && git clone https://x.org/o/f $D/f\n"},
    "nothing": {},
    "directive": {"ci/gate.sh": "grep ci-who-pr:\n", "Dockerfile": "FROM a\nRUN git clone -b w https://x.org/o/e /e\n"},
    "directory": {"my project/Dockerfile": "FROM a\nRUN git clone -b w https://x.org/o/e /e\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", REPOSITORIES)
def test_what_init_writes_is_silent_in_both_checks(
    repository: Callable[..., Any], patch: Callable[..., str], name: str
) -> None:
    found = repository({**REPOSITORIES[name], "p/a.patch": patch("f"), "p/b.patch": patch("f")})
    proposed = found.propose()
    assert check(ProposedFiles(found, proposed)).findings == ()
    assert found.differences() == []


@pytest.mark.parametrize("example", ["shell-to-regraft", "real-image/project"])
def test_the_examples_have_the_manifests_that_init_would_write_as_far_as_it_can_know(example: str) -> None:
    project = ListedProject(ROOT / "examples" / example, {})
    theirs = compare(project)
    assert [(one.rule, one.message) for one in theirs.findings] == []
    assert theirs.looked_at["checkouts"] > 0
    proposed = propose(project).manifest
    held = {image.dockerfile: {b.path: b.patches for b in image.baked.values()} for image in proposed.images.values()}
    from regraft.flows.project import open_manifest

    manifest, _ = open_manifest(project)
    assert held == {i.dockerfile: {b.path: b.patches for b in i.baked.values()} for i in manifest.images.values()}
    assert list(proposed.dependencies) == list(manifest.dependencies)
