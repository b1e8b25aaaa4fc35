"""What a restore says of the files that are newer than the apply: named, bounded, and harmless."""

import json

from regraft.core.restored import Kept, Restored
from regraft.render.restore import restored_json, restored_lines

MANY = tuple(f"/src/{number:04}" for number in range(1500))


def test_the_first_ones_are_named_for_people_and_the_rest_is_counted() -> None:
    lines = restored_lines(Restored("given-back", kept=Kept("/state/kept/r1", MANY)))
    assert lines[0] == "made or changed since the apply, and taken away: 1500 files"
    assert lines[1:21] == [f"  {path}" for path in MANY[:20]]
    assert lines[21:] == ["  and 1480 more", "  their copies are in /state/kept/r1", "the baseline is back"]


def test_for_machines_there_are_more_of_them_and_the_whole_count() -> None:
    newer = json.loads(restored_json(Restored("given-back", kept=Kept("/state/kept/r1", MANY))))["newer_than_apply"]
    assert (newer["count"], newer["copies"], newer["paths"]) == (1500, "/state/kept/r1", [*MANY[:1000]])


def test_where_nothing_is_newer_nothing_is_said_of_it() -> None:
    restored = Restored("given-back")
    assert restored_lines(restored) == ["the baseline is back"]
    assert json.loads(restored_json(restored))["newer_than_apply"] == {"count": 0, "paths": [], "copies": None}


def test_a_name_that_is_a_command_of_a_terminal_or_a_runner_is_harmless() -> None:
    lines = restored_lines(Restored("given-back", kept=Kept("/k", ("::error::x", "/a\x1b[2J\n::error::y"))))
    assert not any(line.lstrip().startswith("::") for line in lines)
    assert all("\x1b" not in line and "\n" not in line for line in lines)
