"""What every command line shares."""

import argparse
import os
from collections.abc import Sequence
from typing import NoReturn

from regraft.errors import InputError


class Parser(argparse.ArgumentParser):
    """Raises instead of leaving: a wrong argument is an error like any other, in JSON too."""

    def error(self, message: str) -> NoReturn:
        raise InputError("usage", message, hint=f"`{self.prog} --help` shows the arguments")


def parser_of(name: str, line: str, formats: Sequence[str] = ("text", "json")) -> Parser:
    """The parser of one command, with the options that all have."""
    parser = Parser(prog=f"regraft {name}", description=line, allow_abbrev=False)
    parser.add_argument("--project", metavar="DIR", default=".", help="the project's checkout (default: here)")
    parser.add_argument("--format", choices=formats, default="text", help="for people, or for machines")
    return parser


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """What every command has that takes a plan to a machine."""
    parser.add_argument(
        "--image", metavar="NAME", help="the image that this machine is: the plan of another is refused"
    )
    parser.add_argument("--root", metavar="DIR", help="the image's absolute paths are below this folder")
    parser.add_argument("--receipt", metavar="FILE", help="write what was found here")


def seconds(text: str) -> float:
    """A number of seconds, not below zero, and at most a day."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no number of seconds between 0 and 86400")
    return value


def names_of_root(root: str | None) -> tuple[str, ...]:
    """By which a path of the machine may begin that is one of the image's."""
    return tuple(dict.fromkeys((os.path.abspath(root), os.path.realpath(root)))) if root is not None else ()  # noqa: PTH100 - links are left as they are


def real_root(root: str | None) -> str:
    """What `--root` names, as a journal has it: by one name, whatever links led there; "" for the machine itself."""
    return os.path.realpath(root) if root is not None else ""
