"""From what was found to findings: each rule on the smallest machine that breaks it."""

from typing import Any

import pytest
from msgspec.structs import replace

from regraft.core.baseline import (
    SCHEMA,
    Baseline,
    BaselineDependency,
    BaselinePatch,
    Distribution,
    EditedFile,
    HeldFile,
    HeldFinder,
    Loose,
    Site,
)
from regraft.core.findings import Finding
from regraft.core.manifest import Baked, Dependency, Image, Lock, Manifest
from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.observation import (
    ByteCode,
    Checkout,
    Command,
    Difference,
    Environment,
    Extra,
    Finder,
    FoundPatch,
    Import,
    Installed,
    Module,
    Observation,
    PathFile,
    Place,
    Portion,
    StaleCode,
    Unreadable,
)
from regraft.core.plan import Plan, PlannedDependency, PlannedImage, PlannedPatch, Source
from regraft.core.verdict import Case, checks, judge

OLD, NEW = Commit("1" * 40), Commit("2" * 40)
OLD_TREE, TREE, OTHER_TREE = Tree("a" * 40), Tree("b" * 40), Tree("c" * 40)
P = Sha256("d" * 64)
HERE = "/src/lib"
SITE = "/venv/site-packages"
PYTHON = "/venv/bin/python"


def installed(name: str, version: str, **fields: Any) -> Installed:
    metadata = f"{SITE}/{name}-{version}.dist-info"
    base = Installed(name, version, (), "dist-info", SITE, metadata, complete=True, editable=None)
    return replace(base, **fields)


def place(path: str | None, *locations: str, via: str = HERE) -> Place:
    return Place(path, locations, built_in=path is None and not locations, via=via)


def module(name: str, *copies: Place) -> Module:
    effective = copies[0] if copies else None
    return Module(name, effective, None if copies else f"no module named {name!r}", copies)


LIB = place(f"{HERE}/lib/__init__.py", f"{HERE}/lib")

ENVIRONMENT = Environment(
    version="3.10.4",
    executable=PYTHON,
    prefix="/venv",
    purelib=SITE,
    platlib=SITE,
    scripts="/venv/bin",
    externally_managed=None,
    sys_path=("/front", SITE, HERE),
    searched=("/front", SITE, HERE),
    python_path=("/front",),
    absent=(),
    ambient_python_path=None,
    markers={
        "python_version": "3.10",
        "python_full_version": "3.10.4",
        "sys_platform": "linux",
        "os_name": "posix",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "platform_release": "",
        "platform_version": "",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "implementation_version": "3.10.4",
    },
    distributions=(
        installed("lib", "2.0", editable=HERE),
        installed("proj", "1.0"),
        installed("torch", "2.3"),
    ),
    left_overs=(),
    unread=(),
    path_files=(PathFile(f"{SITE}/lib.pth", ("# editable", HERE)),),
    finders=(),
    modules={"lib": module("lib", LIB)},
    commands=(),
    complaints="",
    site=Site(),
)

CHECKOUT = Checkout(
    "lib",
    HERE,
    HERE,
    "repository",
    head=NEW,
    head_tree=TREE,
    judged="entries",
    expected=TREE,
    tree=TREE,
    patches=(FoundPatch("p.patch", P, "applied"),),
    touched=("lib/core.py",),
    source_folders=("lib",),
    tracked=frozenset({"lib/__init__.py", "lib/core.py"}),
)

BAKED = Baked("lib", HERE, (), ("lib",), ("lib",), (), (), (), "stop", ("p.patch",))

BASELINE = Baseline(
    SCHEMA,
    "img",
    None,
    "3.10.4",
    {"lib": BaselineDependency(OLD, OLD_TREE, (BaselinePatch("p.patch", P),), {"lib": "1.0"}, ("notes.txt",), {}, ())},
    (Distribution("lib", "1.0"), Distribution("proj", "0.9"), Distribution("torch", "2.3")),
    Site(),
)

PLANNED = PlannedDependency(
    "override",
    "#1",
    Source("body", 1, 1),
    "https://example.org/lib",
    NEW,
    TREE,
    (PlannedPatch("p.patch", P, "applies"),),
)
KEPT = replace(PLANNED, action="keep", ref=None, patches=(PlannedPatch("p.patch", P, None),))


def case(
    checkout: Checkout | Unreadable = CHECKOUT,
    environment: Environment | Unreadable = ENVIRONMENT,
    imports: dict[str, Import] | None = None,
    *,
    baked: Baked = BAKED,
    planned: PlannedDependency = PLANNED,
    baseline: Baseline | None = BASELINE,
    requirements: Any = "report",
    lock: Lock | None = None,
    **more: Any,
) -> Case:
    image = Image("img", None, None, None, None, ("keep",), PYTHON, ("/front",), requirements, (), {"lib": baked})
    dependency = Dependency("lib", "https://example.org/lib", None, "ci-lib-pr", (), None, lock)
    manifest = Manifest("proj", (), ("proj",), {"lib": dependency}, {"img": image}, {}, P)
    plan = Plan("regraft.plan/1", P, P, "proj", P, (), PlannedImage("img", None, None), None, {"lib": planned}, ())
    found = imports if imports is not None else {"lib": Import("lib", ok=True, file=LIB.file, paths=LIB.locations)}
    observation = Observation("img", environment, found, {"lib": checkout})
    return Case(plan, manifest, image, baseline, observation, **{"changed": {"lib": ()}, **more})


def rules(found: Case) -> list[tuple[str, str]]:
    return [(one.rule, one.severity) for one in judge(found)]


def only(found: Case, rule: str) -> Finding:
    [one] = [one for one in judge(found) if one.rule == rule]
    return one


def texts(finding: Finding) -> str:
    return " | ".join((finding.message, *(f"{one.path}:{one.line} {one.message}" for one in finding.witnesses)))


