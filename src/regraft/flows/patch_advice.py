"""What to do about one patch at one ref, with the grounds: drop, refresh, rebuild the image, pin, nothing, or by hand."""

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from regraft.core.objects import Commit
from regraft.core.partners import stuck_pairs
from regraft.core.patch_health import Action, Advice
from regraft.core.patch_history import Culprit, SeriesHistory, Turn
from regraft.core.patch_verdict import some
from regraft.core.plan import PatchState
from regraft.core.section_fit import state_on
from regraft.core.trees import shown
from regraft.core.versions import is_same
from regraft.flows.patch_built import Built, Elsewhere
from regraft.flows.patch_judging import Case, Judging, Progress, read_series
from regraft.flows.patch_left import stopped_without
from regraft.flows.patch_moves import moves
from regraft.flows.patch_refers import dead, never_there, refer
from regraft.flows.patch_remarks import remarks
from regraft.flows.patch_renew import Renewed, broken_before, renew
from regraft.flows.patch_trials import fits_after, fits_without, lines_elsewhere, other_place

FITS: tuple[PatchState, ...] = ("applies", "already-there")
SHOWN = 3


class Later(Struct, frozen=True):
    """From this commit on the patch fits, up to `end`: the head of what is followed. None: the commit was not found."""

    since: Commit | None
    tag: str | None
    end: str


