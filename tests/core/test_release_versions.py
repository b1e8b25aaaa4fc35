"""Which file stands for a version, in which order versions are, and which come before."""

import pytest

from regraft.core.objects import Sha256
from regraft.core.release_versions import IndexFile, Releases, version_of
from regraft.errors import InputError


def file(name: str, *, yanked: str | None = None, needs: str | None = None) -> IndexFile:
    return IndexFile(name, f"https://example.org/{name}", Sha256("0" * 64), None, needs, yanked)


def wheels(*versions: str) -> list[IndexFile]:
    return [file(f"tile_kernels-{version}-py3-none-any.whl") for version in versions]


def named(releases: Releases) -> list[str]:
    return [one.version for one in releases.all]


def test_versions_are_in_the_order_of_pep_440_and_not_of_their_letters() -> None:
    found = Releases(
        "tile-kernels", wheels("1.10", "1.9", "1!0.1", "2.0rc1", "2.0", "2.0.post1", "2.0.dev3", "2.0+cu12")
    )
    assert named(found) == ["1.9", "1.10", "2.0.dev3", "2.0rc1", "2.0", "2.0+cu12", "2.0.post1", "1!0.1"]


def test_files_of_other_packages_and_of_no_version_are_left_out() -> None:
    names = ["tile_kernels_extra-1.0-py3-none-any.whl", "tile-kernels-1.0.exe", "tile_kernels-x-py3-none-any.whl"]
    assert named(Releases("tile-kernels", [file(one) for one in names])) == []
    assert version_of("tile-kernels", "Tile.Kernels-1.0.tar.gz") is not None


def test_one_kind_of_file_is_taken_for_all_versions() -> None:
    """A source distribution has other paths than a wheel: where the kind changed, every target would seem to be gone."""
    files = [file("a-1.0.tar.gz"), file("a-2.0.tar.gz"), *[file("a-2.0-py3-none-any.whl")]]
    assert named(Releases("a", files)) == ["2.0"]
    assert named(Releases("a", files, "sdist")) == ["1.0", "2.0"]
    assert named(Releases("a", files[:2])) == ["1.0", "2.0"]


def test_a_version_that_has_only_the_other_kind_is_said_to() -> None:
    releases = Releases("a", [file("a-1.0.tar.gz"), file("a-2.0-py3-none-any.whl")])
    with pytest.raises(InputError, match=r"a 1\.0 has no wheel") as caught:
        releases.find("1.0")
    assert caught.value.code == "no-such-version"
    assert caught.value.hint == "its versions are 2.0"


def test_of_several_wheels_the_same_one_is_taken_whatever_the_order() -> None:
    names = [
        f"a-1.0-cp3{minor}-cp3{minor}-{place}.whl"
        for minor in (10, 12)
        for place in ("win_amd64", "manylinux_2_28_x86_64")
    ]
    files = [file(one) for one in names]
    expected = "a-1.0-cp310-cp310-manylinux_2_28_x86_64.whl"
    assert Releases("a", files).all[0].file.filename == expected
    assert Releases("a", files[::-1]).all[0].file.filename == expected
    everywhere = file("a-1.0-py3-none-any.whl")
    assert Releases("a", [*files, everywhere]).all[0].file == everywhere


def test_the_newest_is_neither_yanked_nor_a_pre_release_where_there_is_another() -> None:
    files = [*wheels("1.0", "1.1", "3.0rc1"), file("tile_kernels-2.0-py3-none-any.whl", yanked="broken")]
    assert Releases("tile-kernels", files).newest().version == "1.1"
    assert Releases("tile-kernels", wheels("1.0a1", "1.0b1")).newest().version == "1.0b1"
    assert Releases("tile-kernels", files[3:]).newest().version == "2.0"


def test_no_version_at_all_is_said() -> None:
    with pytest.raises(InputError) as caught:
        Releases("a", [file("a-1.0-py3-none-any.whl")], "sdist").newest()
    assert (caught.value.code, "it has wheels" in caught.value.message) == ("no-release", True)


@pytest.mark.parametrize(
    ("asked", "found"), [("1.0", "1.0.0"), ("v1.0.0", "1.0.0"), ("2.0", "2.0+cu12"), ("2.0+cu12", "2.0+cu12")]
)
def test_a_version_is_found_by_what_it_means(asked: str, found: str) -> None:
    assert Releases("tile-kernels", wheels("1.0.0", "2.0+cu12")).find(asked).version == found


@pytest.mark.parametrize("asked", ["main", "9.9", "1.0+cu11", "\x1b[31m"])
def test_what_is_no_version_of_it_is_refused_with_those_that_are(asked: str) -> None:
    with pytest.raises(InputError) as caught:
        Releases("tile-kernels", wheels("1.0", "2.0")).find(asked)
    assert caught.value.code == "no-such-version"
    assert "1.0, 2.0" in (caught.value.hint or "")
    assert "\x1b" not in caught.value.message


def test_before_a_release_come_releases_and_before_a_pre_release_pre_releases_too() -> None:
    yanked = file("tile_kernels-1.5-py3-none-any.whl", yanked="")
    releases = Releases("tile-kernels", [*wheels("1.0", "2.0b1", "2.0rc1", "2.0"), yanked])

    def before(version: str) -> str | None:
        found = releases.before(releases.find(version))
        return found.version if found else None

    assert [before(one) for one in ("2.0", "2.0rc1", "2.0b1", "1.5", "1.0")] == ["1.0", "2.0b1", "1.0", "1.0", None]


def test_what_is_to_be_known_of_a_release_is_said() -> None:
    files = [file("a-2.0rc1-py3-none-any.whl", yanked="wrong\nfile", needs=">=3.12")]
    [one] = Releases("a", files).all
    assert one.notes == ("yanked ('wrong\\nfile')", "a pre-release", "needs Python >=3.12")
