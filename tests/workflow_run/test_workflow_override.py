"""The properties of a workflow that overrides a dependency: red on the scripts that people have, green on a right one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from regraft.errors import InputError
from regraft.workflow_override import (
    BRANCH,
    MISSING,
    Override,
    OverrideProperties,
    World,
    check_misfit_fails,
    check_named_ref_is_checked_out,
    check_unnamed_is_untouched,
    check_unresolvable_ref_fails,
)
from regraft.workflow_testing import Runs

PATCH = """\
--- a/src/engine.py
+++ b/src/engine.py
@@ -3,3 +3,3 @@
 before
-theirs
+ours
 after
"""
OTHER = """\
--- a/src/engine.py
+++ b/src/engine.py
@@ -5,2 +5,3 @@
 after
+added
 last
"""
RIGHT = """
if [ -n "$REF" ]; then
  cd /opt/stack/engine
  git fetch --quiet https://github.com/acme/engine "$REF"
  git checkout --quiet --force FETCH_HEAD
  for patch in one two; do git apply "$GITHUB_WORKSPACE/patches/$patch.patch"; done
  python -m pip install -e . --no-deps
fi
"""
SWALLOWED = """
if [ -n "$REF" ]; then
  cd /opt/stack/engine
  git fetch --quiet https://github.com/acme/engine "$REF" && git checkout --quiet --force FETCH_HEAD && echo replaced
  python -m pip install -e . --no-deps
fi
"""
UNPATCHED = RIGHT.replace("one two", "one")
MOVES_ALL = "git -C /opt/stack/trainer pull --quiet origin main\n" + RIGHT
DEFAULT_MAIN = RIGHT.replace('if [ -n "$REF" ]; then', "REF=${REF:-main}\nif true; then")


@pytest.fixture
def world(project: Callable[..., Runs], tmp_path: Path) -> Callable[[str], World]:
    def make(script: str) -> World:
        lines = "\n".join(f"          {line}" for line in script.strip().split("\n"))
        text = f"""\
