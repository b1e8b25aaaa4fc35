"""The command line: which command runs, and the one boundary between errors and exit codes.

A command is a module with `configure(parser)` and `run(args) -> int`; it imports what it needs inside itself, since the
gate runs in a cold process at the head of every pull request.
"""

import io
import os
import sys

from regraft import __version__

COMMANDS = {
    "demo": "the whole story on throw-away repositories; no network, no container engine",
    "init": "propose regraft.toml from the Dockerfiles, workflows and patches that are here",
    "check": "what can be judged offline: manifest, patch files, locks, baselines, images, workflows",
    "schema": "the JSON schema of the manifest",
    "plan": "directives and inputs -> a plan per image, and the gate's outputs",
    "apply": "make the image match the plan, or change nothing",
    "replay": "plan and apply the pins of a receipt on this machine",
    "verify": "is this machine what the plan says?",
    "restore": "back to the baseline",
    "show": "read a plan or a receipt",
    "diff": "compare two plans or receipts",
    "image probe": "what an image really holds, as a baseline",
    "image inputs": "what feeds an image, as one hash over a commit; what no hash covers",
    "image check": "what is wrong in how images are built, with file and line",
    "image decide": "reuse an image, rebuild it, or refuse, with the reason",
    "image build": "build an image, look into it, and only then let anybody have it",
    "patch status": "one exact state for each carried patch at each ref",
    "patch history": "each change of a patch's state, with the upstream commit that made it",
    "patch why": "who changed a patch's state, what still refers to it, and what to do",
    "patch refresh": "the same change with new context, written only where it is proved",
    "patch drop": "take a needless patch out, with every use of it that can be edited safely",
    "workflow check": "what in the workflows can never happen, never fails, or is never read",
    "workflow run": "run the steps of a job as GitHub's runner does, without network or containers",
}

_USAGE = (
    "usage: regraft COMMAND [OPTION]...\n\nProves what a CI run on a baked container image really tests.\n\ncommands:\n"
)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 yes, 1 no, 2 your input, 3 the outside world, 130 interrupted."""
    try:
        return _main(argv)
    except KeyboardInterrupt:  # before the boundary stands: while what it needs is imported
        os.write(2, b"interrupted\n")
        return 130


def _main(argv: list[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if words in (["--version"], ["-V"]):
        return _say(f"regraft {__version__}\n")
    if words in ([], ["--help"], ["-h"], ["help"]):
        code = _say(_USAGE + "".join(f"  {name:<16}{line}\n" for name, line in COMMANDS.items()))
        return code if words else 2
    import gc  # noqa: PLC0415

    gc.set_threshold(
        200_000
    )  # what a cold process imports is never garbage, and looking for it costs a seventh of a plan
    _import_msgspec()
    from regraft.cli import boundary  # noqa: PLC0415 - `--version` pays for nothing

    with boundary.Boundary(words, dict(os.environ)) as edge:
        edge.code = _run(words)
    if argv is None:
        gc.freeze()  # the process ends here, and would look for garbage twice more: another tenth of a plan
    return edge.code


def _import_msgspec() -> None:
    """Without `typing_extensions`, which it takes where it finds it and can do without: a tenth of what a plan costs."""
    missing = "typing_extensions" not in sys.modules
    if missing:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # the documented way to say: not there
    try:
        import msgspec  # noqa: F401, PLC0415 - imported for those who come after
    finally:
        if missing:
            del sys.modules["typing_extensions"]


def _say(text: str) -> int:
    """Print without the boundary, which these answers do not pay for: 3 where nobody can read it."""
    try:
        if sys.stdout is None:  # closed by the caller
            return 3
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 3
    return 0


def _run(words: list[str]) -> int:
    import importlib  # noqa: PLC0415

    from regraft.cli.arguments import parser_of  # noqa: PLC0415

    name, rest = _command(words)
    module = importlib.import_module(f"regraft.cli.{name.replace(' ', '_')}")
    parser = parser_of(name, COMMANDS[name], getattr(module, "FORMATS", ("text", "json")))
    module.configure(parser)
    code = module.run(parser.parse_args(rest))
    return int(code)


def _command(words: list[str]) -> tuple[str, list[str]]:
    for size in (2, 1):
        name = " ".join(words[:size])
        if name in COMMANDS:
            return name, words[size:]
    from regraft.core.spelling import nearest  # noqa: PLC0415
    from regraft.errors import InputError  # noqa: PLC0415

    group = ", ".join(f"`regraft {name}`" for name in COMMANDS if name.startswith(f"{words[0]} "))
    if group:
        raise InputError("unknown-command", f"{words[0]!r:.80} is a group of commands", hint=f"name one: {group}")
    hint = nearest(words[0], COMMANDS)
    raise InputError(
        "unknown-command",
        f"there is no command {words[0]!r:.80}",
        hint=f"did you mean `regraft {hint}`?" if hint else "`regraft --help` lists the commands",
    )
