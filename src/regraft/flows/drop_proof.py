"""Whether a carried patch can go, judged at the refs that were named, or at the branch that its dependency follows."""

from msgspec import Struct

from regraft.core.drop_values import Evidence
from regraft.core.manifest import Manifest
from regraft.core.patch_health import Row
from regraft.core.refs import Ref
from regraft.flows.patch_judging import Case
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
        return tuple(self._evidence(row, case) for row, case in zip(found.rows, found.cases, strict=True))

    def _evidence(self, row: Row, case: Case) -> Evidence:
        ref = row.ref if self.at else case.name or row.ref
        reason, referred = row.reason, None
        if row.state == "target-gone":
            found = row.advice.references.found if row.advice.references is not None else ()
            referred = False if row.advice.action == "drop" else bool(found) or None
            reason = "; ".join(row.advice.grounds)
        commit = None if row.release else row.commit
        return Evidence(row.image, row.dependency, ref, commit, row.state, reason, referred, row.release)
