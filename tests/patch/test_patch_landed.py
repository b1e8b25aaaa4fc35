"""A fix that upstream took is there for as long as nothing takes it back, however the lines beside it moved on."""

from collections.abc import Callable
from typing import Any

import pytest

Lines = Callable[..., str]


@pytest.fixture
def landed(lab: Any, lines: Lines) -> Any:
    """A plain diff without index lines: nothing but history can tell. Upstream took it, and edited the next line three weeks later."""
    lab.upstream.commit({"a.py": lines(), "b.py": lines()}, "Begin")
    patch = lab.diff({"a.py": lines()}, {"a.py": lines(l20="the real fix")})
    kept = [line for line in patch.splitlines(keepends=True) if not line.startswith(("diff", "index"))]
    lab.carry({"p/fix.patch": "".join(kept)})
    lab.fix = lab.upstream.commit({"a.py": lines(l20="the real fix")}, "Fix it (#12)")
    for day in range(20):
        lab.upstream.commit({"b.py": lines(l1=f"day {day}")}, f"Day {day}")
    return lab


def test_it_is_there_three_weeks_after_the_line_behind_it_was_edited(landed: Any, lines: Lines) -> None:
    landed.upstream.commit({"a.py": lines(l20="the real fix", l21="edited")}, "Edit the next line (#40)")
    code, out, _ = landed.run("status")
    assert code == 0
    assert out.startswith("already-there")
    row = landed.row("status")
    assert row["state"] == "already-there"
    assert f"it came in with {landed.fix[:12]}, and nothing has taken it back since" in row["reason"]
    assert row["culprit"]["commit"] == landed.fix
    assert row["action"] == "drop"


def test_history_has_one_change_of_state_and_not_the_edit(landed: Any, lines: Lines) -> None:
    landed.upstream.commit({"a.py": lines(l20="the real fix", l21="edited")}, "Edit the next line (#40)")
    [row] = landed.json("history", "--last", "100")
    assert [(one["before"], one["after"], one["culprit"]["commit"]) for one in row["turns"]] == [
        ("applies", "already-there", landed.fix)
    ]


def test_once_it_was_taken_back_it_applies_again(landed: Any, lines: Lines) -> None:
    landed.upstream.commit({"a.py": lines()}, "Revert the fix")
    assert landed.row("status")["state"] == "applies"


def test_once_it_was_rewritten_it_is_a_conflict(landed: Any, lines: Lines) -> None:
    landed.upstream.commit({"a.py": lines(l20="another fix", l21="edited")}, "Rewrite it")
    assert landed.row("status")["state"] == "conflict"
