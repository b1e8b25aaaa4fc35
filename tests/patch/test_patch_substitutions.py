"""Replacements and anchors in the patch commands: states per entry, who changed them, and what to do."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regraft.cli.main import main
from regraft.core.patch_verdict import judge_patch
from regraft.core.substitution_read import read_substitutions
from regraft.core.tree_view import TreeView
from regraft.core.trees import Entry

A = "import os\n\n\ndef start(args):\n    load(args)\n"
B = "def stop(args):\n    unload(args)\n"
HOOK = "def hook(model):\n    wrap(model)\n    return model\n"

CHANGES = """\
[[replace]]
file = "a.py"
old = "    load(args)\\n"
new = "    load(args, fast=True)\\n"

[[replace]]
file = "b.py"
old = "unload(args)"
new = "unload(args, now=True)"
"""
ANCHOR = """\
[[anchor]]
file = "hook.py"
text = '''
def hook(model):
    wrap(model)
    return model
'''
"""


@pytest.fixture
def hooked(lab: Any) -> Any:
    lab.upstream.commit({"a.py": A, "b.py": B, "hook.py": HOOK}, "Begin")
    lab.carry({"docker/changes.toml": CHANGES, "docker/hooks.toml": ANCHOR})
    return lab


def test_each_entry_is_a_hunk_with_its_line(hooked: Any) -> None:
    code, out, _ = hooked.run("status", "--hunks")
    assert code == 0
    assert "a.py hunk 1 applies (line 5)" in out
    assert "hook.py hunk 1 applies (line 1)" in out
    changes, hooks = hooked.json("status")
    assert (changes["state"], hooks["state"], changes["action"]) == ("applies", "applies", "nothing")
    assert changes["hunks"] == [
        {"file": "a.py", "index": 1, "state": "applies", "offset": None, "line": 5},
        {"file": "b.py", "index": 1, "state": "applies", "offset": None, "line": 2},
    ]


def test_what_has_landed_in_one_file_is_partial_and_in_both_it_can_be_dropped(hooked: Any) -> None:
    hooked.upstream.commit({"a.py": A.replace("load(args)", "load(args, fast=True)")}, "Load faster (#7)")
    row = hooked.row("status", "changes.toml")
    assert (row["state"], row["reason"]) == ("partial", "a.py there already; b.py still to be changed")
    hooked.upstream.commit({"b.py": B.replace("(args)\n", "(args, now=True)\n")}, "Unload now")
    row = hooked.row("status", "changes.toml")
    assert (row["state"], row["action"], row["culprit"]["subject"]) == ("already-there", "drop", "Unload now")


def test_a_string_that_was_renamed_stops_and_is_named(hooked: Any) -> None:
    """https://github.com/eugr/spark-vllm-docker/pull/177: the script changed nothing, and nobody was told."""
    by = hooked.upstream.commit({"b.py": B.replace("unload", "release")}, "Rename unload")
    code, out, _ = hooked.run("why", "changes.toml")
    assert code == 1
    assert "reason    b.py: it is not there" in out
    assert "declared in line 6); 1 of 2 entries would fit" in out
    assert f"changed   applies -> conflict by {by[:12]}" in out
    assert "it rewrote b.py, line 2" in out
    assert "exact replacements and anchors are not carried over by a merge" in out


def test_of_eight_strings_in_six_files_the_one_that_was_renamed_is_listed(lab: Any) -> None:
    """https://github.com/eugr/spark-vllm-docker/pull/177"""
    files = {f"f{number}.py": f"first_{number} = 1\nsecond_{number} = 2\n" for number in range(6)}
    lab.upstream.commit(files)
    strings = [(f"f{number}.py", f"first_{number} = 1") for number in range(6)]
    strings += [("f0.py", "second_0 = 2"), ("f1.py", "second_1 = 2")]
    entries = [f'[[replace]]\nfile = "{file}"\nold = "{old}"\nnew = "{old}0"\n' for file, old in strings]
    lab.carry({"x.toml": "".join(entries)})
    assert lab.row("status")["state"] == "applies"
    lab.upstream.commit({"f1.py": "first_1 = 1\nother_1 = 2\n"})
    row = lab.row("status")
    assert [one["state"] for one in row["hunks"]].count("applies") == 7
    assert [(one["file"], one["index"]) for one in row["hunks"] if one["state"] == "conflict"] == [("f1.py", 2)]
    assert (row["state"], row["reason"]) == (
        "conflict",
        "f1.py: it is not there (replacement, entry 2 of 2, declared in line 29); 7 of 8 entries would fit",
    )
    code, _, _ = lab.run("status")
    assert code == 1


