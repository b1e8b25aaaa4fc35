"""What goes of the manifest and of a quilt series with a patch; and edits by span."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regraft.core.drop_lists import cut_manifest, cut_series
from regraft.core.drop_target import Target
from regraft.core.spans import Edit, Places, Span, edited, merged

TARGET = Target("p/m.patch", frozenset({"p/m.patch", "p/o.patch"}))
TABLE = "[images.i.baked.d]\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('patches = ["p/m.patch"]', "patches = []"),
        ('patches = ["p/m.patch",]', "patches = []"),
        ("patches = ['p/m.patch', 'p/o.patch'] # c", "patches = ['p/o.patch'] # c"),
        ('patches = ["p/o.patch", "p/m.patch"]', 'patches = ["p/o.patch"]'),
        ('patches = ["p/o.patch", "p/m.patch", "p/q.patch"]', 'patches = ["p/o.patch", "p/q.patch"]'),
        (
            'patches = [\n  "p/o.patch",\n  "p/m.patch",\n  "p/q.patch",\n]',
            'patches = [\n  "p/o.patch",\n  "p/q.patch",\n]',
        ),
        ('patches = [\n  "p/o.patch",\n  "p/m.patch"\n]', 'patches = [\n  "p/o.patch"\n]'),
        (
            'patches = [\n  # the first, of two\n  "p/m.patch", # gone, soon\n  "p/o.patch",\n]',
            'patches = [\n  # the first, of two\n   # gone, soon\n  "p/o.patch",\n]',
        ),
        ('patches = [{ file = "p/m.patch", strip = 0 }, "p/o.patch"]', 'patches = ["p/o.patch"]'),
        ('patches = ["p/m.patch.old", "q/p/m.patch"]', 'patches = ["p/m.patch.old", "q/p/m.patch"]'),
    ],
)
def test_an_entry_of_the_manifest_goes_and_comments_stay(before: str, after: str, end: str) -> None:
    text = f'# p/m.patch\n{TABLE}{before}\npath = "x"\n'.replace("\n", end)
    data = text.encode()
    result = edited(data, [Edit(span) for span in cut_manifest(data, TARGET).spans])
    assert result.decode() == f'# p/m.patch\n{TABLE}{after}\npath = "x"\n'.replace("\n", end)


def test_every_image_and_only_its_patches() -> None:
    text = '[a]\npatches = ["p/m.patch"]\n[images.i.baked.d]\npatches = ["p/m.patch"]\n[images.j]\nbaked = { e = { patches = ["p/m.patch"] } }\n'
    data = text.encode()
    after = edited(data, [Edit(span) for span in cut_manifest(data, TARGET).spans]).decode()
    assert (
        after
        == '[a]\npatches = ["p/m.patch"]\n[images.i.baked.d]\npatches = []\n[images.j]\nbaked = { e = { patches = [] } }\n'
    )


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[", b"images = 1", b'[images]\na = 1\n[images.b]\nbaked = "p/m.patch"\n']
)
def test_what_is_no_manifest_stays(data: bytes) -> None:
    assert cut_manifest(data, TARGET).spans == ()


def test_lines_of_a_series() -> None:
    data = b"# m.patch was first\no.patch\nm.patch -p1 # why\nsub/m.patch\n../p/m.patch\r\n#m.patch\n"
    after = edited(data, [Edit(span) for span in cut_series(data, "p/series", TARGET).spans])
    assert after == b"# m.patch was first\no.patch\nsub/m.patch\n#m.patch\n"
    [other] = cut_series(data, "q/series", TARGET).spans
    assert data[slice(*other)] == b"../p/m.patch\r\n"


@given(st.binary(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5))
def test_bytes_outside_of_every_span_stay(data: bytes, pairs: list[tuple[int, int]]) -> None:
    spans = merged(Span(*sorted(min(one, len(data)) for one in pair)) for pair in pairs)
    gone = {at for start, stop in spans for at in range(start, stop)}
    expected = bytes(byte for at, byte in enumerate(data) if at not in gone)
    assert edited(data, [Edit(span) for span in spans]) == expected


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlaps"):
        edited(b"abc", [Edit(Span(0, 2)), Edit(Span(1, 3))])
    with pytest.raises(ValueError, match="outside"):
        edited(b"abc", [Edit(Span(2, 4))])


def test_columns_count_characters() -> None:
    assert Places("ü = x\nb\n".encode()).of(5) == (1, 5)
    assert Places(b"a\nb\n").of(2) == (2, 1)
