"""What an interpreter would import is found without importing it, on every Python that an image may have."""

import base64
import glob
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraft.adapters.machine import Machine
from regraft.adapters.places import Places
from regraft.core.manifest import Baked, Image
from regraft.core.observation import Environment, Import
from regraft.errors import OutsideError

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}


def interpreters() -> dict[str, str]:
    """ "3.8" -> the path of such an interpreter, for each version that is on PATH or under pyenv."""
    found: dict[str, str] = {}
    for minor in range(8, 15):
        patterns = [f"{os.path.expanduser('~')}/.pyenv/versions/3.{minor}*/bin/python"]
        patterns += [f"{folder}/python3.{minor}" for folder in os.environ["PATH"].split(":") if "shims" not in folder]
        for path in (path for pattern in patterns for path in glob.glob(pattern)):
            if subprocess.run([path, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
                found.setdefault(f"3.{minor}", path)
    return found


FOUND = interpreters()


class World:
    """A virtual environment, and folders beside it."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder = folder
        self.python = python
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        asked = subprocess.run([str(python), "-I", "-c", code], check=True, capture_output=True, text=True)
        self.site = Path(asked.stdout.strip())

    def image(self, *python_path: Path, env: tuple[tuple[str, str], ...] = ()) -> Image:
        entries = tuple(map(str, python_path))
        return Image("i", None, None, None, None, ("keep",), str(self.python), entries, "report", env, {})

    def machine(self, **environ: str) -> Machine:
        return Machine({**CLEAN, **environ}, Places(self.folder), timeout=30)

    def describe(self, *modules: str, path: tuple[Path, ...] = (), named: tuple[str, ...] = ()) -> Environment:
        return self.machine().describe(self.image(*path), modules, named)

    def load(self, name: str, *python_path: Path) -> Import:
        return self.machine().try_import(self.image(*python_path), name)

    def write(self, files: dict[str, str]) -> None:
        write(self.folder, files)

    def install(self, name: str, version: str, *lines: str, site: Path | None = None, **more: str) -> Path:
        """Metadata of a distribution, as an installer leaves it."""
        folder = (site or self.site) / f"{name.replace('-', '_')}-{version}.dist-info"
        headers = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines, "", "Name: not-a-header"]
        write(folder, {"METADATA": "\n".join(headers), **{key.replace("__", "."): text for key, text in more.items()}})
        return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def template(python: str) -> Path:
        if python not in made:
            made[python] = tmp_path_factory.mktemp("venv") / "venv"
            argv = [python, "-m", "venv", "--without-pip", "--symlinks", str(made[python])]
            subprocess.run(argv, check=True, env=CLEAN)
        return made[python]

    return template


def make_world(templates: Callable[[str], Path], python: str, folder: Path) -> World:
    copy = shutil.copytree(templates(python), folder / "venv", symlinks=True)
    return World(folder, copy / "bin" / "python")


@pytest.fixture
def world(templates: Callable[[str], Path], tmp_path: Path) -> World:
    return make_world(templates, sys._base_executable, tmp_path)


# On every Python


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(8, 15)])
def test_the_probe_answers_on_every_python_from_the_floor_up(
    templates: Callable[[str], Path], tmp_path: Path, version: str
) -> None:
    if version not in FOUND:
        pytest.skip(f"there is no Python {version} on this machine")
    world = make_world(templates, FOUND[version], tmp_path)
    world.install("The.Lib", "1.2", "Requires-Dist: other>=1")
    world.write(
        {
            "checkout/space/mod.py": "",
            "more/space/extra.py": "",
            "checkout/lib/__init__.py": "raise RuntimeError('never run by describe')",
            "checkout/lib/sub/leaf.py": "",
        }
    )
    (world.site / "lib.pth").write_text(f"{world.folder}/checkout\n")
    found = world.describe("space.mod", "space", "lib.sub.leaf", "nothing.at.all", path=(world.folder / "more",))
    assert found.version.startswith(version + ".")
    assert [
        (one.name, one.version, one.requires, one.kind) for one in found.distributions if one.name == "the-lib"
    ] == [("the-lib", "1.2", ("other>=1",), "dist-info")]
    assert found.modules["space.mod"].effective is not None
    assert found.modules["space.mod"].effective.file == f"{world.folder}/checkout/space/mod.py"
    space = found.modules["space"].effective
    assert space is not None
    assert (space.file, set(space.locations)) == (
        None,
        {f"{world.folder}/more/space", f"{world.folder}/checkout/space"},
    )
    leaf = found.modules["lib.sub.leaf"].effective
    assert leaf is not None
    assert leaf.file == f"{world.folder}/checkout/lib/sub/leaf.py"
    assert found.modules["nothing.at.all"].error == "no module named 'nothing'"
    assert found.modules["nothing.at.all"].copies == ()
    assert found.complaints == ""
    assert world.load("space.mod").file == f"{world.folder}/checkout/space/mod.py"
    failed = world.load("lib")
    assert (failed.ok, failed.error) == (False, "RuntimeError: never run by describe")
    assert failed.frames == (f"{world.folder}/checkout/lib/__init__.py:1 in <module>",)


def test_an_interpreter_below_the_floor_is_named(tmp_path: Path) -> None:
    pattern = f"{os.path.expanduser('~')}/.pyenv/versions/3.[67]*/bin/python"
    old = sorted(glob.glob(pattern))
    if not old:
        pytest.skip("there is no Python 3.6 or 3.7 on this machine")
    for path in old:
        with pytest.raises(OutsideError, match=r"is Python 3\.[67]\.\d+, and 3\.8 is the oldest") as caught:
            World(tmp_path, Path(path)).describe()
        assert caught.value.code == "old-interpreter"


# Where things are


def test_every_copy_is_found_and_the_first_is_the_effective_one(world: World) -> None:
    world.write({"front/lib/__init__.py": "", "venv_copy/lib.py": "", "front/lib/data/x.txt": ""})
    (world.site / "lib").mkdir()
    (world.site / "lib/__init__.py").write_text("")
    (world.site / "a.pth").write_text(f"{world.folder}/venv_copy\n")
    lib = world.describe("lib", path=(world.folder / "front",)).modules["lib"]
    assert lib.effective is not None
    assert lib.effective.file == f"{world.folder}/front/lib/__init__.py"
    assert [copy.file for copy in lib.copies] == [
        f"{world.folder}/front/lib/__init__.py",
        f"{world.site}/lib/__init__.py",
        f"{world.folder}/venv_copy/lib.py",
    ]
    assert [copy.via for copy in lib.copies] == [f"{world.folder}/front", str(world.site), f"{world.folder}/venv_copy"]


def test_the_same_place_by_two_ways_is_one_copy(world: World) -> None:
    world.write({"checkout/lib.py": ""})
    (world.folder / "alias").symlink_to("checkout")
    lib = world.describe("lib", path=(world.folder / "checkout", world.folder / "alias")).modules["lib"]
    assert [copy.file for copy in lib.copies] == [f"{world.folder}/checkout/lib.py"]
    found = world.describe(path=(world.folder / "alias",))
    assert (found.sys_path[0], found.searched[0]) == (f"{world.folder}/alias", f"{world.folder}/checkout")


def test_a_module_hidden_by_a_regular_package_above_it_is_still_listed(world: World) -> None:
    world.write({"front/space/__init__.py": "", "checkout/space/core/__init__.py": ""})
    found = world.describe("space.core", path=(world.folder / "front", world.folder / "checkout"))
    assert found.modules["space.core"].effective is None
    assert [copy.file for copy in found.modules["space.core"].copies] == [
        f"{world.folder}/checkout/space/core/__init__.py"
    ]


def test_a_namespace_over_three_distributions_has_three_portions(world: World) -> None:
    for part in ("one", "two", "three"):
        world.write({f"{part}/space/{part}/__init__.py": ""})
        (world.site / f"{part}.pth").write_text(f"{world.folder}/{part}\n")
    found = world.describe("space", "space.two")
    space = found.modules["space"].effective
    assert space is not None
    assert len(space.locations) == 3
    assert len(found.modules["space.two"].copies) == 1
    assert set(world.load("space").paths) == set(space.locations)


def test_a_finder_of_an_editable_install_is_asked_and_its_map_is_shown(world: World) -> None:
    world.write({"checkout/src/lib/__init__.py": "", "checkout/src/lib/sub.py": ""})
    finder = f"""
import importlib.util, sys
MAPPING = {{"lib": {str(world.folder / "checkout/src/lib")!r}}}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return importlib.util.spec_from_file_location(
                name, MAPPING[name] + "/__init__.py", submodule_search_locations=[MAPPING[name]])
def install():
    sys.meta_path.append(Finder)
"""
    (world.site / "__editable___lib_finder.py").write_text(finder)
    (world.site / "__editable__.lib.pth").write_text("import __editable___lib_finder as f; f.install()\n")
    found = world.describe("lib", "lib.sub")
    assert [(one.name, one.mapping) for one in found.finders] == [
        ("__editable___lib_finder.Finder", (("lib", f"{world.folder}/checkout/src/lib"),))
    ]
    assert [copy.file for copy in found.modules["lib"].copies] == [f"{world.folder}/checkout/src/lib/__init__.py"]
    sub = found.modules["lib.sub"].effective
    assert sub is not None
    assert sub.file == f"{world.folder}/checkout/src/lib/sub.py"


def test_a_finder_that_raises_is_an_answer(world: World) -> None:
    (world.site / "bad.pth").write_text(
        "import sys; sys.meta_path.insert(0, type('F', (), {'find_spec': staticmethod(lambda *a: 1 / 0)}))\n"
    )
    found = world.machine().try_import(world.image(), "lib")
    assert not found.ok


def test_a_finder_is_called_with_three_values_as_an_import_does(world: World) -> None:
    world.write({"checkout/lib.py": ""})
    finder = f"""
import importlib.util, sys
class Finder:
    def find_spec(self, fullname, path, target):
        return importlib.util.spec_from_file_location("lib", {str(world.folder / "checkout/lib.py")!r}) if fullname == "lib" else None
sys.meta_path.insert(0, Finder())
"""
    (world.site / "strict_finder.py").write_text(finder)
    (world.site / "strict.pth").write_text("import strict_finder\n")
    lib = world.describe("lib").modules["lib"]
    assert lib.effective is not None
    assert lib.effective.file == f"{world.folder}/checkout/lib.py"
    assert [copy.file for copy in lib.copies] == [f"{world.folder}/checkout/lib.py"]


def test_an_entry_of_the_search_path_that_is_no_text_is_passed_over_and_named(world: World) -> None:
    world.write({"odd/lib.py": ""})
    line = f"import sys, pathlib; sys.path.insert(0, pathlib.Path({str(world.folder / 'odd')!r}))\n"
    (world.site / "odd.pth").write_text(line)
    found = world.describe("lib")
    assert found.modules["lib"].effective is None
    # `site` reads the file twice in a virtual environment on some Pythons.
    assert set(found.unread) == {f"PosixPath('{world.folder}/odd') on sys.path is no text: an import passes over it"}
    assert all(isinstance(entry, str) for entry in found.sys_path)
    assert world.load("lib").missing == "lib"


def test_python_path_entries_that_are_not_there_are_named(world: World) -> None:
    assert world.describe(path=(world.folder, world.folder / "none")).absent == (f"{world.folder}/none",)


# Byte code


def cache(world: World, source: str, text: str | bytes) -> Path:
    """Byte code of `text`, or these bytes, to be taken unchecked for `source`."""
    path, other = world.folder / source, world.folder / "other.py"
    code = "import importlib.util, sys; print(importlib.util.cache_from_source(sys.argv[1]))"
    asked = subprocess.run([world.python, "-c", code, path], check=True, capture_output=True, text=True, env=CLEAN)
    place = Path(asked.stdout.strip())
    place.parent.mkdir(exist_ok=True)
    if isinstance(text, bytes):
        place.write_bytes(text)
        return place
    other.write_text(text)
    code = (
        "import py_compile as p, sys; p.compile(*sys.argv[1:], invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)"
    )
    subprocess.run([world.python, "-c", code, other, place, path], check=True, env=CLEAN)
    return place


SOURCE = "def f(a, *, b=(1, 2.0, None)):\n    return {x for x in a if x in {1, 2, 'three', 1e999 - 1e999}}\n\n\nclass C:\n    g = lambda self: 0\n"


@pytest.mark.parametrize("version", ["3.8", *sorted(FOUND.keys() - {"3.8"})])
def test_byte_code_is_compared_on_every_python(templates: Callable[[str], Path], tmp_path: Path, version: str) -> None:
    if version not in FOUND:
        pytest.skip(f"there is no Python {version} on this machine")
    world = make_world(templates, FOUND[version], tmp_path)
    names = ("same.py", "inner.py", "none.py", "broken.py")
    world.write({**dict.fromkeys(names, SOURCE), "broken.py": "print 'old'\n"})
    cache(world, "same.py", SOURCE)
    inner = cache(world, "inner.py", SOURCE.replace("'three'", "'four'"))
    broken = cache(world, "broken.py", SOURCE)
    found = world.machine().byte_code(world.image(), [f"{world.folder}/{name}" for name in names])
    assert (found.compared, found.left, found.trouble) == (3, 0, None)  # a folded NaN equals no other, and is the same
    assert [(one.path, one.why) for one in found.stale] == [
        (str(inner), "made from another source than the file beside it"),
        (str(broken), "the source beside it does not compile: SyntaxError"),
    ]


def test_an_interpreter_that_keeps_no_byte_code_has_none_to_compare(world: World) -> None:
    """PEP 3147: its tag is None, and `cache_from_source` raises."""
    world.write({"a.py": "A = 1\n"})
    subprocess.run([str(world.python), "-m", "compileall", "-q", str(world.folder / "a.py")], check=True)
    (world.site / "untagged.pth").write_text("import sys; sys.implementation.cache_tag = None\n")
    found = world.machine().byte_code(world.image(), [f"{world.folder}/a.py"])
    assert (found.compared, found.stale, found.trouble) == (0, (), None)


def test_beyond_the_limit_byte_code_is_counted_and_not_compared(world: World) -> None:
    names = [f"m{number}.py" for number in range(5)]
    world.write(dict.fromkeys(names, SOURCE))
    for name in names[1:]:
        cache(world, name, SOURCE)
    sources = [f"{world.folder}/{name}" for name in names]
    found = world.machine().byte_code(world.image(), sources, limit=3)
    assert (found.compared, found.left, found.stale) == (3, 1, ())


def test_damaged_byte_code_is_stale_and_such_as_ends_the_process_is_trouble(world: World) -> None:
    world.write({"lib.py": SOURCE})
    whole = cache(world, "lib.py", SOURCE).read_bytes()
    sources = [f"{world.folder}/lib.py"]
    damaged = cache(world, "lib.py", whole[:16] + b"\xe3\x00")
    found = world.machine().byte_code(world.image(), sources)
    assert [(one.path, one.why) for one in found.stale] == [(str(damaged), "damaged: an import fails on it")]
    cache(world, "lib.py", whole)
    (world.site / "sitecustomize.py").write_text("import os, sys\nif 'limit' in ' '.join(sys.orig_argv): os._exit(3)")
    stopped = world.machine().byte_code(world.image(), sources)
    assert stopped.trouble == "the process ended with exit code 3 before it gave an answer"


def test_an_import_is_tried_from_the_sources(world: World) -> None:
    world.write({"lib.py": "import sys\n"})
    cache(world, "lib.py", "raise RuntimeError('old code')\n")
    found = world.load("lib", world.folder)
    assert (found.ok, found.error) == (True, None)


def test_the_manifests_own_folder_of_caches_is_the_one_that_is_looked_into(world: World) -> None:
    world.write({"lib.py": SOURCE})
    env = (("PYTHONPYCACHEPREFIX", str(world.folder / "caches")),)
    assert cache(world, "lib.py", "other = 1\n").exists()
    found = world.machine().byte_code(world.image(env=env), [f"{world.folder}/lib.py"])
    assert (found.compared, found.stale, found.trouble) == (0, (), None)


# Distributions


def test_old_and_new_metadata_are_read(world: World) -> None:
    world.install("New", "2", direct_url__json='{"url": "file:///a%20b/c", "dir_info": {"editable": true}}')
    world.install("plain", "3", direct_url__json='{"url": "file:///x", "dir_info": {}}')
    write(
        world.site / "old.egg-info",
        {
            "PKG-INFO": "Name: old\nVersion: 1\n",
            "requires.txt": "a>=1\n\n[x]\nb\n\n[y:python_version<'3']\nc\n\n[:os_name=='nt']\nd\n",
        },
    )
    (world.site / "single-0.1.egg-info").write_text("Name: single\nVersion: 0.1\n")
    write(world.site / "broken-9.dist-info", {"RECORD": ""})
    write(world.site / "~lib-1.dist-info", {"METADATA": "Name: lib\nVersion: 1\n"})
    world.write({"src/link.egg-info/PKG-INFO": "Name: link\nVersion: 4\n"})
    (world.site / "link.egg-link").write_text(f"{world.folder}/src\n.")
    (world.site / "easy-install.pth").write_text(f"{world.folder}/src\n")
    found = world.describe()
    rows = {(one.name, one.kind): one for one in found.distributions}
    assert rows["new", "dist-info"].editable == "/a b/c"
    assert rows["plain", "dist-info"].editable is None
    assert rows["old", "egg-info"].requires == (
        "a>=1",
        'b ; extra == "x"',
        "c ; (python_version<'3') and extra == \"y\"",
        "d ; (os_name=='nt')",
    )
    assert rows["single", "egg-info"].version == "0.1"
    assert (rows["broken", "dist-info"].version, rows["broken", "dist-info"].complete) == ("9", False)
    assert rows["link", "egg-link"].editable == f"{world.folder}/src"
    assert rows["link", "egg-info"].version == "4"
    assert found.left_overs == (f"{world.site}/~lib-1.dist-info",)


def test_the_folders_that_something_can_come_from_are_all_but_the_standard_library(world: World) -> None:
    (world.folder / "elsewhere").mkdir()
    (world.site / "elsewhere.pth").write_text(f"{world.folder}/elsewhere\n")
    found = world.describe(path=(world.folder / "absent",))
    assert {*found.folders} == {str(world.site), f"{world.folder}/elsewhere", f"{world.folder}/absent"}


def test_the_lines_of_path_files_are_shown(world: World) -> None:
    (world.site / "a.pth").write_text("# why\n/somewhere\nimport sys; sys.path.insert(0, '/front')\n")
    found = world.describe()
    assert [(one.path, one.lines) for one in found.path_files if one.path.endswith("/a.pth")] == [
        (f"{world.site}/a.pth", ("# why", "/somewhere", "import sys; sys.path.insert(0, '/front')"))
    ]
    assert found.sys_path[0] == "/front"


def test_commands_that_are_gone_or_lead_nowhere_are_told(world: World) -> None:
    entry_points = "[console_scripts]\nnew-name = lib.cli:main\nold-name = lib.gone:main\n[other]\nx = y\n"
    world.install("lib", "1", entry_points__txt=entry_points)
    write(world.site, {"lib/__init__.py": "", "lib/cli.py": ""})
    (world.python.parent / "old-name").write_text("")
    found = world.describe(named=("lib",)).commands
    assert {(one.name, one.exists, one.found) for one in found} == {
        ("new-name", False, True),
        ("old-name", True, False),
    }
    assert world.describe().commands == ()


def test_the_marker_of_an_externally_managed_environment_is_seen_outside_virtual_ones_only(world: World) -> None:
    assert world.describe().externally_managed is None


# The process


def test_nothing_is_written_and_the_callers_environment_does_not_leak(world: World) -> None:
    world.write({"checkout/lib.py": "import os\nprint(sorted(os.environ))\nassert 'PYTHONHOME' not in os.environ\n"})
    machine = world.machine(PYTHONPATH="/ambient", PYTHONHOME="/nowhere", GIT_DIR="/x", PIP_TARGET="/y", KEPT="1")
    image = world.image(world.folder / "checkout", env=(("FROM_MANIFEST", "yes"),))
    found = machine.try_import(image, "lib")
    assert found == Import("lib", ok=True, file=f"{world.folder}/checkout/lib.py")
    described = machine.describe(image, [], [])
    assert described.ambient_python_path == "/ambient"
    assert "/ambient" not in described.sys_path
    assert described.sys_path[0] == f"{world.folder}/checkout"
    world.write({"checkout/outer.py": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import lib'])\n"})
    assert machine.try_import(image, "outer").ok
    assert sorted(path.name for path in (world.folder / "checkout").rglob("*")) == ["lib.py", "outer.py"]


def test_the_manifests_environment_reaches_the_import(world: World) -> None:
    world.write({"lib.py": "import os\nassert os.environ['MODE'] == 'fast' and 'GIT_DIR' not in os.environ\n"})
    image = world.image(world.folder, env=(("MODE", "fast"),))
    assert world.machine(GIT_DIR="/x").try_import(image, "lib").ok


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import os; os._exit(0)", "the process ended with exit code 0 before it gave an answer"),
        ("import os; os._exit(7)", "the process ended with exit code 7 before it gave an answer"),
        ("import os; os.kill(os.getpid(), 11)", "the process was ended by signal 11 before it gave an answer"),
        ("import sys; sys.exit('bye')", "SystemExit: bye"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
        ("class E(Exception):\n    def __str__(self): raise self\nraise E", "E: (an error that cannot be shown)"),
        ("raise ValueError('two\\nlines \\udcff')", "ValueError: two lines \\udcff"),
    ],
)
def test_whatever_an_import_does_is_an_answer(world: World, code: str, error: str) -> None:
    world.write({"lib.py": code})
    found = world.load("lib", world.folder)
    assert (found.ok, found.error) == (False, error)


def test_what_an_import_prints_or_does_at_exit_is_not_taken_for_an_answer(world: World) -> None:
    code = """
import atexit, os, threading, time
print('{"ok": false}')
os.chdir("/")
atexit.register(lambda: os._exit(9))
threading.Thread(target=time.sleep, args=(60,)).start()
"""
    world.write({"lib.py": code})
    found = Machine(CLEAN, Places(world.folder), timeout=10).try_import(world.image(world.folder), "lib")
    assert found.ok


def test_an_import_that_never_ends_is_stopped(world: World) -> None:
    world.write({"lib.py": "import time\ntime.sleep(60)\n"})
    found = Machine(CLEAN, Places(world.folder), timeout=0.5).try_import(world.image(world.folder), "lib")
    assert (found.ok, found.error) == (False, "did not come back within 0.5 seconds")


def test_which_module_is_missing_is_told(world: World) -> None:
    world.write({"lib/__init__.py": "import nowhere.at_all\n"})
    assert world.load("lib.sub", world.folder).missing == "nowhere"
    assert world.load("other", world.folder).missing == "other"


@pytest.mark.parametrize(
    ("name", "code"), [("missing-interpreter", ""), ("broken-interpreter", "import os; os._exit(3)")]
)
def test_an_interpreter_that_does_not_answer_is_named(world: World, name: str, code: str) -> None:
    if code:
        (world.site / "sitecustomize.py").write_text(code)
    else:
        world.python.unlink()
    with pytest.raises(OutsideError) as caught:
        world.describe()
    assert caught.value.code == name


def test_an_interpreter_that_complains_at_start_still_answers(world: World) -> None:
    (world.site / "sitecustomize.py").write_text("raise ValueError('half installed')")
    assert "half installed" in world.describe().complaints


def test_a_module_that_hides_the_standard_library_is_named_by_the_last_line(world: World) -> None:
    world.write({"front/json.py": "raise ImportError('not the real one')"})
    with pytest.raises(OutsideError, match="not the real one"):
        world.describe(path=(world.folder / "front",))


def test_absolute_paths_lie_below_the_root(world: World) -> None:
    image = Image(*("i", None, None, None, None, ("keep",), "/venv/bin/python", ("/checkout",), "report", (), {}))
    world.write({"checkout/lib.py": ""})
    machine = Machine(CLEAN, Places(Path("/nowhere"), world.folder))
    assert machine.try_import(image, "lib").file == f"{world.folder}/checkout/lib.py"


def test_what_was_swallowed_on_the_way_of_an_import_is_told(world: World) -> None:
    write(
        world.folder / "front",
        {
            "core/__init__.py": "here = 1\n",
            "core/sub.py": "",
            "bridge/__init__.py": "from . import plain, loader\nfrom core import here, sub\n",
            "bridge/plain.py": "import json, os.path\nfrom os import *\n",
            "bridge/loader.py": (
                "try:\n    from core import here, gone\nexcept ImportError:\n    pass\n"
                "try:\n    import core.absent\nexcept Exception:\n    pass\n"
            ),
        },
    )
    found = world.machine().try_import(world.image(world.folder / "front"), "bridge")
    assert found.ok
    ours = [one for one in found.swallowed if one[0].startswith("core")]
    assert ours == [("core.gone", "bridge.loader"), ("core.absent", "bridge.loader")]


# What lies in the site folders


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(8, 15)])
def test_what_no_distribution_owns_is_told_on_every_python(
    templates: Callable[[str], Path], tmp_path: Path, version: str
) -> None:
    if version not in FOUND:
        pytest.skip(f"there is no Python {version} on this machine")
    world = make_world(templates, FOUND[version], tmp_path)  # in the project's own folder, as many are
    row = f"own/a.py,sha256={base64.urlsafe_b64encode(hashlib.sha256(b'a').digest()).decode().rstrip('=')},1\n"
    world.install("own", "1", RECORD=f"{row}own/b.py,,\nown.pth,,\nown-1.dist-info/RECORD,,\n")
    texts = {"own/a.py": "b", "own/b.py": "", "own/c.py": "c", "own.pth": "import os\n", "z.pth": "import os\n"}
    texts |= {
        "sitecustomize.py": "",
        "space/deep/x.py": "",
        "pkg/__init__.py": "",
        "data/readme.txt": "",
        "my-tool.py": "",
    }
    write(world.site, texts)
    found = world.describe().site
    assert found is not None
    base = world.site.relative_to(world.folder / "venv").as_posix()
    # Debian puts a sitecustomize.py of its own beside the standard library: that one is not below this environment.
    here = [one for one in found.loose if not one.path.startswith("/usr/lib/")]
    assert {(one.path.removeprefix(f"{base}/"), one.kind) for one in here} == {
        ("own/c.py", "module"),
        ("pkg", "package"),
        ("sitecustomize.py", "module"),
        ("space", "folder"),
    }
    assert [(one.distribution, one.path, one.sha256) for one in found.edited] == [
        ("own", f"{base}/own/a.py", hashlib.sha256(b"b").hexdigest())
    ]
    assert [(one.path, one.owners) for one in found.path_files] == [
        (f"{base}/own.pth", ("own",)),
        (f"{base}/z.pth", ()),
    ]


def test_lines_of_path_files_that_lead_into_a_checkout_are_the_checkouts_affair(world: World) -> None:
    world.write({"checkout/a/x.py": "", "elsewhere/x.py": ""})
    image = Image(
        *("i", None, None, None, None, ("keep",), str(world.python), (), "report", ()),
        {"lib": Baked("lib", str(world.folder / "checkout"), (), (), (), (), (), (), "stop", ())},
    )
    machine = Machine(CLEAN, Places(world.folder / "project"), timeout=30)

    def hashes(text: str) -> list[str]:
        (world.site / "easy-install.pth").write_text(text)
        site = machine.describe(image, [], []).site
        assert site is not None
        return [one.sha256 for one in site.path_files]

    around = (
        "import sys; sys.__plen = len(sys.path)\n{}import sys; new=sys.path[sys.__plen:]; del sys.path[sys.__plen:]\n"
    )
    assert hashes(around.format(f"{world.folder}/checkout/a\n")) == []
    assert hashes(f"# a comment\n\n{world.folder}/checkout\n") == []
    assert hashes("./lib-2.0-py3.11.egg\n") == []  # the egg is a distribution
    other = hashes(f"{world.folder}/elsewhere\n")
    assert len(other) == 1
    assert hashes(f"{world.folder}/checkout/a\n{world.folder}/elsewhere\n") == other
    assert hashes(f"{world.folder}/elsewhere\nimport os\n") != other


def test_a_large_distribution_is_compared_by_size_and_time_alone(world: World) -> None:
    big = 65 * 1024 * 1024
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"aa").digest()).decode().rstrip("=")
    rows = f"big/data.bin,sha256={digest},{big}\nbig/a.py,sha256={digest},2\nbig/b.py,sha256={digest},2\n"
    metadata = world.install("big", "1", RECORD=rows)
    write(world.site, {"big/a.py": "bb", "big/b.py": "bb", "big/data.bin": ""})
    os.truncate(world.site / "big/data.bin", big)
    written = (metadata / "RECORD").stat().st_mtime
    os.utime(world.site / "big/a.py", (written, written))
    os.utime(world.site / "big/b.py", (written + 60, written + 60))
    site = world.describe().site
    assert site is not None
    assert [one.path.rpartition("/")[2] for one in site.edited] == ["b.py"]


def test_a_pipe_in_a_site_folder_does_not_hang(world: World) -> None:
    os.mkfifo(world.install("lib", "1") / "RECORD")
    assert world.describe().distributions[0].record is not None
