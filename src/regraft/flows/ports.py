"""What the flows need from outside, in the outside world's own verbs. Adapters satisfy these; tests bring fakes."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from regraft.core.manifest import Image
from regraft.core.objects import Commit
from regraft.core.observation import Checkout, Environment, Import, Wanted


class ProjectFiles(Protocol):
    """The project's checkout, to read from."""

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a regular file at a relative POSIX path, or None where there is none.

        InputError: it leaves the project (itself or through a link), is no regular file, or holds more than `limit` bytes.
        """


class Interpreter(Protocol):
    """An image's Python, asked in fresh processes."""

    def describe(self, image: Image, modules: Sequence[str], distributions: Sequence[str]) -> Environment:
        """Its environment, where it would find each of `modules`, and the commands of `distributions` (normalized names).

        OutsideError: it is not there, too old, or gives no answer.
        """

    def try_import(self, image: Image, name: str) -> Import:
        """Import one module; whatever that does is an answer."""


class Checkouts(Protocol):
    """The source trees of a machine, by the manifest's paths."""

    def look(self, dependency: str, path: str, wanted: Wanted) -> Checkout:
        """What is there, compared with what is wanted. OutsideError: git or the disk failed."""

    def changed_paths(self, path: str, old: Commit, new: Commit) -> tuple[str, ...] | None:
        """The paths that differ between two commits; None where the checkout does not have both."""

    def tags(self, path: str) -> Mapping[str, Commit]:
        """The tags of a checkout, and what they name: a commit, or the object of an annotated tag."""

    def is_ancestor(self, path: str, old: Commit, new: Commit) -> bool | None:
        """Whether `new` has `old` (a commit or a tag) in its history; None where that history is not all there."""
