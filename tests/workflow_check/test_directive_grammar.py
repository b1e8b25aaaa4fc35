"""Scripts that read directives by patterns of their own."""

from collections.abc import Callable
from textwrap import indent

import pytest

RULE = "directive-grammar"
BODY = "BODY: ${{ github.event.pull_request.body }}\n"
MANIFEST = """
[project]
name = "demo"

[dependencies.sglang]
url = "https://github.com/sgl-project/sglang"
branch = "main"
directive = "use-sglang"

[images.cuda]
[images.cuda.baked.sglang]
path = "/sgl-workspace/sglang"
"""


def step(script: str, env: str = BODY, **files: str) -> dict[str, str]:
    steps = f"      - run: |\n{indent(script, ' ' * 10)}\n" + (f"        env:\n{indent(env, ' ' * 10)}" if env else "")
    text = f"on: pull_request\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n{steps}"
    return {"ci.yml": text, **files}


FOUND = {
    "grep": (
        step("REF=$(printf '%s' \"$BODY\" | grep -oP 'ci-sglang-pr:\\s*#?\\K\\d+' | head -1)\necho $REF"),
        "in the middle of a line",
    ),
    "grep -i": (step("printf '%s' \"$BODY\" | grep -oiE '^ci-sglang-pr: *#[0-9]+'"), "in any case"),
    "sed": (step("printf '%s' \"$BODY\" | sed -n 's/^ci-sglang-pr: *//p'"), "in code fences"),
    "bash": (
        step('if [[ "$BODY" =~ ci-megatron-pr:\\ *([0-9]+) ]]; then echo "${BASH_REMATCH[1]}"; fi'),
        "in the middle of a line",
    ),
    "a program in python": (
        step(
            "python ci/read.py",
            **{
                "ci/read.py": 'import os, re\nBODY = os.environ["BODY"]\nfound = re.search(r"ci-([a-z]+)-pr:\\s*(\\S+)", BODY, re.I)\nprint(found)\n'
            },
        ),
        "in any case",
    ),
    "a script": (
        step("bash ci/read.sh", **{"ci/read.sh": "echo \"$BODY\" | awk -F: '/^ci-sglang-pr/ {print $2}'\n"}),
        "in code fences",
    ),
    "github-script": (
        {
            "ci.yml": "on: pull_request\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/github-script@v7\n        with:\n          script: |\n            const body = context.payload.pull_request.body\n            const ref = body.match(/ci-sglang-pr:\\s*(\\S+)/i)\n"
        },
        "in any case",
    ),
    "a condition": (
        {
            "ci.yml": "on: pull_request\njobs:\n  a:\n    if: contains(github.event.pull_request.body, 'ci-megatron-bridge-pr:')\n    runs-on: x\n    steps:\n      - run: ls\n"
        },
        "anywhere",
    ),
    "a key of the manifest": (
        step("printf '%s' \"$BODY\" | grep '^use-sglang:'", **{"regraft.toml": MANIFEST}),
        "in code fences",
    ),
}
SILENT = {
    "regraft": step("regraft plan --body-file body.md"),
    "no body": step("git log --format=%B | grep 'ci-sglang-pr:'", env="A: b\n"),
    "words": step('echo "write ci-sglang-pr: #12 in the description of $BODY"'),
    "another pattern": step("printf '%s' \"$BODY\" | grep -c 'release-note'"),
    "a comment": step("# grep 'ci-sglang-pr:' of the body\nregraft plan"),
    "a key of no manifest": step("printf '%s' \"$BODY\" | grep '^use-sglang:'"),
    "a label": step('echo "$LABELS" | grep ci-run-pr', env="LABELS: ${{ toJSON(github.event.pull_request.labels) }}\n"),
}


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, found: Callable) -> None:
    files, said = FOUND[name]
    (one,) = found(files, RULE)
    assert one.severity == "warning"
    assert said in one.message
    assert "regraft plan" in (one.fix or "")


@pytest.mark.parametrize("name", SILENT)
def test_not_found(name: str, found: Callable) -> None:
    assert [(one.line, one.message) for one in found(SILENT[name], RULE)] == []


def test_the_place(found: Callable) -> None:
    (one,) = found(FOUND["a program in python"][0], RULE)
    assert (one.path, one.line) == ("ci/read.py", 3)
    assert [(two.path, two.line) for two in one.witnesses] == [(".github/workflows/ci.yml", 7)]
    (one,) = found(FOUND["grep"][0], RULE)
    assert (one.path, one.line) == (".github/workflows/ci.yml", 8)