def test_a_machine_that_is_what_was_planned_has_no_findings() -> None:
    assert rules(case()) == []
    assert checks(case()) == 4  # the checkout, the import, two distributions


# Where an import comes from


def environment(*copies: Place, **fields: Any) -> Environment:
    modules = {"lib": module("lib", *copies)} if copies else {"lib": module("lib")}
    return replace(ENVIRONMENT, **{"modules": modules, **fields})


OLD_COPY = place(f"{SITE}/lib/__init__.py", f"{SITE}/lib", via=SITE)


def test_an_import_from_elsewhere_says_where_and_what_put_it_there() -> None:
    loaded = {"lib": Import("lib", ok=True, file=OLD_COPY.file, paths=OLD_COPY.locations)}
    found = case(CHECKOUT, environment(OLD_COPY), loaded)
    finding = only(found, "import-elsewhere")
    assert finding.severity == "error"
    assert f"{SITE}/lib/__init__.py, not from the checkout {HERE}" in finding.message
    assert "installed in the environment" in texts(finding)


@pytest.mark.parametrize(
    ("via", "fields", "blamed"),
    [
        (
            "/old",
            {
                "path_files": (
                    PathFile(
                        f"{SITE}/x.pth",
                        ("", "/old/"),
                    ),
                )
            },
            f"{SITE}/x.pth:2",
        ),
        (
            "/old",
            {"path_files": (PathFile(f"{SITE}/x.pth", ("import sys; sys.path.insert(0, '/old')",)),)},
            f"{SITE}/x.pth:1 \"import sys; sys.path.insert(0, '/old')\" leads to",
        ),
        (f"{SITE}/../old", {"path_files": (PathFile(f"{SITE}/x.pth", ("../old",)),)}, f"{SITE}/x.pth:1"),
        ("/front", {"path_files": ()}, "in front by python-path"),
        ("F.finder", {"finders": (Finder("F.finder", (("lib", "/old"),)),)}, "F.finder maps lib to /old"),
        ("/somewhere", {}, "on the search path"),
    ],
)
def test_what_leads_to_the_wrong_copy_is_named(via: str, fields: dict[str, Any], blamed: str) -> None:
    copy = place("/old/lib/__init__.py", "/old/lib", via=via)
    loaded = {"lib": Import("lib", ok=True, file=copy.file, paths=copy.locations)}
    assert blamed in texts(only(case(CHECKOUT, environment(copy, **fields), loaded), "import-elsewhere"))


def test_a_folder_that_merely_begins_like_the_checkout_is_elsewhere() -> None:
    copy = place(f"{HERE}-old/lib/__init__.py", f"{HERE}-old/lib")
    loaded = {"lib": Import("lib", ok=True, file=copy.file)}
    assert ("import-elsewhere", "error") in rules(case(CHECKOUT, environment(copy), loaded))


def test_a_second_copy_is_an_error_even_where_the_right_one_is_taken() -> None:
    finding = only(case(CHECKOUT, environment(LIB, OLD_COPY)), "second-copy")
    assert finding.severity == "error"
    assert f"{HERE}/lib/__init__.py and {SITE}/lib/__init__.py" in finding.message


def test_a_namespace_needs_a_portion_in_the_checkout_and_may_have_others() -> None:
    space = place(None, "/other/lib", f"{HERE}/lib")
    both = environment(space, place(None, "/other/lib", via="/other"), place(None, f"{HERE}/lib"))
    loaded = {"lib": Import("lib", ok=True, paths=space.locations)}
    assert rules(case(CHECKOUT, both, loaded)) == []
    elsewhere = {"lib": Import("lib", ok=True, paths=("/other/lib",))}
    assert rules(case(CHECKOUT, environment(place(None, "/other/lib")), elsewhere)) == [("import-elsewhere", "error")]


def test_two_files_of_the_checkout_are_no_second_copy_with_a_copy_to_uninstall() -> None:
    """A finder of setuptools finds the source, and an import the compiled module beside it."""
    source = place(f"{HERE}/lib/core.py", via="finder")
    compiled = place(f"{HERE}/lib/core.so")
    found = replace(
        ENVIRONMENT, modules={"lib.core": module("lib.core", compiled, source)}, extension_suffixes=(".so",)
    )
    loaded = {"lib.core": Import("lib.core", ok=True, file=compiled.file)}
    checkout = replace(CHECKOUT, extras=(Extra("lib/core.so", "ignored"),))
    baked = replace(BAKED, imports=("lib.core",))
    assert ("shadowed-source", "error") in rules(case(checkout, found, loaded, baked=baked))
    assert "second-copy" not in dict(rules(case(checkout, found, loaded, baked=baked)))
    meant = replace(baked, rebuild_when=("lib/*.py",))
    assert [one for one in rules(case(checkout, found, loaded, baked=meant)) if one[1] == "error"] == []


@pytest.mark.parametrize(
    ("name", "file", "rule"),
    [
        ("lib.core", f"{HERE}/lib/core.py", None),
        ("lib._version", f"{HERE}/lib/_version.py", None),  # generated: the tree has no such module
        ("lib.core", f"{HERE}/build/lib/core.so", "import-untracked"),
        ("fast", f"{HERE}/build/fast.so", None),
        ("other", f"{HERE}/build/other.py", "import-untracked"),
        ("lib.core", f"{HERE}/venv/site-packages/lib/core.py", "import-elsewhere"),
        ("fast", f"{HERE}/venv/site-packages/fast.so", "import-elsewhere"),
    ],
)
def test_what_lies_in_the_checkout_is_not_for_that_the_checkouts(name: str, file: str, rule: str | None) -> None:
    found = replace(
        ENVIRONMENT,
        modules={name: module(name, place(file))},
        extension_suffixes=(".so",),
        prefix=f"{HERE}/venv",
        purelib=f"{HERE}/venv/site-packages",
    )
    loaded = {name: Import(name, ok=True, file=file)}
    made = rules(case(CHECKOUT, found, loaded, baked=replace(BAKED, imports=(name,))))
    assert made == ([(rule, "error")] if rule else [])


