"""Asks an image's interpreter what it has, in processes that leave nothing behind."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from regraft.adapters import disk, process
from regraft.adapters.places import Places
from regraft.adapters.process import Completed
from regraft.adapters.temporary import TemporaryFolder
from regraft.core.baseline import Site
from regraft.core.checkout_tree import clean_text
from regraft.core.manifest import Image
from regraft.core.observation import (
    ByteCode,
    Command,
    Environment,
    Finder,
    Import,
    Installed,
    Module,
    PathFile,
    Place,
    Portion,
    StaleCode,
)
from regraft.core.patterns import regex
from regraft.errors import OutsideError

ANSWER_LIMIT = 64 * 1024 * 1024
COMPLAINTS = 2000
READ_LIMIT = 64 * 1024 * 1024  # bytes of one distribution's files that are compared with its RECORD
COMPILED = 10_000  # sources of one checkout that are compiled, to compare byte code with them

_DROPPED = regex(r"(?:PYTHON|GIT_|VIRTUAL_ENV|PIP_|__PYVENV).*", re.DOTALL)


Asked = Callable[[], tuple[Completed, Any]]  # waits for a program's end, and for its answer


class Machine:
    """`flows.ports.Interpreter`: a fresh process for each question, in an empty folder, that writes no byte code.

    `environ` is the environment that regraft was started with; `timeout` is in seconds, for one process.
    """

    def __init__(self, environ: Mapping[str, str], places: Places, *, timeout: float = 600) -> None:
        self._environ = environ
        self._places = places
        self._timeout = timeout

    def describe(self, image: Image, modules: Sequence[str] | None, distributions: Sequence[str]) -> Environment:
        """The environment of `image.python`. `distributions` are normalized names whose commands are looked at.

        Where `modules` is None nothing is looked for, and a command's own module is taken to be there.

        Raises OutsideError: missing-interpreter, old-interpreter, broken-interpreter, and what `process.run` raises.
        """
        with self.describing(image, modules, distributions) as described:
            return described()

    @contextmanager
    def describing(
        self, image: Image, modules: Sequence[str] | None, distributions: Sequence[str]
    ) -> Iterator[Callable[[], Environment]]:
        """The same in two steps: the interpreter is at work from the beginning, what is yielded waits for its answer."""
        python_path = [str(self._places.of(entry)) for entry in image.python_path]
        request = {"python_path": python_path, "distributions": [*distributions]}
        folders = [self._places.project, *(self._places.of(baked.path) for baked in image.baked.values())]
        given = {"checkouts": [os.path.realpath(folder) for folder in folders], "limit": READ_LIMIT}
        failed: OutsideError | None = None
        with ExitStack() as stack:
            try:
                probe = stack.enter_context(self._asking(image, "image_probe.py", request))
                files = (
                    stack.enter_context(self._asking(image, "image_files.py", given)) if modules is not None else None
                )
            except OutsideError as error:
                failed = error

            def described() -> Environment:
                if failed is not None:
                    raise failed
                return self._described(image, modules, python_path, probe, files)

            yield described

    def _described(
        self, image: Image, modules: Sequence[str] | None, python_path: list[str], probe: Asked, files: Asked | None
    ) -> Environment:
        completed, answer = probe()
        if not isinstance(answer, dict):
            raise self._broken(image, completed)
        if "too_old" in answer:
            raise _too_old(image.python, str(answer["too_old"]))
        wanted = dict.fromkeys([*(modules or ()), *(one["module"] for one in answer["commands"])])
        found: Any = []
        held: Any = {}
        if files is not None:
            asked, found = self._ask(image, "image_imports.py", {"find": [*wanted]})
            if not isinstance(found, list):
                raise self._broken(image, asked)
            ended, held = files()
            if not isinstance(held, dict):
                raise self._broken(image, ended)
        complaints = completed.stderr.decode("utf-8", "backslashreplace")[-COMPLAINTS:].strip()
        looked = {one["name"]: _module(one) for one in found} if modules is not None else None
        project = clean_text(os.path.realpath(self._places.project))
        ambient = self._environ.get("PYTHONPATH")
        seen = _environment(answer, looked, tuple(python_path), ambient, complaints, project)
        if modules is None:
            return seen
        records = held["records"]
        return replace(
            seen,
            distributions=tuple(replace(one, record=records.get(one.metadata)) for one in seen.distributions),
            site=msgspec.convert({**held, "records": {}}, Site),
            ambient_modules=tuple(_in_front(ambient or "", python_path, modules)),
        )

    def try_import(self, image: Image, name: str) -> Import:
        """Import one module, from its sources: cached byte code is not taken, `byte_code` judges that.

        A process that ends, hangs or prints without end is a failed import.

        Raises what `process.run` raises, but for timed-out.
        """
        try:
            completed, answer = self._ask(image, "image_imports.py", {"import": name}, from_sources=True)
        except OutsideError as error:
            if error.code != "timed-out":
                raise
            return Import(name, ok=False, error=f"did not come back within {self._timeout:g} seconds")
        if not isinstance(answer, dict):
            return Import(name, ok=False, error=f"the process {_ending(completed)}")
        if not answer["ok"]:
            return Import(
                name, ok=False, error=answer["error"], missing=answer["missing"], frames=tuple(answer["frames"])
            )
        swallowed = tuple((str(wanted), str(by)) for wanted, by in answer["swallowed"])
        return Import(name, ok=True, file=answer["file"], paths=tuple(answer["paths"]), swallowed=swallowed)

    def byte_code(self, image: Image, sources: Sequence[str], limit: int = COMPILED) -> ByteCode:
        """Whether the byte code that an import would take for these files is theirs. At most `limit` are compiled.

        What keeps the interpreter from an answer is the answer's `trouble`.
        """
        stdin = json.dumps([*sources]).encode("ascii")
        try:
            completed, answer = self._ask(image, "image_bytecode.py", {"limit": limit}, stdin=stdin)
        except OutsideError as error:
            return ByteCode(0, trouble=error.message)
        if not isinstance(answer, dict):
            return ByteCode(0, trouble=f"the process {_ending(completed)}")
        stale = tuple(StaleCode(one["path"], one["why"]) for one in answer["stale"])
        return ByteCode(answer["compared"], stale, answer["left"])

    def _ask(
        self,
        image: Image,
        program: str,
        request: Mapping[str, Any],
        *,
        stdin: bytes = b"",
        from_sources: bool = False,
    ) -> tuple[Completed, Any]:
        """How the program ended, and its answer: None where it gave none."""
        with self._asking(image, program, request, stdin=stdin, from_sources=from_sources) as asked:
            return asked()

    @contextmanager
    def _asking(
        self,
        image: Image,
        program: str,
        request: Mapping[str, Any],
        *,
        stdin: bytes = b"",
        from_sources: bool = False,
    ) -> Iterator[Asked]:
        with TemporaryFolder("regraft-probe-") as folder, ExitStack() as stack:
            neutral = Path(folder, "neutral")
            neutral.mkdir()
            answer = Path(folder, "answer")
            text = json.dumps({**request, "answer": str(answer)})
            argv = [self._places.interpreter(image), "-B", "-c", _text_of(program), text]
            env = self._env(image)
            if from_sources:
                env["PYTHONPYCACHEPREFIX"] = str(Path(folder, "no-byte-code"))
            running = process.begun(argv, env=env, cwd=str(neutral), stdin=stdin, timeout=self._timeout)
            try:
                end = stack.enter_context(running)
            except OutsideError as error:
                if error.code != "missing-program":
                    raise
                raise OutsideError(
                    "missing-interpreter",
                    f"there is no interpreter at {argv[0]!r:.200}",
                    hint=f"look whether images.{image.name}.python names the image's interpreter",
                ) from None

            def asked() -> tuple[Completed, Any]:
                try:
                    completed = end()
                except OutsideError as error:
                    if error.code != "too-much-output":
                        raise
                    completed = Completed(tuple(argv), 0, b"", b"")
                return completed, _read(answer)

            yield asked

    def _env(self, image: Image) -> dict[str, str]:
        env = {name: value for name, value in self._environ.items() if not _DROPPED.fullmatch(name)}
        env.update(image.env)
        if image.python_path:
            env["PYTHONPATH"] = os.pathsep.join(str(self._places.of(entry)) for entry in image.python_path)
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        return env

    def _broken(self, image: Image, completed: Completed) -> OutsideError:
        """Older interpreters than 3.8 may not even read the program: ask them for their number alone."""
        code = "import sys; sys.stdout.write('version %d.%d.%d' % sys.version_info[:3])"
        asked = process.run(
            [self._places.interpreter(image), "-S", "-c", code], env=self._env(image), timeout=self._timeout
        )
        match = re.search(rb"version (\d+)\.(\d+)\.(\d+)$", asked.stdout)
        if match and (int(match[1]), int(match[2])) < (3, 8):
            return _too_old(image.python, match[0].decode("ascii").partition(" ")[2])
        last = completed.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        said = f": {last[0]!r:.300}" if last else ""
        return OutsideError(
            "broken-interpreter",
            f"{image.python!r:.200} {_ending(completed)}{said}",
            hint="start it by hand; a module in python-path that hides one of the standard library does this too",
        )


def _in_front(ambient: str, python_path: Sequence[str], modules: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(folder, module) for each folder of the caller's PYTHONPATH alone that holds one of the modules."""
    own = {os.path.realpath(entry) for entry in python_path}
    for entry in dict.fromkeys(os.path.realpath(one) for one in ambient.split(os.pathsep) if one):
        for name in modules if entry not in own else ():
            *above, last = name.split(".")
            files = disk.names(Path(entry, *above))
            if any(one == last or (one.endswith((".py", ".so")) and one.partition(".")[0] == last) for one in files):
                yield clean_text(entry), name


