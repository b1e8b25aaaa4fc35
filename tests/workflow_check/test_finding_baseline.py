"""A baseline of old findings: they are known again when lines move, and a new one beside them is said."""

import pytest

from regraft.core.finding_baseline import freeze, identities, read_finding_baseline, without_frozen
from regraft.core.findings import Finding
from regraft.errors import InputError

PATH = "ci.yml"
OLD = b"jobs:\n  a:\n    run: make || true\n"
MOVED = b"# a line more\njobs:\n  a:\n      run: make || true\n      run: make || true\n"


def finding(line: int, rule: str = "swallowed-failure") -> Finding:
    return Finding(rule, "error", f"said of line {line}", PATH, line)


def test_a_frozen_finding_is_known_again_where_its_line_went() -> None:
    baseline = read_finding_baseline(freeze([finding(3)], {PATH: OLD}), "b.json")
    assert without_frozen([finding(4)], baseline, {PATH: MOVED}) == ((), 0)


def test_a_second_one_of_the_same_text_is_new() -> None:
    baseline = read_finding_baseline(freeze([finding(3)], {PATH: OLD}), "b.json")
    new, gone = without_frozen([finding(4), finding(5)], baseline, {PATH: MOVED})
    assert ([one.line for one in new], gone) == ([5], 0)


def test_another_rule_and_another_file_are_not_frozen_with_it() -> None:
    baseline = read_finding_baseline(freeze([finding(3)], {PATH: OLD}), "b.json")
    other = Finding("swallowed-failure", "error", "…", "other.yml", 3)
    new, gone = without_frozen([finding(3, "input-unread"), other], baseline, {PATH: OLD, "other.yml": OLD})
    assert ([one.rule for one in new], gone) == (["input-unread", "swallowed-failure"], 1)


@pytest.mark.parametrize("data", [b"", b"[]", b'{"schema": "other", "findings": []}', b'{"schema": "regraft.findings-baseline/1", "findings": [{"rule": 1}]}'])  # fmt: skip
def test_what_is_no_baseline_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError):
        read_finding_baseline(data, "b.json")


def test_an_identity_stays_when_lines_move_and_tells_equal_lines_apart() -> None:
    (before,) = identities([finding(3)], {PATH: OLD})
    after = identities([finding(4), finding(5)], {PATH: MOVED})
    assert after[0] == before
    assert after[1] != before


@pytest.mark.parametrize("count", ["0", "-5", "1.5", "1e999", "true", '"1"'])
def test_a_count_that_is_none_is_an_error(count: str) -> None:
    entry = f'{{"rule": "r", "path": "ci.yml", "text": "x", "count": {count}}}'
    with pytest.raises(InputError):
        read_finding_baseline(f'{{"schema": "regraft.findings-baseline/1", "findings": [{entry}]}}'.encode(), "b.json")


def test_a_file_whose_name_is_no_text_is_known_again() -> None:
    found = Finding("swallowed-failure", "error", "…", "a\udcffb.yml", 3)
    baseline = read_finding_baseline(freeze([found], {found.path: OLD}), "b.json")
    assert without_frozen([found], baseline, {found.path: OLD}) == ((), 0)
    assert len(identities([found], {found.path: OLD})) == 1