def test_an_environment_that_a_link_leads_to_is_found_in_the_checkout() -> None:
    file = f"{HERE}/venv/site-packages/fast.so"
    found = replace(
        ENVIRONMENT,
        modules={"fast": module("fast", place(file))},
        extension_suffixes=(".so",),
        prefix="/link/venv",
        purelib="/link/venv/site-packages",
        sys_path=("/front", "/link/venv/site-packages"),
        searched=("/front", f"{HERE}/venv/site-packages"),
    )
    loaded = {"fast": Import("fast", ok=True, file=file)}
    made = rules(case(CHECKOUT, found, loaded, baked=replace(BAKED, imports=("fast",))))
    assert made == [("import-elsewhere", "error")]


def test_a_checkout_inside_the_environment_is_a_checkout() -> None:
    """`pip install -e git+...` puts it below the environment's own folder."""
    assert rules(case(CHECKOUT, replace(ENVIRONMENT, prefix="/src"))) == []


def test_a_portion_with_more_modules_than_are_listed_is_told() -> None:
    space = place(None, f"{HERE}/lib", "/other/lib")
    portions = (Portion(f"{HERE}/lib", ("core",)), Portion("/other/lib", ("more",), whole=False))
    found = replace(ENVIRONMENT, modules={"lib": replace(module("lib", space), portions=portions)})
    loaded = {"lib": Import("lib", ok=True, paths=space.locations)}
    assert rules(case(CHECKOUT, found, loaded)) == [("not-looked-into", "warning")]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ByteCode(9), []),
        (ByteCode(1, (StaleCode(f"{HERE}/x.pyc", "why"),)), [("stale-bytecode", "error")]),
        (ByteCode(5, left=2), [("bytecode-not-compared", "warning")]),
        (ByteCode(0, trouble="it was ended by signal 11"), [("bytecode-not-compared", "error")]),
    ],
)
@pytest.mark.parametrize("planned", [PLANNED, KEPT])
def test_byte_code(code: ByteCode, expected: list[tuple[str, str]], planned: PlannedDependency) -> None:
    found = case(planned=planned, baseline=None)
    found = replace(found, observation=replace(found.observation, byte_code={"lib": code}))
    assert [one for one in rules(found) if "code" in one[0]] == expected


DEEP = replace(BAKED, imports=("lib.core",))
MISSING = {"lib.core": Import("lib.core", ok=False, error="ModuleNotFoundError: no", missing="lib.core")}


def deep(parent: Place | None, *copies: Place) -> Environment:
    modules = {
        "lib": module("lib", *([parent] if parent else [])),
        "lib.core": Module("lib.core", None, "none", copies),
    }
    return replace(ENVIRONMENT, modules=modules)


def test_a_package_in_front_that_hides_the_checkouts_is_named() -> None:
    front = place("/front/lib/__init__.py", "/front/lib", via="/front")
    hidden = place(f"{HERE}/lib/core/__init__.py", f"{HERE}/lib/core")
    finding = only(case(CHECKOUT, deep(front, hidden), MISSING, baked=DEEP), "import-elsewhere")
    assert "lib above it is taken from /front/lib/__init__.py" in finding.message
    assert "in front by python-path" in texts(finding)


def test_a_distribution_with_fewer_packages_is_told_from_one_with_nothing_behind_it() -> None:
    fewer = case(CHECKOUT, deep(OLD_COPY), MISSING, baked=DEEP)
    assert f"lib is {SITE}/lib/__init__.py, and has no such module" in only(fewer, "missing-package").message
    nothing = case(CHECKOUT, deep(None), MISSING, baked=DEEP)
    assert (
        "lib 2.0 is installed by its metadata, and lib.core is not importable"
        in only(nothing, "stale-metadata").message
    )
    bare = replace(deep(None), distributions=())
    assert "missing-package" in dict(rules(case(CHECKOUT, bare, MISSING, baked=DEEP)))


def test_an_import_that_fails_for_its_own_reasons_shows_its_last_frames() -> None:
    failed = Import("lib", ok=False, error="ImportError: no symbol", frames=(f"{HERE}/lib/a.py:7 in load",))
    finding = only(case(imports={"lib": failed}), "import-fails")
    assert "import lib: ImportError: no symbol" in finding.message
    assert (finding.witnesses[0].path, finding.witnesses[0].line) == (f"{HERE}/lib/a.py", 7)
    inner = Import("lib", ok=False, error="ModuleNotFoundError: No module named 'gone'", missing="gone")
    assert ("import-fails", "error") in rules(case(imports={"lib": inner}))


def test_what_is_only_located_is_judged_like_an_import() -> None:
    located = replace(BAKED, imports=(), locate=("lib",))
    assert rules(case(imports={}, baked=located)) == []
    assert rules(case(CHECKOUT, environment(OLD_COPY), {}, baked=located)) == [("import-elsewhere", "error")]
    assert rules(case(CHECKOUT, environment(), {}, baked=located)) == [("stale-metadata", "error")]


def test_an_import_that_nobody_tried_is_no_silent_yes() -> None:
    assert rules(case(imports={})) == [("import-not-tried", "error")]


def test_a_hostile_name_is_shown_with_escapes() -> None:
    copy = place("/old/\x1b[31m/lib.py", via="/old")
    loaded = {"lib": Import("lib", ok=True, file=copy.file)}
    finding = only(case(CHECKOUT, environment(copy), loaded), "import-elsewhere")
    assert "\x1b" not in texts(finding)


