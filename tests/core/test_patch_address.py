"""A patch that is given by its address: what the manifest takes, and what it says of what it does not take."""

import re
from typing import Any

import pytest

from regraft.core.manifest import Baked
from regraft.core.manifest_reader import read_manifest
from regraft.core.patch_address import (
    PATTERN,
    PatchAddress,
    file_name,
    in_short,
    is_address,
    names_of,
    next_address,
    parse_address,
)
from regraft.errors import InputError

HEX = "0123456789abcdef" * 4
PINNED = f"https://example.org/fixes/x.patch#sha256={HEX}"


def read(entries: str) -> Baked:
    text = f"""\
[project]
name = "p"
[dependencies.dep]
url = "../dep"
[images.i.baked.dep]
path = "/dep"
patches = [{entries}]
"""
    return read_manifest(text.encode()).images["i"].baked["dep"]


def mistake(entry: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read(f'"{entry}"')
    return caught.value


def test_an_address_with_the_checksum_of_its_bytes_is_a_patch_like_another() -> None:
    baked = read(f'"a.patch", "{PINNED}", {{ file = "{PINNED.replace("x.", "y.")}", strip = 0 }}')
    assert baked.patches == ("a.patch", PINNED, PINNED.replace("x.", "y."))
    assert baked.format(baked.patches[2]).strip == 0
    assert parse_address(PINNED) == PatchAddress("https://example.org/fixes/x.patch", HEX)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address",
    [
        f"https://example.org:8443/a/b.diff?plain=1&x=%20#sha256={HEX}",
        f"https://[2001:db8::1]/x#sha256={HEX}",
        f"http://127.0.0.1:8080/x.patch#sha256={HEX}",
        f"http://localhost/x.patch#sha256={HEX}",
        f"http://[::1]:80/x.patch#sha256={HEX}",
    ],
)
def test_addresses_that_are_taken(address: str) -> None:
    assert read(f'"{address}"').patches == (address,)
    assert re.fullmatch(PATTERN, address)


@pytest.mark.parametrize(
    ("entry", "code", "said"),
    [
        ("https://example.org/x.patch", "no-checksum", "is an address without the checksum of its bytes"),
        ("https://example.org/x.patch#sha256=", "no-checksum", "has no checksum that can be read"),
        (PINNED.upper().replace("HTTPS", "https"), "no-checksum", "has no checksum that can be read"),
        (f"{PINNED}0", "no-checksum", "has no checksum that can be read"),
        (f"https://example.org/x#md5={HEX}", "no-checksum", "has no checksum that can be read"),
        (PINNED.replace("https", "http"), "bad-value", "is plain http"),
        (f"http://127.0.0.1.example.org/x#sha256={HEX}", "bad-value", "is plain http"),
        (PINNED.replace("https", "ftp"), "bad-value", "has the scheme 'ftp'"),
        (f"file:///etc/passwd#sha256={HEX}", "bad-value", "has the scheme 'file'"),
        (PINNED.replace("x.patch", "x y.patch"), "bad-value", "holds a blank"),
        (f"https:///x.patch#sha256={HEX}", "bad-value", "has no host, or no path"),
        (f"https://example.org/#sha256={HEX}", "bad-value", "has no host, or no path"),
        (f"https://-x/y.patch#sha256={HEX}", "bad-value", "has no host, or no path"),
    ],
)
def test_addresses_that_are_mistakes(entry: str, code: str, said: str) -> None:
    found = mistake(entry)
    assert (found.code, said in found.message) == (code, True), found.message
    assert found.hint is not None
    assert not re.fullmatch(PATTERN, entry)


def test_who_writes_no_checksum_is_told_how_to_get_it() -> None:
    hint = mistake("https://example.org/x.patch").hint or ""
    assert "#sha256=" in hint
    assert "curl -fsSL ADDRESS | sha256sum" in hint


def test_credentials_in_an_address_are_refused_and_not_repeated() -> None:
    found = mistake(PINNED.replace("example.org", "me:verysecret@example.org"))
    assert found.code == "credentials-in-url"
    assert "verysecret" not in str(found)


def test_one_address_twice_is_a_mistake() -> None:
    with pytest.raises(InputError, match="twice"):
        read(f'"{PINNED}", {{ file = "{PINNED}" }}')


@pytest.mark.parametrize("path", ["patches/a.patch", "a.patch", "https/a.patch", "x:/y"])
def test_a_path_is_no_address(path: str) -> None:
    assert not is_address(path)
    assert in_short(path) == path


def test_what_an_address_is_called() -> None:
    address: Any = f"https://example.org/a/x.patch?raw=1#sha256={HEX}"
    assert file_name(address) == "x.patch"
    assert in_short(address) == "https://example.org/a/x.patch?raw=1"
    assert names_of(address) == (address, "https://example.org/a/x.patch?raw=1", "x.patch")


@pytest.mark.parametrize(
    ("url", "target", "found"),
    [
        ("https://a.org/x/y.patch", "https://b.org/z?q", "https://b.org/z?q"),
        ("https://a.org/x/y.patch", "z.patch", "https://a.org/x/z.patch"),
        ("https://a.org/x/y.patch", "/z.patch", "https://a.org/z.patch"),
        ("https://a.org/x", "//b.org/z", "https://b.org/z"),
        ("http://127.0.0.1:80/x", "http://localhost:81/z", "http://localhost:81/z"),
        ("http://127.0.0.1:80/x", "https://b.org/z", "https://b.org/z"),
    ],
)
def test_where_a_server_may_send_us(url: str, target: str, found: str) -> None:
    assert next_address(url, target) == found


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("", "which is no address"),
        ("file:///etc/passwd", "which is no address"),
        ("https://[::1", "which is no address"),
        ("data:text/plain,x", "which is no address"),
        ("http://b.org/z", "which is not https"),
        ("ftp://b.org/z", "which is not https"),
        ("https://127.0.0.1/z", "which is this machine"),
        ("http://localhost:8080/z", "which is this machine"),
        ("https://[::1]/z", "which is this machine"),
        ("https://me:word@b.org/z", "an address with credentials"),
        ("https://me:word@127.0.0.1/z", "an address with credentials"),
    ],
)
def test_where_a_server_may_not_send_us(target: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        next_address("https://a.org/x.patch", target)
    assert "word@" not in str(caught.value)


def test_a_plan_that_names_no_address_is_not_followed() -> None:
    with pytest.raises(ValueError, match="is not https://host"):
        parse_address(f"http://example.org/x#sha256={HEX}")
