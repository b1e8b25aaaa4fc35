"""A slice of `make fuzz`: what regraft says of patches, and whether git agrees."""

import sys
from pathlib import Path

import pytest

BENCH = str(Path(__file__).resolve().parent.parent / "bench")


def slice_of(seed: int, count: int, tmp_path: Path) -> None:
    sys.path.insert(0, BENCH)
    try:
        import fuzz
    finally:
        sys.path.remove(BENCH)
    counts, lies = fuzz.run(seed, count, tmp_path)
    assert lies == [], "\n".join(lies[:3])
    for state in (
        "applies",
        "already-there",
        "partial",
        "conflict",
        "conflict (ambiguous)",
        "target-gone",
        "unreadable",
    ):
        assert counts[state] > 0, state


@pytest.mark.parametrize("seed", [1, 2])
def test_git_agrees_with_every_verdict(seed: int, tmp_path: Path) -> None:
    slice_of(seed, 800, tmp_path)


@pytest.mark.slow
def test_git_agrees_with_thousands_of_verdicts(tmp_path: Path) -> None:
    slice_of(20, 4000, tmp_path)


def test_a_wrong_verdict_would_be_seen(tmp_path: Path) -> None:
    """The harness itself, with an engine that calls every patch one that applies, and one that calls none so."""
    sys.path.insert(0, BENCH)
    try:
        import fuzz
    finally:
        sys.path.remove(BENCH)
    from regraft.core.patch_verdict import PatchVerdict

    oracle = fuzz.Oracle(tmp_path / "r")
    kinds = ["conflict", "untouched", "offset"] * 20
    trials = fuzz.batch(oracle, fuzz.Maker(3), kinds, 1, ["-U3"])
    for trial in trials:
        fuzz.judged(trial)
    assert fuzz.compare(oracle, trials) == []
    for instead, what in (("applies", "git refuses it"), ("conflict", "git takes it")):
        oracle.run("read-tree", "refs/heads/t3")
        for trial in trials:
            fuzz.judged(trial)
            trial.verdicts = [PatchVerdict(instead, "wrong") for _ in trial.verdicts]
        assert any(what in lie.what for lie in fuzz.compare(oracle, trials)), what
