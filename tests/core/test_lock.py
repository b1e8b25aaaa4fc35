import pytest

from regraft.core.lock import read_lock
from regraft.core.manifest import Lock
from regraft.errors import InputError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LONG = COMMIT + "0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("data", "key", "commit"),
    [
        (COMMIT, None, COMMIT),
        (f"\r\n {COMMIT}\r\n", None, COMMIT),
        (LONG, None, LONG),
        (f'{{"megatron_commit": "{COMMIT}", "other": 1}}', "/megatron_commit", COMMIT),
        (f'{{"a": [{{"b/c": "x"}}, {{"b/c": "{COMMIT}"}}]}}', "/a/1/b~1c", COMMIT),
        (f'{{"~": {{"": "{COMMIT}"}}}}', "/~0/", COMMIT),
        (f'{{"~1": "{COMMIT}"}}', "/~01", COMMIT),
        (f'{{"01": "{COMMIT}"}}', "/01", COMMIT),
        (f'"{COMMIT}"', "", COMMIT),
    ],
)
def test_the_commit_that_a_lock_records(data: str, key: str | None, commit: str) -> None:
    assert read_lock(data.encode(), Lock("lock", key)) == commit


@pytest.mark.parametrize(
    ("data", "key", "says"),
    [
        (b"", None, "no full commit hash"),
        (COMMIT[:39].encode(), None, "no full commit hash"),
        (COMMIT.upper().encode(), None, "no full commit hash"),
        (f"{COMMIT} # main".encode(), None, "no full commit hash"),
        (f"{COMMIT}\n{COMMIT}".encode(), None, "no full commit hash"),
        (b"main", None, "no full commit hash"),
        (b"\xff" * 40, None, "not UTF-8"),
        (COMMIT.encode(), "/a", "not JSON"),
        (b"{", "/a", "not JSON"),
        (b"[" * 100_000, "/a", "not JSON"),
        (b"{}", "/a", "'a' is not there"),
        (b'{"a": {"b": 1}}', "/a/c", "'c' is not there"),
        (b'{"a": ["x"]}', "/a/1", "'1' is not there"),
        (b'{"a": ["x"]}', "/a/-1", "'-1' is not there"),
        (b'{"a": ["x"]}', "/a/00", "'00' is not there"),
        (b'{"a": ["x"]}', "/a/-", "'-' is not there"),
        (b'{"a": ["x"]}', "/a/٠", "is not there"),
        (b'{"a": "x"}', "/a/b", "'b' is not there"),
        (b'{"a": 1}', "/a", "there is a number"),
        (b'{"a": true}', "/a", "there is a boolean"),
        (b'{"a": null}', "/a", "there is null"),
        (b'{"a": {}}', "/a", "there is an object"),
        (b'{"a": []}', "/a", "there is a list"),
        (b'{"a": "main\\u001b"}', "/a", "no full commit hash"),
    ],
)
def test_a_lock_that_records_no_commit_is_said(data: bytes, key: str | None, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_lock(data, Lock("sub/lock", key))
    error = caught.value
    assert (error.code, error.where) == ("lock-unreadable", "sub/lock")
    assert says in error.message
    assert error.message.isprintable()


def test_a_pointer_that_leads_nowhere_is_shown_what_is_there() -> None:
    with pytest.raises(InputError) as caught:
        read_lock(b'{"b": 1, "a": 2}', Lock("lock", "/c"))
    assert caught.value.hint == "its keys there are 'a', 'b'"


def test_a_lock_that_is_not_there_is_missing() -> None:
    with pytest.raises(InputError) as caught:
        read_lock(None, Lock("lock", None))
    assert (caught.value.code, caught.value.where) == ("lock-missing", "lock")


def test_a_key_that_stands_twice_is_no_answer() -> None:
    one, other = "1" * 40, "2" * 40
    with pytest.raises(InputError) as caught:
        read_lock(f'{{"c": "{one}", "c": "{other}"}}'.encode(), Lock("l.json", "/c"))
    assert caught.value.code == "lock-unreadable"