# Distributions


def with_distributions(*found: Installed, **fields: Any) -> Environment:
    rest = (installed("proj", "1.0"), installed("torch", "2.3"))
    return replace(ENVIRONMENT, distributions=(*found, *rest), **fields)


EGG = installed("lib", "2.0", kind="egg-info", folder=HERE, metadata=f"{HERE}/lib.egg-info")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], [("distribution-missing", "error")]),
        ([installed("lib", "2.0", editable="/other")], [("distribution-elsewhere", "error")]),
        ([installed("lib", "2.0", editable=f"{HERE}/python")], []),
        ([installed("lib", "2.0", editable=HERE), EGG], []),
        ([EGG], []),
        ([installed("lib", "2.0", editable=HERE), replace(EGG, version="1.9")], [("several-metadata", "warning")]),
        (
            [installed("lib", "2.0", editable=HERE), installed("lib", "1.0", metadata="/usr/lib/lib-1.0.dist-info")],
            [("several-metadata", "error")],
        ),
        (
            [
                replace(EGG, kind="egg-link", version="", metadata=f"{SITE}/lib.egg-link", editable="/gone"),
                installed("lib", "2.0", editable=HERE),
            ],
            [("distribution-elsewhere", "error")],
        ),
        ([replace(EGG, kind="egg-link", version="", metadata=f"{SITE}/lib.egg-link", editable=HERE), EGG], []),
        ([installed("lib", "", complete=False)], [("stale-metadata", "error")]),
        ([installed("lib", "0.0.0.dev1+g1234567", editable=HERE)], [("fallback-version", "error")]),
        ([installed("lib", "0.1.dev1", editable=HERE)], [("fallback-version", "error")]),
        ([installed("lib", "0.9", editable=HERE)], []),
    ],
)
def test_named_distributions(found: list[Installed], expected: list[tuple[str, str]]) -> None:
    assert rules(case(CHECKOUT, with_distributions(*found))) == expected


def test_a_fallback_version_that_was_baked_is_not_blamed_on_this_run() -> None:
    environment = with_distributions(installed("lib", "0.0.0", editable=HERE))
    held = replace(BASELINE.dependencies["lib"], distributions={"lib": "0.0.0"})
    baseline = replace(BASELINE, dependencies={"lib": held})
    assert rules(case(CHECKOUT, environment, baseline=baseline)) == [("fallback-version", "warning")]


def test_a_newer_tag_aside_is_noted_for_a_computed_version() -> None:
    environment = with_distributions(installed("lib", "0.20.1.dev181+g1234567", editable=HERE))
    found = case(CHECKOUT, environment, newer_tags={"lib": ("v0.21rc1",)})
    assert "the newer tag v0.21rc1 is not an ancestor" in only(found, "newer-tag-aside").message
    assert rules(case(newer_tags={"lib": ("v9",)})) == []


@pytest.mark.parametrize(
    ("exists", "found", "rule"),
    [(True, False, ("command-broken", "error")), (False, True, ("command-missing", "warning"))],
)
def test_a_renamed_script_leaves_a_command_that_is_gone_or_leads_nowhere(
    exists: bool, found: bool, rule: tuple[str, str]
) -> None:
    command = Command("lib", "lib-serve", "lib.serve", exists, found)
    assert rules(case(CHECKOUT, replace(ENVIRONMENT, commands=(command,)))) == [rule]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (installed("proj", "1.0"), []),  # a wheel is the project's own
        (installed("proj", "0.1.dev1", editable="/lane/proj/python"), []),
        (installed("proj", "1.0", editable="/workspace/proj"), [("distribution-elsewhere", "error")]),
        (installed("proj", "1.0", editable="/lane/project"), [("distribution-elsewhere", "error")]),
    ],
)
def test_an_editable_project_must_be_the_checkout_that_is_tested(
    found: Installed, expected: list[tuple[str, str]]
) -> None:
    rest = tuple(one for one in ENVIRONMENT.distributions if one.name != "proj")
    environment = replace(ENVIRONMENT, distributions=(*rest, found), project="/lane/proj")
    assert rules(case(CHECKOUT, environment)) == expected


def test_the_projects_own_distribution_must_be_there() -> None:
    environment = replace(
        ENVIRONMENT, distributions=(installed("lib", "2.0", editable=HERE), installed("torch", "2.3"))
    )
    finding = only(case(CHECKOUT, environment, baseline=None), "distribution-missing")
    assert (finding.severity, "proj: the distribution proj is not installed" in finding.message) == ("error", True)


# The rest of the environment


@pytest.mark.parametrize(
    ("distributions", "text"),
    [
        ([installed("torch", "2.4")], "torch changed from 2.3 to 2.4"),
        ([], "torch was removed (it was 2.3)"),
        ([installed("torch", "2.3"), installed("helper", "1")], "helper was added (1)"),
        ([installed("torch", "2.4", folder="/front"), installed("torch", "2.3")], "torch changed from 2.3 to 2.4"),
    ],
)
def test_a_change_of_what_is_not_named_is_an_error(distributions: list[Installed], text: str) -> None:
    named = (installed("lib", "2.0", editable=HERE), installed("proj", "1.0"))
    found = case(CHECKOUT, replace(ENVIRONMENT, distributions=(*named, *distributions)))
    finding = only(found, "environment-changed")
    assert finding.severity == "error"
    assert text in finding.message


def test_a_kept_dependencys_distribution_may_not_change() -> None:
    found = case(planned=KEPT)
    assert "lib changed from 1.0 to 2.0" in only(found, "environment-changed").message


def test_without_a_baseline_it_is_said_what_is_not_known() -> None:
    assert rules(case(baseline=None)) == [("environment-unknown", "note")]


