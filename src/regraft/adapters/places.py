"""Where the image's paths are on this machine."""

import os
from pathlib import Path

from msgspec import Struct


class Places(Struct, frozen=True):
    """`root` is what `--root` names: the image's absolute paths lie below it. Relative ones lie in the project's checkout."""

    project: Path
    root: Path | None = None

    def of(self, path: str) -> Path:
        """The absolute path of a manifest's path; links are left as they are."""
        if not path.startswith("/"):
            return Path(os.path.abspath(self.project / path))  # noqa: PTH100 - resolve() would follow links
        if self.root is None:
            return Path(path)
        return Path(os.path.abspath(self.root / path.lstrip("/")))  # noqa: PTH100 - likewise

    def program(self, name: str) -> str:
        """The path of a program, or its bare name, which PATH finds."""
        return str(self.of(name)) if "/" in name else name
