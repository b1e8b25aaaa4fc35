import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regraft.core.gitmodules import Module, RefusedModuleError, address, module_at, modules_by_path
from regraft.core.repository_url import parse_repository_url


def module(url: str | None = "../sub", *, name: str = "s", update: str | None = None) -> Module:
    return Module(name, "s", url, update)


@pytest.mark.parametrize(
    ("parent", "url", "expected"),
    [
        ("https://h/o/r.git", "../s.git", "https://h/o/s.git"),
        ("https://h/o/r/", "../../p/s", "https://h/p/s"),
        ("https://h/o/r", "./s", "https://h/o/r/s"),
        ("https://h/o/r", "../s/", "https://h/o/s"),
        ("git@h:o/r.git", "../s.git", "git@h:o/s.git"),
        ("git@h:o/r.git", "../../p/s.git", "git@h:p/s.git"),
        ("ssh://git@h:22/o/r", "../s", "ssh://git@h:22/o/s"),
        ("/srv/o/r", "../s", "/srv/o/s"),
        ("file:///srv/o/r", "../s", "file:///srv/o/s"),
        ("../up", "../s", "../s"),
        ("up", "../s", "./s"),
        ("https://h/o/r", "https://other/x/y.git", "https://other/x/y.git"),
        ("https://h/o/r", "git@other:x/y", "git@other:x/y"),
        ("https://h/o/r", "ssh://git@other/x", "ssh://git@other/x"),
        ("/srv/o/r", "/srv/s", "/srv/s"),
        ("/srv/o/r", "file:///srv/s", "file:///srv/s"),
        ("/srv/o/r", "https://h/s", "https://h/s"),
    ],
)
def test_addresses_are_resolved_as_git_does(parent: str, url: str, expected: str) -> None:
    assert address(module(url), parent) == expected


@pytest.mark.parametrize(
    ("parent", "url", "says"),
    [
        ("https://h/o/r", None, "no url"),
        ("https://h/o/r", "", "no url"),
        ("https://h/o/r", "-u./payload", "begins with a dash"),
        ("https://h/o/r", "--upload-pack=x", "begins with a dash"),
        ("https://h/o/r", "ext::sh -c touch% /tmp/x", "helper program"),
        ("https://h/o/r", "fd::7", "helper program"),
        ("https://h/o/r", "https::https://h/x", "helper program"),
        ("https://h/o/r", "../../../x", "more steps up"),
        ("https://h/o/r", "../../../../x", "more steps up"),
        ("git@h:o/r", "../../../x", "more steps up"),
        ("https://h/o/r", "../a/../../../x", "does not stay below"),
        ("https://h/o/r", "..//evil/x", "does not stay below"),
        ("https://h/o/r", "../../:x", "does not stay below"),
        ("https://h/o/r", "/etc", "path on this machine"),
        ("https://h/o/r", "file:///etc", "path on this machine"),
        ("https://h/o/r", "sub", "path on this machine"),
        ("/srv/o/r", "sub", "neither absolute nor relative"),
        ("https://h/o/r", "ssh://-oProxyCommand=x/y", "looks like an option"),
        ("https://h/o/r", "-oProxyCommand=x:y", "begins with a dash"),
        ("https://h/o/r", "h:-x", "looks like an option"),
        ("https://h/o/r", "https:///x", "names no server"),
        ("https://h/o/r", "rsync://h/x", "scheme that is not followed"),
        ("https://h/o/r", "https://h/x\nhost=evil", "control character"),
        ("https://h/o/r", "https://h/%0Ahost=evil", "control character"),
    ],
)
def test_addresses_that_must_not_be_followed(parent: str, url: str | None, says: str) -> None:
    with pytest.raises(RefusedModuleError) as caught:
        address(module(url), parent)
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


@given(st.text(alphabet="./:-@ahe\\%0", max_size=12))
@settings(max_examples=200)
def test_no_relative_address_leaves_the_server(rest: str) -> None:
    try:
        found = address(module("../" + rest), "https://host.example/owner/name")
    except RefusedModuleError:
        return
    assert parse_repository_url(found).host == "host.example"
    assert not found.startswith("-")


@pytest.mark.parametrize(
    ("path", "one", "says"),
    [
        ("../s", module(), "leaves its tree"),
        ("a/../../s", module(), "leaves its tree"),
        ("/s", module(), "is absolute"),
        (".git/modules/s", module(), ".git folder"),
        ("a/.GIT", module(), ".git folder"),
        ("-s", module(), "begins with a dash"),
        ("s\n", module(), "control character"),
        ("s", module(name="../../x"), "is not one that git takes safely"),
        ("s", module(name="a\\..\\b"), "is not one that git takes safely"),
        ("s", module(name=""), "is not one that git takes safely"),
        ("s", module(name="-x"), "is not one that git takes safely"),
        ("s", module(update="!touch /tmp/x"), "wants a command to be run"),
        ("t", module(), "no section for it"),
    ],
)
def test_sections_that_must_not_be_followed(path: str, one: Module, says: str) -> None:
    modules = {} if path == "t" else {path: one}
    with pytest.raises(RefusedModuleError) as caught:
        module_at(path, modules)
    assert says in str(caught.value)


def test_a_plain_section_is_taken() -> None:
    entries = [
        ("core.sshcommand", "evil"),
        ("submodule.a.b/c.path", "third party/x"),
        ("submodule.a.b/c.url", "../x"),
        ("submodule.a.b/c.shallow", "true"),
        ("submodule.unused.url", "../y"),
    ]
    modules = modules_by_path(entries)
    assert modules == {"third party/x": Module("a.b/c", "third party/x", "../x", None)}
    assert module_at("third party/x", modules).url == "../x"


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([("submodule.a.url", "x"), ("submodule.a.url", "y")], "two values for url"),
        ([("submodule.a.path", "p"), ("submodule.b.path", "p")], "two sections name the path 'p'"),
    ],
)
def test_contradictions_are_refused(entries: list[tuple[str, str]], says: str) -> None:
    with pytest.raises(RefusedModuleError) as caught:
        modules_by_path(entries)
    assert says in str(caught.value)


def test_the_same_value_twice_is_no_contradiction() -> None:
    assert modules_by_path([("submodule.a.path", "p"), ("submodule.a.path", "p")])["p"].name == "a"