def _too_old(python: str, version: str) -> OutsideError:
    return OutsideError(
        "old-interpreter",
        f"{python!r:.200} is Python {version}, and 3.8 is the oldest that can be looked into",
        hint="name the interpreter that the suites run with",
    )


def _ending(completed: Completed) -> str:
    if completed.returncode < 0:
        return f"was ended by signal {-completed.returncode} before it gave an answer"
    return f"ended with exit code {completed.returncode} before it gave an answer"


def _text_of(program: str) -> str:
    return Path(__file__).with_name(program).read_text(encoding="utf-8")


def _read(path: Path) -> Any:
    """The answer, or None where the process ended before it was whole."""
    try:
        with path.open("rb") as stream:
            data = stream.read(ANSWER_LIMIT)
        return _clean(json.loads(data))
    except (OSError, ValueError):
        return None


def _clean(value: Any) -> Any:
    """Names that are not UTF-8 arrive as lone surrogates, which no document can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    return value


def _environment(  # noqa: PLR0913, PLR0917 - one value for each place that a fact comes from
    answer: dict[str, Any],
    modules: dict[str, Module] | None,
    python_path: tuple[str, ...],
    ambient: str | None,
    complaints: str,
    project: str,
) -> Environment:
    return Environment(
        version=answer["version"],
        executable=answer["executable"],
        prefix=answer["prefix"],
        purelib=answer["purelib"],
        platlib=answer["platlib"],
        scripts=answer["scripts"],
        externally_managed=answer["externally_managed"],
        sys_path=tuple(answer["sys_path"]),
        searched=tuple(answer["searched"]),
        python_path=python_path,
        absent=tuple(answer["absent"]),
        ambient_python_path=ambient,
        markers=answer["markers"],
        distributions=tuple(_installed(one) for one in answer["distributions"]),
        left_overs=tuple(answer["left_overs"]),
        unread=tuple(answer["unread"]),
        path_files=tuple(PathFile(one["path"], tuple(one["lines"])) for one in answer["path_files"]),
        finders=tuple(Finder(one["name"], tuple(sorted(one["mapping"].items()))) for one in answer["finders"]),
        modules=modules or {},
        commands=tuple(
            Command(**one, found=modules is None or modules[one["module"]].effective is not None)
            for one in answer["commands"]
        ),
        complaints=complaints,
        extension_suffixes=tuple(answer["extension_suffixes"]),
        folders=tuple(answer["folders"]),
        project=project,
    )


def _installed(one: dict[str, Any]) -> Installed:
    return Installed(**{**one, "requires": tuple(one["requires"])})


def _module(one: dict[str, Any]) -> Module:
    effective = _place(one["effective"]) if one["effective"] else None
    portions = tuple(Portion(part["location"], tuple(part["children"]), part["whole"]) for part in one["portions"])
    return Module(one["name"], effective, one["error"], tuple(_place(copy) for copy in one["copies"]), portions)


def _place(one: dict[str, Any]) -> Place:
    return Place(one["file"], tuple(one["locations"]), one["built_in"], one["via"])
