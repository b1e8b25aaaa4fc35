import pytest

from regraft.core.versions import is_computed, is_fallback, is_lower, newer_tags


@pytest.mark.parametrize(
    ("version", "baseline", "answer"),
    [
        ("0.0.0", None, True),
        ("0.0.0.dev1+g12abcdef", None, True),
        ("0.0.0+unknown", None, True),
        ("0.0.post1.dev3+g1234567", None, True),
        ("0+unknown", None, True),
        ("0.1.dev12+g1234567", None, True),
        ("0.1.dev1+g1234567.d20260101", "0.5.2", True),
        ("0.1.dev1", "0.5.2", True),
        ("0.1.dev1", None, False),
        ("0.1.dev1", "0.1.dev0", False),
        ("0.1.dev1", "not a version", False),
        ("0.0.1", None, False),
        ("0.1", None, False),
        ("0.1.0", "0.5", False),
        ("0.5.2.dev3+g1234567", "0.5", False),
        ("10.0.0", None, False),
    ],
)
def test_a_version_that_says_no_tag_was_in_reach(version: str, baseline: str | None, answer: bool) -> None:
    assert is_fallback(version, baseline) is answer


@pytest.mark.parametrize(
    ("version", "answer"),
    [
        ("0.20.1.dev181", True),
        ("0.20.1.dev181+g1234567", True),
        ("0.20.1+g1234567", True),
        ("0.21rc1", False),
        ("1.0", False),
    ],
)
def test_a_version_that_was_computed_from_a_tag(version: str, answer: bool) -> None:
    assert is_computed(version) is answer


def test_lower_where_both_are_versions() -> None:
    assert is_lower("0.9", "0.10") is True
    assert is_lower("0.10", "0.9") is False
    assert is_lower("nightly", "0.9") is None


def test_tags_above_a_version_highest_first() -> None:
    tags = ["v0.20.0", "v0.21rc1", "v0.21.0", "release/0.22.1", "nightly", "v2", "vx.y", "pkg-v0.23.0"]
    assert newer_tags("0.20.1.dev181+gabc1234", tags) == ("pkg-v0.23.0", "release/0.22.1", "v0.21.0", "v0.21rc1")
    assert newer_tags("nonsense", tags) == ()
