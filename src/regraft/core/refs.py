"""What somebody wrote to name a version of a dependency, parsed into one of three shapes."""

from msgspec import Struct


class Repository(Struct, frozen=True):
    """`owner/name`, as a forge writes it; both parts are safe in a URL and on a command line."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class PullRef(Struct, frozen=True):
    """`#12`, `owner/repo#12`, `#12@hash` or a pull request's URL."""

    number: int
    repository: Repository | None = None
    head: str | None = None  # 7 to 64 hex digits that the head must begin with


class NameRef(Struct, frozen=True):
    """A branch or a tag: `name`, `owner:branch`, `refs/heads/name`, `refs/tags/name` or a URL of one.

    `kind` is "any" where the text does not say which of the two is meant.
    """

    name: str
    kind: str = "any"  # any | branch | tag
    owner: str | None = None  # owner:branch, in that owner's repository of the same name
    repository: Repository | None = None  # from a URL


class HashRef(Struct, frozen=True):
    """A commit hash: full (40 or 64 digits) or the first 7 or more digits of one, in lower case."""

    digits: str
    repository: Repository | None = None

    @property
    def full(self) -> bool:
        return len(self.digits) in (40, 64)


class Ref(Struct, frozen=True):
    """`text` as it was written (trimmed), and what it means."""

    text: str
    target: PullRef | NameRef | HashRef
    host: str | None = None  # of a URL, lower case; must be the dependency's own
