"""What refers to a target that is gone: links, files that are no text, and what a hunk's own lines define."""

from typing import Any

import pytest

LANES = "import os\n\n\nclass LaneRunner:\n    def run(self):\n" + "".join(f"        step{at}(x)\n" for at in range(30))


def put(lab: Any, path: str, data: bytes, mode: str = "100644") -> None:
    """One more commit with bytes, or with another kind of file."""
    lab.upstream.stamp += 86_400
    head = f"commit refs/heads/main\ncommitter A <a@example.org> {lab.upstream.stamp} +0000\ndata 1\nm\n"
    head += f"from {lab.upstream.heads['main']}\nM {mode} inline {path}\ndata {len(data)}\n"
    lab.upstream.git("fast-import", "--quiet", "--force", stdin=head.encode() + data + b"\n")
    lab.upstream.heads["main"] = lab.upstream.git("rev-parse", "refs/heads/main").decode().strip()


@pytest.fixture
def gone(lab: Any) -> Any:
    lab.upstream.commit({"pkg/lane_tools.py": LANES, "b.py": "b\n"}, "Begin")
    changed = LANES.replace("step20(x)", "step20(y)")
    lab.carry({"p.patch": lab.diff({"pkg/lane_tools.py": LANES}, {"pkg/lane_tools.py": changed})})
    lab.upstream.commit({"pkg/lane_tools.py": None}, "Remove it")
    assert lab.row("why", "p.patch")["action"] == "drop"
    return lab


def found(lab: Any) -> list[tuple[str, int, str]]:
    row = lab.row("why", "p.patch")
    assert row["action"] != "drop"
    return [(one["path"], one["line"], one["text"]) for one in row["references"]["found"]]


def test_a_link_to_the_target_refers_to_it(gone: Any) -> None:
    put(gone, "old/alias.py", b"../pkg/lane_tools.py", "120000")
    assert found(gone) == [("old/alias.py", 1, "../pkg/lane_tools.py")]


def test_a_link_elsewhere_does_not(gone: Any) -> None:
    put(gone, "alias.py", b"b.py", "120000")
    assert gone.row("why", "p.patch")["action"] == "drop"


@pytest.mark.parametrize("code", ["utf-16", "utf-16-le"])
def test_a_source_in_utf_16_is_searched(gone: Any, code: str) -> None:
    text = "x = 1\r\nimport pkg.lane_tools\r\n"
    put(gone, "x.ps1", (b"" if code == "utf-16" else b"\xff\xfe") + text.encode(code))
    assert found(gone) == [("x.ps1", 2, "import pkg.lane_tools")]


def test_a_source_with_a_nul_byte_is_searched(gone: Any) -> None:
    put(gone, "x.py", b'X = "\0"\nimport pkg.lane_tools\n')
    assert found(gone) == [("x.py", 2, "import pkg.lane_tools")]


def test_what_was_not_searched_is_told(gone: Any) -> None:
    put(gone, "lanes.png", b"\x89PNG\0lane_tools\0")
    put(gone, "table.bin", b"\0" * (1024 * 1024 + 1))
    row = gone.row("why", "p.patch")
    assert (row["action"], row["references"]["unsearched"]) == ("drop", 2)
    assert (
        "looked    for lane_tools, LaneRunner in every file there but 2 that are no text: nothing refers to it"
        in gone.run("why", "p.patch")[1]
    )


def test_the_class_whose_method_is_edited_is_looked_for(gone: Any) -> None:
    put(gone, "x.py", b"LaneRunner().run()\n")
    assert found(gone) == [("x.py", 1, "LaneRunner().run()")]


def test_so_is_the_constant_that_is_edited(lab: Any) -> None:
    table = (
        "import os\n\nLANE_TABLE: dict[str, int] = {\n" + "".join(f'    "{at}": {at},\n' for at in range(30)) + "}\n"
    )
    lab.upstream.commit({"pkg/lane_tools.py": table}, "Begin")
    changed = table.replace('"20": 20', '"20": 0')
    lab.carry({"p.patch": lab.diff({"pkg/lane_tools.py": table}, {"pkg/lane_tools.py": changed})})
    lab.upstream.commit({"pkg/lane_tools.py": None, "x.py": "LANE_TABLE[1]\n"}, "Remove it")
    assert found(lab) == [("x.py", 1, "LANE_TABLE[1]")]


def test_that_no_word_was_looked_for_reads_like_no_proof(lab: Any) -> None:
    lines = "".join(f"line {at}\n" for at in range(40))
    lab.upstream.commit({"f.py": lines}, "Begin")
    lab.carry({"p.patch": lab.diff({"f.py": lines}, {"f.py": lines.replace("line 20\n", "x\n")})})
    lab.upstream.commit({"f.py": None}, "Remove it")
    code, out, _ = lab.run("why", "p.patch")
    assert code == 1
    assert "looked    for no word: every one was set aside, so that this shows nothing" in out
    assert "nothing refers to it" not in out
    assert lab.row("why", "p.patch")["action"] != "drop"
