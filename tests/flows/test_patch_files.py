"""The patch files of a project: named, pinned, in order, and complete."""

import hashlib
from pathlib import Path

import pytest

from regraft.adapters.project_files import ProjectFolder
from regraft.core.manifest import Manifest
from regraft.core.objects import Sha256
from regraft.errors import InputError, MistakesError
from regraft.flows.check import check
from regraft.flows.patch_files import PatchFiles, other_bytes
from regraft.flows.project import open_manifest

DIFF = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
MANIFEST = """[project]
name = "x"
[dependencies.one]
url = "https://example.org/one"
[images.cpu.baked.one]
path = "/opt/one"
imports = ["one"]
{}
[suites.s]
image = "cpu"
"""


class Project:
    def __init__(self, folder: Path, keys: str, files: dict[str, bytes]) -> None:
        for name, data in {"regraft.toml": MANIFEST.format(keys).encode(), **files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.files = ProjectFolder(folder)

    def manifest(self) -> Manifest:
        return open_manifest(self.files)[0]

    def patches(self) -> PatchFiles:
        return PatchFiles(self.files, self.manifest().images.values())

    def mistakes(self) -> list[tuple[str, str]]:
        with pytest.raises(InputError) as caught:
            self.manifest()
        error = caught.value
        found = error.mistakes if isinstance(error, MistakesError) else [error]
        return [(one.code, one.message) for one in found]


def pinned(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_patch_has_what_the_manifest_declares_of_it(tmp_path: Path) -> None:
    keys = f'patches = ["p/a.patch", {{ file = "p/b.patch", strip = 0, root = "python", sha256 = "{pinned(DIFF)}" }}]'
    project = Project(tmp_path, keys, {"p/a.patch": DIFF, "p/b.patch": DIFF})
    found = project.patches()
    assert found.mistakes == []
    a, b = found.of(project.manifest().images["cpu"].baked["one"])
    assert (a.path, a.data, a.strip, a.root) == ("p/a.patch", DIFF, None, b"")
    assert (b.path, b.strip, b.root) == ("p/b.patch", 0, b"python")


def test_other_bytes_than_the_pinned_ones_are_an_error(tmp_path: Path) -> None:
    """https://github.com/kunobi-ninja/kache/pull/571: the harness blamed the pinned ref, and the patch's bytes differed."""
    rewritten = DIFF.replace(b"\n", b"\r\n")
    project = Project(
        tmp_path, f'patches = [{{ file = "a.patch", sha256 = "{pinned(DIFF)}" }}]', {"a.patch": rewritten}
    )
    [mistake] = project.patches().mistakes
    assert mistake.code == "patch-differs"
    assert pinned(rewritten) in mistake.message
    assert pinned(DIFF) in mistake.message
    assert "only the line ends differ" in mistake.message
    assert {one.rule for one in check(project.files).findings} == {"patch-differs", "patch-unreadable"}
    assert "line ends" not in str(other_bytes(b"else", Sha256(pinned(DIFF))))


def test_a_patch_that_is_not_there_names_the_one_that_is(tmp_path: Path) -> None:
    """https://github.com/radixark/miles/pull/1285: the readme said hyphen, the file had an underscore."""
    project = Project(tmp_path, 'patches = ["p/a-b.patch"]', {"p/a_b.patch": DIFF})
    [mistake] = project.patches().mistakes
    assert (mistake.code, mistake.hint) == (
        "patch-missing",
        "name p/a_b.patch instead, or take it out of images.cpu.baked.one.patches",
    )
    [finding] = check(project.files).findings
    assert (finding.rule, finding.line, finding.fix) == (
        "patch-missing",
        8,
        "write p/a_b.patch, or take it out of the manifest",
    )


def test_no_patches_are_no_patches(tmp_path: Path) -> None:
    """https://github.com/dotnet/source-build/pull/403: an empty folder, and the tool waited for standard input."""
    (tmp_path / "patches").mkdir()
    project = Project(tmp_path, "patches = []", {})
    assert project.patches().of(project.manifest().images["cpu"].baked["one"]) == ()
    assert Project(tmp_path, 'series = "patches/series"', {"patches/series": b""}).patches().mistakes == []


def test_a_series_gives_the_order_and_the_levels(tmp_path: Path) -> None:
    files = {"p/series": b"b.patch\na.patch -p0\n# c.patch\n", "p/a.patch": DIFF, "p/b.patch": DIFF, "p/c.patch": DIFF}
    project = Project(tmp_path, 'series = "p/series"\napply = "3way"', files)
    baked = project.manifest().images["cpu"].baked["one"]
    assert (baked.patches, baked.apply) == (("p/b.patch", "p/a.patch"), "3way")
    assert [(one.path, one.strip) for one in project.patches().of(baked)] == [("p/b.patch", None), ("p/a.patch", 0)]


def test_a_file_in_the_folder_that_is_not_listed_is_an_error(tmp_path: Path) -> None:
    """https://github.com/RoboStack/vinca/pull/131: a fix was missing, and nothing said so."""
    files = {"p/series": b"0099.patch\n", "p/0099.patch": DIFF, "p/0100.patch": DIFF, "p/notes.txt": b""}
    project = Project(tmp_path, 'series = "p/series"', files)
    assert project.mistakes() == [("patch-unlisted", "does not list 'p/0100.patch'")]


def test_a_file_that_is_listed_and_missing_is_an_error(tmp_path: Path) -> None:
    project = Project(tmp_path, 'series = "p/series"', {"p/series": b"a.patch\n"})
    assert [one.code for one in project.patches().mistakes] == ["patch-missing"]


def test_mistakes_of_a_series_have_their_lines(tmp_path: Path) -> None:
    project = Project(tmp_path, 'series = "p/series"', {"p/series": b"a.patch -R\n../b.patch\n", "p/a.patch": DIFF})
    with pytest.raises(MistakesError) as caught:
        project.manifest()
    assert [(one.code, str(one.where).rpartition(":")[2]) for one in caught.value.mistakes] == [
        ("series-mistake", "1"),
        ("series-mistake", "2"),
    ]
    assert Project(tmp_path, 'series = "none"', {}).mistakes() == [
        ("series-missing", "the project has no such series file")
    ]
