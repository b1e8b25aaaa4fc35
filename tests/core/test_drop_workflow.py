"""What goes of a workflow with a patch: lines of a script, or a step with its name."""

import pytest

from regraft.core.drop_target import Target
from regraft.core.drop_workflow import cut_workflow
from regraft.core.spans import Edit, edited

PATCH = "docker/amd/m.patch"
TARGET = Target(PATCH, frozenset({PATCH, "docker/amd/o.patch"}))
HEAD = "on: push\njobs:\n  a:\n    steps:\n      - uses: x\n"


def cut(text: str, target: Target = TARGET) -> str:
    raw = text.encode()
    return edited(raw, [Edit(span) for span in cut_workflow(raw, target).spans]).decode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("step", "left"),
    [
        (f"      - name: Patch\n        run: git apply {PATCH}\n", ""),
        (f"      - name: Patch\n        run: |\n          cd r\n          git apply ../{PATCH}\n", ""),
        (f"      - run: git apply {PATCH} && make\n", "      - run: make\n"),
        (f'      - run: "git apply {PATCH} && make"\n', '      - run: "make"\n'),
        (
            f"      # ünder the sun\n      - name: Büild\n        run: |\n          set -e\n          git apply {PATCH}\n          make\n\n",
            "      # ünder the sun\n      - name: Büild\n        run: |\n          set -e\n          make\n\n",
        ),
        (
            f"      - run: |-\n          if [ -f {PATCH} ]; then\n            git apply {PATCH}\n          fi\n          make\n",
            "      - run: |-\n          make\n",
        ),
        (
            f'      - run: |\n          make\n          git apply "${{{{ github.workspace }}}}/{PATCH}"\n',
            "      - run: |\n          make\n",
        ),
        ("      - run: git apply amd/m.patch\n        working-directory: docker\n", ""),
    ],
)
def test_lines_and_steps(step: str, left: str, end: str) -> None:
    after = "      # after\n      - run: last\n"
    before, expected = ((HEAD + one + after).replace("\n", end) for one in (step, left))
    assert cut(before) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"jobs:\n  a:\n    steps:\n      - run: git apply {PATCH}\n",  # a job without steps is none
        f"{HEAD}      - &keep\n        run: git apply {PATCH}\n      - *keep\n",
        f"{HEAD}      - id: p\n        run: git apply {PATCH}\n      - run: x\n        if: steps.p.outcome == 'success'\n",
        f"{HEAD}      - run: >\n          git apply\n          {PATCH}\n",
        f"{HEAD}      - shell: pwsh\n        run: git apply {PATCH}\n",
        f"{HEAD}      - shell: python\n        run: git apply {PATCH}\n",
        f"jobs: {{a: {{steps: [{{uses: x}}, {{run: git apply {PATCH}}}]}}}}\n",
        f'{HEAD}      - run: "git apply {PATCH} && echo \\"x\\""\n',
        f"{HEAD}      - with:\n          run: git apply {PATCH}\n",
        f"{HEAD}      - run: git apply {PATCH} && if\n",
        f"a: [\n# {PATCH}",
        f"a: &a [*a, {PATCH}]\n",
        f"a: 1\n---\nb: {PATCH}\n",
        "\ufeff" + f"{HEAD}      - run: git apply {PATCH}\n",
    ],
)
def test_what_is_not_plain_stays(text: str) -> None:
    assert cut(text) == text


@pytest.mark.parametrize(
    "asks",
    [
        "steps.AP2.outcome == 'success'",
        "steps['ap2'].outcome == 'success'",
        "steps[ 'Ap2' ].conclusion == 'success'",
        "steps[matrix.which].outcome == 'success'",
        "contains(steps.*.outcome, 'failure')",
        "contains(toJSON(steps), 'x')",
    ],
)
def test_a_step_that_something_else_asks_about_stays_as_it_is(asks: str) -> None:
    for run in (f"git apply {PATCH}", f"git apply {PATCH} && make"):
        text = f"{HEAD}      - id: ap2\n        run: {run}\n      - if: {asks}\n        run: make test\n"
        assert cut(text) == text


def test_a_step_that_is_asked_for_its_outputs_keeps_what_makes_them() -> None:
    after = "      - if: steps.ap.outputs.ok\n        run: make\n"
    whole = f"{HEAD}      - id: ap\n        run: git apply {PATCH}\n{after}"
    assert cut(whole) == whole
    part = f"{HEAD}      - id: ap\n        run: git apply {PATCH} && echo ok=1 >> $GITHUB_OUTPUT\n{after}"
    assert cut(part) == part.replace(f"git apply {PATCH} && ", "")


def test_a_step_that_is_asked_for_nothing_goes_beside_one_that_is() -> None:
    other = "      - id: ap\n        run: make\n      - if: steps.ap.outcome == 'success'\n        run: x\n"
    step = f"      - id: ap2\n        run: git apply {PATCH}\n"
    assert cut(HEAD + step + other) == HEAD + other


def test_a_composite_action_and_an_anchor_elsewhere() -> None:
    text = f"runs:\n  using: composite\n  env: &e {{A: 1}}\n  steps:\n    - run: git apply {PATCH}\n      shell: bash\n    - run: x\n      env: *e\n"
    assert cut(text) == text.replace(f"    - run: git apply {PATCH}\n      shell: bash\n", "")


def test_aliases_within_aliases_are_not_unfolded() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    text = bomb + HEAD + f"      - run: git apply {PATCH}\n"
    assert cut(text) == bomb + HEAD


def test_patterns_are_told_and_stay() -> None:
    text = f"{HEAD}      - run: |\n          for p in docker/amd/*.patch; do git apply $p; done\n"
    found = cut_workflow(text.encode(), TARGET)
    assert found.spans == ()
    assert [text[slice(*one)] for one in found.globs] == ["docker/amd/*.patch"]


@pytest.mark.parametrize(
    "steps",
    [
        f'      - run: |\n          git apply {PATCH}\n          git commit -am "patch"\n          make\n',
        f"      - run: git apply {PATCH}\n      - run: git commit -am x\n",
    ],
)
def test_a_commit_that_would_have_nothing_to_record_keeps_its_step(steps: str) -> None:
    assert cut(HEAD + steps) == HEAD + steps


def test_a_commit_of_another_job_is_no_matter() -> None:
    after = "  b:\n    steps:\n      - run: git commit -am x\n"
    assert cut(f"{HEAD}      - run: git apply {PATCH}\n{after}") == HEAD + after
