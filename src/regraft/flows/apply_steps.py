"""The changes themselves, in their order: every commit fetched and proved, then each tree written and installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from regraft.core import apply_edits, apply_install
from regraft.core.apply_values import Ran, Step, Target, Written
from regraft.core.findings import Finding, Witness
from regraft.core.globs import matching
from regraft.core.journal import Phase, Running
from regraft.core.manifest import Image, Manifest
from regraft.core.observation import Checkout, Environment, Wanted
from regraft.core.plan import Plan
from regraft.errors import RefusedError
from regraft.flows.ports import (
    Checkouts,
    Commands,
    InstalledFiles,
    Interpreter,
    ProjectFiles,
    Snapshots,
    StateFolder,
    TreeWriter,
)

if TYPE_CHECKING:
    from regraft.flows.apply_look import Looked
    from regraft.flows.verify import Verified

SHOWN = 20


class Ports(Struct, frozen=True):
    """What an apply needs from outside. `project` is the project's folder as a real path; `say` is given a line.

    `hold` makes signals wait from then on; it is given what is told to who sends one.
    """

    files: ProjectFiles
    interpreter: Interpreter
    checkouts: Checkouts
    writer: TreeWriter
    commands: Commands
    state: StateFolder
    snapshots: Snapshots
    installed: InstalledFiles
    project: str
    say: Callable[[str], None]
    hold: Callable[[str], None]
    now: Callable[[], str]
    word: Callable[[], str]


class Progress(Struct, frozen=True):
    """How the steps tell where they are: `enter` a phase, and which command is `running`."""

    ports: Ports
    enter: Callable[[Phase], None]
    running: Callable[[Running], None]
    run: str
    lock: int
    externally_managed: bool


class Done(Struct, frozen=True):
    looked: Looked
    image: Image
    written: dict[str, Written]
    ran: tuple[Ran, ...]
    notes: tuple[Finding, ...] = field(default=())

    def findings(self, verified: Verified) -> Iterator[Finding]:
        """What is to be said besides what verify says. An error among them: something was changed that may not."""
        yield from self.looked.notes
        yield from self.notes
        for name, written in self.written.items():
            yield from _said(name, self.image.baked[name].path, written)
        for ran in self.ran:
            if ran.left_running:
                message = f"`{apply_install.shown(ran.argv)}` left a process running, which was ended"
                yield Finding("left-running", "warning", message, self.image.python)
        before, after = self.looked.environment, verified.observation.environment
        now = after if isinstance(after, Environment) else before
        for one in self.looked.guard.after(before, now, self.looked.named, self.ran):
            if one not in verified.findings:
                yield one


def carry_out(looked: Looked, plan: Plan, manifest: Manifest, image: Image, progress: Progress) -> Done:
    """Raises RefusedError and OutsideError for the first thing that does not go well. What was changed is not taken back."""
    ports = progress.ports
    notes: list[Finding] = []
    for target in looked.targets:
        ports.say(f"{target.dependency}: fetching {target.commit}")
        ports.writer.fetch(target)
        ports.writer.prove(target)
        notes += _carried(target, looked, image, ports)
        _check_rebuild(target, looked, image, ports)
    steps = apply_install.steps_of(plan, image)
    written: dict[str, Written] = {}
    ran: list[Ran] = []
    for target in looked.targets:
        progress.enter("writing")
        written[target.dependency] = one = ports.writer.write(target, ports.state.aside)
        ports.say(f"{target.dependency}: {len(one.written)} files written, {len(one.removed)} removed")
        ran += [_install(step, image, progress) for step in steps[target.dependency]]
    ran += [_install(step, image, progress) for step in apply_install.project_steps(manifest)]
    return Done(looked, image, written, tuple(ran), tuple(notes))


def _install(step: Step, image: Image, progress: Progress) -> Ran:
    progress.enter("installing")
    progress.ports.say(f"{step.dependency or 'the project'}: {apply_install.shown(step.argv)}")
    ran = progress.ports.commands.run(
        step,
        image,
        run=progress.run,
        externally_managed=progress.externally_managed,
        lock=progress.lock,
        started=progress.running,
    )
    error = apply_install.failed(step, ran, image.install_timeout)
    if error is not None:
        raise error
    progress.ports.say(f"{step.dependency or 'the project'}: done in {max(0, ran.end - ran.begin) / 1e9:.1f} s")
    return ran


def _carried(target: Target, looked: Looked, image: Image, ports: Ports) -> Iterator[Finding]:
    """`local-edits = carry`: an edit that the planned tree holds just so is kept by writing it."""
    edits, baked = looked.edits[target.dependency], image.baked[target.dependency]
    if not edits or baked.local_edits != "carry":
        return
    found = ports.checkouts.look(target.dependency, target.path, Wanted(target.commit, target.tree, target.patches))
    differing = {one.path for one in found.differences}
    kept = frozenset(one.path for one in edits if one.path not in differing)
    apply_edits.decide(target.dependency, baked.path, edits, "carry", kept_by_plan=kept)
    message = f"{target.dependency}: {len(kept)} edited files are in the planned tree just so"
    yield Finding("local-edits", "note", message, baked.path)


def _check_rebuild(target: Target, looked: Looked, image: Image, ports: Ports) -> None:
    """What the install does not bring in is known before anything is written, where the baked commit is at hand."""
    baked = image.baked[target.dependency]
    found = looked.observation.checkouts[target.dependency]
    patterns = (*baked.not_installed, *baked.rebuild_when)
    if not patterns or not isinstance(found, Checkout) or found.head is None:
        return
    between = ports.checkouts.changed_paths(target.path, found.head, target.commit)
    paths = matching(patterns, between or ())
    if paths:
        listed = ", ".join(repr(path[:200]) for path in paths[:5])
        message = f"{target.dependency}: {len(paths)} paths changed that this install does not bring in: {listed}"
        hint = "rebuild the image for this commit, or choose a commit without these changes"
        raise RefusedError("rebuild-needed", message, where=target.path, hint=hint)


def _said(name: str, path: str, written: Written) -> Iterator[Finding]:
    if written.aside:
        message = f"{name}: {len(written.aside)} untracked files were moved out of the way, into the state folder; a restore from a snapshot brings them back"
        yield Finding("set-aside", "note", message, path, witnesses=_listed(written.aside))
    if written.pointers:
        message = (
            f"{name}: {len(written.pointers)} files that changed are git-lfs pointers; their content was not fetched"
        )
        yield Finding("lfs-pointers", "warning", message, path, witnesses=_listed(written.pointers))


def _listed(paths: tuple[str, ...]) -> tuple[Witness, ...]:
    return tuple(Witness(path, None, "") for path in paths[:SHOWN])
