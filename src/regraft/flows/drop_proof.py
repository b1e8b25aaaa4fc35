"""Whether a carried patch can go, judged at the refs that were named (or at the branch that its dependency follows), and at what is built."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core.drop_values import Evidence
from regraft.core.manifest import Manifest
from regraft.core.patch_health import Advice, Row
from regraft.core.patch_history import SeriesHistory
from regraft.core.patch_verdict import some
from regraft.core.quoting import quoted
from regraft.core.refs import Ref
from regraft.errors import RefusedError
from regraft.flows.patch_advice import Adviser
from regraft.flows.patch_built import BuiltRefs
from regraft.flows.patch_judging import Case, Judging
from regraft.flows.patch_left import stopped_without
from regraft.flows.patch_status import Asked, Ports, status


class JudgedProof(Struct, frozen=True):
    """`patch_drop.Proof`, by what `patch status` says wherever the patch is carried. `at` are the refs; none: the followed branch."""

    manifest: Manifest
    ports: Ports
    at: tuple[Ref, ...] = ()

    def of(self, patch: str) -> tuple[Evidence, ...]:
        """Raises what `status` raises."""
        baked = (one for image in self.manifest.images.values() for one in image.carried.values())
        if not any(patch in one.patches for one in baked):
            return ()
        found = status(self.manifest, Asked((patch,), self.at), self.ports)
        judged = [(case, index) for case in found.cases for index in case.chosen]
        evidence = [self._of_row(row, case, index) for row, (case, index) in zip(found.rows, judged, strict=True)]
        evidence += [one for case, index in judged for one in self._of_built(patch, case, index)]
        if all(one.droppable for one in evidence):
            self._leave_the_rest(patch, judged)
        return tuple(dict.fromkeys(evidence))

    def _leave_the_rest(self, patch: str, judged: Sequence[tuple[Case, int]]) -> None:
        """Raises RefusedError where another patch of a series, which goes on now, would stop a run without this one."""
        told, first = dict[str, None](), dict[str, None]()
        alone = False
        for case, index in [*judged, *self._built_cases(judged)]:
            for one in stopped_without(case, index, self._judge):
                where = f"{case.ref} ({case.called(case.commit)}) of {case.carrier.dependency.name}, in {case.carrier.image.name}"
                why = f": {one.reason}" if one.reason else ""
                told[f"without it {one.called} is {one.state} at {where}{why}"] = None
                if one.first:
                    first[one.called] = None
                else:
                    alone = True
        if not told:
            return
        before = f"drop {some(list(first))} first, then this one"
        hint = "they have to go together, by hand, or stay" if alone or not first else before
        message = "\n".join([f"{quoted(patch)} cannot go alone: the series that is left would stop a run", *told])
        raise RefusedError("others-need-it", message, hint=hint)

    def _built_cases(self, judged: Sequence[tuple[Case, int]]) -> Iterator[tuple[Case, int]]:
        for case, index in judged:
            yield from ((one.case, index) for one in self._built()(case) if one.case is not None)

    def _judge(self, one: Judging) -> SeriesHistory:
        return one.deep_enough(self.ports.progress)

    def _built(self) -> BuiltRefs:
        return BuiltRefs(self.ports.files, self.ports.look_up, self._judge)

    def _of_row(self, row: Row, case: Case, index: int) -> Evidence:
        ref = row.ref if self.at else case.name or row.ref
        return _evidence(row.advice, case, index, ref, row.reason)

    def _of_built(self, patch: str, case: Case, index: int) -> Iterator[Evidence]:
        """At what is built besides. Raises RefusedError where that cannot be told."""
        for one in self._built()(case):
            if one.case is None:
                told = f"{one.what} is built, and what it has cannot be told: {one.why}"
                hint = "keep it; or look yourself, then say --without-proof"
                raise RefusedError("not-proved", f"{quoted(patch)} cannot be proved to be needless\n{told}", hint=hint)
            advice = Adviser({}, self.ports.progress).alone(one.case, index)
            yield _evidence(advice, one.case, index, one.what, one.case.history.patches[index].now.reason)


def _evidence(advice: Advice, case: Case, index: int, ref: str, reason: str | None) -> Evidence:
    state, referred = case.history.patches[index].now.state, None
    if state == "target-gone":
        found = advice.references.found if advice.references is not None else ()
        referred = False if advice.action == "drop" else bool(found) or None
        reason = "; ".join(advice.grounds)
    release = case.called(case.commit) if case.upstream.releases else None
    commit = None if release else case.commit
    carrier = case.carrier
    return Evidence(carrier.image.name, carrier.dependency.name, ref, commit, state, reason, referred, release)