def test_another_interpreter_than_the_baselines() -> None:
    assert rules(case(CHECKOUT, replace(ENVIRONMENT, version="3.10.9"))) == [("python-changed", "error")]


NEEDY = with_distributions(installed("lib", "2.0", editable=HERE, requires=("torch<2.3",)))


@pytest.mark.parametrize(("policy", "severity"), [("report", "warning"), ("stop", "error")])
def test_newly_violated_requirements_follow_the_manifest(policy: str, severity: str) -> None:
    finding = only(case(CHECKOUT, NEEDY, requirements=policy), "requirement-violated")
    assert finding.severity == severity
    assert "lib needs torch<2.3, and torch is 2.3" in finding.message
    assert "not known" not in finding.message
    unknown = only(case(CHECKOUT, NEEDY, requirements=policy, baseline=None), "requirement-violated")
    assert (unknown.severity, "not known whether this is new" in unknown.message) == (severity, True)


def test_requirements_that_the_image_violated_already_are_quiet() -> None:
    environment = (Distribution("lib", "1.0", ("torch<2.3",)), *BASELINE.environment[1:])
    found = case(CHECKOUT, NEEDY, requirements="stop", baseline=replace(BASELINE, environment=environment))
    assert rules(found) == []


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"absent": ("/front",)}, ("python-path-missing", "warning")),
        ({"ambient_python_path": "/x:/front"}, ("ambient-python-path", "note")),
        ({"ambient_python_path": "/front:"}, None),
        ({"complaints": "Traceback\nValueError: x"}, ("start-complaints", "warning")),
        ({"unread": ("/x.zip: Not a directory",)}, ("not-looked-into", "warning")),
        ({"left_overs": (f"{SITE}/~orch-2.dist-info",)}, ("half-uninstalled", "warning")),
    ],
)
def test_what_is_odd_about_the_interpreter(fields: dict[str, Any], rule: tuple[str, str] | None) -> None:
    assert rules(case(CHECKOUT, replace(ENVIRONMENT, **fields))) == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("front", "found"), [("/else", True), (f"{HERE}/python", False), (HERE, False)], ids=["elsewhere", "below", "same"]
)
def test_a_folder_of_the_callers_that_holds_a_declared_import(front: str, found: bool) -> None:
    held = ((front, "lib"), (front, "lib.core"), ("/else", "undeclared"))
    environment = replace(ENVIRONMENT, ambient_modules=held, ambient_python_path=front)
    expected = [("ambient-python-path", "note"), *([("ambient-module", "warning")] if found else [])]
    assert rules(case(CHECKOUT, environment)) == expected


# What lies in it

A, B = Sha256("a" * 64), Sha256("b" * 64)
RELATIVE = "lib/site-packages"
OLD_SITE = Site(
    records={"lib": A, "proj": A, "torch": A},
    path_files=(HeldFile(f"{RELATIVE}/a.pth", A), HeldFile(f"{RELATIVE}/lib.pth", A, ("lib",))),
    finders=(HeldFinder("six.Finder"), HeldFinder("lib_1.Finder", ("lib",))),
    loose=(Loose(f"{RELATIVE}/mine", "package", A), Loose("/usr/lib/big", "folder", None)),
    edited=(EditedFile("torch", f"{RELATIVE}/torch/a.py", A), EditedFile("lib", f"{RELATIVE}/lib/b.py", A)),
)


def site_case(records: dict[str, Sha256] | None = None, **fields: Any) -> Case:
    """A machine that differs from the baseline's in these fields. `records` are by name."""
    held = {**OLD_SITE.records, **(records or {})}
    found = tuple(replace(one, record=held[one.name]) for one in ENVIRONMENT.distributions)
    environment = replace(ENVIRONMENT, distributions=found, site=replace(OLD_SITE, records={}, **fields))
    return case(CHECKOUT, environment, baseline=replace(BASELINE, site=OLD_SITE))


def test_an_environment_in_which_nothing_else_changed() -> None:
    assert rules(site_case()) == []


@pytest.mark.parametrize(
    ("fields", "rule", "text"),
    [
        (
            {"records": {"torch": B}},
            "environment-changed",
            f"torch 2.3 was installed again, with other content: {SITE}",
        ),
        (
            {"path_files": (*OLD_SITE.path_files, HeldFile(f"{RELATIVE}/z.pth", A))},
            "path-file-changed",
            f"/venv/{RELATIVE}/z.pth is new",
        ),
        (
            {"path_files": (HeldFile(f"{RELATIVE}/a.pth", B), OLD_SITE.path_files[1])},
            "path-file-changed",
            f"/venv/{RELATIVE}/a.pth has other content",
        ),
        (
            {"path_files": OLD_SITE.path_files[1:]},
            "path-file-changed",
            f"/venv/{RELATIVE}/a.pth is not there any more",
        ),
        ({"finders": OLD_SITE.finders[1:]}, "finder-changed", "the finder six.Finder is not on sys.meta_path any more"),
        (
            {"finders": (*OLD_SITE.finders, HeldFinder("evil.Finder", ("torch",)))},
            "finder-changed",
            "the finder evil.Finder is on sys.meta_path, and was not",
        ),
        (
            {"loose": (*OLD_SITE.loose, Loose(f"{RELATIVE}/sitecustomize.py", "module", A))},
            "loose-module",
            f"/venv/{RELATIVE}/sitecustomize.py is new",
        ),
        (
            {"loose": (Loose(f"{RELATIVE}/mine", "package", B), OLD_SITE.loose[1])},
            "loose-module",
            f"/venv/{RELATIVE}/mine has other content",
        ),
        (
            {"loose": (OLD_SITE.loose[0], Loose("/usr/lib/big", "package", None))},
            "loose-module",
            "/usr/lib/big has other content",
        ),
        (
            {"edited": (*OLD_SITE.edited, EditedFile("torch", f"{RELATIVE}/torch/z.py", A))},
            "installed-file-edited",
            f"/venv/{RELATIVE}/torch/z.py was edited (torch)",
        ),
        (
            {"edited": (EditedFile("torch", f"{RELATIVE}/torch/a.py", B), OLD_SITE.edited[1])},
            "installed-file-edited",
            "torch/a.py has other content",
        ),
        (
            {"edited": (EditedFile("torch", f"{RELATIVE}/torch/a.py", None), OLD_SITE.edited[1])},
            "installed-file-edited",
            "torch/a.py is not there",
        ),
        (
            {"edited": OLD_SITE.edited[1:]},
            "installed-file-edited",
            "torch/a.py was edited in the image, and is as installed again",
        ),
    ],
)
def test_what_changed_in_the_environment_beside_names_and_versions(
    fields: dict[str, Any], rule: str, text: str
) -> None:
    found = site_case(**fields)
    assert rules(found) == [(rule, "error")]
    assert text in only(found, rule).message


