"""Errors as people and as GitHub's runner read them."""

from collections.abc import Sequence

from regraft.errors import RegraftError
from regraft.render import safe


def error_text(errors: Sequence[RegraftError]) -> str:
    """A line per error with its place and code, and the next step below it."""
    lines = []
    for error in errors:
        place = f"{safe.text(error.where)}: " if error.where else ""
        first, *more = error.message.split("\n")
        lines.append(safe.log_line(f"error: {place}{first} [{error.code}]"))
        lines += [f"  | {safe.text(line)}" for line in more]
        if error.hint:
            lines.append(f"  -> {safe.text(error.hint)}")
    return "\n".join(lines)


def annotations(errors: Sequence[RegraftError]) -> str:
    """Workflow commands, one a line, that put each error on the run's page, and on its line where it is in a file."""
    return "".join(f"{_annotation(error)}\n" for error in errors)


def _annotation(error: RegraftError) -> str:
    hint = f" -> {error.hint}" if error.hint else ""
    place = f"{error.where}: " if error.where else ""
    properties = [f"title={safe.command_property(f'regraft: {error.code}')}"]
    match (error.where or "").rsplit(":", 2):
        case [path, line, column] if line.isdecimal() and column.isdecimal() and path != "body":
            properties = [f"file={safe.command_property(path)}", f"line={line}", f"col={column}", *properties]
            place = ""
        case _:
            pass
    return f"::error {','.join(properties)}::{safe.command_data(f'{place}{error.message}{hint}')}"


def summary(errors: Sequence[RegraftError]) -> str:
    """Markdown for `$GITHUB_STEP_SUMMARY`; what came from outside is text there."""
    md = safe.markdown
    lines = ["### regraft stopped", ""]
    for error in errors:
        place = f"{md(error.where)}: " if error.where else ""
        lines.append(f"- **{md(error.code)}** {place}{md(error.message, 2000)}")
        if error.hint:
            lines.append(f"  - {md(error.hint, 2000)}")
    return "\n".join(lines) + "\n\n"


def bug_report(error: BaseException, words: Sequence[str]) -> str:
    """What somebody pastes when regraft itself went wrong: no environment, no values but the command line's."""
    import platform  # noqa: PLC0415 - only here
    import traceback  # noqa: PLC0415

    from regraft import __version__  # noqa: PLC0415

    frames = "".join(traceback.format_exception(error)).rstrip().split("\n")
    return "\n".join(
        [
            "This is a bug in regraft. Nothing was decided. Please paste these lines into a report:",
            f"  regraft {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"  command: {safe.text(' '.join(words))}",
            *(f"  | {safe.text(line)}" for line in frames),
        ]
    )
