"""What the flows need from outside, in the outside world's own verbs. Adapters satisfy these; tests bring fakes."""

from typing import Protocol


class ProjectFiles(Protocol):
    """The project's checkout, to read from."""

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a regular file at a relative POSIX path, or None where there is none.

        InputError: it leaves the project (itself or through a link), is no regular file, or holds more than `limit` bytes.
        """
