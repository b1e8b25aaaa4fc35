"""Real builds by buildah without a daemon, pushed to a real registry on loopback.

The image holds no operating system: it is lent this machine's while it is probed, and its own are a checkout and its links.
"""

import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.registry import Registry
from regraft.adapters.registry_attached import attached_baselines
from regraft.core.baseline_document import decode_baseline
from regraft.core.image_reference import parse_reference

MISSING = [name for name in ("buildah", "docker-registry") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: apt-get install buildah docker-registry"),
    pytest.mark.skipif(os.geteuid() != 0, reason="buildah with chroot isolation is run as root here"),
]

REGISTRY = """\
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {folder}}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""
STORAGE = """\
[storage]
driver = "vfs"
graphroot = "{folder}/images"
runroot = "{folder}/run"
"""
MANIFEST = """\
[project]
name = "proj"

[dependencies.dep]
url = "{upstream}"
branch = "main"

[images.gpu]
repository = "127.0.0.1:{port}/team/gpu"
tag = "nightly"
dockerfile = "docker/Dockerfile"
python = "{python}"
python-path = ["/opt/dep"]

[images.gpu.baked.dep]
path = "/opt/dep"
imports = ["dep"]
"""
DOCKERFILE = """\
FROM scratch
ADD docker/links.tar /
ADD docker/dep.tar /opt/
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
"""


def interpreter_folders() -> Iterator[str]:
    """Where each link on the way from the environment's interpreter to the real one lies."""
    path = Path(sys.executable)
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield str(path.parent)


SOURCES = str(Path(__file__).parents[2] / "src")
LENT = tuple(dict.fromkeys(("/usr", sys.base_prefix, sys.prefix, SOURCES, *interpreter_folders())))


def git(folder: Path, *words: str) -> str:
    who = [word for pair in (("user.name", "A"), ("user.email", "a@example.org")) for word in ("-c", "=".join(pair))]
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *who, *words], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Team:
    """A project whose image is built by buildah, and the registry that it goes to."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.project = folder / "project"
        self.upstream = folder / "dep"
        self.upstream.mkdir()
        git(self.upstream, "init", "--quiet", "--initial-branch=main")
        self.commit = self.move("value = 1\n")
        (self.project / "docker").mkdir(parents=True)
        text = MANIFEST.format(upstream=self.upstream, port=port, python=sys.executable)
        (self.project / "regraft.toml").write_text(text)
        (self.project / "docker/Dockerfile").write_text(DOCKERFILE)
        with tarfile.open(self.project / "docker/links.tar", "w") as archive:
            for name in ("bin", "lib", "lib64", "sbin"):
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
                archive.addfile(link)
            for name in ("tmp", "etc", "root"):
                made = tarfile.TarInfo(name)
                made.type, made.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
                archive.addfile(made)
            passwd = tarfile.TarInfo("etc/passwd")
            passwd.size = len(b"root:x:0:0::/root:/bin/sh\n")
            archive.addfile(passwd, io.BytesIO(b"root:x:0:0::/root:/bin/sh\n"))
        git(self.project, "init", "--quiet", "--initial-branch=main")
        self.bake()

    def move(self, text: str) -> str:
        """The upstream's branch is at a new commit."""
        (self.upstream / "dep.py").write_text(text)
        git(self.upstream, "add", "--all")
        git(self.upstream, "commit", "--quiet", "--message", "Move")
        return git(self.upstream, "rev-parse", "HEAD")

    def bake(self) -> str:
        """Commit what the image is made of."""
        with tarfile.open(self.project / "docker/dep.tar", "w") as archive:
            archive.add(self.upstream, "dep")
        git(self.project, "add", "--all")
        git(self.project, "commit", "--quiet", "--message", "Bake")
        return git(self.project, "rev-parse", "HEAD")

    def regraft(self, *words: str) -> tuple[int, Any, str]:
        env = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs",
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"), "TMPDIR": str(self.folder),
        }  # fmt: skip
        argv = [sys.executable, "-m", "regraft", *words, "--format", "json"]
        done = subprocess.run(argv, cwd=self.project, env=env, capture_output=True, text=True, check=False, timeout=600)
        return done.returncode, json.loads(done.stdout or "null"), done.stderr

    def build(self, *words: str) -> tuple[int, Any, str]:
        lent = [word for folder in LENT for word in ("--volume", f"{folder}:{folder}")]
        program = str(Path(sys.prefix, "bin/regraft"))
        return self.regraft("image", "build", "--engine", "buildah", "--regraft", program, *lent, *words)

    def api(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/{path}", timeout=10) as answer:
            return json.load(answer)

    def tags(self) -> list[str]:
        return sorted(self.api("team/gpu/tags/list")["tags"])


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "registry.yml").write_text(REGISTRY.format(folder=folder / "registry", port=port))
    (folder / "storage.conf").write_text(STORAGE.format(folder=folder / "store"))
    argv = ["docker-registry", "serve", str(folder / "registry.yml")]
    server = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=5).close()
                break
            except OSError:
                assert time.monotonic() < until, "the registry does not answer"
                assert server.poll() is None, "the registry has ended"
                time.sleep(0.1)
        yield Team(folder, port)
    finally:
        server.terminate()
        server.wait()


