"""Patches of site-packages on the released versions of a package, from a package index on this machine."""

import base64
import hashlib
import io
import json
import os
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

NAME = "tile_kernels"


class Index:
    """A simple index: what it has is put into `files`, and how it answers is set from outside."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.marks: dict[str, dict[str, Any]] = {}
        self.html = False
        self.status: dict[str, int] = {}  # by the end of the path
        self.digests: dict[str, str | None] = {}  # what it lists, where that is not the truth
        self.redirects: dict[str, str] = {}
        self.login: str | None = None
        self.slow = 0.0
        self.asked: list[tuple[str, str | None]] = []
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.place}/simple"

    @property
    def downloads(self) -> list[str]:
        return [path.rpartition("/")[2] for path, _ in self.asked if path.startswith("/files/")]

    def answer(self, to: BaseHTTPRequestHandler) -> None:
        self.asked.append((to.path, to.headers.get("Authorization")))
        time.sleep(self.slow)
        status, kind, body = self.found(to)
        to.send_response(status)
        if to.path in self.redirects:
            to.send_header("Location", self.redirects[to.path])
        to.send_header("Content-Type", kind)
        to.send_header("Content-Length", str(len(body)))
        to.end_headers()
        to.wfile.write(body)

    def found(self, to: BaseHTTPRequestHandler) -> tuple[int, str, bytes]:
        path = to.path
        if self.login is not None and to.headers.get("Authorization") != self.login:
            return 401, "text/plain", b"who are you"
        if path in self.redirects:
            return 302, "text/plain", b"elsewhere"
        for end, status in self.status.items():
            if path.endswith(end):
                return status, "text/html", b"<a href='x-1.0.tar.gz'>an error page</a>"
        name = path.rpartition("/")[2]
        if path.startswith("/files/") and name in self.files:
            return 200, "application/octet-stream", self.files[name]
        if path != "/simple/tile-kernels/":
            return 404, "text/plain", b"no"
        return (
            (200, "text/html", self.page_html())
            if self.html
            else (200, "application/vnd.pypi.simple.v1+json", self.page_json())
        )

    def digest(self, name: str) -> str | None:
        return self.digests.get(name, hashlib.sha256(self.files[name]).hexdigest())

    def page_json(self) -> bytes:
        files = [
            {
                "filename": one,
                "url": f"../../files/{one}",
                "hashes": {"sha256": self.digest(one)} if self.digest(one) else {},
            }
            | self.marks.get(one, {})
            for one in self.files
        ]
        return json.dumps({"meta": {"api-version": "1.0"}, "files": files}).encode()

    def page_html(self) -> bytes:
        return "".join(f'<a href="/files/{one}#sha256={self.digest(one)}">{one}</a>\n' for one in self.files).encode()

    def wheel(self, version: str, files: dict[str, str], **marks: Any) -> str:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for path, text in {**files, f"{NAME}-{version}.dist-info/METADATA": f"Version: {version}\n"}.items():
                archive.writestr(path, text)
        return self.put(f"{NAME}-{version}-py3-none-any.whl", stream.getvalue(), **marks)

    def sdist(self, version: str, files: dict[str, str], **marks: Any) -> str:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for path, text in files.items():
                one = tarfile.TarInfo(f"{NAME}-{version}/{path}")
                one.size = len(text)
                archive.addfile(one, io.BytesIO(text.encode()))
        return self.put(f"{NAME}-{version}.tar.gz", stream.getvalue(), **marks)

    def put(self, name: str, data: bytes, **marks: Any) -> str:
        self.files[name] = data
        self.marks[name] = {key.replace("_", "-"): value for key, value in marks.items()}
        return name


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    for name in list(os.environ):
        if name.startswith("PIP_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    found = Index()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", found.url)
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def carry(lab: Any, lines: Callable[..., str]) -> Callable[..., None]:
    """A patch of the seventh line of tile_kernels/ops.py in site-packages."""

    def make(extra: str = "", root: str = "", baseline: str | None = None) -> None:
        path = "ops.py" if root else f"{NAME}/ops.py"
        text = lab.diff({path: lines()}, {path: lines(l7="ours")})
        text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("index "))
        lab.project.mkdir(exist_ok=True)
        (lab.project / "a.patch").write_text(text)
        patch = json.dumps("a.patch") if not root else f'{{ file = "a.patch", root = "{root}" }}'
        (lab.project / "regraft.toml").write_text(f"""\
[project]
name = "p"

