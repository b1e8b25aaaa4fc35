"""What a baked checkout is made of: a commit, the carried patches that are in it, and what nothing explains."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from regraft.core.objects import Commit
from regraft.core.observation import Checkout, Environment, Import, Unreadable
from regraft.core.verdict_distributions import installed_versions

InState = Literal["in", "not-in", "differs", "does-not-fit", "not-known"]


class CarriedState(Struct, frozen=True):
    """`in`: every file that it edits is as the commit and the patches make it. `differs`: one of them is not.

    `not-in`: they are all as the commit has them. `does-not-fit`: it does not apply to the commit. `not-known`: no commit is.
    """

    path: str
    state: InState


class Unexplained(Struct, frozen=True):
    """A file that no carried patch explains. `kind`: modified, missing, untracked and so on."""

    path: str
    kind: str


class Expected(Struct, frozen=True):
    """Which commit somebody expects there, and who: a lock file, or a line of the Dockerfile."""

    who: str
    commit: Commit


class Explained(Struct, frozen=True):
    """`how` says where the commit is from: "recorded" in the checkout, "found" by its files among candidates, or "unknown".

    `by_patch` are the changed files that a patch in it explains, `compared` how many candidates were looked at.
    """

    dependency: str
    path: str
    commit: Commit | None
    how: Literal["recorded", "found", "unknown"]
    patches: tuple[CarriedState, ...]
    by_patch: dict[str, str]  # file -> the last patch that edits it
    by_nothing: tuple[Unexplained, ...]
    distributions: dict[str, str]
    imported: dict[str, str]  # module -> where it is found; "" where it is not
    expected: tuple[Expected, ...]
    compared: int = 0
    alike: tuple[Commit, ...] = ()  # other candidates with the very same files

    @property
    def surprising(self) -> bool:
        """Whether anything in it is not what the project says."""
        wrong = any(one.state != "in" for one in self.patches) or bool(self.by_nothing)
        return (
            wrong or bool(self.alike) or self.commit is None or any(one.commit != self.commit for one in self.expected)
        )


def explain(  # noqa: PLR0913 - keyword-only but for what is explained
    found: Checkout | Unreadable,
    *,
    dependency: str,
    path: str,
    edits: Mapping[str, frozenset[str] | None],
    unpatched: Sequence[str],
    distributions: tuple[str, ...],
    modules: Sequence[str],
    environment: Environment | Unreadable,
    imports: Mapping[str, Import],
    expected: Sequence[Expected],
) -> Explained:
    """One dependency. `edits` are the files that each carried patch edits, in order (None: it cannot be read); `unpatched`
    those of them that are as the commit has them, without any patch.
    """
    commit = found.head if isinstance(found, Checkout) else None
    patches = tuple(_state(found, one, files, unpatched) for one, files in edits.items())
    inside = {one.path for one in patches if one.state == "in"}
    left_out = {file for one in patches if one.state == "not-in" for file in edits[one.path] or ()}
    by_patch = {file: one for one, files in edits.items() if one in inside for file in sorted(files or ())}
    versions = installed_versions(environment, distributions) if isinstance(environment, Environment) else {}
    return Explained(
        dependency,
        path,
        commit,
        "recorded" if commit is not None else "unknown",
        patches,
        by_patch,
        tuple(_unexplained(found, left_out)) if isinstance(found, Checkout) else (),
        versions,
        {one: _place(one, environment, imports) for one in modules},
        tuple(expected),
    )


def _state(
    found: Checkout | Unreadable, path: str, files: frozenset[str] | None, unpatched: Sequence[str]
) -> CarriedState:
    if not isinstance(found, Checkout) or found.judged in {"content", "nothing"} or files is None:
        return CarriedState(path, "not-known")
    outcome = next((one.outcome for one in found.patches if one.path == path), "not-tried")
    if outcome != "applied":
        return CarriedState(path, "does-not-fit" if outcome == "does-not-apply" else "not-known")
    changed = {one.path for one in found.differences}
    if not files & changed:
        return CarriedState(path, "in")
    return CarriedState(path, "not-in" if files <= {*unpatched} else "differs")


def _unexplained(found: Checkout, left_out: Collection[str]) -> list[Unexplained]:
    """What differs from the commit with all patches that fit, and what lies there besides; ignored files are none of git's.

    Files that are as the commit has them, since a patch was `left_out`, are explained by that.
    """
    listed = [Unexplained(one.path, one.kind) for one in found.differences if one.path not in left_out]
    listed += [Unexplained(one.path, one.kind) for one in found.extras if one.kind != "ignored"]
    return sorted(listed, key=lambda one: one.path)


def _place(module: str, environment: Environment | Unreadable, imports: Mapping[str, Import]) -> str:
    tried = imports.get(module)
    if tried is not None:
        return ", ".join(tried.places)
    there = environment.modules.get(module) if isinstance(environment, Environment) else None
    return there.effective.file or "" if there is not None and there.effective is not None else ""
