import pytest

from regraft.core.baseline import SCHEMA, Baseline, BaselineDependency
from regraft.core.baseline_document import encode_baseline
from regraft.core.findings import Finding, Witness
from regraft.errors import InputError, MistakesError, OutsideError
from regraft.flows.check import CheckResult, check

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DIFF = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
MANIFEST = """\
[project]
name = "x"
[dependencies.one]
url = "../one"
lock = { file = "lock.json", key = "/one" }
[images.gpu]
dockerfile = "docker/Dockerfile"
[images.gpu.baked.one]
path = "/opt/one"
imports = ["one"]
patches = ["patches/a.patch", "patches/b.patch"]
[suites.all]
image = "gpu"
"""
FILES = {
    "regraft.toml": MANIFEST.encode(),
    "lock.json": f'{{"one": "{COMMIT}"}}'.encode(),
    "docker/Dockerfile": b"FROM scratch\n",
    "patches/a.patch": DIFF,
    "patches/b.patch": DIFF,
}


class Files:
    """A project in memory; an error stands where reading raises it."""

    def __init__(self, files: dict[str, bytes | Exception]) -> None:
        self.files = files
        self.asked: list[str] = []

    def read(self, path: str, limit: int) -> bytes | None:
        self.asked.append(path)
        found = self.files.get(path)
        if isinstance(found, Exception):
            raise found
        assert found is None or len(found) <= limit
        return found

    def names(self, folder: str) -> tuple[str, ...]:
        return tuple(sorted(path.rpartition("/")[2] for path in self.files if path.rpartition("/")[0] == folder))

    def place(self, path: str) -> str:
        return path


def checked(changes: dict[str, bytes | Exception | None] | None = None, manifest: str = MANIFEST) -> CheckResult:
    files = {**FILES, "regraft.toml": manifest.encode(), **(changes or {})}
    return check(Files({path: data for path, data in files.items() if data is not None}))


def only(result: CheckResult) -> Finding:
    assert len(result.findings) == 1, result.findings
    return result.findings[0]


def changed(old: str, new: str) -> str:
    assert MANIFEST.count(old) == 1
    return MANIFEST.replace(old, new)


def test_a_project_that_is_right_has_no_findings_and_says_what_was_judged() -> None:
    result = checked()
    assert result.findings == ()
    assert not result.failed
    assert result.manifest.name == "x"
    assert result.looked_at == {
        "dependencies": 1,
        "images": 1,
        "suites": 1,
        "patch files": 2,
        "locks": 1,
        "dockerfiles": 1,
        "baselines": 0,
    }


def test_a_project_without_a_manifest_is_the_users_mistake() -> None:
    with pytest.raises(InputError) as caught:
        checked({"regraft.toml": None})
    assert caught.value.code == "no-manifest"


def test_mistakes_of_the_manifest_are_raised_together_and_nothing_else_is_read() -> None:
    files = Files({**FILES, "regraft.toml": b"[project]\nnmae = 'x'\n[suites.a]\n"})
    with pytest.raises(MistakesError) as caught:
        check(files)
    assert [one.code for one in caught.value.mistakes] == ["unknown-key", "missing-key"]
    assert files.asked == ["regraft.toml"]


@pytest.mark.parametrize(
    ("path", "rule", "line", "column"),
    [
        ("patches/b.patch", "patch-missing", 11, 31),
        ("lock.json", "lock-missing", 5, 17),
        ("docker/Dockerfile", "dockerfile-missing", 7, 14),
    ],
)
def test_a_file_that_is_not_there_is_said_where_it_is_named(path: str, rule: str, line: int, column: int) -> None:
    result = checked({path: None})
    found = only(result)
    assert (found.rule, found.severity, found.path, found.line, found.column) == (
        rule,
        "error",
        "regraft.toml",
        line,
        column,
    )
    assert path in found.message
    assert result.failed


@pytest.mark.parametrize("path", ["patches/a.patch", "lock.json", "docker/Dockerfile"])
@pytest.mark.parametrize("code", ["outside-project", "not-a-file", "too-large"])
def test_a_file_that_is_no_file_of_the_project_is_said_where_it_is_named(path: str, code: str) -> None:
    found = only(checked({path: InputError(code, "a link leads out of the project", where=path)}))
    assert (found.rule, found.severity, found.path) == (code, "error", "regraft.toml")
    assert found.message == f"{path}: a link leads out of the project"


def test_a_file_that_cannot_be_read_is_no_finding() -> None:
    with pytest.raises(OutsideError):
        checked({"patches/a.patch": OutsideError("cannot-read", "no permission")})


@pytest.mark.parametrize("data", [b"", b"<!doctype html><html>404</html>", b"404: Not Found"])
def test_a_patch_that_is_no_diff_is_found_before_it_is_needed(data: bytes) -> None:
    result = checked({"patches/a.patch": data})
    found = only(result)
    assert (found.rule, found.severity, found.path) == ("patch-unreadable", "error", "patches/a.patch")
    assert found.witnesses == (Witness("regraft.toml", 11, "named here"),)
    assert result.failed


