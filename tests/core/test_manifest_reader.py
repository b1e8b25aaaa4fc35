"""A manifest without mistakes, and texts that are no manifest at all."""

import hashlib
from pathlib import Path

import pytest

from regraft.core.manifest import Baked, Dependency, Image, Lock, Suite
from regraft.core.manifest_reader import LIMIT, read_manifest
from regraft.errors import InputError, MistakesError

PAGE = Path(__file__).parents[2] / "docs/manifest.md"
PIP = ("python", "-m", "pip", "install", "-e")


def documented() -> bytes:
    """The example of the docs."""
    return PAGE.read_text("utf-8").partition("```toml\n")[2].partition("```")[0].encode()


def refused(data: bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        read_manifest(data)
    assert not isinstance(caught.value, MistakesError)
    return caught.value


def test_the_documented_example_is_read_whole() -> None:
    manifest = read_manifest(documented())
    assert manifest.name == "miles"
    assert manifest.install == ((*PIP, ".", "--no-deps"),)
    assert manifest.distributions == ("miles",)
    assert manifest.dependencies == {
        "sglang": Dependency(
            "sglang",
            "https://github.com/sgl-project/sglang",
            "sglang-miles",
            "ci-sglang-pr",
            ("sgl-project/*", "radixark/*"),
            "UPSTREAM_TOKEN",
            None,
        ),
        "megatron": Dependency(
            "megatron",
            "https://github.com/radixark/Megatron-LM",
            "miles-main",
            "ci-megatron-pr",
            (),
            None,
            Lock("release-lock.json", "/megatron_commit"),
        ),
    }
    sglang = Baked(
        dependency="sglang",
        path="/sgl-workspace/sglang",
        install=((*PIP, "python", "--no-deps"),),
        distributions=("sglang",),
        imports=("sglang",),
        locate=("sglang.srt",),
        not_installed=("sgl-kernel/**",),
        rebuild_when=("python/sglang/**/*.cu",),
        local_edits="stop",
        patches=(),
    )
    megatron = Baked(
        dependency="megatron",
        path="/root/Megatron-LM",
        install=((*PIP, ".", "--no-deps"),),
        distributions=(),
        imports=("megatron.core",),
        locate=(),
        not_installed=(),
        rebuild_when=(),
        local_edits="stop",
        patches=("docker/amd_patch/latest/megatron.patch",),
    )
    assert manifest.images == {
        "rocm": Image(
            name="rocm",
            repository="rocm/sgl-dev",
            tag="miles-rocm720-mi35x",
            tag_directive="ci-image-tag",
            dockerfile="docker/Dockerfile.rocm",
            unnamed=("keep",),
            python="/opt/venv/bin/python",
            python_path=("/root/Megatron-LM",),
            requirements="report",
            env=(("SGLANG_USE_AITER", "1"),),
            baked={"sglang": sglang, "megatron": megatron},
            install_timeout=1800,
            also_writes=("/root/.triton",),
        )
    }
    assert list(manifest.images["rocm"].baked) == ["sglang", "megatron"]
    assert manifest.suites == {"stage-c-4-gpu-mi350": Suite("stage-c-4-gpu-mi350", "rocm")}
    assert manifest.sha256 == hashlib.sha256(documented()).hexdigest()


def test_windows_line_ends_change_the_digest_alone() -> None:
    one, other = read_manifest(documented()), read_manifest(documented().replace(b"\n", b"\r\n"))
    assert one.images == other.images
    assert one.sha256 != other.sha256


def test_every_default() -> None:
    manifest = read_manifest(
        b'project.name = "x"\n[dependencies."3d_sim.core"]\nurl = "../sim"\n'
        b'[images.lane.baked."3d_sim.core"]\npath = "vendor/sim"\n[suites]\n'
    )
    assert manifest.install == ()
    assert manifest.distributions == ()
    assert manifest.suites == {}
    name = "3d_sim.core"
    assert manifest.dependencies[name] == Dependency(name, "../sim", None, "ci-3d-sim-core-pr", (), None, None)
    baked = Baked(name, "vendor/sim", (), (), (), (), (), (), "stop", ())
    assert manifest.images == {
        "lane": Image("lane", None, None, None, None, ("keep",), "python3", (), "report", (), {name: baked})
    }


def test_a_project_with_a_name_and_nothing_else_is_read() -> None:
    manifest = read_manifest(b"[project]\nname = 'x'\n")
    assert (manifest.dependencies, manifest.images, manifest.suites) == ({}, {}, {})


def test_distributions_are_normalized() -> None:
    manifest = read_manifest(b"[project]\nname = 'x'\ndistributions = ['SGL_Kernel', 'a.-_b']\n")
    assert manifest.distributions == ("sgl-kernel", "a-b")


def test_images_may_share_a_tag_directive() -> None:
    text = "[project]\nname = 'x'\n"
    for image in ("a", "b"):
        text += f"[images.{image}]\nrepository = 'r/{image}'\ntag = 't'\ntag-directive = 'ci-image-tag'\n"
    assert [image.tag_directive for image in read_manifest(text.encode()).images.values()] == ["ci-image-tag"] * 2


@pytest.mark.parametrize(
    ("data", "code", "where"),
    [
        (b"\xef\xbb\xbf[project]\nname = 'x'\n", "byte-order-mark", "regraft.toml:1:1"),
        ("[project]\nname = 'x'\n".encode("utf-16"), "not-utf-8", "regraft.toml:1:1"),
        ("[project]\nname = 'é".encode() + b"\xff'\n", "not-utf-8", "regraft.toml:2:10"),
        ("[project]\r\nname = 'é".encode() + b"\0'\n", "nul", "regraft.toml:2:10"),
        (b"#" * (LIMIT + 1), "too-large", "regraft.toml"),
        (b"[project\nname = 'x'\n", "toml-syntax", "regraft.toml:1:9"),
        (b"[project]\r\nname = x\r\n", "toml-syntax", "regraft.toml:2:8"),
        ("[project]\nname = 'é' 'x'\n".encode(), "toml-syntax", "regraft.toml:2:12"),
        (b"[project]\nname = 'x'\nname = 'y'\n", "toml-syntax", "regraft.toml:3:11"),
        (b"[project]\nname = 'x'\n[project]\n", "toml-syntax", "regraft.toml:3:9"),
        (b"[project]\nname = '''x\n", "toml-syntax", "regraft.toml:3:1"),
        (b"a = " + b"[" * 100_000, "toml-syntax", "regraft.toml"),
        (b"a = " + b"9" * 10_000, "toml-syntax", "regraft.toml"),
        (b"\n  a" + b".a" * 40 + b" = 1", "toml-syntax", "regraft.toml:2:3"),
        (b"[project]\rname = 'x'\n", "toml-syntax", "regraft.toml:1:10"),
    ],
)
def test_what_is_no_manifest_is_one_error_with_its_place(data: bytes, code: str, where: str) -> None:
    error = refused(data)
    assert (error.code, error.where) == (code, where)


def test_utf_16_is_recognized() -> None:
    assert "UTF-16" in str(refused("[project]".encode("utf-16")).hint)


def test_a_syntax_error_shows_the_line_and_a_caret() -> None:
    lines = refused("[project]\n  näme = x # é".encode()).message.split("\n")
    assert lines[1:] == ["  näme = x # é", "   ^"]


def test_the_caret_of_a_long_line_stands_below_the_mistake() -> None:
    line = f"a = [{'1, ' * 1000}x, 2]"
    _, shown, caret = refused(line.encode()).message.split("\n")
    assert len(shown) <= 100
    assert shown[len(caret) - 1] == "x"


def test_control_characters_of_the_line_are_not_shown() -> None:
    error = refused(b"a = 'x\x1b[31m'")
    assert "\x1b" not in error.message
    assert "\ufffd[31m" in error.message


def test_the_name_of_the_file_stands_in_every_place() -> None:
    with pytest.raises(InputError) as caught:
        read_manifest(b"[project]\nnmae = 'x'\n", "sub/regraft.toml")
    assert caught.value.where == "sub/regraft.toml:2:1"


def test_a_url_with_many_dots_is_no_long_key() -> None:
    url = "https://example.org/" + ".".join("a" * 40)
    manifest = read_manifest(f"[project]\nname = 'x'\n[dependencies.a]\nurl = '{url}'\n".encode())
    assert manifest.dependencies["a"].url == url
