import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regraft.core.toml_places import At, Path, TomlPlaces

TEXT = """\
top = 1 # x = 2
"é é".b . c = [ # [no]
  1, "é", {k = 2, "l".m=3}]

[x.  "y z"]  # [h]
a.b = 1
[[t]]
k = "é"
[[t]]
# l = 0
l = '''
l = 9
'''
[t.sub]
z = 1
[[t.arr]]
v = 1
[later.inner]
[later]
w = { }
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("path", "at", "place"),
    [
        (("top",), "key", (1, 1)),
        (("top",), "value", (1, 7)),
        (("é é",), "key", (2, 1)),
        (("é é", "b"), "key", (2, 7)),
        (("é é", "b", "c"), "key", (2, 11)),
        (("é é", "b", "c"), "value", (2, 15)),
        (("é é", "b", "c", 0), "value", (3, 3)),
        (("é é", "b", "c", 1), "value", (3, 6)),
        (("é é", "b", "c", 2), "value", (3, 11)),
        (("é é", "b", "c", 2, "k"), "key", (3, 12)),
        (("é é", "b", "c", 2, "k"), "value", (3, 16)),
        (("é é", "b", "c", 2, "l", "m"), "key", (3, 23)),
        (("x", "y z"), "key", (5, 6)),
        (("x", "y z"), "table", (5, 1)),
        (("x",), "table", (5, 2)),  # has no header of its own: where it is first mentioned
        (("x", "y z", "a", "b"), "key", (6, 3)),
        (("t",), "table", (7, 1)),
        (("t", 0), "table", (7, 1)),
        (("t", 0, "k"), "value", (8, 5)),
        (("t", 1), "table", (9, 1)),
        (("t", 1, "l"), "key", (11, 1)),
        (("t", 1, "sub"), "table", (14, 1)),
        (("t", 1, "sub", "z"), "key", (15, 1)),
        (("t", 1, "arr", 0), "table", (16, 1)),
        (("t", 1, "arr", 0, "v"), "value", (17, 5)),
        (("later",), "table", (19, 1)),
        (("later", "w"), "value", (20, 5)),
        (("later", "w", "missing"), "key", (20, 1)),  # what is not there has its parent's place
        (("absent",), "table", (1, 1)),
        ((), "table", (1, 1)),
    ],
)
def test_each_path_has_its_place(path: Path, at: At, place: tuple[int, int], newline: str) -> None:
    assert TomlPlaces(TEXT.replace("\n", newline).encode()).place(path, at) == place


def test_columns_count_characters_and_not_bytes() -> None:
    data = 'a = ["🙂🙂", "é", 1]'.encode()
    assert TomlPlaces(data).place(("a", 2), "value") == (1, 17)


def test_escapes_in_a_quoted_key_are_read() -> None:
    assert TomlPlaces(b'x = 0\n"a\\u0062\\"" = 1').place(('ab"',), "key") == (2, 1)


def test_a_long_dotted_key_and_deep_nesting_are_walked() -> None:
    dotted = ".".join(["a"] * 31) + " = 1"
    assert TomlPlaces(dotted.encode()).place(("a",) * 31, "key") == (1, 61)
    nested = f"a = {'[' * 150}{']' * 150}"
    assert TomlPlaces(nested.encode()).place(("a", 0), "value") == (1, 6)


KEYS = st.sampled_from(["a", "b-c", '"d e"', "'f.g'", '"é\\u00e9"', "1"])
SCALARS = st.sampled_from(["1", '"x # y"', "'[z]'", "true", "1979-05-27", '"""m"""', '"é"'])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[ {', '.join(items)} ]"),
        st.dictionaries(KEYS, inner, max_size=2).map(
            lambda items: "{" + ", ".join(f"{key} = {value}" for key, value in items.items()) + "}"
        ),
    ),
    max_leaves=6,
)


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [leaf for at, inner in enumerate(value) for leaf in leaves(inner, (*path, at))]
    return [(path, value)]


@given(
    st.lists(st.tuples(st.lists(KEYS, min_size=1, max_size=2), KEYS, VALUES), max_size=4), st.booleans(), st.booleans()
)
def test_what_stands_at_the_place_of_a_value_is_that_value(
    tables: list[tuple[list[str], str, str]], many: bool, windows: bool
) -> None:
    opening, closing = ("[[", "]]") if many else ("[", "]")
    text = "".join(f"{opening}{'.'.join(header)}{closing} # c\n  {key} = {value}\n" for header, key, value in tables)
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    places = TomlPlaces(text.replace("\n", "\r\n" if windows else "\n").encode())
    lines = text.split("\n")
    for path, value in leaves(read):
        line, column = places.place(path, "value")
        rest = lines[line - 1][column - 1 :]
        written = next(
            one for one in ("1979-05-27", "1", '"x # y"', "'[z]'", "true", '"""m"""', '"é"') if rest.startswith(one)
        )
        assert tomllib.loads(f"k = {written}") == {"k": value}
