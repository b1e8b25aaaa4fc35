"""Where the image's paths are on this machine."""

import os
from pathlib import Path

from msgspec import Struct

from regraft.core.manifest import Image
from regraft.errors import OutsideError

USUAL = ("/usr/local/bin", "/usr/bin", "/bin", "/opt/venv/bin", "/opt/conda/bin")  # only to have something to propose
HOPS = 40  # links that one path may lead through, as on Linux


class Places(Struct, frozen=True):
    """`root` is what `--root` names: the image's absolute paths lie below it. Relative ones lie in the project's checkout."""

    project: Path
    root: Path | None = None

    def of(self, path: str) -> Path:
        """The absolute path of a manifest's path. Below `root` its links are followed as in the image, else they are left.

        Raises OutsideError `link-loop`.
        """
        if not path.startswith("/"):
            return Path(os.path.abspath(self.project / path))  # noqa: PTH100 - resolve() would follow links
        return Path(path) if self.root is None else self._below(path)

    def follow(self, place: Path) -> Path:
        """Where a path of this machine leads: with `root`, its links stay below it. Raises OutsideError `link-loop`."""
        inside = self._inside(place)
        return place if inside is None else self._below(inside)

    def has(self, place: Path) -> bool:
        """Whether a path of this machine, as it is written, is one of the image's."""
        return self.root is None or self._inside(place) is not None

    def _inside(self, place: Path) -> str | None:
        """The part of a path that is below `root`, by any name that the root has."""
        if self.root is not None:
            for root in dict.fromkeys((str(self.root), os.path.abspath(self.root), os.path.realpath(self.root))):  # noqa: PTH100 - likewise
                if place.is_relative_to(root):
                    return str(place.relative_to(root))
        return None

    def interpreter(self, image: Image) -> str:
        """The path of the image's interpreter, or its bare name, which PATH finds.

        Below `root` that would be this machine's, and no file there says what the image's own PATH is: a bare name is refused.
        The program's own link is left, since a virtual environment is known by it. Raises OutsideError: link-loop,
        missing-interpreter, and outside-root where that link is to a file of the image, and this machine would start its own.
        """
        if self.root in {None, Path("/")} or "/" in image.python:
            return self._program(image.python)
        known = (f"{folder}/{image.python}" for folder in USUAL)
        near = next((path for path in known if self._has(path)), None)
        raise OutsideError(
            "missing-interpreter",
            f"which {image.python!r:.200} the image's PATH finds cannot be told below a root, and this machine's is another",
            hint=f"name it by its path: images.{image.name}.python" + (f' = "{near}" is there' if near else ""),
        )

    def _has(self, path: str) -> bool:
        """Whether the image has such a file, or a link by this name (to a file of this machine, too)."""
        folder, _, last = path.rpartition("/")
        return os.path.lexists(self._below(folder) / last)

    def _program(self, name: str) -> str:
        if "/" not in name:
            return name
        if self.root is None or not name.startswith("/"):
            return str(self.of(name))
        folder, _, last = name.rpartition("/")
        place, meant = self._below(folder) / last, self._below(name)
        if os.path.lexists(meant) and os.path.realpath(place) != os.path.realpath(meant):
            raise OutsideError(
                "outside-root",
                f"{name!r:.200} is a link to {os.path.realpath(place)!r:.200} of this machine, and in the image to {str(meant)!r:.200}",
                hint="run this inside the image, or name in the manifest what the link leads to",
            )
        return str(place)

    def _below(self, path: str) -> Path:
        """`path` with every link followed as a process would whose root directory is `root`."""
        assert self.root is not None
        waiting = path.split("/")[::-1]
        done: list[str] = []
        hops = 0
        while waiting:
            part = waiting.pop()
            if part in {"", ".", ".."}:
                done = done[:-1] if part == ".." else done
                continue
            try:
                target = os.readlink(self.root.joinpath(*done, part))  # noqa: PTH115 - the text of the link is wanted
            except OSError:  # no link, or nothing there: whoever opens it will say so
                done.append(part)
                continue
            hops += 1
            if hops > HOPS:
                message = f"{path!r:.200} leads through more than {HOPS} links below {str(self.root)!r:.200}"
                raise OutsideError("link-loop", message, hint="mend the links in the image")
            done = [] if target.startswith("/") else done
            waiting += target.split("/")[::-1]
        return self.root.joinpath(*done)
