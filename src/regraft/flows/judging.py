"""Every override of a run before the gate: what is wrong with several is said at once."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from regraft.errors import InputError, MistakesError, OutsideError, raise_all
from regraft.flows.draft import Decision, Draft
from regraft.flows.gate import Gate, Verdict
from regraft.flows.patch_files import PatchFiles
from regraft.flows.resolve import Pin, Wanted


class Judging(Struct):
    """The pins, the patch files, and the gate that judges them."""

    pins: Mapping[Wanted, Pin]
    patches: PatchFiles
    gate: Gate

    def of(self, drafts: Iterable[Draft]) -> dict[str, dict[str, Verdict | None]]:
        """Verdicts by image and dependency, None for what is kept. Raises all mistakes at once, else the first OutsideError.

        A mistake without a place of its own stands where its override was named.
        """
        mistakes: dict[tuple[str, str | None, str], InputError] = {}
        verdicts: dict[str, dict[str, Verdict | None]] = {}
        for draft in drafts:
            verdicts[draft.image.name] = {}
            for one in draft.decisions:
                try:
                    verdicts[draft.image.name][one.dependency.name] = self._judge(one, draft)
                except InputError as error:
                    for mistake in error.mistakes if isinstance(error, MistakesError) else (error,):
                        where = mistake.where or (one.wanted.where if one.wanted else None)
                        placed = InputError(mistake.code, mistake.message, where=where, hint=mistake.hint)
                        mistakes[placed.code, where, placed.message] = placed
                except OutsideError:
                    raise_all([*mistakes.values()])
                    raise
        raise_all([*mistakes.values()])
        return verdicts

    def _judge(self, decision: Decision, draft: Draft) -> Verdict | None:
        if decision.wanted is None:
            return None
        series = self.patches.of(decision.baked)
        return self.gate.judge(
            decision.dependency, decision.baked, self.pins[decision.wanted], series, draft.held.baseline
        )