[dependencies.tile-kernels]
package = "tile-kernels"
{extra}
[images.i.baked.tile-kernels]
path = "/opt/venv/lib/python3.12/site-packages"
patches = [{patch}]
""")
        if baseline is not None:
            held = {
                "schema": "regraft.baseline/1",
                "image": "i",
                "reference": None,
                "python": "3.12.1",
                "dependencies": {},
                "environment": [{"name": "tile-kernels", "version": baseline, "requires": []}],
            }
            (lab.project / "baselines").mkdir()
            (lab.project / "baselines/i.json").write_text(json.dumps(held))

    return make


def release(index: Index, version: str, text: str, **marks: Any) -> str:
    return index.wheel(
        version, {f"{NAME}/ops.py": text, f"{NAME}/__init__.py": f"__version__ = {version!r}\n"}, **marks
    )


@pytest.fixture
def five(index: Index, lines: Callable[..., str]) -> Index:
    """A line near it is rewritten in 1.10, and the patch lands in 2.1, where that line is as before."""
    release(index, "1.0", lines())
    release(index, "1.9", lines(l30="x"))
    release(index, "1.10", lines(l4="other", l30="x"))
    release(index, "2.0", lines(l4="other", l30="y"))
    release(index, "2.1", lines(l7="ours", l30="y"))
    return index


def test_a_patch_of_site_packages_is_judged_on_the_version_that_is_named(lab: Any, five: Index, carry: Any) -> None:
    carry()
    code, out, _ = lab.run("status", "--at", "1.9")
    assert (code, out.splitlines()[0].split()) == (0, ["applies", "a.patch", "tile-kernels", "in", "i", "1.9"])
    code, out, _ = lab.run("status", "--at", "1.10")
    assert (code, out.split()[0]) == (1, "conflict")


def test_the_release_that_changed_the_state_is_the_culprit_and_no_commit_is_named(
    lab: Any, five: Index, carry: Any
) -> None:
    carry()
    row = lab.row("status", "--at", "2.0")
    assert (row["commit"], row["release"], row["state"]) == (None, "2.0", "conflict")
    assert row["culprit"] == {"commit": None, "subject": "tile-kernels 1.10", "pull": None, "release": "1.10"}


def test_history_goes_over_releases_in_the_order_of_versions(lab: Any, five: Index, carry: Any) -> None:
    carry()
    row = lab.row("history", "--last", "10")
    turns = [(one["release"], one["before"], one["after"]) for one in row["turns"]]
    assert turns == [("2.1", "conflict", "already-there"), ("1.10", "applies", "conflict")]
    assert all(one["commit"] is None for one in row["turns"])
    assert row["commits"] == 5
    assert lab.row("history", "--since", "1.10")["commits"] == 2
    _, out, _ = lab.run("history", "--last", "2")
    assert "2 releases" in out
    assert "conflict -> already-there by release 2.1" in out


def test_only_what_a_question_needs_is_downloaded_and_that_once(lab: Any, five: Index, carry: Any) -> None:
    carry()
    lab.run("history", "--last", "1")
    assert five.downloads == [f"{NAME}-2.1-py3-none-any.whl", f"{NAME}-2.0-py3-none-any.whl"]
    lab.run("history", "--last", "1")
    assert len(five.downloads) == 2


def test_without_a_ref_the_baked_version_and_the_newest_are_judged(lab: Any, five: Index, carry: Any) -> None:
    carry(baseline="1.9")
    rows = lab.json("status")
    assert [(row["ref"], row["state"]) for row in rows] == [("1.9", "applies"), ("2.1", "already-there")]
    carry_again = json.loads((lab.project / "baselines/i.json").read_text())
    carry_again["environment"][0]["version"] = "2.1"
    (lab.project / "baselines/i.json").write_text(json.dumps(carry_again))
    assert [row["ref"] for row in lab.json("status")] == ["2.1"]


def test_without_a_baseline_the_newest_is_judged(lab: Any, five: Index, carry: Any) -> None:
    carry()
    assert [row["release"] for row in lab.json("status")] == ["2.1"]


def test_why_names_release_and_lines(lab: Any, five: Index, carry: Any) -> None:
    carry()
    _, out, _ = lab.run("why", "a.patch", "--at", "2.0")
    assert "a.patch: conflict at 2.0 of tile-kernels, in i" in out
    assert "applies -> conflict by release 1.10" in out
    assert f"it rewrote {NAME}/ops.py, line 4" in out


def test_a_baked_version_that_is_older_than_the_patch_asks_for_a_newer_image(
    lab: Any, index: Index, carry: Any, lines: Callable[..., str]
) -> None:
    release(index, "1.0", lines(l6="old"))
    release(index, "1.1", lines())
    release(index, "1.2", lines(l30="x"))
    carry(baseline="1.0")
    row, _ = lab.json("status")
    assert (row["state"], row["action"]) == ("conflict", "rebuild")
    _, out, _ = lab.run("why", "a.patch", "--at", "1.0")
    assert "it fits tile-kernels from 1.1 on" in out


def test_a_refresh_is_proved_on_a_release_as_on_a_commit(lab: Any, five: Index, carry: Any) -> None:
    carry()
    code, out, err = lab.run("refresh", "a.patch", "--at", "2.0")
    assert (code, err) == (0, "")
    assert "refreshed" in out
    assert lab.row("status", "--at", "2.0")["state"] == "applies"


def test_a_patch_of_two_places_that_fits_at_one_is_a_conflict_and_nothing_is_written(
    lab: Any, index: Index, carry: Any, lines: Callable[..., str]
) -> None:
    """GNU patch leaves the first half in site-packages: https://github.com/eugr/spark-vllm-docker/issues/33"""
    release(index, "1.0", lines(60))
    release(index, "1.1", lines(60, l50="rewritten"))
    carry()
    text = lab.diff({f"{NAME}/ops.py": lines(60)}, {f"{NAME}/ops.py": lines(60, l7="ours", l50="ours too")})
    (lab.project / "a.patch").write_text(text)
    before = sorted(lab.project.rglob("*"))
    row = lab.row("status", "--at", "1.1")
    assert [one["state"] for one in row["hunks"]] == ["applies", "conflict"]
    assert row["state"] == "conflict"
    assert sorted(lab.project.rglob("*")) == before