class Adviser(Struct):
    """`baked` tells the commit, or of a package the version, that an image holds; None where that is not known.

    `thorough`: look for what refers to the files that a patch edits also where they are there. `built`: what else a patch
    has to be needless at, before it is called so.
    """

    baked: dict[tuple[str, str], str | None]
    progress: Progress
    thorough: bool = False
    built: Elsewhere = lambda _case: ()
    _later: dict[object, SeriesHistory] = field(default_factory=dict)

    def advise(self, case: Case, index: int) -> Advice:
        """Raises what reading objects and walking history raise."""
        advice = self.alone(case, index)
        if advice.action != "drop":
            return advice
        needed = tuple(said for one in self.built(case) if (said := self._needed(one, index)) is not None)
        return replace(advice, action="nothing", grounds=(*needed, *advice.grounds[:1])) if needed else advice

    def _needed(self, one: Built, index: int) -> str | None:
        """Why what is built there may not do without the patch."""
        if one.case is None:
            return f"keep it: {one.what} is built, and what it has cannot be told: {one.why}"
        if self.alone(one.case, index).action == "drop":
            return None
        state = one.case.history.patches[index].now.state
        return f"keep it: {one.what} is built, and it is not there yet: {state} at {one.case.called(one.case.commit)}"

    def alone(self, case: Case, index: int) -> Advice:
        """What to do at this ref, whatever else is built."""
        state = case.history.patches[index].now.state
        said = tuple(remarks(case, index))
        if state == "applies":
            return Advice("nothing", ("it fits",), said)
        if state == "unreadable":
            return Advice("by-hand", tuple(_unreadable(case, index)), said)
        if state == "already-there":
            return Advice("drop", (*_landed(case, index), *self._others(case, index)), said)
        gone = state == "target-gone"
        references = refer(case, index, gone=gone) if gone or self.thorough else None
        never = never_there(case, index) if gone else []
        stand = lines_elsewhere(case, index) if gone else None
        if gone and references is not None and not never and not stand and dead(case, index, references):
            ground = f"what it edits is gone, and nothing at {case.called(case.commit)} refers to it"
            return Advice("drop", (ground,), said, references)
        action, grounds = self._mend(case, index, state)
        if stand and action == "by-hand":
            grounds = (*grounds, stand)
        elif stand and action == "pin":
            action, grounds = "by-hand", (stand, *grounds)
        if gone and references is not None and references.found:
            found, at = len(references.found), case.called(case.commit)
            refers = f"{found} place{'s' if found > 1 else ''} at {at} still refer{'' if found > 1 else 's'} to what it edits"
            grounds = (*grounds, refers)
        if never:
            looked = "in all of its history" if case.history.reaches else "in the history that was looked through"
            grounds = (
                *grounds,
                f"nothing took {some([shown(one) for one in never])} away {looked}: that it is not there is no proof",
            )
        return Advice(action, grounds, said, references)

    def _mend(self, case: Case, index: int, state: PatchState) -> tuple[Action, tuple[str, ...]]:
        if state == "partial":
            trim = "a part of it is there already and the rest still fits: take that part out of the patch"
            return "by-hand", (trim,)
        if (partner := _partner(case, index)) is not None:
            return "by-hand", (
                f"it and {partner} only undo each other, and the first does not fit: drop both together",
            )
        later = self.later(case, index)
        if later is not None:
            return self._rebuild(case, later)
        renewed = renew(case, index)
        if isinstance(renewed, Renewed):
            moved = tuple(f"{old} is {new} now" for old, new in renewed.moved)
            same = "the same change with new context is proved (`regraft patch refresh` writes it)"
            needed = "still needed: its change is not in the tree"
            return "refresh", (same, *moved, *(() if moved else (needed,)))
        if after := fits_after(case, index):
            tried = [one.called for one in case.files if one.called not in (after, case.files[index].called)]
            not_after = f" (tried; not after {', '.join(tried[:SHOWN])})" if tried else " (tried)"
            return "by-hand", (f"it fits after {after}{not_after}: list it behind that one",)
        if without := fits_without(case, index):
            return "by-hand", (f"it fits without the earlier patches of the series: {without} changed the same lines",)
        if place := other_place(case, index):
            return "by-hand", (place,)
        if (first := broken_before(case, index)) is not None:
            return "by-hand", (f"{first}, which it is made on, does not fit: mend that first, then look again",)
        return self._stuck(case, index, f"{shown(renewed[0].path)}: {renewed[0].reason}")

    def _stuck(self, case: Case, index: int, why: str) -> tuple[Action, tuple[str, ...]]:
        dependency = case.carrier.dependency
        grounds = [f"no refresh can be proved: {why}"]
        if kept := moved_with(case, index):
            return "by-hand", (
                f"its change stands in {some(kept)}, where its target went: look, then drop it",
                *grounds,
            )
        fitted = last_fit(case, index)
        turns = case.history.patches[index].turns
        if turns and (turns[0].before.state, turns[0].after.state) == ("already-there", "target-gone"):
            return "by-hand", ("its change had landed when its target went: look whether it is needed", *grounds)
        if fitted is not None:
            so_far = "it fitted" if fitted[1] == "applies" else "it was there already"
            grounds.append(f"{so_far} up to {_named(case, fitted[0])}")
        follows = case.name is not None and case.name == f"refs/heads/{dependency.branch}"
        if fitted is not None and follows and dependency.lock is None:
            grounds.append(f"{dependency.name} has no `lock`: what is built depends on the day")
            return "pin", tuple(grounds)
        return "by-hand", tuple(grounds)

    def _rebuild(self, case: Case, later: Later) -> tuple[Action, tuple[str, ...]]:
        carrier = case.carrier
        name = carrier.dependency.name
        since = f"it fits {name} from {_of(case, later)} on"
        key = (carrier.image.name, name)
        baked = self.baked.get(key)
        if baked is None:
            unknown = (
                f"what {carrier.image.name} holds of {name} is not known (`regraft image probe --write` records it)"
            )
            return "by-hand", (since, unknown)
        release = case.upstream.releases.get(case.commit)
        if baked == case.commit or (release and is_same(baked, release[0])):
            older = f"the image holds {case.called(case.commit)}, which is older: rebuild the image"
            return "rebuild", (since, older)
        return "by-hand", (since, f"{case.called(case.commit)} is older: name a newer ref")

    def _others(self, case: Case, index: int) -> Iterator[str]:
        """What else has to go with a patch that has landed, or before it."""
        for one in stopped_without(case, index, lambda left: left.deep_enough(self.progress)):
            how = "drop that one first" if one.first else "they have to go together"
            yield f"without it {one.called} would be {one.state}: {how}"

    def later(self, case: Case, index: int) -> Later | None:
        """Whether the patch, which does not fit here, fits at the head of the followed branch, of which this is an older commit,
        or at the newest release.
        """
        branch = case.carrier.dependency.branch
        head = case.upstream.head(branch)
        if head is None or head == case.commit or not case.upstream.is_ancestor(case.commit, head):
            return None
        key = (case.upstream.url, head, case.commit, case.files)
        if key not in self._later:
            texts = read_series(case.files, case.upstream, case.upstream.source.commit(head).tree)
            asked = Judging(case.carrier, case.upstream, head, texts)
            if (
                case.upstream.releases
            ):  # each one between the two has to be downloaded: only where the newest is worth it
                first = asked.along(self.progress, last=1)
                if first.patches[index].now.state != "applies":
                    return None
            self._later[key] = asked.along(self.progress, since=case.commit)
        found = self._later[key].patches[index]
        if found.now.state != "applies":
            return None
        turn: Turn | None = found.turns[0] if found.turns else None
        since = turn.by.commit if turn else None
        end = f"the head of {branch}" if branch else "the newest release"
        return Later(since, _first_tag(case, head, since), end)