def test_the_first_commit_after_which_an_anchor_is_missing_is_found(hooked: Any) -> None:
    """https://github.com/vllm-project/vllm-ascend/issues/7823: the server died at start."""
    hooked.upstream.commit({"a.py": A + "\n"}, "Another file")
    by = hooked.upstream.commit({"hook.py": HOOK.replace("    return", "\n    return")}, "Make room (#12)")
    hooked.upstream.commit({"hook.py": HOOK.replace("    return", "\n    return") + "x = 1\n"}, "Later")
    row = hooked.row("why", "hooks.toml")
    assert (row["state"], row["culprit"]["commit"], row["culprit"]["pull"]) == ("conflict", by, 12)
    assert row["reason"].startswith("hook.py: it stands in line 1, split by a blank line (anchor, entry 1 of 1")
    _, out, _ = hooked.run("history", "hooks.toml", "--last", "10")
    assert f"applies -> conflict by {by[:12]}" in out


def test_a_file_that_went_is_target_gone(hooked: Any) -> None:
    hooked.upstream.commit({"hook.py": None, "b.py": "import hook\n"}, "Take the hook out")
    row = hooked.row("why", "hooks.toml")
    assert (row["state"], row["culprit"]["deleted"]) == ("target-gone", "hook.py")
    assert [one["path"] for one in row["references"]["found"]] == ["b.py"]


def test_where_a_file_went_and_whether_it_fits_there_is_told(hooked: Any) -> None:
    by = hooked.upstream.commit({"hook.py": None, "models/hook.py": HOOK}, "Move")
    code, out, _ = hooked.run("why", "hooks.toml")
    assert code == 1
    assert "hook.py: is not there; one file has that name: models/hook.py, and the entries fit there" in out
    assert f"changed   applies -> target-gone by {by[:12]}" in out
    assert "took hook.py away, and moved it to models/hook.py (100 % alike)" in out
    assert "its entries fit models/hook.py, the only file of that name: `file` would be that" in out


def test_a_change_that_landed_and_moved_with_its_file_is_found_there(hooked: Any) -> None:
    landed = A.replace("(args)\n", "(args, fast=True)\n")
    hooked.carry({"docker/changes.toml": CHANGES.partition("\n\n")[0] + "\n"})
    hooked.upstream.commit({"a.py": landed})
    hooked.upstream.commit({"a.py": None, "lib/start.py": landed})
    row = hooked.row("why", "changes.toml")
    assert (row["state"], row["action"]) == ("target-gone", "by-hand")
    assert "its change stands in lib/start.py, where its target went: look, then drop it" in row["grounds"]


def test_a_new_text_that_always_stood_there_is_no_proof(lab: Any) -> None:
    """The old text was renamed, and what it would have become stands in another function."""
    lab.upstream.commit({"f.py": "def one():\n    return fast()\n\n\ndef two():\n    return slow()\n"})
    entry = '[[replace]]\nfile = "f.py"\nold = "return slow()"\nnew = "return fast()"\n'
    lab.carry({"x.toml": entry})
    assert "its new text stands there as well" in lab.row("status")["reason"]
    lab.upstream.commit({"f.py": "def one():\n    return fast()\n\n\ndef two():\n    return other()\n"}, "Rename")
    row = lab.row("status")
    assert (row["state"], row["action"] == "drop") == ("conflict", False)
    assert "its result stood there before" in row["reason"]


def test_verdicts_are_remembered_by_what_the_file_declares(hooked: Any) -> None:
    assert hooked.row("status", "changes.toml")["state"] == "applies"
    path = hooked.project / "docker/changes.toml"
    path.write_text(CHANGES.replace('old = "unload(args)"', 'old = "unload(nothing)"'))
    assert hooked.row("status", "changes.toml")["state"] == "conflict"
    path.write_text(CHANGES)
    assert hooked.row("status", "changes.toml")["state"] == "applies"
    path.write_text(CHANGES + "count = 2\n")
    assert hooked.row("status", "changes.toml")["state"] == "conflict"


def test_it_builds_on_the_diffs_before_it_and_later_diffs_on_it(lab: Any) -> None:
    lab.upstream.commit({"a.py": A, "b.py": B})
    first = lab.diff({"a.py": A}, {"a.py": A.replace("load(args)", "load_all(args)")})
    changed = A.replace("load(args)", "load_all(args, 1)")
    last = lab.diff({"a.py": changed}, {"a.py": changed.replace("(args, 1)", "(args, 2)")})
    entry = '[[replace]]\nfile = "a.py"\nold = "load_all(args)"\nnew = "load_all(args, 1)"\n'
    lab.carry({"1.patch": first, "2.toml": entry, "3.patch": last})
    assert [row["state"] for row in lab.json("status")] == ["applies"] * 3
    lab.upstream.commit({"a.py": A.replace("load(args)", "load_all(args, 2)")})
    assert [row["state"] for row in lab.json("status")] == ["already-there"] * 3


def test_refresh_says_that_it_does_not_merge_such_a_file(hooked: Any) -> None:
    code, out, _ = hooked.run("refresh", "changes.toml")
    assert (code, "nothing to refresh" in out) == (0, True)
    hooked.upstream.commit({"b.py": B.replace("unload", "release")})
    code, out, _ = hooked.run("refresh", "changes.toml")
    assert code == 1
    assert "exact replacements and anchors are not carried over by a merge: write their texts anew" in out
    assert "nothing was written" in out
    assert (hooked.project / "docker/changes.toml").read_text() == CHANGES


