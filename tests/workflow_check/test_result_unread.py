"""Jobs that answer for others, and forget one of them."""

from collections.abc import Callable

import pytest

RULE = "result-unread"
ONE = "  {name}:\n    runs-on: x\n{more}    steps: [{{run: make {name}}}]\n"


def repository(collector: str, **more: str) -> dict[str, str]:
    """Jobs lint, test and gpu (with more lines), and `all`, which needs the three in line 12 where the others have none."""
    jobs = "".join(ONE.format(name=name, more=more.get(name, "")) for name in ("lint", "test", "gpu"))
    return {
        "ci.yml": f"on: push\njobs:\n{jobs}  all:\n    needs: [lint, test, gpu]\n    runs-on: x\n{collector}",
    }


ASKS = '    steps: [{{run: exit 1, if: "{}"}}]\n'
TWO = ASKS.format("needs.lint.result != 'success' || needs.test.result != 'success'")


@pytest.mark.parametrize(
    ("texts", "column"),
    [
        (repository("    if: always()\n" + TWO), 25),
        (repository("    if: ${{ !cancelled() }}\n" + TWO), 25),
        (
            repository(
                "    if: always() && needs.gpu.result == 'success' && needs.test.result == 'success'\n    steps: []\n"
            ),
            13,
        ),
        (
            repository(
                "    if: always()\n    env: {A: '${{ needs.lint.result }}', B: '${{ needs.gpu.result }}'}\n    steps: []\n"
            ),
            19,
        ),
    ],
)
def test_the_forgotten_job_is_found_where_it_is_needed(texts: dict[str, str], column: int, found: Callable) -> None:
    (finding,) = found(texts, RULE)
    assert (finding.severity, finding.line, finding.column) == ("warning", 13, column)


@pytest.mark.parametrize(
    "texts",
    [
        repository(TWO),  # it is skipped where gpu fails
        repository(
            "    if: always()\n" + ASKS.format("contains(needs.*.result, 'failure') || needs.lint.result == 'skipped'")
        ),
        repository("    if: always()\n    steps: [{run: 'echo ${{ toJSON(needs) }} ${{ needs.lint.result }}'}]\n"),
        repository("    if: always()\n    steps: [{run: make report}]\n"),  # asks for none
        repository(
            "    if: always() && needs.lint.result == 'success'\n    steps: [{run: make test}]\n"
        ),  # only comes after
        repository("    if: always()\n" + TWO, test="    needs: gpu\n"),  # test is skipped where gpu fails
        repository(
            "    if: always() && needs.lint.result == 'success' && needs.test.result == 'success' && needs.gpu.outputs.o\n"
            "    steps: []\n",
            gpu="    outputs: {o: x}\n",
        ),
        repository(
            "    if: always() && needs['lint'].result && needs.TEST.result && needs.gpu.result\n    steps: []\n"
        ),
    ],
)
def test_where_none_is_forgotten(texts: dict[str, str], found: Callable) -> None:
    assert found(texts, RULE) == []
