"""Makes an empty bare repository without a process: the layout is fixed (gitrepository-layout(5)), and the gate makes three."""

from pathlib import Path


def make_bare(path: Path) -> None:
    """A bare sha1 repository at `path`, which may be an empty folder already."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (path / folder).mkdir(parents=True)
    (path / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    (path / "config").write_bytes(b"[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n")
