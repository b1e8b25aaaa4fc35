import string
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regraft.core.manifest_fields import ROOT
from regraft.core.manifest_reader import read_manifest
from regraft.core.manifest_walk import every_field
from regraft.core.toml_places import Path as KeyPath
from regraft.core.toml_places import TomlPlaces
from regraft.errors import InputError, MistakesError

PAGE = Path(__file__).parents[2] / "docs/manifest.md"
EXAMPLE = PAGE.read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
KEYS = sorted({one.key for _, one in every_field(ROOT)})


def mistakes(data: bytes) -> list[InputError]:
    with pytest.raises(InputError) as caught:
        read_manifest(data)
    error = caught.value
    return list(error.mistakes) if isinstance(error, MistakesError) else [error]


def read_or_refuse(data: bytes) -> None:
    try:
        read_manifest(data)
    except InputError as error:
        found = error.mistakes if isinstance(error, MistakesError) else (error,)
        assert all(one.where is not None and one.where.startswith("regraft.toml") for one in found)
        assert all(line.isprintable() for one in found for line in one.message.split("\n"))


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    read_or_refuse(data)


@given(
    st.lists(
        st.sampled_from(
            [*KEYS, *"[]{}=,.\n\"' #", "\r\n", "1", "true", '"x"', "[[", "]]", "é", '"""', "2024-01-02", "x"]
        ),
        max_size=40,
    )
)
@example(["[", "images", ".", "x", "]", "\n", "baked", "=", "1"])
@example(["images", ".", "x", "=", '"x"'])
@example(["dependencies", "=", "{", "}", "\n", "images", "=", "[", "]"])
def test_no_toml_crashes_the_reader(pieces: list[str]) -> None:
    read_or_refuse("".join(pieces).encode())


VALUES = [
    "1",
    "true",
    "1.5",
    "2024-01-02",
    '""',
    '"x"',
    '"é"',
    "[]",
    "[1]",
    '["x"]',
    '[["x"]]',
    "{}",
    "{ a = 1 }",
    "[{}]",
    '{ x = "y" }',
    "{ x = {} }",
    "[[[]]]",
    "nan",
]


@given(st.sampled_from([line for line in EXAMPLE.split("\n") if " = " in line]), st.sampled_from(VALUES))
def test_no_value_in_the_wrong_place_crashes_the_reader(line: str, value: str) -> None:
    read_or_refuse(EXAMPLE.replace(line, f"{line.partition(' = ')[0]} = {value}").encode())


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "key",
    [
        "project",
        "dependencies",
        "images",
        "suites",
        "dependencies.a",
        "images.a",
        "images.a.baked",
        "images.a.baked.b",
        "images.a.env",
        "suites.a",
    ],
)
def test_no_table_of_another_shape_crashes_the_reader(key: str, value: str) -> None:
    read_or_refuse(f"{key} = {value}\n".encode())
    read_or_refuse(f"project.name = 'x'\n{key} = {value}\n".encode())


def every_key() -> list[tuple[KeyPath, str]]:
    """The paths of the example's own keys that are words of the manifest, not names, each with its key."""
    found: list[tuple[KeyPath, str]] = []

    def walk(value: object, path: KeyPath) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                named = path in {
                    ("dependencies",),
                    ("images",),
                    ("suites",),
                    ("images", "rocm", "baked"),
                    ("images", "rocm", "env"),
                }
                if not named:
                    found.append(((*path, key), key))
                walk(inner, (*path, key))

    walk(tomllib.loads(EXAMPLE), ())
    return found


def one_letter_off(key: str, slip: str, at: int, letter: str) -> str:
    at %= len(key)
    match slip:
        case "more":
            return key[:at] + letter + key[at:]
        case "less":
            return key[:at] + key[at + 1 :]
        case "swapped" if at + 1 < len(key):
            return key[:at] + key[at + 1] + key[at] + key[at + 2 :]
        case _:
            return key[:at] + letter + key[at + 1 :]


@settings(max_examples=200)
@given(
    st.sampled_from(every_key()),
    st.sampled_from(["more", "less", "other", "swapped"]),
    st.integers(0, 20),
    st.sampled_from(string.ascii_lowercase + string.digits + "_-"),
    st.booleans(),
)
def test_a_key_with_one_letter_wrong_is_found_and_mended(
    chosen: tuple[KeyPath, str], slip: str, at: int, letter: str, windows: bool
) -> None:
    path, key = chosen
    written = one_letter_off(key, slip, at, letter)
    if written == key:
        return
    text = EXAMPLE.replace("\n", "\r\n") if windows else EXAMPLE
    lines = text.split("\n")
    # Every place where the key is mentioned: `dependencies` stands in several headers.
    first, changed = None, False
    for number, line in enumerate(lines):
        for column in _mentions(lines, number, path):
            first = first or (number + 1, column + 1)
            lines[number] = line[:column] + written + line[column + len(key) :]
            changed = True
    assert changed
    found = mistakes("\n".join(lines).encode())
    assert [(one.code, one.where, one.hint) for one in found] == [
        ("unknown-key", f"regraft.toml:{first[0]}:{first[1]}" if first else None, f"write `{key}`")
    ]


def _mentions(lines: list[str], number: int, path: KeyPath) -> list[int]:
    """The columns at which the last key of `path` stands in a line, found without the reader's own places."""
    header = next((line for line in reversed(lines[: number + 1]) if line.startswith("[")), "")
    table = header.strip().strip("[]").split("] ")[0].split("]")[0].split(".") if header else []
    line, key = lines[number], str(path[-1])
    if line.startswith("["):
        return (
            [line.index(key, sum(len(part) + 1 for part in table[: len(path) - 1]))]
            if table[: len(path)] == list(path)
            else []
        )
    if table == list(path[:-1]) and line.startswith(f"{key} = "):
        return [0]
    if table == list(path[:-2]) and line.startswith(f"{path[-2]} = {{"):
        return [line.index(f"{key} = ", len(str(path[-2])) + 3)]
    return []


def test_the_example_names_its_keys_where_the_reader_finds_them() -> None:
    places = TomlPlaces(EXAMPLE.encode())
    lines = EXAMPLE.split("\n")
    for path, key in every_key():
        line, column = places.place(path, "key")
        assert lines[line - 1][column - 1 :].startswith(key)