def moved_with(case: Case, index: int) -> list[str]:
    """Where the files went that the patch edits, if its whole change stands there."""
    tree, source, text = case.tree, case.upstream.source, case.texts[index]
    moved = moves(case, index, tree)
    found = []
    for section in text.sections:
        path = moved.get(section.old_path)
        there = source.version(tree, path) if path is not None else None
        content = source.blob(there.oid) if there is not None else None
        if path is None or content is None or state_on(section, content) != "already-there":
            return []
        found.append(shown(path))
    return found


def last_fit(case: Case, index: int) -> tuple[Commit, PatchState] | None:
    """The newest first-parent commit on which it fitted or was there already, before one after which it was neither."""
    for turn in case.history.patches[index].turns:
        if turn.before.state in FITS and turn.by.parents:
            return turn.by.parents[0], turn.before.state
    return None


def culprit_line(culprit: Culprit) -> str:
    pull = f" (#{culprit.pull})" if culprit.pull is not None else ""
    return f"{culprit.called} {culprit.subject!r}{pull}"


def _partner(case: Case, index: int) -> str | None:
    """The other of two patches of which the later one only takes the earlier one back."""
    pairs = stuck_pairs(case.texts, [one.now.state for one in case.history.patches])
    other = next((one for pair in pairs.items() if index in pair for one in pair if one != index), None)
    return None if other is None else case.files[other].called


def _landed(case: Case, index: int) -> Iterator[str]:
    one = case.history.patches[index]
    if one.turns:
        yield f"its change came in with {culprit_line(one.turns[0].culprit)}"
    else:
        yield "its change is in the tree"
    yield "drop it once every ref that is built has it (`regraft patch drop`)"


def _unreadable(case: Case, index: int) -> Iterator[str]:
    yield "the patch file has to be mended first"
    if offered := case.texts[index].offered:
        yield f"a mechanical repair would do: {', '.join(offered)}"


def _named(case: Case, commit: Commit) -> str:
    tag = case.upstream.tags.get(commit)
    return f"{commit[:12]} (tag {tag})" if tag else case.called(commit)


def _of(case: Case, later: Later) -> str:
    tag = f" (in tag {later.tag})" if later.tag else ""
    return f"{case.called(later.since)}{tag}" if later.since else f"somewhere before {later.end}"


def _first_tag(case: Case, head: Commit, since: Commit | None) -> str | None:
    """The oldest tag on the branch's own line at or after that commit."""
    if since is None or not case.upstream.tags:
        return None
    line = case.upstream.source.line(head, (), since=case.commit).commits
    if since not in line:
        return None
    newer = reversed(line[: line.index(since) + 1])
    return next((case.upstream.tags[one] for one in newer if one in case.upstream.tags), None)