def test_a_fix_that_a_release_has_in_other_words_is_a_hint_and_no_more(lab: Any, index: Index, carry: Any) -> None:
    """https://github.com/LMCache/LMCache/pull/640"""
    old = "def load(path):\n    stream = open(path)\n    data = stream.read()\n    return data\n"
    ours = "def load(path):\n    with open(path) as stream:\n        data = stream.read()\n    return data\n"
    theirs = "def load(path):\n    with open(path) as source:\n        data = source.read()\n    return data\n"
    release(index, "1.0", old)
    release(index, "1.1", theirs)
    carry()
    (lab.project / "a.patch").write_text(lab.diff({f"{NAME}/ops.py": old}, {f"{NAME}/ops.py": ours}))
    row = lab.row("status", "--at", "1.1")
    assert row["state"] == "conflict"
    assert "looks solved upstream in release 1.1, not identical" in row["reason"]
    assert row["action"] != "drop"


def test_a_patch_made_inside_the_package_s_own_folder_has_a_root(lab: Any, five: Index, carry: Any) -> None:
    carry(root=NAME)
    assert lab.row("status", "--at", "1.0")["state"] == "applies"


def test_source_distributions_are_judged_below_their_top_folder(
    lab: Any, index: Index, carry: Any, lines: Callable[..., str]
) -> None:
    index.sdist("1.0", {f"{NAME}/ops.py": lines(), "setup.py": "1\n"})
    index.sdist("1.1", {f"{NAME}/ops.py": lines(l7="ours")})
    carry()
    assert [lab.row("status", "--at", one)["state"] for one in ("1.0", "1.1")] == ["applies", "already-there"]
    release(index, "1.1", lines())
    assert lab.row("status")["state"] == "applies"  # the wheel now
    carry('files = "sdist"')
    assert lab.row("status")["state"] == "already-there"


def test_an_html_index_is_as_good(lab: Any, five: Index, carry: Any) -> None:
    five.html = True
    carry()
    assert lab.row("status", "--at", "1.0")["state"] == "applies"


def test_yanked_and_pre_releases_are_not_the_newest_and_are_marked_where_named(
    lab: Any, five: Index, carry: Any, lines: Callable[..., str]
) -> None:
    release(five, "3.0", lines(), yanked="breaks")
    release(five, "4.0rc1", lines(), requires_python=">=3.13")
    carry()
    assert lab.row("status")["release"] == "2.1"
    [row] = lab.json("why", "a.patch", "--at", "3.0")
    assert "3.0: yanked ('breaks')" in [one["message"] for one in row["notes"]]
    [row] = lab.json("why", "a.patch", "--at", "4.0rc1")
    notes = [one["message"] for one in row["notes"]]
    assert "4.0rc1: a pre-release" in notes
    assert "4.0rc1: needs Python >=3.13" in notes


def failed(lab: Any, *words: str) -> tuple[int, dict[str, Any]]:
    code, out, err = lab.run("status", *words, "--format", "json")
    return code, json.loads(out or err)["error"]


def test_bytes_that_are_not_those_of_the_index_are_refused_and_not_kept(lab: Any, five: Index, carry: Any) -> None:
    name = f"{NAME}-1.0-py3-none-any.whl"
    five.digests[name] = "0" * 64
    carry()
    code, error = failed(lab, "--at", "1.0")
    assert (code, error["code"]) == (3, "other-digest")
    del five.digests[name]
    assert lab.row("status", "--at", "1.0")["state"] == "applies"
    assert not list((lab.root / "cache").rglob(".archive-*"))


