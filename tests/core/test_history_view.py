"""The tree of one commit, as far as patches touch it."""

from collections.abc import Iterator

from regraft.core.file_state import judge_file
from regraft.core.history_view import HistoryView
from regraft.core.patch_history import Version
from regraft.core.patch_text import Hunk, Section
from regraft.core.plan import PatchState

OID = "a" * 40


class Blobs:
    """Every file holds the same line."""

    def blob(self, _oid: str) -> bytes:
        return b"x\n"

    def blob_named(self, _prefix: str) -> bytes:
        return b"x\n"


def test_of_two_copies_the_same_one_is_named_however_a_set_is_laid_out() -> None:
    """The names of a set come in another order in each process; what is remembered and compared must not."""
    said = {_said(["g", "f", "k"]), _said(["k", "f", "g"]), _said(["f", "g", "k"])}
    assert said == {
        ("conflict", "it is not there, and its content stands at f: moved, or a copy? decide by hand"),
    }


def _said(names: list[str]) -> tuple[PatchState, str | None]:
    known = dict(_versions(names))
    view = HistoryView(known, frozenset([b"h"]), Blobs())
    deletion = Section(1, kind="delete", path=b"h", old_oid=OID)
    deletion.hunks.append(Hunk(2, 1, 0, (b"-x",)))
    verdict = judge_file(deletion, view)
    return verdict.state, verdict.reason


def _versions(names: list[str]) -> Iterator[tuple[bytes, Version]]:
    for name in names:
        yield name.encode(), Version("100644", "587be6b4c3f93f93c489c0111bba5596147a26cb")
