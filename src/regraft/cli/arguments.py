"""What every command line shares."""

import argparse
from typing import NoReturn

from regraft.errors import InputError


class Parser(argparse.ArgumentParser):
    """Raises instead of leaving: a wrong argument is an error like any other, in JSON too."""

    def error(self, message: str) -> NoReturn:
        raise InputError("usage", message, hint=f"`{self.prog} --help` shows the arguments")


def parser_of(name: str, line: str) -> Parser:
    """The parser of one command, with the options that all have."""
    parser = Parser(prog=f"regraft {name}", description=line, allow_abbrev=False)
    parser.add_argument("--project", metavar="DIR", default=".", help="the project's checkout (default: here)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or for machines")
    return parser
