"""Patches that the manifest gives by their address: the same states, the pinned bytes or none, and the cache where there is no net."""

import hashlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.pinned_patches import PinnedPatches
from regraft.cli.main import main
from regraft.core.patch_read import LIMIT
from regraft.errors import OutsideError

Lines = Callable[..., str]


class Server(ThreadingHTTPServer):
    """Serves `pages` by their path; a text that begins with `->` sends on to what follows. `asked` are the paths in order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def put(self, path: str, text: str) -> str:
        """The address of a text with its checksum, as the manifest takes it."""
        self.pages[path] = text.encode()
        return f"{self.url}{path}#sha256={hashlib.sha256(text.encode()).hexdigest()}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.pages.get(self.path)
        sent_on = body is not None and body.startswith(b"->")
        self.send_response(404 if body is None else 302 if sent_on else 200)
        if body is not None and sent_on:
            self.send_header("location", body[2:].decode())
        content = b"" if body is None or sent_on else body
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def web() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def carry(lab: Any, *entries: str) -> None:
    """A project whose image carries just these."""
    lab.carry({})
    manifest = lab.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace("patches = []", f"patches = {json.dumps(entries)}"))


@pytest.fixture
def fix(lab: Any, lines: Lines) -> str:
    """A patch of ours; upstream has what it is made on."""
    lab.upstream.commit({"a.py": lines()})
    diff: str = lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})
    return diff


def cache(lab: Any) -> PinnedPatches:
    return PinnedPatches({"REGRAFT_CACHE": str(lab.root / "cache")})


def test_a_patch_that_stands_at_an_address_has_the_states_of_any_other(
    lab: Any, web: Server, fix: str, lines: Lines
) -> None:
    """https://github.com/rebase-helper/rebase-helper/issues/772: it was in the release, and being remote was never dropped."""
    address = web.put("/fixes/x.patch", fix)
    carry(lab, address)
    assert (lab.row("status")["state"], lab.row("status")["patch"]) == ("applies", address)
    landed = lab.upstream.commit({"a.py": lines(l20="mine")}, "Take the fix (#77)")
    row = lab.row("why", "x.patch")
    assert (row["state"], row["action"]) == ("already-there", "drop")
    assert (row["culprit"]["commit"], row["culprit"]["pull"]) == (landed, 77)
    [history] = lab.json("history", "--last", "5")
    assert [turn["after"] for turn in history["turns"]] == ["already-there"]
    assert web.asked == ["/fixes/x.patch"]


def test_a_patch_at_an_address_is_named_by_its_address_or_its_file_name_and_shown_without_its_checksum(
    lab: Any, web: Server, fix: str
) -> None:
    address = web.put("/fixes/x.patch", fix)
    carry(lab, address)
    for name in ("x.patch", address, address.partition("#")[0]):
        code, out, err = lab.run("why", name)
        assert (code, err) == (0, "")
        assert out.startswith(f"{web.url}/fixes/x.patch: applies at main")
        assert "sha256=" not in out


def test_a_series_may_mix_files_and_addresses(lab: Any, web: Server, fix: str, lines: Lines) -> None:
    second = lab.diff({"a.py": lines(l20="mine")}, {"a.py": lines(l20="ours")})
    lab.carry({"2.patch": second})
    manifest = lab.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace('["2.patch"]', json.dumps([web.put("/1.patch", fix), "2.patch"])))
    assert [row["state"] for row in lab.json("status")] == ["applies", "applies"]


def test_other_bytes_than_the_pinned_ones_are_an_error_and_no_state(lab: Any, web: Server, fix: str) -> None:
    address = web.put("/x.patch", fix)
    carry(lab, address)
    web.pages["/x.patch"] = fix.replace("mine", "evil").encode()
    code, out, err = lab.run("status")
    assert (code, out) == (3, "")
    assert "and " + address.partition("=")[2] + " is pinned" in err
    assert not [*(lab.root / "cache").glob("patches/sha256/*")]


def test_what_was_fetched_once_needs_no_network(lab: Any, web: Server, fix: str) -> None:
    carry(lab, web.put("/x.patch", fix))
    assert lab.row("status")["state"] == "applies"
    web.pages.clear()
    assert lab.row("status")["state"] == "applies"
    assert web.asked == ["/x.patch"]


def test_damaged_bytes_in_the_cache_are_fetched_anew(lab: Any, web: Server, fix: str) -> None:
    carry(lab, web.put("/x.patch", fix))
    lab.run("status")
    [kept] = (lab.root / "cache/patches/sha256").iterdir()
    kept.write_bytes(b"damaged")
    assert lab.row("status")["state"] == "applies"
    assert web.asked == ["/x.patch", "/x.patch"]
    assert kept.read_bytes() == fix.encode()


def test_without_a_network_and_without_the_cache_it_is_said_what_is_missing(lab: Any, web: Server, fix: str) -> None:
    address = web.put("/x.patch", fix)
    carry(lab, address)
    web.shutdown()
    web.socket.close()
    code, out, err = lab.run("status")
    assert (code, out) == (3, "")
    assert f"{web.url}/x.patch" in err
    assert "not in the cache, and it could not be fetched: no answer" in err
    assert "REGRAFT_CACHE" in err


def test_a_page_that_is_not_there_is_no_patch(lab: Any, web: Server) -> None:
    carry(lab, f"{web.url}/x.patch#sha256={'0' * 64}")
    code, _, err = lab.run("status")
    assert code == 3
    assert "the server answers 404" in err


