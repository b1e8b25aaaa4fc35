"""Only what is named may change: by records, by metadata, by the lines of shared path files."""

import pytest
from msgspec.structs import replace

from regraft.core.apply_allowed import Allowed, Look, allowed, byte_code, foreign
from regraft.core.apply_guard import Foreign, beyond, blame, environment_findings, owners, written
from regraft.core.apply_values import Ran
from regraft.core.journal import Subject
from regraft.core.observation import Command, Environment, Installed, PathFile
from regraft.core.tree_record import Change, Entry, Record

SITE = "/venv/lib/site-packages"


def installed(name: str, version: str = "1", kind: str = "dist-info") -> Installed:
    return Installed(name, version, (), kind, SITE, f"{SITE}/{name}-{version}.{kind}", True, None)  # type: ignore[arg-type]


def environment(*found: Installed, paths: tuple[PathFile, ...] = (), commands: tuple[Command, ...] = ()) -> Environment:
    return Environment(
        version="3.12.0",
        executable="/venv/bin/python",
        prefix="/venv",
        purelib=SITE,
        platlib=SITE,
        scripts="/venv/bin",
        externally_managed=None,
        sys_path=(),
        searched=(),
        python_path=(),
        absent=(),
        ambient_python_path=None,
        markers={},
        distributions=found,
        left_overs=(),
        unread=(),
        path_files=paths,
        finders=(),
        modules={},
        commands=commands,
        complaints="",
    )


LIB = environment(installed("lib"), installed("other"), commands=(Command("lib", "old-run", "lib", True, True),))
LIB2 = environment(installed("lib", "2"), installed("other"), commands=(Command("lib", "run", "lib", True, True),))
FILES = {
    f"{SITE}/lib-1.dist-info": (f"{SITE}/lib/a.py", f"{SITE}/ns/__init__.py", f"{SITE}/shared/lib.py"),
    f"{SITE}/lib-2.dist-info": (
        *(f"{SITE}/lib/b.py", f"{SITE}/other/a.py", f"{SITE}/loose.py", f"{SITE}/other-1.dist-info/entry_points.txt"),
        *(f"{SITE}/sitecustomize.py", f"{SITE}/usercustomize/__init__.py", f"{SITE}/lib/sitecustomize.py"),
        *("/venv/bin/other", "/venv/bin/tool"),
    ),
    f"{SITE}/other-1.dist-info": (f"{SITE}/other/a.py", f"{SITE}/other/gone.py", f"{SITE}/ns/__init__.py", "/venv/bin/other"),
}  # fmt: skip
THERE = {
    *(f"{SITE}/lib/a.py", f"{SITE}/shared/lib.py", f"{SITE}/ns/__init__.py", f"{SITE}/lib-1.dist-info/RECORD"),
    *(f"{SITE}/other/a.py", f"{SITE}/loose.py", "/venv/bin/other", "/venv/bin/old-run", "/venv/bin/tool"),
}
NAMED = frozenset({"lib"})
MAY = allowed(NAMED, Look(LIB, FILES), Look(LIB2, FILES), THERE, ("/src/lib",))


def test_only_what_was_on_the_path_and_in_no_copy_is_beyond_what_is_given_back() -> None:
    def elsewhere(name: str, version: str, folder: str) -> Installed:
        return Installed(name, version, (), "dist-info", folder, f"{folder}/{name}.dist-info", True, None)

    found = [("named", "/a"), ("changed", "/a"), ("saved", SITE), ("late", "/late")]
    before = environment(*(elsewhere(name, "1", folder) for name, folder in found[:3]))
    after = environment(*(elsewhere(name, "2", folder) for name, folder in found))
    before = replace(before, folders=("/a", SITE))
    lines = beyond(before, after, frozenset({"named"}), (Subject("environment", SITE),))
    assert [line.partition(":")[0] for line in lines] == ["/a/changed.dist-info"]


def kept(*changes: Change, before: Environment = LIB, after: Environment = LIB2, may: Allowed = MAY) -> list[str]:
    return [one.path for one in foreign(changes, may, before, after)]