def test_a_file_without_a_digest_is_not_taken(lab: Any, five: Index, carry: Any) -> None:
    five.digests[f"{NAME}-1.0-py3-none-any.whl"] = None
    carry()
    assert failed(lab, "--at", "1.0")[1]["code"] == "no-digest"
    assert five.downloads == []


@pytest.mark.parametrize(
    ("end", "status", "exit_code", "code"),
    [
        ("/tile-kernels/", 404, 2, "no-such-package"),
        ("/tile-kernels/", 403, 3, "index-refused"),
        ("/tile-kernels/", 500, 3, "index-failed"),
        (".whl", 404, 3, "index-failed"),
        (".whl", 500, 3, "index-failed"),
    ],
)
def test_an_index_that_fails_is_an_error_and_never_a_state(  # noqa: PLR0917
    lab: Any, five: Index, carry: Any, end: str, status: int, exit_code: int, code: str
) -> None:
    five.status[end] = status
    carry()
    found = failed(lab)
    assert (found[0], found[1]["code"]) == (exit_code, code)


def test_an_index_that_does_not_answer_in_time_is_an_error(
    lab: Any, five: Index, carry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_TIMEOUT", "0.2")
    five.slow = 0.6
    carry()
    found = failed(lab)
    assert (found[0], found[1]["code"]) == (3, "no-answer")


def test_an_archive_that_leads_out_is_refused_and_leaves_nothing(lab: Any, five: Index, carry: Any) -> None:
    five.wheel("9.0", {"../../evil.py": "1\n"})
    carry()
    found = failed(lab)
    assert (found[0], found[1]["code"]) == (3, "bad-archive")
    assert not list(lab.root.rglob("evil.py"))
    assert lab.row("status", "--at", "1.0")["state"] == "applies"


def test_a_version_that_does_not_exist_is_the_caller_s_mistake(lab: Any, five: Index, carry: Any) -> None:
    carry()
    for ref in ("7.7", "main"):
        code, error = failed(lab, "--at", ref)
        assert (code, error["code"]) == (2, "no-such-version")
        assert "2.1" in error["hint"]


def test_credentials_of_the_index_are_sent_to_it_alone_and_never_shown(
    lab: Any, five: Index, carry: Any, monkeypatch: pytest.MonkeyPatch, lines: Callable[..., str]
) -> None:
    other = Index()
    name = release(other, "1.0", lines())
    five.redirects[f"/files/{name}"] = f"http://{other.place}/files/{name}"
    five.login = f"Basic {base64.b64encode(b'me:s3cret').decode()}"
    monkeypatch.setenv("PIP_INDEX_URL", five.url.replace("//", "//me:s3cret@"))
    carry()
    five.digests[name] = hashlib.sha256(other.files[name]).hexdigest()
    try:
        assert lab.row("status", "--at", "1.0")["state"] == "applies"
        assert [who for _, who in other.asked] == [None]
    finally:
        other.server.shutdown()
        other.server.server_close()
    five.login = "Basic other"
    code, out, err = lab.run("status")
    assert code == 3
    assert "answers 401" in out + err
    assert "s3cret" not in out + err


def test_wheels_in_a_folder_are_found_without_an_index(
    lab: Any, five: Index, carry: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, data in five.files.items():
        (wheels / name).write_bytes(data)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", wheels.as_uri())
    carry()
    assert lab.row("status", "--at", "1.0")["state"] == "applies"
    assert five.asked == []


def test_a_directive_that_names_a_package_is_refused_by_plan(lab: Any, five: Index, carry: Any) -> None:
    from regraft.cli.main import main

    carry()
    lab.capsys.readouterr()
    words = [
        "plan",
        "--image",
        "i",
        "--set",
        "ci-tile-kernels-pr=1.0",
        "--project",
        str(lab.project),
        "--format",
        "json",
    ]
    code = main(words)
    said = lab.capsys.readouterr()
    error = json.loads(said.out or said.err)["error"]
    assert (code, error["code"]) == (2, "package-dependency")
    assert five.asked == []


@pytest.mark.network
def test_a_real_registry_is_read(lab: Any, carry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    carry()
    manifest = lab.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace("tile-kernels", "click"))
    patch = "--- a/click/new.py\n+++ b/click/new.py\n@@ -0,0 +1 @@\n+1\n"
    (lab.project / "a.patch").write_text(patch.replace("--- a/click/new.py", "--- /dev/null"))
    row = lab.row("status", "--at", "8.1.7")
    assert (row["state"], row["release"], row["commit"]) == ("applies", "8.1.7", None)
