"""What may be given to git as the place of an upstream."""

import pytest

from regraft.core.manifest_reader import read_manifest
from regraft.errors import InputError

RIGHT = [
    "https://github.com/sgl-project/sglang",
    "https://github.com/sgl-project/sglang.git",
    "https://github.com/sgl-project/sglang/",
    "https://gitlab.example/group/sub/name.git",
    "https://example.org:8443/a/b",
    "https://example.org/~user/a%20b",
    "https://[2001:db8::1]/a/b",
    "http://127.0.0.1:35791/one.git",
    "http://127.9.8.7/one",
    "http://localhost:8000/one",
    "http://[::1]:8000/one",
    "ssh://git@github.com/o/r",
    "ssh://git@example.org:2222/o/r.git",
    "ssh://example.org/o/r",
    "git://example.org/o/r",
    "file:///srv/git/one.git",
    "git@github.com:o/r.git",
    "github.com:o/r",
    "git@host_1:~/r",
    "/srv/git/one.git",
    "../one",
    "vendor/one",
    "./a:b",
    ".",
    "/srv/with blank/one",
]

WRONG = [
    ("", "bad-value"),
    (" https://example.org/a/b", "bad-value"),
    ("https://example.org/a/b\\n", "bad-value"),
    ("https://example.org/a b", "bad-value"),
    ("https://example.org/a\\u0000b", "bad-value"),
    ("https://example.org/a%0ahost=evil", "bad-value"),
    ("https://example.org/a\\u2028b", "bad-value"),
    ("-u./x", "bad-value"),
    ("--upload-pack=touch x", "bad-value"),
    ("ext::sh -c touch% x", "bad-value"),
    ("fd::17", "bad-value"),
    ("foo::https://example.org/a/b", "bad-value"),
    ("http://example.org/a/b", "bad-value"),
    ("http://127.0.0.1.example.org/a/b", "bad-value"),
    ("http://localhost.example.org/a", "bad-value"),
    ("http://localhost@example.org/a", "credentials-in-url"),
    ("https://user:secret@example.org/a/b", "credentials-in-url"),
    ("https://secret@example.org/a/b", "credentials-in-url"),
    ("https://@example.org/a/b", "credentials-in-url"),
    ("ssh://git:secret@example.org/a/b", "credentials-in-url"),
    ("git://secret@example.org/a/b", "credentials-in-url"),
    ("https://example.org/a/b?access_token=secret", "bad-value"),
    ("https://example.org/a/b#main", "bad-value"),
    ("https://github.com/o/r/tree/main", "bad-value"),
    ("https://github.com/o/r/pull/12", "bad-value"),
    ("https://example.org", "bad-value"),
    ("https://example.org/", "bad-value"),
    ("https:///a/b", "bad-value"),
    ("https://exam ple.org/a", "bad-value"),
    ("https://-example.org/a", "bad-value"),
    ("https://example.org:0/a", "bad-value"),
    ("https://example.org:70000/a", "bad-value"),
    ("https://example.org:x/a", "bad-value"),
    ("ssh://-oProxyCommand=touch/a", "bad-value"),
    ("ssh://-l@example.org/a", "bad-value"),
    ("file://host/a", "bad-value"),
    ("file:///", "bad-value"),
    ("HTTPS://example.org/a/b", "bad-value"),
    ("htps://example.org/a/b", "bad-value"),
    ("git+https://example.org/a/b", "bad-value"),
    ("javascript://example.org/a", "bad-value"),
    ("-oProxyCommand=x:a/b", "bad-value"),
    ("git@-host:a/b", "bad-value"),
    ("git@host:-a", "bad-value"),
    ("git@host:", "bad-value"),
    ("git@host:a:b", "bad-value"),
    ("C:\\\\src\\\\one", "bad-value"),
    ("~/one", "bad-value"),
    ("a\\\\b", "bad-value"),
    ("a:b:c", "bad-value"),
    ("https://example.org/" + "a" * 2000, "bad-value"),
]


def manifest(url: str) -> bytes:
    return f'[project]\nname = "x"\n[dependencies.one]\nurl = "{url}"\n'.encode()


def refused(url: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read_manifest(manifest(url))
    return caught.value


@pytest.mark.parametrize("url", RIGHT)
def test_what_git_may_be_given(url: str) -> None:
    assert read_manifest(manifest(url)).dependencies["one"].url == url


@pytest.mark.parametrize(("url", "code"), WRONG)
def test_what_git_never_sees(url: str, code: str) -> None:
    error = refused(url)
    assert (error.code, error.where) == (code, "regraft.toml:4:7")
    assert error.message.isprintable()


@pytest.mark.parametrize("url", [url for url, _ in WRONG if "secret" in url])
def test_a_secret_in_a_url_is_never_repeated(url: str) -> None:
    assert "secret" not in str(refused(url))


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("https://secret@example.org/a/b", "token-env"),
        ("http://example.org/a/b", "write https://"),
        ("https://github.com/o/r/tree/main", "write https://github.com/o/r;"),
        ("https://github.com/o/r.git/tree/main", "write https://github.com/o/r;"),
        ("htps://example.org/a/b", "write `https://`"),
        ("git+ssh://example.org/a/b", "write `ssh://`"),
        ("HTTPS://example.org/a", "write `https://`"),
        ("file://host/a", "three slashes"),
    ],
)
def test_what_is_offered_instead(url: str, hint: str) -> None:
    assert hint in str(refused(url).hint)
