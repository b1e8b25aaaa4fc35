"""What package indexes say, as JSON and as HTML, and where pip's configuration says that they are."""

import json

import pytest

from regraft.core.index_page import JSON, BadPageError, read_page, without_credentials
from regraft.core.pip_settings import DEFAULT_INDEX, pip_settings
from regraft.errors import InputError

AT = "https://index.example/simple/a/"
DIGEST = "ab" * 32


def page(*files: object, version: str = "1.1") -> bytes:
    return json.dumps({"meta": {"api-version": version}, "name": "a", "files": files}).encode()


def test_json_gives_names_addresses_digests_and_marks() -> None:
    one = {
        "filename": "a-1.0-py3-none-any.whl",
        "url": "../../files/a-1.0-py3-none-any.whl",
        "hashes": {"sha256": DIGEST},
        "requires-python": ">=3.9",
        "yanked": "broken",
        "size": 12,
    }
    [found] = read_page(page(one), f"{JSON}; charset=utf-8", AT)
    assert found.url == "https://index.example/files/a-1.0-py3-none-any.whl"
    assert (found.sha256, found.requires_python, found.yanked, found.size) == (DIGEST, ">=3.9", "broken", 12)


@pytest.mark.parametrize(("yanked", "reason"), [(False, None), (True, ""), ("why", "why")])
def test_json_tells_yanked_from_not(yanked: object, reason: str | None) -> None:
    [found] = read_page(page({"filename": "a-1.0.tar.gz", "url": "x", "hashes": {}, "yanked": yanked}), JSON, AT)
    assert found.yanked == reason


def test_html_gives_the_same() -> None:
    html = f"""<!DOCTYPE html><meta name="pypi:repository-version" content="1.0"><base href="/files/">
    <a href="a%2B-1.0.tar.gz#sha256={DIGEST}" data-requires-python="&gt;=3.9" data-yanked>a</a><a href="b-1.0.zip">b</a>"""
    first, second = read_page(html.encode(), "text/html", AT)
    assert (first.filename, first.url) == ("a+-1.0.tar.gz", "https://index.example/files/a%2B-1.0.tar.gz")
    assert (first.sha256, first.requires_python, first.yanked) == (DIGEST, ">=3.9", "")
    assert (second.sha256, second.yanked) == (None, None)


@pytest.mark.parametrize(
    ("body", "kind", "why"),
    [
        (b"{", JSON, "no JSON"),
        (b"[]", JSON, "version of the API is None"),
        (page(version="2.0"), JSON, "version of the API is '2.0'"),
        (b'{"meta": {"api-version": "1.0"}}', JSON, "no list of files"),
        (page({"filename": "a"}), JSON, "no name or no address"),
        (page({"filename": "a", "url": "x", "hashes": {"sha256": "zz"}}), JSON, "no sha256"),
        (b'<meta name="pypi:repository-version" content="2.0">', "text/html", "version of the API is '2.0'"),
        (b"", "application/pdf", "neither JSON nor HTML"),
    ],
)
def test_a_page_of_another_kind_is_refused_with_the_reason(body: bytes, kind: str, why: str) -> None:
    with pytest.raises(BadPageError, match=why):
        read_page(body, kind, AT)


def test_an_address_is_shown_without_its_credentials() -> None:
    assert without_credentials("https://u:p@ss@h:1/x?token=t#f") == "https://h:1/x"


def test_without_configuration_the_index_is_pip_s_own() -> None:
    assert pip_settings([], {}).indexes == (DEFAULT_INDEX,)


def test_later_files_beat_earlier_ones_and_the_environment_beats_both() -> None:
    texts = [
        ("/etc/pip.conf", "[global]\nindex-url = https://one/simple/\ncert = /a.pem\n"),
        ("u", "[global]\nindex_url = https://two\n"),
    ]
    assert pip_settings(texts, {}).indexes == ("https://two",)
    found = pip_settings(texts, {"PIP_INDEX_URL": "https://three/", "PIP_DEFAULT_TIMEOUT": "7"})
    assert (found.indexes, found.ca, found.timeout) == (("https://three",), "/a.pem", 7)


def test_several_indexes_and_folders_are_asked_in_their_order() -> None:
    text = "[global]\nextra-index-url = https://b/\n    https://c\n[install]\nfind-links = /x y\n"
    found = pip_settings([("p", text)], {})
    assert (found.indexes, found.links) == ((DEFAULT_INDEX, "https://b", "https://c"), ("/x", "y"))


def test_no_index_leaves_the_folders() -> None:
    found = pip_settings([], {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/x"})
    assert (found.indexes, found.links) == ((), ("/x",))


def test_a_configuration_that_pip_could_not_read_either_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        pip_settings([("/etc/pip.conf", "index-url = x\n")], {})
    assert (caught.value.code, caught.value.where) == ("bad-pip-config", "/etc/pip.conf")