def test_drop_takes_the_file_out_with_its_uses(hooked: Any) -> None:
    hooked.upstream.commit(
        {"a.py": A.replace("(args)\n", "(args, fast=True)\n"), "b.py": B.replace("(args)\n", "(args, now=True)\n")}
    )
    project = hooked.project
    dockerfile = "FROM x\nCOPY docker/changes.toml docker/hooks.toml /p/\n"
    (project / "Dockerfile").write_text(dockerfile)
    for words in (["init", "--quiet"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    code, out, err = hooked.run("drop", "changes.toml")
    assert code == 0, out + err
    assert not (project / "docker/changes.toml").exists()
    assert (project / "Dockerfile").read_text() == "FROM x\nCOPY docker/hooks.toml /p/\n"
    assert 'patches = ["docker/hooks.toml"]' in (project / "regraft.toml").read_text()


def test_a_command_that_is_not_known_keeps_the_file(hooked: Any) -> None:
    hooked.upstream.commit(
        {"a.py": A.replace("(args)\n", "(args, fast=True)\n"), "b.py": B.replace("(args)\n", "(args, now=True)\n")}
    )
    project = hooked.project
    (project / "Dockerfile").write_text("FROM x\nCOPY docker /p\nRUN python3 /p/replace.py /p/changes.toml /dep\n")
    for words in (["init", "--quiet"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    code, out, err = hooked.run("drop", "changes.toml")
    assert code == 1
    assert "Dockerfile:3" in out + err
    assert (project / "docker/changes.toml").read_text() == CHANGES


def test_what_only_has_anchors_left_is_kept(hooked: Any) -> None:
    hooked.carry({"docker/changes.toml": CHANGES + "\n" + ANCHOR})
    hooked.upstream.commit(
        {"a.py": A.replace("(args)\n", "(args, fast=True)\n"), "b.py": B.replace("(args)\n", "(args, now=True)\n")}
    )
    row = hooked.row("status")
    assert (row["state"], row["action"]) == ("applies", "nothing")
    assert "take that out of the file; its anchors are found, and stay" in row["reason"]


def test_a_mistake_in_it_is_unreadable_and_check_says_all_of_them_offline(hooked: Any) -> None:
    (hooked.project / "docker/changes.toml").write_text('[[replace]]\nfile = "../a"\nnwe = "x"\nold = ""\n')
    row = hooked.row("status", "changes.toml")
    assert row["state"] == "unreadable"
    assert "line 3: [[replace]] has no key 'nwe'; did you mean `new`?" in row["reason"]
    hooked.capsys.readouterr()
    assert main(["check", "--project", str(hooked.project), "--format", "json"]) == 1
    found = json.loads(hooked.capsys.readouterr().out)
    said = [one["message"] for one in found["findings"] if one["rule"] == "patch-unreadable"]
    assert [one.partition(":")[0] for one in said] == ["line 2", "line 3", "line 4"]


PAGE = (Path(__file__).resolve().parents[2] / "docs/patches.md").read_text("utf-8")
SECTION = PAGE.partition("\n## Changes that are no diff\n")[2].partition("\n## ")[0]
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL))


def test_the_script_of_the_page_makes_of_its_example_what_regraft_makes(tmp_path: Path) -> None:
    files = {
        b"engine/server.py": b"def main(args):\n    start(args)\n",
        b"engine/limits.py": b"TIMEOUT = 30\nSLOW_TIMEOUT = 30\n",
        b"engine/model.py": b"import os\n\ndef load(path):\n    weights = read(path)\n    return weights\n",
    }
    entries = {path: Entry("100644", "blob", path.hex(), path) for path in files}
    text = read_substitutions(BLOCKS["toml"].encode())
    verdict = judge_patch(text, TreeView(entries, lambda oid: files[bytes.fromhex(oid)]))
    assert (verdict.state, [len(one.hunks) for one in verdict.files]) == ("applies", [1, 1, 1])
    (tmp_path / "engine").mkdir()
    for path, content in files.items():
        (tmp_path / path.decode()).write_bytes(content)
    (tmp_path / "changes.toml").write_text(BLOCKS["toml"])
    script = [sys.executable, "-c", BLOCKS["python"], str(tmp_path / "changes.toml"), str(tmp_path)]
    subprocess.run(script, check=True)
    made = {path: made.content for path, made in verdict.results.items() if made is not None}
    assert made.keys() == {b"engine/server.py", b"engine/limits.py"}
    for path, content in (files | made).items():
        assert (tmp_path / path.decode()).read_bytes() == content
    again = subprocess.run(script, check=False, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (1, f"{tmp_path}/engine/server.py: 0 places have 'start(args)'\n")
