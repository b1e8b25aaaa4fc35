"""The comparison of a tree with files, and the name that git gives to a tree."""

import pytest

from regraft.core.checkout_tree import (
    Entry,
    Odd,
    clean_text,
    compare,
    is_importable,
    object_hash,
    pointer,
    source_folders,
    stored_form,
    tree_hash,
)

A, B = "a" * 40, "b" * 40
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_the_names_of_the_empty_tree_and_blob_are_gits() -> None:
    assert tree_hash({}) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert tree_hash({}, sha256=True) == "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    assert object_hash("blob", 0, [], sha256=False).hex() == EMPTY_BLOB


def tree_object(body: bytes) -> str:
    return object_hash("tree", len(body), [body], sha256=False).hex()


def test_folders_sort_as_if_their_names_ended_with_a_slash() -> None:
    blob = bytes.fromhex(A)
    inner = tree_object(b"100644 x\0" + blob)
    assert tree_hash({"x": Entry("100644", A)}) == inner
    # "a-b" (2d), then the folder "a/" (2f), then "a0" (30)
    outer = tree_object(b"100644 a-b\0" + blob + b"40000 a\0" + bytes.fromhex(inner) + b"100755 a0\0" + blob)
    entries = {"a0": Entry("100755", A), "a/x": Entry("100644", A), "a-b": Entry("100644", A)}
    assert tree_hash(entries) == outer


def test_a_path_below_a_file_is_no_tree() -> None:
    with pytest.raises(ValueError, match="lies below a file"):
        tree_hash({"a": Entry("100644", A), "a/b": Entry("100644", A)})


@pytest.mark.parametrize(
    ("expected", "found", "kind"),
    [
        (Entry("100644", A), Entry("100644", A), None),
        (Entry("100644", A), Entry("100644", B), "modified"),
        (Entry("100644", A), Entry("100755", A), "mode"),
        (Entry("100755", A), Entry("100644", A), "mode"),
        (Entry("100755", A), Entry("100644", B), "modified"),
        (Entry("100644", A), Entry("120000", A), "type"),
        (Entry("120000", A), Entry("120000", B), "modified"),
        (Entry("160000", A), Entry("160000", B), "submodule"),
        (Entry("160000", A), None, "submodule-empty"),
        (Entry("160000", A), Entry("100644", A), "type"),
        (Entry("100644", A), None, "missing"),
        (Entry("100644", A), Odd("a folder"), "type"),
        (Entry("100644", A), Odd("no permission", readable=False), "unreadable"),
    ],
)
def test_each_difference_has_its_kind(expected: Entry, found: Entry | Odd | None, kind: str | None) -> None:
    differences = compare({"p": expected}, {} if found is None else {"p": found})
    assert [one.kind for one in differences] == ([kind] if kind else [])


def test_differences_are_sorted() -> None:
    entries = {name: Entry("100644", A) for name in ("c", "a", "b")}
    assert [one.path for one in compare(entries, {})] == ["a", "b", "c"]


OID = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 12\n", (OID, 12)),
        (f"version https://git-lfs.github.com/spec/v1\next-0-x sha256:1\noid sha256:{OID}\nsize 12\n", (OID, 12)),
        (f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 12\nmore\n", None),
        (f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID[:-1]}\nsize 12\n", None),
        (f"oid sha256:{OID}\nsize 12\n", None),
    ],
)
def test_a_pointer_is_one_as_a_whole(data: str, found: tuple[str, int] | None) -> None:
    assert pointer(data.encode()) == found


@pytest.mark.parametrize(
    ("data", "attributes", "stored"),
    [
        (b"a\r\nb\r", {"text": "set"}, b"a\nb\r"),
        (b"a\r\n", {"text": "auto"}, b"a\n"),
        (b"a\r\n", {"text": "unspecified", "eol": "crlf"}, b"a\n"),
        (b"a\r\n", {"text": "unset", "eol": "crlf"}, None),
        (b"a\r\n", {"text": "unspecified", "eol": "unspecified"}, None),
        (b"a\r\n", {}, None),
        (b"$Id: abc $ $Id: x\n", {"ident": "set"}, b"$Id$ $Id: x\n"),
        ("h\xe9".encode("utf-16-le"), {"working-tree-encoding": "UTF-16LE"}, "h\xe9".encode()),
        (b"\xff", {"working-tree-encoding": "utf-8"}, None),
        (b"x", {"working-tree-encoding": "no-such-encoding"}, None),
        (b"x", {"filter": "lfs"}, None),
    ],
)
def test_only_a_filter_that_is_asked_for_explains(
    data: bytes, attributes: dict[str, str], stored: bytes | None
) -> None:
    assert stored_form(data, attributes) == stored


SOURCES = source_folders(["setup.py", "python/pkg/__init__.py", "python/pkg/sub/x.py", "docs/a.md"])


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("python/pkg/new.py", True),
        ("python/pkg/_C.abi3.so", True),
        ("python/pkg/fresh/deep/x.py", True),
        ("python/pkg/x.pyd", True),
        ("python/pkg/x.pyc", True),
        ("python/pkg/__pycache__/x.pyc", False),
        ("python/pkg/data.json", False),
        ("python/top.py", True),  # where the search begins
        ("python/other/x.py", False),
        ("scratch.py", False),
        ("build/lib/pkg/x.py", False),
    ],
)
def test_what_an_import_could_come_upon(path: str, answer: bool) -> None:
    assert is_importable(path, SOURCES, frozenset({"python"})) is answer


def test_the_root_counts_where_the_search_begins_there() -> None:
    assert is_importable("torch.py", SOURCES, frozenset({""}))
    assert is_importable("x.pth", SOURCES, frozenset({""}))


def test_bytes_that_are_no_text_are_escaped() -> None:
    assert clean_text(b"a\xff\xc3\xa9".decode("utf-8", "surrogateescape")) == "a\\xffé"