@pytest.mark.parametrize(
    "fields",
    [
        {"records": {"lib": B, "proj": B}},
        {"path_files": (OLD_SITE.path_files[0], HeldFile(f"{RELATIVE}/lib_2.pth", B, ("lib", "other")))},
        {"path_files": (*OLD_SITE.path_files, HeldFile(f"{RELATIVE}/proj.pth", B, ("proj",)))},
        {"finders": (OLD_SITE.finders[0], HeldFinder("lib_2.Finder", ("lib",)))},
        {"edited": (OLD_SITE.edited[0], EditedFile("proj", f"{RELATIVE}/proj.py", B))},
    ],
)
def test_what_a_named_distribution_brings_may_change(fields: dict[str, Any]) -> None:
    assert rules(site_case(**fields)) == []


def test_what_an_older_baseline_does_not_say_is_said() -> None:
    found = case(CHECKOUT, replace(ENVIRONMENT, site=OLD_SITE), baseline=replace(BASELINE, site=None))
    assert rules(found) == [("baseline-older", "note")]
    assert "the content of distributions, `.pth` files" in only(found, "baseline-older").message


def test_site_folders_that_were_not_looked_at_are_no_silent_yes() -> None:
    assert rules(case(CHECKOUT, replace(ENVIRONMENT, site=None))) == [("environment-unknown", "error")]


# The version that the source declares


def declared(text: str, version: str = "2.0", **more: Any) -> Case:
    found = replace(CHECKOUT, texts=(("python/pyproject.toml", text.encode()), *more.pop("texts", ())))
    return case(found, with_distributions(installed("lib", version, editable=HERE)), **more)


STATIC = '[project]\nname = "Lib"\nversion = "2.1"\n'


def test_an_install_that_was_skipped_leaves_another_version_than_the_source_declares() -> None:
    finding = only(declared(STATIC), "stale-version")
    assert (finding.severity, finding.path) == ("error", HERE)
    assert "lib is installed as 2.0, and the planned source declares 2.1" in finding.message
    assert [one.path for one in finding.witnesses] == [f"{SITE}/lib-2.0.dist-info", f"{HERE}/python/pyproject.toml"]
    assert ("stale-version", "warning") in rules(declared(STATIC, planned=KEPT))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (STATIC, "2.1"),
        (STATIC, "2.1.0"),
        (STATIC, "2.1+cu128"),
        (STATIC.replace("Lib", "another"), "2.0"),
        (STATIC + 'dynamic = ["version"]\n', "2.0"),
        ('[project]\nname = "lib"\ndynamic = ["version"]\n', "2.0"),
        ('[project]\nname = "lib"\nversion = 2\n', "2.0"),
        ("project = 1\n", "2.0"),
        ('[tool.x]\nversion = "2.1"\n', "2.0"),
    ],
)
def test_a_version_that_is_declared_or_that_only_a_build_knows(text: str, version: str) -> None:
    assert "stale-version" not in dict(rules(declared(text, version)))


def test_a_suffix_that_setuptools_is_told_to_add_is_no_other_version() -> None:
    tagged = declared(STATIC, "2.1.dev0", texts=(("python/setup.cfg", b"[egg_info]\ntag_build = .dev\n"),))
    assert "stale-version" not in dict(rules(tagged))
    other = declared(STATIC, "2.0", texts=(("setup.cfg", b"[egg_info]\ntag_build = .dev\n"),))
    assert ("stale-version", "error") in rules(other)


def test_other_distributions_in_two_versions_are_told() -> None:
    twice = (*ENVIRONMENT.distributions, installed("torch", "1.0", metadata="/usr/lib/torch-1.0.dist-info"))
    assert rules(case(CHECKOUT, replace(ENVIRONMENT, distributions=twice))) == [("shadowed-distributions", "warning")]


def test_an_environment_that_gives_no_answer_is_an_error() -> None:
    found = case(CHECKOUT, Unreadable("missing-interpreter", "there is no interpreter", "look"), {})
    assert rules(found) == [("environment-unreadable", "error")]
    assert checks(found) == 1


