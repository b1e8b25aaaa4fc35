"""Container engines: docker with buildx, podman, buildah."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from regraft.adapters import files, process
from regraft.adapters.process import Completed
from regraft.adapters.temporary import TemporaryFolder
from regraft.core import engine_commands as commands
from regraft.core.engine_commands import PROGRAMS, Job, Program, Volume
from regraft.core.image_reference import Digest, parse_digest
from regraft.core.patterns import regex
from regraft.errors import InputError, OutsideError, RefusedError

TAIL = 40  # lines
BUILD_TIMEOUT = 12 * 3600.0  # seconds
RUN_TIMEOUT = 1800.0
_NOISE = regex(rb"(?m)^(?:subprocess exited with status|Error: exit status) [0-9]+\n?")  # buildah's, of what ran inside
LIMIT = 64 * 1024 * 1024


class Engine:
    """One engine of this machine. What a build or a push says goes to `say`, line by line."""

    def __init__(self, program: Program, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.program = program
        self._environ = environ
        self._say = say

    def build(self, job: Job) -> None:
        """Raises RefusedError `build-failed`, OutsideError."""
        self._long(commands.build_argv(self.program, job), "build-failed")

    def seal(self, image: str, tag: str, *, baseline: bytes | None, place: str, labels: Mapping[str, str]) -> None:
        """`image` with one more layer, which holds its baseline, and with these labels, as `tag`."""
        with TemporaryFolder("regraft-seal-") as folder:
            if baseline is not None:
                files.write(folder / "baseline.json", baseline)
            text = commands.sealing(image, "baseline.json" if baseline is not None else None, place, labels)
            files.write(folder / "Dockerfile", text.encode())
            self.build(Job(str(folder / "Dockerfile"), str(folder), tag))

    def run(self, image: str, argv: Sequence[str], *, volumes: Sequence[Volume], env: Mapping[str, str]) -> Completed:
        """Start a container, run one program in it and take the container away. The code is the caller's to judge."""
        with self._container(image) as container:
            words = commands.run_argv(self.program, container, argv, volumes, env)
            done = process.run(words, env=self._environ, timeout=RUN_TIMEOUT, limit=LIMIT)
            return replace(done, stderr=_NOISE.sub(b"", done.stderr))

    def layers(self, image: str) -> tuple[Digest, ...]:
        argv = commands.layers_argv(self.program, image)
        said = self._done(argv)
        try:
            return tuple(map(parse_digest, said.split()))
        except InputError:
            raise OutsideError("engine-shape", "its answer is no list of layers", where=" ".join(argv)) from None

    def push(self, image: str, reference: str, *, local: bool) -> None:
        """Raises RefusedError `push-failed`, OutsideError."""
        for argv in commands.push_argvs(self.program, image, reference, local=local):
            self._long(argv, "push-failed")

    def remove(self, image: str) -> None:
        """As far as that can be done: what is left takes space, and says nothing wrong."""
        process.run(commands.remove_argv(self.program, image), env=self._environ, timeout=RUN_TIMEOUT, limit=LIMIT)

    @contextmanager
    def _container(self, image: str) -> Iterator[str]:
        if self.program != "buildah":
            yield image
            return
        name = self._done(commands.from_argv(image)).strip().splitlines()[-1]
        try:
            yield name
        finally:
            process.run(["buildah", "rm", name], env=self._environ, timeout=RUN_TIMEOUT, limit=LIMIT)

    def _done(self, argv: Sequence[str]) -> str:
        done = process.run(argv, env=self._environ, timeout=RUN_TIMEOUT, limit=LIMIT)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[-600:]
            raise OutsideError("engine-failed", f"{said!r} (exit {done.returncode})", where=" ".join(argv)[:300])
        return done.stdout.decode("utf-8", "replace")

    def _long(self, argv: Sequence[str], code: str) -> None:
        tail: deque[str] = deque(maxlen=TAIL)

        def hear(line: bytes) -> None:
            text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
            tail.append(text)
            self._say(text)

        cwd = str(Path.cwd())
        done = process.stream(
            argv, env=self._environ, cwd=cwd, timeout=BUILD_TIMEOUT, on_start=lambda _: None, on_line=hear
        )
        if done.returncode != 0:
            last = next((line.strip() for line in reversed(tail) if line.strip()), "it said nothing")
            how = "took too long" if done.returncode is None else f"ended with {done.returncode}"
            raise RefusedError(code, f"`{argv[0]} {argv[1]}` {how}: {last[:300]}")


def find_engine(name: str | None, environ: Mapping[str, str], say: Callable[[str], None]) -> Engine:
    """The named engine, or the first that works. Raises OutsideError `no-engine`, with what each of them said."""
    tried = []
    for program in PROGRAMS:
        if name not in (None, program):
            continue
        try:
            done = process.run(commands.probe_argv(program), env=environ, timeout=60)
        except OutsideError as error:
            tried.append(f"{program}: {error.message}")
            continue
        if done.returncode == 0:
            return Engine(program, environ, say)
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        tried.append(f"{program}: {said[-1][:200] if said else f'exit {done.returncode}'}")
    hint = "install docker with buildx, podman or buildah, and start what it needs"
    raise OutsideError("no-engine", "no container engine can be used: " + "; ".join(tried), hint=hint)