def test_a_damaged_patch_is_found_with_its_line_and_the_repair() -> None:
    """https://github.com/tpope/vim-fugitive/issues/551: the counts of a hunk that was edited by hand."""
    found = only(checked({"patches/a.patch": DIFF.replace(b"@@ -1 +1 @@", b"@@ -1 +1,2 @@")}))
    assert (found.rule, found.severity) == ("patch-unreadable", "error")
    assert ": the header says 1 old and 2 new lines, the body has 1 and 1" in found.message
    assert found.fix is not None
    assert "are counted anew" in found.fix


def test_what_git_tolerates_in_a_patch_is_a_note() -> None:
    result = checked({"patches/a.patch": DIFF + b"\nby the way\n"})
    found = only(result)
    assert (found.rule, found.severity) == ("patch-tolerated", "note")
    assert "git skips it" in found.message
    assert not result.failed


def test_a_patch_that_two_images_carry_is_judged_once() -> None:
    more = '[images.cpu.baked.one]\npath = "/opt/one"\nimports = ["one"]\npatches = ["patches/a.patch"]\n[suites.b]\nimage = "cpu"\n'
    result = checked({"patches/a.patch": b""}, MANIFEST + more)
    assert only(result).path == "patches/a.patch"
    assert result.looked_at["patch files"] == 2


@pytest.mark.parametrize("data", [b"{}", b"", b'{"one": "main"}', b"\xff"])
def test_a_lock_without_a_commit_is_found(data: bytes) -> None:
    found = only(checked({"lock.json": data}))
    assert (found.rule, found.severity, found.path) == ("lock-unreadable", "error", "lock.json")
    assert found.witnesses == (Witness("regraft.toml", 5, "named here"),)


def baseline(image: str, *dependencies: str) -> bytes:
    held = {name: BaselineDependency(None, None, (), {}) for name in dependencies}
    return encode_baseline(Baseline(SCHEMA, image, None, None, held, ()))


def test_a_baseline_is_read_where_there_is_one() -> None:
    result = checked({"baselines/gpu.json": baseline("gpu", "one")})
    assert result.findings == ()
    assert result.looked_at["baselines"] == 1


@pytest.mark.parametrize("data", [b"", b"{}", baseline("cpu", "one"), InputError("not-a-file", "not a regular file")])
def test_a_damaged_baseline_is_found(data: bytes | Exception) -> None:
    result = checked({"baselines/gpu.json": data})
    found = only(result)
    assert (found.rule, found.severity, found.path) == ("baseline-unreadable", "error", "baselines/gpu.json")
    assert found.fix
    assert result.failed


def test_a_baseline_that_lacks_a_dependency_is_a_warning() -> None:
    result = checked({"baselines/gpu.json": baseline("gpu")})
    assert (only(result).rule, only(result).severity) == ("baseline-incomplete", "warning")
    assert not result.failed


@pytest.mark.parametrize(
    ("manifest", "rule", "severity", "line"),
    [
        (MANIFEST + "[dependencies.two]\nurl = '../two'\n", "dependency-unused", "note", 14),
        (changed('[suites.all]\nimage = "gpu"\n', ""), "image-without-suites", "note", 6),
        (MANIFEST + "[images.bare]\n[suites.b]\nimage = 'bare'\n", "image-without-dependencies", "note", 14),
        (changed('imports = ["one"]\n', ""), "nothing-located", "warning", 8),
        (changed("[images.gpu]\n", '[images.gpu]\nunnamed = ["keep", "lock"]\n'), "unnamed-unreached", "warning", 7),
        (changed("[images.gpu]\n", "allow = ['a/*', '*/one']\n[images.gpu]\n"), "allow-anybody", "warning", 6),
        (
            changed('imports = ["one"]', 'imports = ["one"]\ninstall = [["pip", "install", "."]]'),
            "other-interpreter",
            "warning",
            11,
        ),
        (changed('name = "x"', 'name = "x"\ninstall = [["python3", "setup.py"]]'), "other-interpreter", "warning", 3),
        ("[project]\nname = 'x'\n", "no-dependencies", "note", 1),
    ],
)
def test_what_is_hardly_meant_is_said_and_does_not_fail(manifest: str, rule: str, severity: str, line: int) -> None:
    result = checked(manifest=manifest)
    found = only(result)
    assert (found.rule, found.severity, found.path, found.line) == (rule, severity, "regraft.toml", line)
    assert not result.failed


def test_located_modules_are_enough() -> None:
    assert checked(manifest=changed('imports = ["one"]', 'locate = ["one"]')).findings == ()


def test_findings_stand_in_the_order_of_the_manifest_and_other_files_after_it() -> None:
    result = checked({"patches/b.patch": b"", "docker/Dockerfile": None, "lock.json": None, "patches/a.patch": None})
    places = [(one.path, one.line) for one in result.findings]
    assert places == [("regraft.toml", 5), ("regraft.toml", 7), ("regraft.toml", 11), ("patches/b.patch", None)]