@pytest.mark.parametrize(
    "path",
    [
        f"{SITE}/lib/a.py",
        f"{SITE}/lib/b.py",
        f"{SITE}/lib/sitecustomize.py",
        f"{SITE}/shared/lib.py",
        f"{SITE}/lib-1.dist-info/RECORD",
        f"{SITE}/lib-2.dist-info/METADATA",
        "/venv/bin/run",
        "/venv/bin/old-run",
    ],
)
def test_what_the_named_distribution_had_and_what_it_brings_anew_may_change(path: str) -> None:
    assert kept(Change(path, "content")) == []


@pytest.mark.parametrize(
    "path",
    [
        f"{SITE}/other/c.py",
        f"{SITE}/other-1.dist-info/METADATA",
        f"{SITE}/shared/other.py",
        f"{SITE}/lib-1.dist-info.bak/RECORD",
        f"{SITE}/lib/c.py",
        f"{SITE}/other/a.pyc",
        "/venv/bin/another",
    ],
)
def test_all_else_may_not(path: str) -> None:
    assert kept(Change(path, "content")) == [path]


@pytest.mark.parametrize(
    "path",
    [
        f"{SITE}/other/a.py",
        f"{SITE}/loose.py",
        f"{SITE}/ns/__init__.py",
        f"{SITE}/other-1.dist-info/entry_points.txt",
        "/venv/bin/other",
        "/venv/bin/tool",
    ],
)
def test_a_new_record_makes_nothing_its_own_that_was_there_or_was_anothers(path: str) -> None:
    assert kept(Change(path, "content")) == [path]


def test_a_file_that_another_distribution_lacks_is_not_brought_back_by_a_named_one() -> None:
    files = {**FILES, f"{SITE}/lib-2.dist-info": (f"{SITE}/other/gone.py",)}
    may = allowed(NAMED, Look(LIB, FILES), Look(LIB2, files), THERE, ())
    assert not may.has(f"{SITE}/other/gone.py")


@pytest.mark.parametrize("path", [f"{SITE}/sitecustomize.py", f"{SITE}/usercustomize/__init__.py"])
def test_what_every_interpreter_runs_at_its_start_may_not_come_anew(path: str) -> None:
    assert kept(Change(path, "new")) == [path]
    held = {**FILES, f"{SITE}/lib-1.dist-info": (path,)}
    may = allowed(NAMED, Look(LIB, held), Look(LIB2, held), {path}, ())
    assert kept(Change(path, "content"), may=may) == []


def test_an_egg_belongs_to_its_distribution_as_a_whole() -> None:
    egg = replace(installed("lib"), kind="egg-info", metadata=f"{SITE}/lib-1.egg/EGG-INFO")
    look = Look(environment(egg), {})
    may = allowed(NAMED, look, look, {f"{SITE}/lib-1.egg/lib/a.py"}, ())
    assert may.has(f"{SITE}/lib-1.egg/lib/a.py")
    assert may.has(f"{SITE}/lib-1.egg/lib/b.py")
    assert not may.has(f"{SITE}/lib-1.eggs/a.py")


CACHE = f"{SITE}/other/__pycache__"


@pytest.mark.parametrize(
    ("name", "asked", "other"),
    [
        ("a.cpython-312.pyc", True, False),
        ("a.b.cpython-312.pyc", True, False),
        ("a.cpython-312.opt-1.pyc", False, True),
        ("a.cpython-311.pyc", False, True),
        ("a.py312.1.nbi", False, False),
    ],
)
def test_byte_code_that_came_is_to_be_compared_and_any_other_interpreters_is_foreign(
    name: str, asked: bool, other: bool
) -> None:
    change = Change(f"{CACHE}/{name}", "touched")
    found = byte_code([change], MAY, "3.12.3")
    source = f"{SITE}/other/{name.removesuffix('.cpython-312.pyc')}.py"
    assert found.by_source == ({source: change} if asked else {})
    assert found.others == ((change,) if other else ())
    assert kept(change) == []


