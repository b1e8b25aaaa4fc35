# ruff: noqa: ARG002 - a fake has the signatures of its ports
"""The order of an apply, step by step: what is written down before what is done, and what a failure at each step leaves."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from regraft.core.apply_values import Ran, Step, Target, Written
from regraft.core.journal import Journal, Running, Subject
from regraft.core.manifest import Baked, Dependency, Image, Manifest
from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.observation import Checkout, Difference, Environment, Import, Installed, Module, Place, Wanted
from regraft.core.plan import Plan, PlannedDependency, PlannedImage, Source
from regraft.core.plan_document import seal
from regraft.core.restored import Kept
from regraft.core.tree_record import Change, Entry, Record
from regraft.errors import InputError, OutsideError, RefusedError, RegraftError, StoppedError
from regraft.flows.apply import Applied, Options, apply
from regraft.flows.apply_steps import Ports

OLD, NEW = Commit("1" * 40), Commit("2" * 40)
TREE, NEW_TREE = Tree("3" * 40), Tree("4" * 40)
NO_SHA = Sha256("0" * 64)

BAKED = Baked("lib", "/src/lib", (("make", "lib"),), (), ("lib",), (), (), (), "stop", ())
IMAGE = Image("img", None, None, None, None, ("keep",), "python", (), "report", (), {"lib": BAKED})
MANIFEST = Manifest(
    "proj",
    (("make", "proj"),),
    (),
    {"lib": Dependency("lib", "https://example.org/lib", None, "ci-lib-pr", (), "TOKEN", None)},
    {"img": IMAGE},
    {},
    NO_SHA,
)
PLANNED = PlannedDependency("override", "v2", Source("input"), "https://example.org/lib", NEW, NEW_TREE, ())
PLAN = seal(
    Plan("regraft.plan/1", NO_SHA, NO_SHA, "proj", NO_SHA, (), PlannedImage("img", None, None), None, {"lib": PLANNED}, ())
)  # fmt: skip
CHANGED = Difference("lib.c", "modified", "its content is another")
PLACE = Place("/src/lib/lib.py", (), built_in=False, via="/src/lib")


@dataclasses.dataclass
class World:
    """Every port in one, with a log of what was asked of it; `fail` is the step that raises."""

    log: list[str] = dataclasses.field(default_factory=list)
    fail: str = ""
    error: BaseException = dataclasses.field(default_factory=lambda: OutsideError("disk-full", "no space is left"))
    journal: Journal | None = None
    moved: bool = False
    lost: tuple[str, ...] = ()  # what cannot be given back
    differs: bool = False  # after the install, the tree is not what was planned
    code: int = 0
    aside: str = "/state/aside"
    newer_found: tuple[Change, ...] | None = ()
    virtual: bool = False  # whether the environment is a virtual one
    tree_has_edit: bool = False  # whether the planned tree holds lib.c as it is
    said: list[str] = dataclasses.field(default_factory=list)

    held: list[str] = dataclasses.field(default_factory=list)
    signal_in_between: bool = False  # one that comes after a failure, before signals wait

    def delay(self, line: str) -> None:
        self.held.append(line)
        if self.signal_in_between:
            self.signal_in_between = False
            raise KeyboardInterrupt

    def _step(self, name: str) -> None:
        self.log.append(name)
        if name == self.fail:
            raise self.error

    # StateFolder

    @contextlib.contextmanager
    def lock(self, wait: float, *, end_orphans: bool = False) -> Iterator[Any]:
        yield type("Lock", (), {"fd": 7})()

    def exists(self) -> bool:
        return self.journal is not None

    def read(self) -> Journal | None:
        return self.journal

    def clear(self) -> None:
        self.journal = None
        self.log.append("clear")

    # Snapshots

    def take(self, subjects: Sequence[Subject]) -> Record:
        self._step("take")
        return Record({}, 0)

    def scan(self, subjects: Sequence[Subject], *, content: bool) -> Record:
        paths = [one.path for one in subjects]
        if paths == ["/pyvenv.cfg"]:
            found = Entry("/pyvenv.cfg", "file", 0o644, 0, 0, 1, 1, 1, 1, 1, None, None)
            return Record({"/pyvenv.cfg": found} if self.virtual else {}, 0)
        self._step("scan")
        return Record({}, 0)

    def hold(self, subjects: Sequence[Subject]) -> Callable[[], tuple[str, ...]]:
        return tuple

    def note(self) -> None:
        self._step("note")

    def newer(self) -> tuple[Change, ...] | None:
        return self.newer_found

    def keep(self, found: Sequence[Change], run: str) -> Kept:
        if not found:
            return Kept()
        self.log.append(f"keep for {run}")
        return Kept("/state/kept/word", tuple(one.path for one in found))

    def changed_since(self, before: Record, subjects: Sequence[Subject]) -> Record:
        self._step("scan again")
        return Record({}, 0)

    def give_back(self) -> tuple[str, ...]:
        self.log.append("give back")
        self.moved = False
        return self.lost

    # TreeWriter

    def subjects(self, path: str) -> tuple[Subject, ...]:
        return (Subject("checkout", path),)

    def place(self, path: str) -> str:
        return path

    def fetch(self, target: Target) -> None:
        assert (target.remote.url, target.remote.token_env) == ("https://example.org/lib", "TOKEN")
        self._step("fetch")

    def prove(self, target: Target) -> None:
        self._step("prove")

    # Interpreter, Checkouts, ProjectFiles, InstalledFiles

    @contextlib.contextmanager
    def describing(
        self, image: Image, modules: Sequence[str] | None, distributions: Sequence[str]
    ) -> Iterator[Callable[[], Environment]]:
        found = {"lib": Module("lib", PLACE, None, (PLACE,))} if modules else {}
        yield lambda: Environment(
            "3.12.0", "/py", "/", "/site", "/site", "/bin", None, ("/src/lib",), ("/src/lib",), (), (), None, {}, (), (), (), (),
            (), found, (), "",
        )  # fmt: skip

    def try_import(self, image: Image, name: str) -> Import:
        self.log.append("import")
        return Import(name, ok=True, file=PLACE.file)

    def look(self, dependency: str, path: str, wanted: Wanted) -> Checkout:
        head, tree = (NEW, NEW_TREE) if self.moved else (OLD, TREE)
        tree = TREE if self.differs else tree
        return Checkout(
            "lib", path, path, "repository", head=head, judged="entries", expected=tree, tree=tree,
            tracked=frozenset({"lib.c"}),
            differences=() if wanted.commit is None or self.tree_has_edit or self.moved else (CHANGED,),
        )  # fmt: skip

    def changed_paths(self, path: str, old: Commit, new: Commit) -> tuple[str, ...] | None:
        return None

    def tags(self, path: str) -> Mapping[str, Commit]:
        return {}

    def is_ancestor(self, path: str, old: Commit, new: Commit) -> bool | None:
        return None

    def of(self, installed: Installed) -> tuple[str, ...]:
        return ()

    # Those whose verbs have one name

    def ports(self) -> Ports:
        world = self

        class State:
            lock, exists, read, clear, aside = world.lock, world.exists, world.read, world.clear, world.aside

            def reserve(self) -> None:
                world.log.append("reserve")

            def release(self) -> None:
                world.log.append("release")

            def write(self, journal: Journal) -> None:
                world.journal = journal
                world.log.append(journal.phase + (f" {journal.process.pid}" if journal.process else ""))

        class Writer:
            subjects, place, fetch, prove = world.subjects, world.place, world.fetch, world.prove

            def write(self, target: Target, aside: str) -> Written:
                world._step("write")
                world.moved = True
                return Written((), (), (), ())

        class Commands:
            def run(self, step: Step, image: Image, *, started: Callable[[Running], None], lock: int, **_: Any) -> Ran:
                assert lock == 7
                world._step(" ".join(step.argv))
                started(Running(99, 99, 1, step.argv))
                return Ran(step.argv, world.code, (), 0, 1)

        class Files:
            def place(self, path: str) -> str:
                return path

            def read(self, path: str, limit: int) -> bytes | None:
                return None

            def names(self, folder: str) -> tuple[str, ...]:
                return ()

        return Ports(
            files=Files(),
            interpreter=self,
            checkouts=self,
            writer=Writer(),
            commands=Commands(),
            state=State(),
            snapshots=self,
            installed=self,
            project="/project",
            say=world.said.append,
            hold=world.delay,
            now=lambda: "2026-01-01T00:00:00Z",
            word=lambda: "word",
        )

    def apply(self, plan: Plan = PLAN, **options: Any) -> Applied:
        return apply(plan, MANIFEST, None, Options(**options), self.ports())


def test_each_phase_is_written_down_before_its_effect() -> None:
    world = World()
    assert world.apply().outcome == "applied"
    assert world.log == [
        *("clear", "recording", "reserve", "take", "scan", "recorded", "fetch", "prove"),
        *("writing", "write", "installing", "make lib", "installing 99"),
        *("installing", "make proj", "installing 99", "verifying", "import", "scan again", "note", "applied"),
    ]
    assert world.journal is not None
    assert (world.journal.plan, world.journal.run, world.journal.snapshot) == (PLAN.digest, "word", True)
    assert [one.path for one in world.journal.subjects] == ["/src/lib", "/site", "/bin", "/pyvenv.cfg"]


@pytest.mark.parametrize("step", ["take", "scan"])
def test_a_failure_while_recording_changed_nothing(step: str) -> None:
    world = World(fail=step)
    with pytest.raises(OutsideError, match=r"no space is left\. Nothing was changed: the machine is at its baseline"):
        world.apply()
    assert world.journal is None
    assert "give back" not in world.log


@pytest.mark.parametrize("step", ["fetch", "prove", "write", "make lib", "make proj", "scan again", "note"])
def test_a_failure_later_is_given_back(step: str) -> None:
    world = World(fail=step)
    with pytest.raises(OutsideError, match="It was given back: the machine is at its baseline"):
        world.apply()
    assert world.log[-3:] == ["restoring", "give back", "clear"]
    assert (world.journal, world.moved) == (None, False)


@pytest.mark.parametrize(("step", "changed"), [("fetch", False), ("write", True), ("make proj", True)])
def test_without_a_snapshot_only_what_came_before_the_first_file_leaves_the_baseline(step: str, changed: bool) -> None:
    world = World(fail=step)
    with pytest.raises(OutsideError) as caught:
        world.apply(snapshot=False)
    assert ("THE MACHINE IS CHANGED" in caught.value.message) is changed
    assert (world.journal is not None) is changed
    assert "take" not in world.log


def test_what_cannot_be_given_back_is_named_and_the_journal_stays() -> None:
    world = World(fail="write", lost=("/src/lib/pipe: a pipe",))
    with pytest.raises(OutsideError, match="could not be given back: /src/lib/pipe: a pipe"):
        world.apply()
    assert world.journal is not None
    assert world.journal.phase == "restoring"


def test_an_interruption_gives_back_and_says_the_state() -> None:
    world = World(fail="make lib", error=KeyboardInterrupt())
    with pytest.raises(StoppedError, match="It was given back: the machine is at its baseline") as caught:
        world.apply()
    assert (caught.value.code, caught.value.exit_code, caught.value.outcome) == ("interrupted", 130, "rolled-back")
    assert world.log[-2:] == ["give back", "clear"]


@pytest.mark.parametrize("fail", ["make lib", ""])
def test_signals_wait_while_the_baseline_is_given_back(fail: str) -> None:
    world = World(fail=fail, differs=not fail)
    with contextlib.suppress(OutsideError):
        world.apply()
    assert world.held == ["giving the baseline back; wait, or kill -9 and `regraft restore`"]
    assert "give back" in world.log


@pytest.mark.parametrize("fail", ["make lib", "note", ""])
def test_a_signal_between_a_failure_and_its_roll_back_does_not_lose_it(fail: str) -> None:
    world = World(fail=fail, differs=not fail, signal_in_between=True)
    with pytest.raises(StoppedError, match="It was given back: the machine is at its baseline"):
        world.apply()
    assert (world.journal, world.moved) == (None, False)


def test_a_signal_waits_for_the_note_that_the_plan_is_applied() -> None:
    world = World()
    world.apply()
    assert world.held == ["the plan is applied; wait for the receipt"]


@pytest.mark.parametrize(
    ("world", "snapshot", "outcome"),
    [(World(fail="take"), True, "rolled-back"), (World(fail="write"), True, "rolled-back"),
     (World(fail="write", lost=("/a: gone",)), True, "changed"), (World(fail="write"), False, "changed")],
)  # fmt: skip
def test_an_error_holds_what_became_of_the_machine(world: World, snapshot: bool, outcome: str) -> None:
    with pytest.raises(OutsideError) as caught:
        world.apply(snapshot=snapshot)
    assert caught.value.outcome == outcome


@pytest.mark.parametrize(("snapshot", "stands"), [(True, False), (False, True)])
def test_what_was_verified_does_not_stand_where_it_was_given_back(snapshot: bool, stands: bool) -> None:
    assert World(differs=True).apply(snapshot=snapshot).stands is stands
    assert World().apply(snapshot=snapshot).stands


def test_a_command_that_fails_is_given_back() -> None:
    world = World(code=1)
    with pytest.raises(RefusedError, match=r"lib: `make lib` ended with exit code 1\. It was given back"):
        world.apply()
    assert "make proj" not in world.log


def test_a_verdict_of_no_is_an_answer_and_is_given_back() -> None:
    world = World(differs=True)
    applied = world.apply()
    assert (applied.outcome, applied.stopped) == ("rolled-back", True)
    assert "tree-differs" in {one.rule for one in applied.findings}
    assert "the machine is at its baseline" in applied.message
    assert world.journal is None


def applied_world(**changes: Any) -> World:
    world = World()
    world.apply(**changes)
    world.log.clear()
    return world


def test_the_same_plan_again_writes_nothing() -> None:
    world = applied_world()
    assert world.apply().outcome == "unchanged"
    assert world.log == ["import"]


OTHER = seal(replace(PLAN, suites=("s",)))


def test_another_plan_is_refused_and_with_replace_begins_at_the_first_ones_baseline() -> None:
    world = applied_world()
    with pytest.raises(RefusedError) as caught:
        world.apply(OTHER)
    assert (caught.value.code, world.log) == ("another-plan", [])
    assert world.apply(OTHER, replace=True).outcome == "applied"
    assert world.log[:5] == ["restoring", "give back", "recording", "reserve", "take"]
    assert world.journal is not None
    assert world.journal.replaces


def test_a_failure_of_another_plan_ends_at_the_first_ones_baseline() -> None:
    world = applied_world()
    world.fail = "fetch"
    with pytest.raises(OutsideError, match="It was given back: the machine is at its baseline"):
        world.apply(OTHER, replace=True)
    assert world.journal is None


EDIT, STRAY = Change("/src/lib/lib.c", "content"), Change("/src/lib/notes.txt", "new")


def again(policy: str, *found: Change, plan: Plan = PLAN) -> tuple[World, Callable[[], Applied]]:
    """A machine that was applied and does not hold any more, since somebody worked on it, and the apply of `plan` then."""
    manifest = replace(MANIFEST, images={"img": replace(IMAGE, baked={"lib": replace(BAKED, local_edits=policy)})})
    world = applied_world()
    world.newer_found, world.moved = found, False
    return world, lambda: apply(plan, manifest, None, Options(replace=True), world.ports())


@pytest.mark.parametrize("policy", ["stop", "carry"])
@pytest.mark.parametrize("plan", [PLAN, OTHER])
def test_tracked_edits_that_are_newer_than_the_apply_stop_the_next_one_before_anything_goes_back(
    policy: str, plan: Plan
) -> None:
    world, run = again(policy, EDIT, STRAY, plan=plan)
    before = world.journal
    with pytest.raises(RefusedError, match=r"1 tracked files were edited.*lib\.c.*Nothing was changed now") as caught:
        run()
    assert caught.value.code == "local-edits"
    assert "baseline" not in caught.value.message
    assert [one for one in world.log if one != "import"] == []
    assert world.journal == before


def test_newer_edits_go_where_the_manifest_says_so_and_their_copies_stay() -> None:
    world, run = again("drop", EDIT, STRAY)
    applied = run()
    assert [one for one in world.log if one != "import"][:4] == ["keep for word", "restoring", "give back", "recording"]
    found = {one.rule: one for one in applied.findings}
    assert "1 tracked files were edited" in found["local-edits"].message
    assert [one.path for one in found["newer-than-apply"].witnesses] == [EDIT.path, STRAY.path]


def test_newer_files_that_git_does_not_track_are_kept_and_named_and_stop_nothing() -> None:
    world, run = again("stop", STRAY)
    found = {one.rule: one for one in run().findings}
    assert "keep for word" in world.log
    assert "local-edits" not in found
    assert "/state/kept/word" in found["newer-than-apply"].message


def test_an_edit_that_the_next_plan_holds_too_is_carried() -> None:
    world, run = again("carry", EDIT)
    world.tree_has_edit = True
    applied = run()
    assert applied.outcome == "applied"
    assert "local-edits" not in {one.rule for one in applied.findings}


def test_where_the_note_of_what_the_apply_left_is_gone_nothing_goes_back() -> None:
    world, run = again("drop")
    world.newer_found = None
    with pytest.raises(RefusedError) as caught:
        run()
    assert (caught.value.code, "give back" in world.log) == ("damaged-snapshot", False)


def test_no_snapshot_is_taken_of_what_an_apply_without_one_left() -> None:
    world = applied_world(snapshot=False)
    with pytest.raises(RefusedError, match="no baseline is left to take a snapshot of") as caught:
        world.apply(OTHER, replace=True, snapshot=True)
    assert (caught.value.code, world.log) == ("no-baseline", [])
    assert world.apply(OTHER, replace=True, snapshot=False).outcome == "applied"


def test_without_a_snapshot_over_one_the_first_one_stays_and_that_is_said() -> None:
    world = applied_world()
    assert world.apply(OTHER, replace=True, snapshot=False).outcome == "applied"
    assert world.journal is not None
    assert world.journal.snapshot
    assert "the snapshot of the first apply is kept, and is the one that a restore gives back" in world.said


def test_the_rest_of_a_virtual_environment_is_recorded_too() -> None:
    world = World(virtual=True)
    world.apply()
    assert world.journal is not None
    assert [one.path for one in world.journal.subjects][3:] == ["/pyvenv.cfg", "/include", "/share", "/etc"]


def test_a_command_that_ended_well_is_one_line_with_its_seconds() -> None:
    world = World()
    world.apply()
    assert "lib: done in 0.0 s" in world.said


def test_an_apply_that_ended_in_the_middle_has_to_be_restored_first() -> None:
    world = applied_world()
    assert world.journal is not None
    world.journal = replace(world.journal, phase="installing")
    with pytest.raises(RefusedError) as caught:
        world.apply()
    assert (caught.value.code, world.log) == ("unfinished", [])
    assert "regraft restore" in str(caught.value.hint)


def test_the_state_of_another_root_is_not_touched() -> None:
    world = applied_world()
    with pytest.raises(InputError) as caught:
        world.apply(root="/elsewhere")
    assert (caught.value.code, world.log) == ("other-root", [])


@pytest.mark.parametrize(
    ("change", "code"), [({"project": "x"}, "other-project"), ({"manifest": Sha256("9" * 64)}, "other-manifest")]
)
def test_a_plan_that_does_not_fit_is_refused_before_the_lock_is_taken(change: dict[str, Any], code: str) -> None:
    world = World()
    with pytest.raises(RegraftError) as caught:
        world.apply(replace(PLAN, **change))
    assert (caught.value.code, caught.value.exit_code, world.log) == (code, 2, [])
