"""Which changes of an image's inputs start the workflow that builds it, by GitHub's rules for patterns."""

import time
from typing import Any

import pytest

from regraft.core.findings import Finding
from regraft.core.image_filters import Fed, filter_findings
from regraft.core.image_values import Place
from regraft.core.path_filters import Pattern, filter_expression, filtered, glob_expression, hashed

BUILD = "jobs: {b: {steps: [{run: docker build -f docker/Dockerfile .}]}}"
INPUTS: dict[str, Place | None] = {
    "docker/Dockerfile": None,
    "docker/a.sh": Place("docker/Dockerfile", 3),
    "tools/b.py": Place("docker/Dockerfile", 4),
}
PATHS = [*INPUTS, "docs/readme.md", "regraft.toml"]
FED = Fed("gpu", "docker/Dockerfile", INPUTS)


def findings(fed: Fed = FED, **workflows: str) -> list[Finding]:
    """`findings(build="...")`, where `__` in a name is a slash: an action's folder."""
    files = {f".github/workflows/{name}.yml": text.encode() for name, text in workflows.items() if "__" not in name}
    files |= {
        f"{name.replace('__', '/')}/action.yml": text.encode() for name, text in workflows.items() if "__" in name
    }
    return list(filter_findings([fed], [*PATHS, *files], files.get))


def said(**workflows: str) -> list[str]:
    return [f"{one.rule} {one.path.rpartition('/')[2]}:{one.line}" for one in findings(**workflows)]


@pytest.mark.parametrize(
    ("on", "unseen"),
    [
        ("on: push", []),
        ("on: [push, pull_request]", []),
        ("on: {push: }", []),
        ("on: {push: {paths: }}", []),
        ("on: {push: {paths: ['docker/**', 'tools/**']}}", []),
        ("on: {push: {paths: ['**']}}", []),
        ("on: {push: {paths: ['**.py', '**/Dockerfile', '**/*.sh']}}", []),
        ("on: {push: {paths: ['docker/**']}}", ["tools/b.py"]),
        ("on: {push: {paths: ['docker/*', 'tools']}}", ["tools/b.py"]),
        ("on: {push: {paths: ['docker/**', 'tools/**', '!**/b.py']}}", ["tools/b.py"]),
        ("on: {push: {paths: ['!**/b.py', 'docker/**', 'tools/**']}}", []),
        ("on: {push: {paths-ignore: ['docs/**', '*.md']}}", []),
        ("on: {push: {paths-ignore: ['tools/**']}}", ["tools/b.py"]),
        ("on: {push: {paths-ignore: ['tools/**', '!tools/b.py']}}", []),
        ("on: {pull_request: {paths: [tools/b.py]}}", ["docker/Dockerfile", "docker/a.sh"]),
        ("on: {push: {tags: ['v*'], paths: [nothing]}, pull_request: }", []),
        ("on: {schedule: [{cron: '0 0 * * *'}], workflow_dispatch: }", []),
    ],
)
def test_an_input_that_no_filter_lets_through(on: str, unseen: list[str]) -> None:
    found = [one for one in findings(build=f"{on}\n{BUILD}") if one.rule == "input-unwatched"]
    assert [path for path in INPUTS if any(f"'{path}'" in one.message for one in found)] == unseen


def test_the_place_is_the_pattern_that_shuts_it_out_and_the_witness_the_copy() -> None:
    on = "on:\n  push:\n    paths:\n      - docker/**\n      - tools/**\n      - '!tools/b.py'\n"
    (found,) = findings(build=on + BUILD)
    assert (found.path, found.line) == (".github/workflows/build.yml", 6)
    assert [(one.path, one.line) for one in found.witnesses] == [("docker/Dockerfile", 4)]
    assert "on push no filter lets a change of it build it" in found.message


def test_one_workflow_that_starts_is_enough_and_each_occasion_counts_for_itself() -> None:
    narrow = "on: {push: {paths: [docker/*]}, pull_request: {paths: [docker/*]}}\n" + BUILD
    assert said(one=narrow) == ["input-unwatched one.yml:1", "input-unwatched one.yml:1"]
    assert said(one=narrow, two=f"on: push\n{BUILD}") == ["input-unwatched one.yml:1"]
    assert said(one=narrow, two=f"on: [push, pull_request_target]\n{BUILD}") == []


def test_a_workflow_and_an_action_that_another_uses_start_with_that_one() -> None:
    on = "on: {push: {paths: [docker/*]}}\n"
    called = f"on: workflow_call\n{BUILD}"
    assert said(build=called) == []
    calls = on + "jobs: {c: {uses: ./.github/workflows/build.yml}}"
    assert said(build=called, caller=calls) == ["input-unwatched caller.yml:1"]
    action = "runs: {steps: [{run: docker build -f docker/Dockerfile .}]}"
    uses = on + "jobs: {c: {steps: [{uses: ./ci/image}]}}"
    assert said(ci__image=action, caller=uses) == ["input-unwatched caller.yml:1"]


def test_what_regraft_builds_is_fed_by_the_manifest_too() -> None:
    on = "on: {push: {paths: ['docker/*', 'tools/*']}}\n"
    every = on + "jobs: {b: {steps: [{run: regraft image build --push}]}}"
    assert said(build=every) == ["input-unwatched build.yml:1"]
    assert said(build=every.replace("--push", "--image other")) == []
    assert said(build=every.replace("--push", "--image gpu")) == ["input-unwatched build.yml:1"]
    assert said(build=every.replace("'tools/*'", "'tools/*', regraft.toml")) == []


