"""The commits between two that something was made of, in a line."""

from msgspec import Struct

from regraft.core.objects import Commit
from regraft.core.quoting import quoted


class Named(Struct, frozen=True):
    commit: Commit
    subject: str


class Between(Struct, frozen=True):
    """`count` commits are in the second and not in the first, `first` and `last` of them by their order; None where there are none.

    `gone` are in the first and not in the second.
    """

    count: int
    first: Named | None
    last: Named | None
    gone: int = 0

    @property
    def text(self) -> str:
        said = []
        if self.gone:
            said.append(f"{_commits(self.gone)} of it {'is' if self.gone == 1 else 'are'} not there any more")
        if self.first is not None and self.last is not None:
            ends = f"first {_shown(self.first)}, last {_shown(self.last)}" if self.count > 1 else _shown(self.last)
            said.append(f"{_commits(self.count)}, {ends}")
        return "; ".join(said)


def _commits(count: int) -> str:
    return f"{count} commit{'s' * (count != 1)}"


def _shown(one: Named) -> str:
    return f"{one.commit[:12]} {quoted(one.subject, 80)}"