def test_byte_code_of_a_named_distribution_and_what_is_gone_are_no_question() -> None:
    changes = [
        Change(f"{CACHE}/a.cpython-312.pyc", "gone"),
        Change(f"{SITE}/lib/__pycache__/a.cpython-312.pyc", "content"),
        Change(f"{SITE}/lib/__pycache__/b.cpython-312.pyc", "new"),
    ]
    found = byte_code(changes, MAY, "3.12.3")
    assert (found.by_source, found.others) == ({}, ())


EDITABLE = f"{SITE}/__editable__.lib-2.pth"


@pytest.mark.parametrize(
    ("lines", "is_foreign"),
    [
        # setuptools
        (("import __editable___lib_2_finder; __editable___lib_2_finder.install()",), False),
        # hatch, and scikit-build-core
        (("import _editable_impl_lib",), False),
        (("import _editable_impl_lib", "/src/lib/src"), False),
        # meson-python
        (("import _lib_editable_loader; _lib_editable_loader.init()",), False),
        (("# a comment", "/src/lib/src"), False),
        (("import os",), True),
        (("import other",), True),
        (("import _editable_impl_lib; other.install()",), True),
        (("import _editable_impl_lib; _editable_impl_lib.install(); import os",), True),
        (("import _editable_impl_lib, os",), True),
        (("import sys; sys.path.insert(0, '/src/lib')",), True),
        (("/src/lib", "/elsewhere"), True),
    ],
)
def test_a_new_path_file_may_lead_to_the_sources_or_to_its_own_finder(lines: tuple[str, ...], is_foreign: bool) -> None:
    finders = [
        f"{SITE}/{name}.py" for name in ("__editable___lib_2_finder", "_editable_impl_lib", "_lib_editable_loader")
    ]
    files = {**FILES, f"{SITE}/lib-2.dist-info": (EDITABLE, *finders)}
    may = allowed(NAMED, Look(LIB, FILES), Look(LIB2, files), THERE, ("/src/lib",))
    after = replace(LIB2, path_files=(PathFile(EDITABLE, lines),))
    assert bool(kept(Change(EDITABLE, "new"), after=after, may=may)) is is_foreign


@pytest.mark.parametrize("spoil", ["the finder was there", "the finder is another's", "the path file is nobody's"])
def test_a_finder_that_is_not_the_named_distributions_own_is_foreign(spoil: str) -> None:
    finder = f"{SITE}/_editable_impl_lib.py"
    listed = (finder,) if "nobody" in spoil else (EDITABLE,) if "another" in spoil else (EDITABLE, finder)
    there = {*THERE, finder} if "there" in spoil else THERE
    may = allowed(NAMED, Look(LIB, FILES), Look(LIB2, {**FILES, f"{SITE}/lib-2.dist-info": listed}), there, ())
    after = replace(LIB2, path_files=(PathFile(EDITABLE, ("import _editable_impl_lib",)),))
    assert kept(Change(EDITABLE, "new"), after=after, may=may) == [EDITABLE]


@pytest.mark.parametrize(
    ("before", "after", "is_foreign"),
    [
        (("/a",), ("/a", "/src/lib/python"), False),
        (("/a", "/src/lib"), ("/a",), False),
        (("/src/lib",), (), False),
        (("import sys; sys.__plen = len(sys.path)", "/a"), ("/a", "/src/lib"), False),
        (("/a",), ("/b",), True),
        (("/a",), ("/a", "/src/library"), True),
        (("/a",), ("/a", "import os; os.system('x')"), True),
        (("/a",), ("/a", "import sys; sys.__plen = 1; import os; os.system('x')"), True),
    ],
)
def test_a_shared_path_file_may_gain_and_lose_lines_that_name_the_checkout(
    before: tuple[str, ...], after: tuple[str, ...], is_foreign: bool
) -> None:
    path = f"{SITE}/easy-install.pth"
    old = environment(installed("lib"), paths=(PathFile(path, before),))
    new = environment(installed("lib"), paths=(PathFile(path, after),))
    assert bool(kept(Change(path, "content"), before=old, after=new)) is is_foreign