def test_a_filter_that_matches_no_file() -> None:
    on = "on:\n  push:\n    paths:\n      - '**'\n      - dokcer/**\n      - docs/\n      - '!nothing'\n"
    assert said(build=on + BUILD) == ["filter-unmatched build.yml:5", "filter-unmatched build.yml:6"]
    assert said(build=on + "jobs: {t: {steps: [{run: docker run x}]}}") == []


@pytest.mark.parametrize(
    ("arguments", "unseen"),
    [
        ("'docker/**', 'tools/**'", []),
        ("'docker', './tools'", []),
        ("'**'", []),
        ("'docker/**'", ["tools/b.py"]),
        ("'**', '!docker/a.sh'", ["docker/a.sh"]),
        ("'docker/*.sh', 'tools/?.py'", ["docker/Dockerfile"]),
        ("format('{0}', matrix.x)", []),
        ("'docker/**', '/etc/passwd'", []),
    ],
)
def test_a_hash_in_the_build_that_leaves_an_input_out(arguments: str, unseen: list[str]) -> None:
    script = f'"docker build -t x:${{{{ hashFiles({arguments}) }}}} -f docker/Dockerfile ."'
    found = findings(build=f"on: push\njobs: {{b: {{steps: [{{run: {script}}}]}}}}")
    assert [path for path in INPUTS if any(f"'{path}'" in one.message for one in found)] == unseen


def test_a_hash_elsewhere_is_the_images_where_it_takes_the_dockerfile_in() -> None:
    steps = """\
on: push
jobs:
  b:
    steps:
      - uses: actions/cache@v4
        with:
          key: pip-${{ hashFiles('requirements.txt') }}
      - id: tag
        run: |
          set -e
          echo "tag=${{ hashFiles('docker/**') }}" >> "$GITHUB_OUTPUT"
      - run: docker build -f docker/Dockerfile .
      - uses: actions/cache@v4
        with: {key: "${{ hashFiles('gone.txt') }}"}
"""
    assert said(build=steps) == ["input-unhashed build.yml:11"]


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        # the rows of GitHub's cheat sheet
        ("*", "README.md", True), ("*", "docs/a.md", False), ("*.jsx?", "page.js", True), ("*.jsx?", "page.jsx", True),
        ("**", "all/the/files.md", True), ("*.js", "app.js", True), ("*.js", "src/app.js", False),
        ("**.js", "src/js/app.js", True), ("docs/*", "docs/README.md", True), ("docs/*", "docs/a/b.md", False),
        ("docs/**", "docs/mona/octocat.txt", True), ("docs/**/*.md", "docs/README.md", True),
        ("docs/**/*.md", "docs/a/markdown/file.md", True), ("**/docs/**", "dir/docs/my-file.txt", True),
        ("**/docs/**", "docs/hello.md", True), ("**/README.md", "README.md", True), ("**/*src/**", "my-src/a.js", True),
        ("**/*-post.md", "path/their-post.md", True), ("**/migrate-*.sql", "db/sept/migrate-v1.sql", True),
        # the other characters
        ("v[12].x", "v2.x", True), ("v[!12].x", "v2.x", False), ("[0-9]+", "2026", True), ("a+b", "aaab", True),
        ("a+b", "a+b", False), (r"a\+b", "a+b", True), ("a.b", "axb", False), ("[z-a]", "z", False), ("docs", "docs/a.md", False),
    ],
)  # fmt: skip
def test_patterns_match_as_github_documents_them(pattern: str, path: str, matches: bool) -> None:
    assert filtered([Pattern(pattern, negative=False, line=1)], path)[0] is matches


@pytest.mark.parametrize("pattern", ["?a", "*?", "a++", "a" * 501])
def test_a_pattern_that_cannot_be_told_shuts_nothing_out(pattern: str) -> None:
    assert filter_expression(pattern) is None
    assert filtered([Pattern(pattern, negative=False, line=1)], "x")[0] is None


@pytest.mark.parametrize("pattern", ["/etc/x", "../x", "~/x", "${{ github.workspace }}/x", "", "./"])
def test_what_only_a_runner_could_hash_is_not_told(pattern: str) -> None:
    assert glob_expression(pattern) is None
    assert hashed([Pattern(pattern, negative=False, line=1)], "x") is None


def test_a_hostile_pattern_takes_no_time() -> None:
    start = time.monotonic()
    for pattern in ("*a" * 200 + "b", "**a" * 100 + "b", "a+" * 200 + "b", "a?" * 200 + "b"):
        assert filtered([Pattern(pattern, negative=False, line=1)], "a" * 1000) == (False, None)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("text", ["", "[", "- 1", "on: {push: {paths: {a: b}}}", "on: 1", "jobs: x", "a: &a [*a]"])
def test_what_is_no_workflow_is_no_finding(text: str) -> None:
    assert findings(build=text, other=f"{text}\n# docker") == []


def test_every_word_of_a_message_stays_in_its_line(track: Any) -> None:
    del track
    text = 'on: {push: {paths: ["x\\ny\\u001b[1m"]}}\n' + BUILD
    assert all("\n" not in one.message and "\x1b" not in one.message for one in findings(build=text))
