"""Properties of any workflow that overrides a dependency, ready to be made tests of:

    from regraft.pytest import Override, OverrideProperties

    class TestEngine(OverrideProperties):
        override = Override("tests.yml", "test", "acme/engine", "/opt/engine", lambda ref: {"inputs": {"engine-ref": ref}})

The upstream is thrown away, and so is the image: a checkout of an older commit with the carried patches in it, and whatever
`Override.others` names beside it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from regraft.core.patch_base import base_files
from regraft.errors import InputError, OutsideError
from regraft.workflow_testing import JobResult, Runs, Stub, commit_of, git

PULL = 12
BRANCH = "regraft-topic"
MISSING = "regraft-no-such-branch"
REWRITTEN = "regraft-rewritten"


class Override(Struct, frozen=True):
    """How a job replaces a dependency. `path` is the checkout's in the image; `ask(ref)` what `run_job` is given to name a ref.

    `forms`: how a ref may be written, with `{branch}`, `{pull}` and `{commit}`. `missing`: names that do not exist. At least one each.
    `patches` are the project's files, in the order of application; `files` what the upstream holds, where no file that they fit
    can be made up. `others`: repositories by their paths in the image, which must stay as they are. `always` is given to each
    run. `steps`: those that make the override; none means all of the job.
    """

    file: str
    job: str
    repository: str
    path: str
    ask: Callable[[str], Mapping[str, Any]]
    steps: tuple[str, ...] = ()
    forms: tuple[str, ...] = ("{branch}",)
    missing: tuple[str, ...] = (MISSING,)
    patches: tuple[str, ...] = ()
    files: Mapping[str, str | bytes] = {}
    others: Mapping[str, str] = {}
    always: Mapping[str, Any] = {}
    stubs: tuple[Stub, ...] = ()


class World:
    """An upstream that has moved on since the image was built, and the image."""

    def __init__(self, override: Override, runs: Runs, folder: Path) -> None:
        for name in ("forms", "missing"):
            if not getattr(override, name):
                raise InputError(
                    "usage", f"`{name}` is empty, and a test that asks about nothing is green", where="Override"
                )
        self._override = override
        self._runs = runs
        self._folder = folder
        root = runs.workflows.root
        self.patches = {name: (root / name).read_bytes() for name in override.patches}
        self.upstream = runs.upstream(override.repository)
        files: dict[str, str | bytes] = {"README": "upstream\n", **base_files(self.patches), **override.files}
        self._baked = {override.path: (self.upstream, self.upstream.commit("main", files))}
        named = self.upstream.commit("main", {"moved.txt": "main has moved on\n"})
        main = self.upstream.commit("main", {"moved.txt": "main has moved on again\n"})
        self.refs = {
            "branch": (BRANCH, self.upstream.commit(f"refs/heads/{BRANCH}", {"topic.txt": "branch\n"}, parent=main)),
            "pull": (str(PULL), self.upstream.pull(PULL, {"topic.txt": "pull\n"}, parent=main)),
        }
        self.refs["commit"] = (named, named)  # not the head of main, which a script may take whatever is named
        for path, name in override.others.items():
            other = runs.upstream(name)
            self._baked[path] = (other, other.commit("main", {"README": f"{name}\n"}))
            other.commit("main", {"moved.txt": "main has moved on\n"})
        self._images = 0

    def renew(self) -> None:
        """The image as it was built."""
        self._images += 1
        for path, (upstream, commit) in self._baked.items():
            upstream.clone(self.place(path), commit)
        for data in self.patches.values():
            git(self.checkout, "apply", "-", stdin=data)

    def place(self, path: str) -> Path:
        """Where a path of the image is."""
        return self._folder / f"image-{self._images}" / path.strip("/")

    @property
    def checkout(self) -> Path:
        return self.place(self._override.path)

    @property
    def others(self) -> dict[str, Path]:
        return {path: self.place(path) for path in self._override.others}

    def run(self, ref: str | None) -> JobResult:
        """The job, with the ref named, or with none."""
        override = self._override
        given = {key: dict(value) if isinstance(value, Mapping) else value for key, value in override.always.items()}
        for key, value in (override.ask(ref) if ref is not None else {}).items():
            given[key] = {**given.get(key, {}), **value} if isinstance(value, Mapping) else value
        tops = {_top(path): str(self.place(_top(path))) for path in self._baked}
        given["maps"] = {**tops, **given.get("maps", {})}
        given["stubs"] = (*override.stubs, *given.get("stubs", ()))
        return self._runs.run_job(override.file, override.job, *override.steps, **given)

    def forms(self) -> list[tuple[str, str]]:
        """Each way to write a ref, and the commit that it means."""
        texts = {name: text for name, (text, _) in self.refs.items()}
        return [(form.format(**texts), self.refs[self._kind(form)][1]) for form in self._override.forms]

    def misfit(self) -> str | None:
        """A ref, in the first form, of a commit that has other files where the patches change some. None where they change none."""
        files = dict.fromkeys(base_files(self.patches), "rewritten\n")
        if not files:
            return None
        form = self._override.forms[0]
        kind = self._kind(form)
        if kind == "pull":
            self.upstream.pull(PULL + 1, files, parent=self.upstream.head("main"))
            return form.format(pull=PULL + 1)
        commit = self.upstream.commit(f"refs/heads/{REWRITTEN}", files, parent=self.upstream.head("main"))
        return form.format(branch=REWRITTEN, commit=commit)

    def _kind(self, form: str) -> str:
        name = next((one for one in self.refs if f"{{{one}}}" in form), None)
        if name is None:
            raise ValueError(f"{form!r} holds none of {{branch}}, {{pull}} and {{commit}}")
        return name

    def state(self, folder: Path) -> tuple[str | None, str, str]:
        """Everything of a checkout that an override changes: its commit, what differs from it, and what is new."""
        new = git(folder, "status", "--porcelain", "--untracked-files=all")
        return commit_of(folder), git(folder, "diff", "HEAD"), new


def check_unresolvable_ref_fails(world: World, ref: str) -> None:
    """A ref that names nothing fails the job. AssertionError where it is green."""
    world.renew()
    before = commit_of(world.checkout)
    result = world.run(ref)
    kept = " with the image's own copy in place" if commit_of(world.checkout) == before else ""
    assert result.result == "failure", f"{ref!r} names nothing, and the job is a {result.result}{kept}"


def check_named_ref_is_checked_out(world: World, ref: str, commit: str) -> None:
    """The commit that is named is the one in the checkout, every patch is in it, and nothing else changed."""
    world.renew()
    others = {path: world.state(folder) for path, folder in world.others.items()}
    result = world.run(ref)
    assert result.result == "success", f"{ref!r} is there, and the job is a {result.result}"
    found = _without_patches(world)
    assert found == commit, f"{ref!r} is {commit}, and the checkout is at {found}"
    for name, data in world.patches.items():
        assert _is_in(world.checkout, data), f"{name} is not in the checkout of {ref!r}"
    for path, before in others.items():
        assert world.state(world.others[path]) == before, f"{path} was not named, and is not as it was"


def check_misfit_fails(world: World, ref: str) -> None:
    """A commit that a patch does not fit fails the job: what would run is the dependency without the project's change."""
    world.renew()
    result = world.run(ref)
    names = ", ".join(world.patches)
    assert result.result == "failure", f"{names} cannot be applied to {ref!r}, and the job is a {result.result}"