# The checkout


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"state": "absent", "judged": "nothing", "tree": None}, ["checkout-missing"]),
        ({"head": OLD}, ["head-differs"]),
        ({"head": OLD, "descends": True, "head_tree": OTHER_TREE}, ["head-differs"]),
        ({"head": OLD, "descends": None, "head_tree": TREE}, ["head-differs"]),
        ({"head": OLD, "descends": False, "head_tree": TREE}, ["head-differs"]),
        ({"head": None}, ["head-differs"]),
        ({"tree": OTHER_TREE}, ["tree-differs"]),
        ({"tree": OTHER_TREE, "judged": "paths"}, ["tree-differs"]),
        ({"tree": OTHER_TREE, "judged": "content"}, ["not-proved"]),
        ({"tree": None, "judged": "nothing"}, ["not-proved"]),
        (
            {"tree": OTHER_TREE, "differences": (Difference("a", "modified", "x"), Difference("b", "missing", "y"))},
            ["tree-differs", "tree-modified", "tree-missing"],
        ),
        ({"differences": (Difference("sub/a", "modified", "inside a submodule"),)}, ["tree-modified"]),
        ({"differences": (Difference("sub", "unreadable", "x"),)}, ["tree-unreadable"]),
        ({"differences": (Difference("sub", "submodule-empty", "x"),)}, ["submodule-empty"]),
        ({"extras": (Extra("lib/old.py", "left-over"),)}, ["left-over"]),
        ({"extras": (Extra("lib/new.py", "untracked"),)}, ["untracked-module"]),
        ({"extras": (Extra("lib/_C.so", "untracked"),)}, ["untracked-module"]),
        ({"extras": (Extra("top.py", "untracked"),)}, ["untracked-module"]),
        ({"patches": (FoundPatch("p.patch", None, "not-tried"),)}, ["patch-missing"]),
        ({"patches": (FoundPatch("p.patch", Sha256("e" * 64), "not-tried"),)}, ["patch-changed"]),
        (
            {"patches": (FoundPatch("p.patch", P, "does-not-apply"),), "expected": OTHER_TREE, "tree": OTHER_TREE},
            ["patch-does-not-apply", "tree-differs"],
        ),
    ],
)
def test_what_makes_a_checkout_another_one(fields: dict[str, Any], expected: list[str]) -> None:
    assert rules(case(replace(CHECKOUT, **fields))) == [(rule, "error") for rule in expected]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"head": OLD, "descends": True, "head_tree": TREE}, ("patches-committed", "note")),
        ({"judged": "content", "state": "dangling", "head": None, "trouble": "x"}, ("no-repository", "note")),
        ({"judged": "paths", "expected": OTHER_TREE}, ("proved-by-content", "note")),
        ({"shallow": True}, ("shallow", "note")),
        ({"unfinished": ("index.lock",)}, ("unfinished-operation", "warning")),
        ({"credentials": ("http.extraheader",)}, ("baked-credentials", "warning")),
        ({"differences": (Difference("w.bin", "filter", "lfs"),)}, ("differs-through-filter", "note")),
        ({"pointers": ("w.bin",)}, ("lfs-pointer", "note")),
        ({"extras": (Extra("lib/_C.so", "ignored"),)}, ("generated-files", "note")),
        ({"extras": (Extra("other.txt", "untracked"),)}, ("untracked-files", "note")),
        ({"extras": (Extra("notes.txt", "untracked"),)}, None),
    ],
)
def test_what_is_said_and_does_not_stop(fields: dict[str, Any], expected: tuple[str, str] | None) -> None:
    found = rules(case(replace(CHECKOUT, **fields)))
    assert not any(severity == "error" for _, severity in found)
    assert (expected in found) if expected else found == []


def test_differences_against_a_tree_that_is_not_the_planned_one_do_not_stop_what_content_proves() -> None:
    difference = Difference("lib/core.py", "modified", "patched")
    found = replace(CHECKOUT, judged="paths", expected=OTHER_TREE, differences=(difference,))
    assert rules(case(found)) == [("proved-by-content", "note")]


@pytest.mark.parametrize("judged", ["paths", "content"])
def test_what_differs_inside_a_submodule_stops_whatever_its_outer_tree_is(judged: Any) -> None:
    inside = Difference("sub/a.py", "modified", "x", "sub")
    found = replace(CHECKOUT, judged=judged, expected=OTHER_TREE, differences=(inside,))
    assert rules(case(found)) == [("proved-by-content", "note"), ("tree-modified", "error")]


def with_held(**fields: Any) -> Baseline:
    return replace(BASELINE, dependencies={"lib": replace(BASELINE.dependencies["lib"], **fields)})


def test_a_submodule_that_the_image_had_not_checked_out_either_is_a_warning() -> None:
    empty = replace(CHECKOUT, differences=tuple(Difference(one, "submodule-empty", "x") for one in ("old", "new")))
    found = judge(case(empty, baseline=with_held(empty_submodules=("old",))))
    assert [(one.severity, [two.path for two in one.witnesses]) for one in found] == [
        ("error", ["new"]),
        ("warning", ["old"]),
    ]
    kept = replace(CHECKOUT, differences=(Difference("old", "submodule-empty", "x"),))
    for recorded, severity in ((None, "warning"), (("old",), "warning"), ((), "error")):
        held = with_held(empty_submodules=recorded, commit=NEW, tree=TREE)
        assert ("submodule-empty", severity) in rules(case(kept, planned=KEPT, baseline=held))


def test_an_untracked_module_with_another_content_than_the_baselines() -> None:
    untracked = replace(CHECKOUT, extras=(Extra("lib/mine.py", "untracked", P),))
    held = {"untracked": ("lib/mine.py",)}
    assert rules(case(untracked, baseline=with_held(**held, untracked_content={"lib/mine.py": P}))) == []
    other = with_held(**held, untracked_content={"lib/mine.py": Sha256("e" * 64)})
    finding = only(case(untracked, baseline=other), "untracked-module")
    assert (finding.severity, [one.path for one in finding.witnesses]) == ("error", ["lib/mine.py"])
    older = case(untracked, baseline=with_held(**held, untracked_content=None))
    assert rules(older) == [("baseline-older", "note")]
    assert "the content of untracked modules" in only(older, "baseline-older").message


def test_that_nothing_was_checked_out_is_said() -> None:
    assert "the baked copy: nothing was checked out" in only(case(replace(CHECKOUT, head=OLD)), "head-differs").message


