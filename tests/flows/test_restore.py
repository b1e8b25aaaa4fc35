"""The decisions of a restore, with fakes at its ports."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from regraft.core.journal import SCHEMA, Journal, Phase
from regraft.core.restored import Kept
from regraft.core.tree_record import Change, Record
from regraft.errors import InputError, OutsideError, RefusedError
from regraft.flows.restore import give_back, restore

JOURNAL = Journal(SCHEMA, "r1", "installing", "a" * 64, "rocm", "", snapshot=True, started="2026-01-02T03:04:05Z")


@dataclass
class Held:
    fd: int = 3


@dataclass
class State:
    """`log` has what was done, in order."""

    journal: Journal | None = None
    damaged: bool = False
    there: bool = True
    log: list[str] = field(default_factory=list)
    aside: str = "/state/aside"
    full: int = 0  # how many notes find no room

    def exists(self) -> bool:
        return self.there

    @contextmanager
    def lock(self, wait: float, *, end_orphans: bool = False) -> Iterator[Held]:
        self.log.append(f"lock {wait:g}{' end' if end_orphans else ''}")
        yield Held()
        self.log.append("unlock")

    def read(self) -> Journal | None:
        if self.damaged:
            raise RefusedError("damaged-journal", "no JSON")
        return self.journal

    def write(self, journal: Journal) -> None:
        if self.full:
            self.full -= 1
            raise OutsideError("disk-full", "no space is left")
        self.journal = journal
        self.log.append(journal.phase)

    def reserve(self) -> None:
        raise AssertionError

    def release(self) -> None:
        self.log.append("release")

    def clear(self) -> None:
        self.journal = None
        self.log.append("clear")


@dataclass
class Snapshots:
    log: list[str]
    named: tuple[str, ...] = ()
    error: Exception | None = None
    found: tuple[Change, ...] | None = ()

    def newer(self) -> tuple[Change, ...] | None:
        return self.found

    def keep(self, found: Sequence[Change], run: str) -> Kept:
        if not found:
            return Kept()
        self.log.append(f"keep for {run}")
        return Kept("/state/kept/r1", tuple(one.path for one in found))

    def note(self) -> None:
        raise AssertionError

    def give_back(self) -> tuple[str, ...]:
        self.log.append("give back")
        if self.error:
            raise self.error
        return self.named

    def take(self, subjects: object) -> Record:
        raise AssertionError(subjects)

    def scan(self, subjects: object, *, content: bool) -> Record:
        raise AssertionError(subjects, content)

    def changed_since(self, before: object, subjects: object) -> Record:
        raise AssertionError(before, subjects)


def run(state: State, named: tuple[str, ...] = (), error: Exception | None = None, **options: object) -> object:
    arguments = {"wait": 5.0, **options}
    return restore(state, Snapshots(state.log, named, error), **arguments)  # type: ignore[arg-type]


def test_where_nothing_was_ever_written_nothing_is_made() -> None:
    state = State(there=False)
    restored = restore(state, Snapshots(state.log), wait=0)
    assert (restored.outcome, restored.whole, state.log) == ("nothing", True, [])


def test_without_a_journal_there_is_nothing_to_restore() -> None:
    state = State()
    restored = restore(state, Snapshots(state.log), wait=5)
    assert (restored.outcome, restored.whole) == ("nothing", True)
    assert state.log == ["lock 5 end", "unlock"]


def test_an_apply_that_was_killed_while_it_recorded_changed_nothing() -> None:
    state = State(replace(JOURNAL, phase="recording"))
    restored = restore(state, Snapshots(state.log), wait=0)
    assert (restored.outcome, restored.whole) == ("unchanged", True)
    assert state.log == ["lock 0 end", "clear", "unlock"]


@pytest.mark.parametrize("phase", ["recorded", "writing", "installing", "verifying", "applied", "restoring"])
def test_from_every_later_phase_the_baseline_is_given_back(phase: Phase) -> None:
    state = State(replace(JOURNAL, phase=phase))
    restored = restore(state, Snapshots(state.log), wait=0)
    assert (restored.outcome, restored.whole) == ("given-back", True)
    assert state.log == ["lock 0 end", "release", "restoring", "give back", "clear", "unlock"]


def test_an_apply_over_an_earlier_one_is_given_back_even_while_it_recorded() -> None:
    state = State(replace(JOURNAL, phase="recording", replaces=True))
    assert restore(state, Snapshots(state.log), wait=0).outcome == "given-back"
    assert "give back" in state.log


def test_what_is_newer_than_the_apply_is_kept_and_named_before_anything_is_given_back() -> None:
    state = State(replace(JOURNAL, phase="applied"))
    restored = restore(state, Snapshots(state.log, found=(Change("/src/notes", "new"),)), wait=0)
    assert (restored.outcome, restored.kept) == ("given-back", Kept("/state/kept/r1", ("/src/notes",)))
    assert state.log == ["lock 0 end", "release", "keep for r1", "restoring", "give back", "clear", "unlock"]


def test_where_it_cannot_be_told_what_is_newer_nothing_is_given_back() -> None:
    state = State(replace(JOURNAL, phase="applied"))
    for _ in range(2):
        with pytest.raises(RefusedError) as caught:
            restore(state, Snapshots(state.log, found=None), wait=0)
        assert (caught.value.code, "give back" in state.log) == ("damaged-snapshot", False)
    assert restore(state, Snapshots(state.log, found=None), wait=0, forget=True).outcome == "forgotten"


def test_an_apply_that_never_came_to_its_end_has_no_note_and_is_given_back() -> None:
    state = State(JOURNAL)
    assert restore(state, Snapshots(state.log, found=None), wait=0).outcome == "given-back"


def test_what_cannot_be_given_back_is_named_and_the_state_stays() -> None:
    state = State(JOURNAL)
    restored = restore(state, Snapshots(state.log, ("/a: gone",)), wait=0)
    assert (restored.outcome, restored.whole, restored.named) == ("incomplete", False, ("/a: gone",))
    assert state.journal is not None
    assert state.journal.phase == "restoring"
    assert "clear" not in state.log


def test_forgetting_drops_the_state_and_says_what_was_not_given_back() -> None:
    state = State(JOURNAL)
    restored = restore(state, Snapshots(state.log, ("/a: gone",)), wait=0, forget=True)
    assert (restored.outcome, restored.whole, restored.named) == ("forgotten", False, ("/a: gone",))
    assert state.journal is None


def test_forgetting_is_no_excuse_not_to_give_back() -> None:
    state = State(JOURNAL)
    assert restore(state, Snapshots(state.log), wait=0, forget=True).outcome == "given-back"


def test_without_a_snapshot_the_image_is_to_be_thrown_away() -> None:
    state = State(replace(JOURNAL, snapshot=False))
    restored = restore(state, Snapshots(state.log), wait=0)
    assert (restored.outcome, restored.whole) == ("no-snapshot", False)
    assert "--no-snapshot" in restored.named[0]
    assert state.journal is not None
    assert restore(state, Snapshots(state.log), wait=0, forget=True).outcome == "forgotten"
    assert state.journal is None
    assert "give back" not in state.log


def test_without_a_snapshot_an_apply_that_changed_nothing_leaves_nothing() -> None:
    state = State(replace(JOURNAL, snapshot=False, phase="recording"))
    assert restore(state, Snapshots(state.log), wait=0).outcome == "unchanged"


def test_a_damaged_snapshot_is_an_error_and_may_be_forgotten() -> None:
    state = State(JOURNAL)
    error = RefusedError("damaged-snapshot", "no digest")
    with pytest.raises(RefusedError):
        run(state, error=error)
    assert state.journal is not None
    restored = restore(state, Snapshots(state.log, error=error), wait=0, forget=True)
    assert (restored.outcome, restored.named) == ("forgotten", ("no digest",))


def test_a_damaged_journal_is_an_error_and_may_be_forgotten() -> None:
    state = State(damaged=True)
    with pytest.raises(RefusedError):
        run(state)
    assert "clear" not in state.log
    assert restore(state, Snapshots(state.log), wait=0, forget=True).outcome == "forgotten"
    assert state.log[-2:] == ["clear", "unlock"]


def test_the_disk_failing_leaves_the_state() -> None:
    state = State(JOURNAL)
    with pytest.raises(OutsideError):
        run(state, error=OutsideError("disk-full", "full"), forget=True)
    assert state.journal is not None


def test_without_room_for_the_note_what_can_be_given_back_is_and_the_note_comes_then() -> None:
    state = State(JOURNAL, full=1)
    restored = restore(state, Snapshots(state.log, ("/a: gone",)), wait=0)
    assert restored.outcome == "incomplete"
    assert state.log == ["lock 0 end", "release", "give back", "restoring", "unlock"]
    state = State(JOURNAL, full=1)
    assert restore(state, Snapshots(state.log), wait=0).outcome == "given-back"
    assert state.log == ["lock 0 end", "release", "give back", "clear", "unlock"]


def test_signals_wait_from_when_something_is_given_back_and_not_before() -> None:
    state = State(JOURNAL)
    restore(state, Snapshots(state.log), wait=0, hold=state.log.append)
    assert state.log[:3] == [
        "lock 0 end",
        "giving the baseline back; wait, or kill -9 and `regraft restore`",
        "release",
    ]


@pytest.mark.parametrize(("journal_root", "root"), [("/img", ""), ("", "/img"), ("/img", "/other")])
def test_the_state_of_another_root_is_refused(journal_root: str, root: str) -> None:
    state = State(replace(JOURNAL, root=journal_root))
    with pytest.raises(InputError) as caught:
        run(state, root=root)
    assert caught.value.code == "other-root"
    assert "give back" not in state.log


def test_a_command_that_was_running_is_no_part_of_what_is_written_down_then() -> None:
    from regraft.core.journal import Running

    state = State(replace(JOURNAL, process=Running(1, 1, 1, ("pip",))))
    restored = give_back(state, Snapshots(state.log, ("/a: x",)), state.journal)  # type: ignore[arg-type]
    assert not restored.whole
    assert state.journal is not None
    assert state.journal.process is None