def check_unnamed_is_untouched(world: World) -> None:
    """Without a ref the checkout stays as the image has it."""
    world.renew()
    folders = {**world.others, "the dependency": world.checkout}
    before = {path: world.state(folder) for path, folder in folders.items()}
    result = world.run(None)
    assert result.result != "failure", "nothing is named, and the job fails"
    for path, folder in folders.items():
        assert world.state(folder) == before[path], f"{path} was not named, and is not as it was"


def _without_patches(world: World) -> str:
    """The upstream's commit in the checkout: HEAD, or one below it where patches were committed on top."""
    count = len(world.patches) + 1
    found = git(world.checkout, "rev-list", "--first-parent", f"--max-count={count}", "HEAD").split()
    theirs = frozenset(world.upstream.git("rev-list", "--all").split())
    return next((one for one in found if one in theirs), found[0])


def _is_in(folder: Path, patch: bytes) -> bool:
    try:
        git(folder, "apply", "--reverse", "--check", "-", stdin=patch)
    except OutsideError:
        return False
    return True


def _top(path: str) -> str:
    """The folder that is mapped: the one above the checkout, so that scripts may also name that."""
    above = path.rstrip("/").rpartition("/")[0]
    return above or path


class OverrideProperties:
    """A base for a test class that sets `override`."""

    override: Override

    def _world(self, runs: Runs, folder: Path) -> World:
        return World(self.override, runs, folder)

    def test_an_unresolvable_ref_fails_this_step(self, workflow_runs: Runs, tmp_path: Path) -> None:
        world = self._world(workflow_runs, tmp_path)
        for ref in self.override.missing:
            check_unresolvable_ref_fails(world, ref)

    def test_a_named_ref_is_checked_out_and_patched(self, workflow_runs: Runs, tmp_path: Path) -> None:
        world = self._world(workflow_runs, tmp_path)
        for ref, commit in world.forms():
            check_named_ref_is_checked_out(world, ref, commit)

    def test_a_patch_that_does_not_fit_fails_this_step(self, workflow_runs: Runs, tmp_path: Path) -> None:
        world = self._world(workflow_runs, tmp_path)
        ref = world.misfit()
        if ref is None:
            pytest.skip("no patch changes a file that is there, so that none can misfit")
        check_misfit_fails(world, ref)

    def test_an_unnamed_dependency_is_untouched(self, workflow_runs: Runs, tmp_path: Path) -> None:
        check_unnamed_is_untouched(self._world(workflow_runs, tmp_path))