def test_setuptools_own_lines_are_let_through_in_its_own_file_only() -> None:
    path = f"{SITE}/zzz.pth"
    new = environment(installed("lib"), paths=(PathFile(path, ("import sys; sys.__plen = len(sys.path)",)),))
    assert kept(Change(path, "new"), before=environment(installed("lib")), after=new) == [path]


def test_a_path_file_that_no_interpreter_reads_is_no_exception() -> None:
    path = f"{SITE}/sub/x.pth"
    assert kept(Change(path, "new")) == [path]


def test_the_owner_of_a_file_is_who_lists_it_or_whose_metadata_it_is() -> None:
    found = environment(installed("lib"), installed("other"))
    look = Look(found, {found.distributions[1].metadata: (f"{SITE}/other/a.py",)})
    assert owners(look, f"{SITE}/other/a.py") == ("other",)
    assert owners(look, f"{SITE}/other-1.dist-info/RECORD") == ("other",)
    assert owners(look, f"{SITE}/nobody.py") == ()


def entry(path: str, *, ctime: int = 0, inode: int = 1) -> Entry:
    return Entry(path, "file", 0o644, 0, 0, 1, 0, ctime, inode, 1, None, None)


MS = 1_000_000


@pytest.mark.parametrize(
    ("ctime", "expected"), [(150 * MS, "one"), (350 * MS, "two"), (50 * MS, None), (500 * MS, None)]
)
def test_the_command_is_the_one_that_ran_when_the_kernel_noted_the_change(ctime: int, expected: str | None) -> None:
    ran = (Ran(("one",), 0, (), 100 * MS, 200 * MS), Ran(("two",), 0, (), 300 * MS, 400 * MS))
    after = Record({"/d/f": entry("/d/f", ctime=ctime)}, 0)
    assert blame(Change("/d/f", "content"), after, ran) == expected


def test_a_command_that_begins_just_afterwards_is_not_mistaken_for_the_one_that_wrote() -> None:
    ran = (Ran(("one",), 0, (), 100 * MS, 200 * MS), Ran(("two",), 0, (), 203 * MS, 400 * MS))
    assert blame(Change("/d/f", "content"), Record({"/d/f": entry("/d/f", ctime=199 * MS)}, 0), ran) == "one"
    assert blame(Change("/d/f", "content"), Record({"/d/f": entry("/d/f", ctime=201 * MS)}, 0), ran) == "two"


def test_of_a_file_that_is_gone_the_folder_tells_when() -> None:
    ran = (Ran(("one",), 0, (), 100 * MS, 200 * MS),)
    assert blame(Change("/d/f", "gone"), Record({"/d": entry("/d", ctime=150 * MS)}, 0), ran) == "one"
    assert blame(Change("/d/f", "gone"), Record({}, 0), ran) is None


def test_a_record_that_was_written_with_the_same_content_was_written() -> None:
    before = Record({"/r": entry("/r")}, 0)
    assert not written(["/r", "/absent"], before, before)
    assert written(["/r"], before, Record({"/r": entry("/r", inode=2)}, 0))
    assert written(["/r"], before, Record({}, 0))


def test_one_finding_for_each_distribution_and_one_for_files_of_nobody() -> None:
    found = [
        Foreign("/s/o/a.py", "content", ("other",), "pip"),
        Foreign("/s/o/b.py", "gone", ("other",), "pip"),
        Foreign("/s/x.pth", "new", (), None),
    ]
    told = list(environment_findings(found, "/venv/bin/python"))
    assert [one.message for one in told] == [
        "1 files of no distribution that is named changed, and this run may not change them",
        "2 files of other changed, and this run may not change them, during `pip`",
    ]
    assert {one.severity for one in told} == {"error"}
    assert [(one.path, one.message) for one in told[1].witnesses] == [
        ("/s/o/a.py", "was rewritten"),
        ("/s/o/b.py", "was removed"),
    ]