on: {{workflow_dispatch: {{inputs: {{engine-ref: {{default: ""}}}}}}}}
jobs:
  test:
    runs-on: x
    container: acme/image
    steps:
      - uses: actions/checkout@v4
      - id: override
        env: {{REF: "${{{{ inputs.engine-ref }}}}"}}
        run: |
{lines}
"""
        runs = project(
            "", {".github/workflows/tests.yml": text, "patches/one.patch": PATCH, "patches/two.patch": OTHER}
        )
        override = Override(
            "tests.yml",
            "test",
            "acme/engine",
            "/opt/stack/engine",
            lambda ref: {"inputs": {"engine-ref": ref}},
            forms=("{branch}", "refs/pull/{pull}/head", "{commit}"),
            patches=("patches/one.patch", "patches/two.patch"),
            others={"/opt/stack/trainer": "acme/trainer"},
        )
        return World(override, runs, tmp_path / "images")

    return make


IGNORES = RIGHT.replace('.patch"; done', '.patch" || echo "without $patch"; done')


def misfit(world: World) -> None:
    ref = world.misfit()
    assert ref is not None
    check_misfit_fails(world, ref)


def named(world: World) -> None:
    for ref, commit in world.forms():
        check_named_ref_is_checked_out(world, ref, commit)


def test_a_right_script_has_all(world: Callable[[str], World]) -> None:
    made = world(RIGHT)
    check_unresolvable_ref_fails(made, MISSING)
    named(made)
    misfit(made)
    check_unnamed_is_untouched(made)


def test_a_chain_that_swallows_a_mistyped_branch_is_found(world: Callable[[str], World]) -> None:
    with pytest.raises(AssertionError, match="the job is a success with the image's own copy in place"):
        check_unresolvable_ref_fails(world(SWALLOWED), MISSING)


def test_a_patch_that_is_not_replayed_is_found(world: Callable[[str], World]) -> None:
    with pytest.raises(AssertionError, match=r"patches/two\.patch is not in the checkout of 'regraft-topic'"):
        named(world(UNPATCHED))


def test_a_patch_whose_failure_is_ignored_is_found(world: Callable[[str], World]) -> None:
    """The patches fit whatever is asked for in `named`."""
    made = world(IGNORES)
    named(made)
    with pytest.raises(
        AssertionError, match=r"patches/one\.patch, patches/two\.patch cannot be applied to 'regraft-rewritten'"
    ):
        misfit(made)


def test_a_script_that_takes_another_commit_is_found(world: Callable[[str], World]) -> None:
    with pytest.raises(AssertionError, match="and the checkout is at"):
        named(world(RIGHT.replace('engine "$REF"', "engine main")))


def test_a_script_that_moves_what_nobody_named_is_found(world: Callable[[str], World]) -> None:
    with pytest.raises(AssertionError, match="/opt/stack/trainer was not named, and is not as it was"):
        named(world(MOVES_ALL))


def test_a_default_that_moves_the_unnamed_dependency_is_found(world: Callable[[str], World]) -> None:
    with pytest.raises(AssertionError, match="the dependency was not named, and is not as it was"):
        check_unnamed_is_untouched(world(DEFAULT_MAIN))


def test_a_commit_that_is_named_is_not_the_head_of_main(world: Callable[[str], World]) -> None:
    """A script that always takes main would be right by chance."""
    made = world(RIGHT.replace('engine "$REF"', "engine main"))
    ref, commit = made.forms()[2]
    with pytest.raises(AssertionError, match="and the checkout is at"):
        check_named_ref_is_checked_out(made, ref, commit)


def test_a_commit_above_the_named_one_is_not_taken_for_a_patch(world: Callable[[str], World]) -> None:
    made = world(RIGHT.replace('engine "$REF"', f"engine {BRANCH}"))
    for commit in made.upstream.git("rev-list", "--max-count=2", f"refs/heads/{BRANCH}").split()[1:]:
        with pytest.raises(AssertionError, match="and the checkout is at"):
            check_named_ref_is_checked_out(made, commit, commit)


def test_patches_that_are_committed_are_seen_through(world: Callable[[str], World]) -> None:
    named(
        world(
            RIGHT.replace(
                "python -m", "git -c user.name=a -c user.email=a@b commit --quiet --all -m carried\n  python -m"
            )
        )
    )


@pytest.mark.parametrize("field", ["forms", "missing"])
def test_an_override_that_asks_for_nothing_is_an_error(
    project: Callable[..., Runs], tmp_path: Path, field: str
) -> None:
    """Its tests would be green without a run."""
    override = Override("tests.yml", "test", "acme/engine", "/opt/engine", lambda _: {}, **{field: ()})
    with pytest.raises(InputError, match=f"`{field}` is empty"):
        World(override, project("on: push\njobs: {}\n"), tmp_path)


def test_where_no_patch_can_misfit_the_test_is_skipped_and_not_green(
    project: Callable[..., Runs], tmp_path: Path
) -> None:
    class Bare(OverrideProperties):
        override = Override("tests.yml", "test", "acme/engine", "/opt/engine", lambda _: {})

    with pytest.raises(pytest.skip.Exception, match="changes a file that is there"):
        Bare().test_a_patch_that_does_not_fit_fails_this_step(project("on: push\njobs: {}\n"), tmp_path)


def test_a_ref_that_git_takes_for_an_option_is_found(world: Callable[[str], World]) -> None:
    """This one changes nothing, so that a script that hands it on as an option is green."""
    with pytest.raises(AssertionError, match="names nothing, and the job is a success"):
        check_unresolvable_ref_fails(world(RIGHT), "--upload-pack=git-upload-pack")


def test_a_ref_behind_two_dashes_is_no_option(world: Callable[[str], World]) -> None:
    check_unresolvable_ref_fails(
        world(RIGHT.replace('engine "$REF"', 'engine -- "$REF"')), "--upload-pack=git-upload-pack"
    )