def test_more_than_a_patch_may_have_is_not_taken(lab: Any, web: Server) -> None:
    address = web.put("/x.patch", "x" * 1001)
    with pytest.raises(OutsideError, match="more than 1000 bytes came back") as caught:
        cache(lab)(address, 1000)
    assert caught.value.code == "patch-not-fetched"


def test_a_server_may_send_on_to_the_bytes(lab: Any, web: Server, fix: str) -> None:
    web.put("/x.patch", "->/elsewhere")
    checksum = web.put("/elsewhere", fix).partition("#")[2]
    assert cache(lab)(f"{web.url}/x.patch#{checksum}", LIMIT) == fix.encode()


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("/x.patch", "more than 5 times"),
        ("http://example.org/x.patch", "which is not https"),
        ("file:///etc/passwd", "which is no address"),
        ("https://user:word@example.org/x", "credentials"),
        ("", "which is no address"),
    ],
)
def test_a_server_may_not_send_on_to_anything_else(lab: Any, web: Server, target: str, why: str) -> None:
    web.put("/x.patch", f"->{target}")
    with pytest.raises(OutsideError, match=why) as caught:
        cache(lab)(f"{web.url}/x.patch#sha256={'0' * 64}", LIMIT)
    assert caught.value.code == "patch-not-fetched"


def test_check_asks_no_server_and_judges_the_bytes_that_the_cache_has(lab: Any, web: Server) -> None:
    address = web.put("/x.patch", "<!DOCTYPE html>\n<html></html>\n")
    carry(lab, address)

    def check() -> tuple[int, list[tuple[str, str, int]]]:
        lab.capsys.readouterr()
        code = main(["check", "--project", str(lab.project), "--format", "json"])
        found = json.loads(lab.capsys.readouterr().out)["findings"]
        return code, [(one["rule"], one["severity"], one["line"]) for one in found if one["rule"].startswith("patch")]

    assert check() == (0, [("patch-not-cached", "note", 12)])
    assert web.asked == []
    cache(lab)(address, LIMIT)
    assert check() == (1, [("patch-unreadable", "error", 12)])


def test_refresh_shows_the_new_text_and_says_that_it_cannot_write_there(
    lab: Any, web: Server, fix: str, lines: Lines
) -> None:
    address = web.put("/x.patch", fix)
    carry(lab, address)
    lab.upstream.commit({"a.py": lines(l22="theirs")})
    before = {path: path.read_bytes() for path in lab.project.rglob("*") if path.is_file()}
    code, out, _ = lab.run("refresh", "x.patch")
    assert code == 1
    assert f"--- a/{web.url}/x.patch" in out
    assert "+ theirs" in out
    assert out.splitlines()[-1] == (
        f"{web.url}/x.patch: it stands at an address, where nothing can be written:"
        " put the new text into a file of the project, and list that in its place"
    )
    assert {path: path.read_bytes() for path in lab.project.rglob("*") if path.is_file()} == before


def tracked(folder: Path) -> None:
    for words in (["init", "--quiet"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def test_drop_takes_the_entry_out_of_the_manifest(lab: Any, web: Server, fix: str, lines: Lines) -> None:
    carry(lab, web.put("/x.patch", fix), web.put("/y.patch", fix.replace("a.py", "b.py")))
    tracked(lab.project)
    lab.upstream.commit({"a.py": lines(l20="mine"), "b.py": lines()}, "Take it")
    assert lab.run("drop", "y.patch")[0] == 1
    code, out, err = lab.run("drop", "x.patch")
    assert (code, err) == (0, "")
    assert "1 files were changed in the work tree" in out
    text = (lab.project / "regraft.toml").read_text()
    assert "x.patch" not in text
    assert "/y.patch#sha256=" in text


def test_drop_stops_where_a_dockerfile_still_fetches_it(lab: Any, web: Server, fix: str, lines: Lines) -> None:
    address = web.put("/x.patch", fix)
    carry(lab, address)
    (lab.project / "Dockerfile").write_text(f"FROM x\nADD {address.partition('#')[0]} /p/\nRUN git apply /p/x.patch\n")
    tracked(lab.project)
    lab.upstream.commit({"a.py": lines(l20="mine")}, "Take it")
    code, out, _ = lab.run("drop", "x.patch")
    assert code == 1
    assert f"  Dockerfile:2:5: use: ADD {web.url}/x.patch /p/" in out
    assert address in (lab.project / "regraft.toml").read_text()
    assert lab.run("drop", "x.patch", "--leave-uses")[0] == 0
    assert address not in (lab.project / "regraft.toml").read_text()


def test_what_is_said_of_other_patches_names_addresses_without_their_checksums(
    lab: Any, web: Server, fix: str, lines: Lines
) -> None:
    """The second is made on the first, which does not fit."""
    second = lab.diff({"a.py": lines(l20="mine")}, {"a.py": lines(l20="ours")})
    carry(lab, web.put("/1.patch", fix), web.put("/2.patch", second))
    lab.upstream.commit({"a.py": lines(l20="theirs")}, "Rewrite it")
    code, out, _ = lab.run("why", "2.patch")
    assert code == 1
    assert f"judged on the tree without {web.url}/1.patch" in out
    assert "sha256=" not in out