def test_a_real_image_goes_its_whole_way(team: Team) -> None:
    """Absent, built, pushed and used again; planned with; another input, a red step, and a green one again."""
    code, decided, _ = team.regraft("image", "decide", "--rebuild-ok")
    assert (code, decided["images"]["gpu"]["reasons"][0]["code"]) == (0, "absent")

    code, built, said = team.build("--push", "--state", "../state.json")
    assert code == 0, (built, said)
    assert [step["name"] for step in built["steps"]] == [
        "build",
        "probe",
        "imports",
        "seal",
        "push",
        "check",
        "attach",
        "tag",
    ]
    assert not any("still there" in note for note in built["notes"]), built["notes"]
    assert [tag for tag in team.tags() if tag.startswith("regraft-")] == []
    assert "nightly" in team.tags()

    repository = parse_reference(f"127.0.0.1:{team.port}/team/gpu").repository
    (attached,) = attached_baselines(Registry(lambda _: None), repository, built["digest"])
    assert decode_baseline(attached, "gpu").dependencies["dep"].commit == team.commit

    code, decided, _ = team.regraft("image", "decide")
    assert (code, decided["images"]["gpu"]["decision"]) == (0, "reuse"), decided
    assert decided["images"]["gpu"]["digest"] == built["digest"]
    code, decided, _ = team.regraft("image", "decide", "--state", "../state.json")
    assert (code, decided["images"]["gpu"]["digest"]) == (0, built["digest"])

    code, planned, said = team.regraft("plan", "--set", "ci_dep_pr=")
    assert code == 0, said
    plan = planned["plans"]["gpu"]
    assert plan["image"]["digest"] == built["digest"]
    assert plan["baseline"]["source"] == "label"
    assert plan["dependencies"]["dep"]["commit"] == team.commit

    team.move("import no_such_module\n")
    team.bake()
    code, decided, _ = team.regraft("image", "decide")
    assert (code, decided["images"]["gpu"]["decision"]) == (1, "rebuild")
    assert "docker/dep.tar" in json.dumps(decided["images"]["gpu"]["reasons"])

    before = team.tags()
    code, red, _ = team.build("--push")
    assert code == 1
    assert [step["name"] for step in red["steps"] if not step["ok"]] == ["imports"]
    assert "no_such_module" in red["steps"][-1]["detail"]
    assert any("docker/dep.tar changed" in line for line in red["changed"])
    assert team.tags() == before
    assert team.regraft("plan", "--set", "ci_dep_pr=")[1]["plans"]["gpu"]["image"]["digest"] == built["digest"]

    team.move("value = 3\n")
    team.bake()
    code, again, said = team.build("--push", "--tag", "nightly", "--tag", "weekly")
    assert code == 0, (again, said)
    assert again["digest"] != built["digest"]
    assert again["tags"] == ["nightly", "weekly"]


def test_the_built_image_holds_its_baseline_as_a_file(team: Team) -> None:
    code, built, said = team.build()
    assert code == 0, (built, said)
    env = {
        "PATH": os.environ["PATH"], "HOME": str(team.folder), "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs",
        "CONTAINERS_STORAGE_CONF": str(team.folder / "storage.conf"),
    }  # fmt: skip
    made = subprocess.run(["buildah", "from", built["local"]], env=env, capture_output=True, text=True, check=True)
    name = made.stdout.strip()
    mounted = subprocess.run(
        ["buildah", "mount", name], env=env, capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        inside = json.loads(Path(mounted, "usr/share/regraft/baselines/gpu.json").read_text())
    finally:
        subprocess.run(["buildah", "umount", name], env=env, capture_output=True, check=True)
        subprocess.run(["buildah", "rm", name], env=env, capture_output=True, check=True)
    assert inside["dependencies"]["dep"]["commit"] == git(team.upstream, "rev-parse", "HEAD")
