"""Repositories of workflows as they grow: entries for several events, a gate before each, stages that they call, actions, scripts.

The same every time. Nothing in them is wrong but for a line of a body that is read by a pattern of its own.
"""

from collections.abc import Iterator
from pathlib import Path

SMALL = (20, 2_700)  # workflows, lines
LARGE = (50, 15_000)

ENTRY = """\
name: Entry {n}
on:
  pull_request:
    types: [opened, synchronize, reopened, labeled]
  push:
    branches: [main]
  schedule:
    - cron: "{n} 3 * * *"
  workflow_dispatch:
    inputs:
      engine:
        description: A ref of engine
        type: string
        default: ""
      suites:
        description: Which suites
        type: string
        default: all
permissions:
  contents: read
concurrency:
  group: entry-{n}-${{{{ github.event.pull_request.number || github.run_id }}}}
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' && github.event.action != 'labeled' }}}}
jobs:
  gate:
    runs-on: ubuntu-24.04
    outputs:
      engine: ${{{{ steps.read.outputs.engine }}}}
      run: ${{{{ steps.read.outputs.run }}}}
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
      - id: read
        env:
          BODY: ${{{{ github.event.pull_request.body }}}}
          ASKED: ${{{{ inputs.engine }}}}
        run: |
          engine="$ASKED"
          if [ -z "$engine" ]; then
            engine=$(printf '%s\\n' "$BODY" | sed -n 's/^ci-engine-pr: *//p' | head -n 1)
          fi
          echo "engine=$engine" >> "$GITHUB_OUTPUT"
          echo "run=true" >> "$GITHUB_OUTPUT"
"""

CALL = """\
  stage-{m}:
    needs: gate
    if: ${{{{ needs.gate.outputs.run == 'true' && (github.event_name != 'pull_request' || contains(github.event.pull_request.labels.*.name, 'run-stage-{m}')) }}}}
    uses: ./.github/workflows/stage-{m}.yml
    with:
      engine: ${{{{ needs.gate.outputs.engine }}}}
      suites: ${{{{ inputs.suites || 'all' }}}}
      image: registry.example.org/stack:{m}
      parts: 4
"""

LAST = """\
  done:
    needs: [gate, {needs}]
    if: ${{{{ !cancelled() }}}}
    runs-on: ubuntu-24.04
    steps:
      - env:
          RESULTS: ${{{{ toJSON(needs) }}}}
        run: |
          echo "$RESULTS" | python -c 'import json, sys; sys.exit(any(one["result"] == "failure" for one in json.load(sys.stdin).values()))'
"""

STAGE = """\
name: Stage {n}
on:
  workflow_call:
    inputs:
      engine:
        type: string
        default: ""
      suites:
        type: string
        default: all
      image:
        type: string
        required: true
      parts:
        type: number
        default: 4
permissions:
  contents: read
env:
  STAGE: stage-{n}
jobs:
"""

JOB = """\
  suite-{j}:
    runs-on: [self-hosted, gpu]
    container: ${{{{ inputs.image }}}}
{waits}    if: ${{{{ inputs.suites == 'all' || inputs.suites == 'suite-{j}' }}}}
    timeout-minutes: {minutes}
    strategy:
      fail-fast: false
      matrix:
        part: [0, 1, 2, 3]
        python: ["3.11", "3.13"]
    env:
      SUITE: suite-{j}
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
      - uses: ./.github/actions/prepare
        with:
          python: ${{{{ matrix.python }}}}
          suite: suite-{j}
      - name: Install the engine
        if: inputs.engine != ''
        shell: bash
        env:
          REF: ${{{{ inputs.engine }}}}
        run: |
          cd /opt/stack/engine
          git fetch --quiet origin "$REF"
          git checkout --quiet --force FETCH_HEAD
          for patch in "$GITHUB_WORKSPACE"/patches/*.patch; do
            git apply "$patch" || exit 1
          done
          python -m pip install --no-deps -e .
      - name: Run
        id: run
        run: |
          set -o pipefail
          python tests/run_suite.py --suite "$SUITE" --auto-partition-id ${{{{ matrix.part }}}} \\
            --auto-partition-size ${{{{ inputs.parts }}}} 2>&1 | tee "$RUNNER_TEMP/log.txt"
          echo "passed=$(grep -c passed "$RUNNER_TEMP/log.txt" || true)" >> "$GITHUB_OUTPUT"
      - name: Report
        if: ${{{{ always() && steps.run.outcome == 'failure' }}}}
        env:
          PASSED: ${{{{ steps.run.outputs.passed }}}}
        run: |
          case "$PASSED" in
            '' | 0) echo "$STAGE: nothing passed" ;;
            *) echo "$STAGE: $PASSED passed" ;;
          esac
          bash scripts/report.sh "$SUITE"
"""

ACTION = """\
name: Prepare
description: Makes a machine ready
inputs:
  python:
    description: Its version
    required: true
  suite:
    description: The suite
    required: true
runs:
  using: composite
  steps:
    - shell: bash
      env:
        VERSION: ${{ inputs.python }}
        SUITE: ${{ inputs.suite }}
      run: |
        command -v "python$VERSION" || exit 1
        mkdir -p "$RUNNER_TEMP/$SUITE"
"""

REPORT = """\
#!/usr/bin/env bash
set -euo pipefail
suite=$1
printf 'suite %s\\n' "$suite" >> "$GITHUB_STEP_SUMMARY"
"""


def make(root: Path, workflows: int, lines: int) -> int:
    """Lay it out below `root`, without git. The number of lines is met within a job; it is returned."""
    entries = workflows // 4
    stages = workflows - entries
    folder = root / ".github/workflows"
    folder.mkdir(parents=True)
    written = 0
    calls = list(_shared(stages, entries))
    for n, called in enumerate(calls):
        needs = ", ".join(f"stage-{m}" for m in called)
        text = ENTRY.format(n=n) + "".join(CALL.format(m=m) for m in called) + LAST.format(needs=needs)
        written += _write(folder / f"entry-{n}.yml", text)
    each = (lines - written) // stages
    for n in range(stages):
        text = STAGE.format(n=n)
        jobs = max(1, round((each - text.count("\n")) / JOB.count("\n")))
        for j in range(jobs):
            waits = f"    needs: suite-{j - 1}\n" if j % 3 == 2 else ""
            text += JOB.format(j=j, waits=waits, minutes=30 + j)
        written += _write(folder / f"stage-{n}.yml", text)
    _write(root / ".github/actions/prepare/action.yml", ACTION)
    _write(root / "scripts/report.sh", REPORT)
    _write(root / "tests/run_suite.py", "import sys\n\nprint(sys.argv)\n")
    _write(root / "patches/engine.patch", "")
    for n in range(400):
        _write(root / f"src/package_{n // 40}/module_{n}.py", f"VALUE = {n}\n")
    return written


def _shared(stages: int, entries: int) -> Iterator[list[int]]:
    """Which stages each entry calls: its own, and a few of its neighbour's."""
    for n in range(entries):
        own = [m for m in range(stages) if m % entries == n]
        yield [*own, *([m for m in range(stages) if m % entries == (n + 1) % entries][:2] if entries > 1 else [])]


def _write(path: Path, text: str) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return text.count("\n")
