"""The very command lines by which container engines build, start, look at and push an image."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.quoting import quoted
from regraft.errors import InputError

Program = Literal["docker", "podman", "buildah"]

PIECE = 16_000  # characters of a value on one line
_CONTROL = regex(r"[\x00-\x1f\x7f]")

PROGRAMS: tuple[Program, ...] = ("docker", "podman", "buildah")


class Job(Struct, frozen=True):
    """One build. `context` is a folder of this machine, `dockerfile` a path of it."""

    dockerfile: str
    context: str
    tag: str
    target: str | None = None
    platform: str | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    pull: bool = False


class Volume(Struct, frozen=True):
    """A folder of this machine that a container sees, to read from."""

    source: str
    target: str


def probe_argv(program: Program) -> list[str]:
    """Whether the engine can be used at all: docker's client alone cannot."""
    return ["docker", "version", "--format", "{{.Server.Version}}"] if program == "docker" else [program, "version"]


def build_argv(program: Program, job: Job) -> list[str]:
    head = {
        "docker": ["docker", "buildx", "build", "--load"],
        "podman": ["podman", "build"],
        "buildah": ["buildah", "build"],
    }[program]
    words = [*head, "--file", job.dockerfile, "--tag", job.tag]
    words += ["--target", job.target] if job.target else []
    words += ["--platform", job.platform] if job.platform else []
    words += ["--pull"] if job.pull else []
    for name, value in job.arguments:
        words += ["--build-arg", f"{name}={value}"]
    return [*words, job.context]


def run_argv(
    program: Program, image: str, argv: Sequence[str], volumes: Sequence[Volume], env: Mapping[str, str]
) -> list[str]:
    """For buildah `image` is a container made by `from_argv`, which its other engines make and take away themselves."""
    words = [program, "run"] if program == "buildah" else [program, "run", "--rm", "--workdir", "/"]
    for volume in volumes:
        words += ["--volume", f"{volume.source}:{volume.target}:ro"]
    for name, value in env.items():
        words += ["--env", f"{name}={value}"]
    if program == "buildah":
        return [*words, "--workingdir", "/", image, "--", *argv]
    return [*words, "--entrypoint", argv[0], image, *argv[1:]]


def from_argv(image: str) -> list[str]:
    return ["buildah", "from", "--pull-never", image]


def layers_argv(program: Program, image: str) -> list[str]:
    """Prints the digests of the unpacked layers, the lowest first, with blanks between them."""
    if program == "buildah":
        return [
            "buildah",
            "inspect",
            "--type",
            "image",
            "--format",
            "{{range .OCIv1.RootFS.DiffIDs}}{{.}} {{end}}",
            image,
        ]
    return [program, "image", "inspect", "--format", "{{range .RootFS.Layers}}{{.}} {{end}}", image]


def push_argvs(program: Program, image: str, reference: str, *, local: bool) -> list[list[str]]:
    """`local`: the registry is on this machine, and speaks plain HTTP."""
    if program == "docker":
        return [["docker", "tag", image, reference], ["docker", "push", reference]]
    plain = ["--tls-verify=false"] if local else []
    return [[program, "push", *plain, image, f"docker://{reference}"]]


def remove_argv(program: Program, image: str) -> list[str]:
    return [program, "rmi", "--force", image] if program == "buildah" else [program, "image", "rm", "--force", image]


def sealing(image: str, baseline: str | None, place: str, labels: Mapping[str, str]) -> str:
    """The Dockerfile of the last layer: what the image holds, as a file in it, and every label.

    `baseline` is the name of the file in the context; long values are continued on further lines, since builders bound a line.
    Raises InputError `bad-label`.
    """
    lines = [f"FROM {image}"]
    lines += [f"COPY {baseline} {place}"] if baseline else []
    for name, value in labels.items():
        if _CONTROL.search(name + value):
            raise InputError("bad-label", f"the label {quoted(name)} holds a control character: {quoted(value, 80)}")
        lines.append(f'LABEL {name}="' + "\\\n".join(map(_escaped, _pieces(value))) + '"')
    return "\n".join(lines) + "\n"


def _pieces(value: str) -> Iterator[str]:
    """None of them ends in a backslash, which would take the next line's own away."""
    start = 0
    while True:
        end = start + PIECE
        while end < len(value) and value[end - 1] == "\\":
            end += 1
        yield value[start:end]
        start = end
        if start >= len(value):
            return


def _escaped(piece: str) -> str:
    return piece.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
