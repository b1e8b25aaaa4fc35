"""A repository of the size that projects of this kind have: seven Dockerfiles, 40 patches, 20 workflows, 300 other files."""

import os
import subprocess
from pathlib import Path

DOCKERFILES, PATCHES, WORKFLOWS, SOURCES = 7, 40, 20, 300
COMMIT = "3f2c" * 10

DOCKERFILE = """\
ARG BASE=vendor/stack:{number}
FROM ${{BASE}} AS base
ARG ENGINE_COMMIT={commit}
ARG TRAINER_BRANCH=work
ENV PATH=/opt/venv/bin:$PATH
RUN apt-get update && apt-get install -y git python3-venv && rm -rf /var/lib/apt/lists/* && python3 -m venv /opt/venv
RUN git clone https://git.example.org/stack/engine.git /opt/stack/engine \\
 && cd /opt/stack/engine \\
 # what is built depends on nothing but this
 && git checkout ${{ENGINE_COMMIT}} \\
 && python -m pip install --no-deps -e python
WORKDIR /opt/stack
RUN git clone -b ${{TRAINER_BRANCH}} https://git.example.org/stack/trainer.git && pip install --no-deps -e trainer
COPY docker/patches/{number} /tmp/patches
RUN <<EOF
set -e
cd /opt/stack/engine
for p in /tmp/patches/*.patch; do
    git apply "$p"
done
EOF
RUN pip install "extra @ git+https://git.example.org/stack/extra@{commit}"
COPY requirements.txt src /app/
"""

WORKFLOW = """\
name: Suite {number}
on:
  pull_request:
  workflow_dispatch:
    inputs:
      ci_engine_pr:
        type: string
jobs:
  gate:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v5
      - run: |
          engine=$(printf '%s' "$BODY" | sed -n 's/^ci-engine-pr: #\\([0-9]*\\).*/\\1/p')
          echo "engine=$engine" >> "$GITHUB_OUTPUT"
  build:
    runs-on: ubuntu-24.04
    steps:
      - run: |
          docker build -f docker/Dockerfile.v{image} -t registry.example.org/stack/v{image}:nightly .
  suite-{number}:
    needs: [gate, build]
    container: registry.example.org/stack/v{image}:nightly
    steps:
      - run: python -m pip install --no-deps -e .
      - run: python -m pytest tests/suite_{number}
"""


def patch(number: int) -> str:
    path = f"engine/part_{number}.py"
    lines = "".join(f" line {one}\n" for one in range(20))
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,21 +1,21 @@\n{lines}-old\n+new\n"


def make(root: Path) -> Path:
    """Lay the repository out at `root`, and commit it."""
    written = {
        "pyproject.toml": '[project]\nname = "stack"\ndependencies = ["engine>=1"]\n',
        "requirements.txt": "numpy\n",
    }
    for number in range(DOCKERFILES):
        written[f"docker/Dockerfile.v{number}"] = DOCKERFILE.format(number=number, commit=COMMIT)
    for number in range(PATCHES):
        written[f"docker/patches/{number % DOCKERFILES}/{number:04}-part.patch"] = patch(number)
    for number in range(WORKFLOWS):
        text = WORKFLOW.format(number=number, image=number % DOCKERFILES)
        written[f".github/workflows/suite-{number}.yml"] = text
    for number in range(SOURCES):
        body = "import os\nimport engine\n" if number == SOURCES - 1 else "import os\n"
        written[f"src/stack/module_{number}.py"] = body + "value = 1\n" * 200
    for path, content in written.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    who = {"GIT_AUTHOR_NAME": "B", "GIT_AUTHOR_EMAIL": "b@example.org"}
    env = {"PATH": os.environ["PATH"], "HOME": str(root), **who}
    env |= {"GIT_COMMITTER_NAME": "B", "GIT_COMMITTER_EMAIL": "b@example.org"}
    for argv in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "All"]):
        subprocess.run(["git", *argv], cwd=root, env=env, check=True)
    return root