def test_many_files_are_one_finding_with_a_bounded_list() -> None:
    many = tuple(Difference(f"f{number:03}", "missing", "is not there") for number in range(300))
    finding = only(case(replace(CHECKOUT, tree=OTHER_TREE, differences=many)), "tree-missing")
    assert finding.message == "lib: tracked files that are not there: 300"
    assert len(finding.witnesses) == 21
    assert finding.witnesses[-1].message == "and 280 more"


def test_a_checkout_that_could_not_be_looked_at() -> None:
    assert rules(case(Unreadable("git-failed", "git broke"))) == [("not-proved", "error")]


def test_a_kept_dependency_is_compared_with_the_baseline() -> None:
    kept = replace(KEPT, commit=OLD, tree=OLD_TREE)
    same = replace(CHECKOUT, head=OLD, head_tree=OLD_TREE, tree=OLD_TREE, expected=OLD_TREE)
    environment = with_distributions(installed("lib", "1.0", editable=HERE))
    assert rules(case(same, environment, planned=kept)) == []
    assert rules(case(replace(same, head=NEW), environment, planned=kept)) == [("kept-changed", "error")]
    assert rules(case(replace(same, tree=TREE), environment, planned=kept)) == [("kept-changed", "error")]


def test_a_kept_dependency_without_a_baseline_is_still_imported_from_its_checkout() -> None:
    kept = replace(KEPT, commit=None, tree=None)
    found = case(replace(CHECKOUT, head=OLD), planned=kept, baseline=None)
    assert rules(found) == [("nothing-to-compare", "note"), ("environment-unknown", "note")]
    loaded = {"lib": Import("lib", ok=True, file=OLD_COPY.file)}
    found = case(replace(CHECKOUT, head=OLD), environment(OLD_COPY), loaded, planned=kept, baseline=None)
    assert ("import-elsewhere", "error") in rules(found)


# What an install does not bring in


@pytest.mark.parametrize(("field", "rule"), [("not_installed", "not-installed"), ("rebuild_when", "rebuild-when")])
def test_paths_that_an_install_does_not_bring_in(field: str, rule: str) -> None:
    baked = replace(BAKED, **{field: ("csrc/**",)})
    finding = only(case(baked=baked, changed={"lib": ("csrc/a.cu", "lib/a.py")}), rule)
    assert finding.severity == "error"
    assert [one.path for one in finding.witnesses] == ["csrc/a.cu"]
    assert f"between the baked {OLD} and {NEW}" in finding.message
    assert rules(case(baked=baked, changed={"lib": ("lib/a.py",)})) == []
    assert [one.path for one in only(case(baked=baked, changed={"lib": ("csrc/",)}), rule).witnesses] == ["csrc/"]


@pytest.mark.parametrize(("field", "rule"), [("not_installed", "not-installed"), ("rebuild_when", "rebuild-when")])
@pytest.mark.parametrize("changed", [{"lib": None}, {}])
def test_that_it_is_not_known_whether_they_changed_stops(field: str, rule: str, changed: dict[str, Any]) -> None:
    baked = replace(BAKED, **{field: ("csrc/**",)})
    finding = only(case(baked=baked, changed=changed), rule)
    assert (finding.severity, finding.fix) == ("error", f"fetch {OLD} and {NEW} into the checkout's own repository")
    bare = only(case(baked=baked, changed=changed, baseline=None), rule)
    assert (bare.severity, "regraft image probe --write" in (bare.fix or "")) == ("error", True)
    kept = replace(KEPT, commit=OLD, tree=OLD_TREE)
    assert rule not in dict(rules(case(baked=baked, planned=kept, changed=changed)))


def test_the_interpreter_must_be_one_that_the_source_takes() -> None:
    text = b'[project]\nname = "lib"\nrequires-python = ">=3.11"\n'
    finding = only(case(replace(CHECKOUT, texts=(("python/pyproject.toml", text),))), "requires-python")
    assert (finding.severity, finding.path) == ("error", f"{HERE}/python")
    assert "lib needs Python >=3.11, and the image has 3.10.4" in finding.message
    fits = text.replace(b"3.11", b"3.10")
    assert rules(case(replace(CHECKOUT, texts=(("pyproject.toml", fits),)))) == []
    assert rules(case(replace(CHECKOUT, texts=(("pyproject.toml", b"["),)))) == [("requires-python", "warning")]


def test_a_machine_that_is_not_at_the_locked_commit() -> None:
    lock = Lock("lock.json", "/lib")
    finding = only(case(lock=lock, locks={"lib": OLD}), "not-the-lock")
    assert (finding.severity, finding.path) == ("warning", "lock.json")
    assert f"the machine has {NEW}, and the project locks {OLD}" in finding.message
    assert rules(case(lock=lock, locks={"lib": NEW})) == []
    assert rules(case(lock=lock, locks={"lib": Unreadable("lock-missing", "no")})) == [("not-the-lock", "warning")]


# Nothing is proved by silence


def test_an_override_without_any_check_is_an_error() -> None:
    bare = replace(BAKED, imports=(), distributions=())
    blind = Unreadable("broken-interpreter", "x")
    found = case(Unreadable("git-failed", "x"), blind, {}, baked=bare)
    assert checks(found) == 0
    assert ("nothing-checked", "error") in rules(found)


def test_an_override_without_declared_imports_is_warned_about() -> None:
    assert rules(case(imports={}, baked=replace(BAKED, imports=()))) == [("no-import-declared", "warning")]


def test_a_planned_dependency_that_the_image_does_not_have_is_an_error() -> None:
    found = case()
    image = replace(found.image, baked={})
    assert ("not-proved", "error") in rules(replace(found, image=image))
