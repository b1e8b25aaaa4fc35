"""A partial clone that somebody works in has the files of its HEAD, and lacks those of older commits."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Lines = Callable[..., str]


@pytest.fixture
def partial(lab: Any, lines: Lines) -> Any:
    """`f.py` was edited twice, and `g.py` never."""
    first = {"f.py": lines(), "g.py": lines()}
    lab.upstream.commit(first, "Begin")
    lab.upstream.commit({"f.py": lines(l1="one")}, "Edit it")
    lab.upstream.commit({"f.py": lines(l1="one", l10="foreign")}, "Edit it again")
    carried = {name: lab.diff({name: lines()}, {name: lines(l10="ours")}) for name in ("f.py", "g.py")}
    lab.carry({"f.patch": carried["f.py"], "g.patch": carried["g.py"]})
    lab.upstream.git("config", "uploadpack.allowFilter", "true")
    clone = ["git", "clone", "--quiet", "--filter=blob:none", f"file://{lab.upstream.path}", str(lab.root / "part")]
    subprocess.run(clone, check=True, capture_output=True)
    manifest = lab.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace("../upstream.git", "../part"))
    return lab


def test_the_states_at_a_ref_are_told_though_older_files_are_missing(partial: Any) -> None:
    rows = partial.json("status")
    assert [(row["patch"], row["state"]) for row in rows] == [("f.patch", "conflict"), ("g.patch", "applies")]
    assert [row["culprit"] for row in rows] == [None, None]


def test_where_the_culprit_would_be_the_file_that_is_missing_is_named(partial: Any) -> None:
    said = partial.run("why", "f.patch")[1]
    assert "nobody knows: never in 1 first-parent commit, and of the file before that" in said
    [row] = partial.json("history", "--last", "9", "f.patch")
    assert (row["turns"], row["commits"], len(row["lacks"])) == ([], 1, 40)
    assert row["lacks"] in said
    assert "before that, as far as the files are here" in partial.run("history", "--last", "9", "f.patch")[1]


def test_a_file_that_the_ref_itself_lacks_leaves_nothing_to_decide(partial: Any) -> None:
    partial.upstream.commit({"f.py": "new\n"}, "Rewrite it")
    fetch = ["git", "fetch", "--quiet", "origin", "main:refs/heads/next"]
    subprocess.run(fetch, cwd=partial.root / "part", check=True, capture_output=True)
    code, _, err = partial.run("status", "--at", "next")
    assert (code, "cannot decide: blob missing" in err) == (3, True)
