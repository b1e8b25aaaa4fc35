#!/bin/sh
# Make the development environment: scripts/venv.sh FOLDER. PYTHON names the interpreter to make it with.
# The installed versions are those of constraints.txt, so that a clean checkout gets the same ones everywhere.
set -eu

folder=$1
python=${PYTHON:-python3}

stop() {
  printf 'regraft: %s\n' "$*" >&2
  exit 1
}

command -v "$python" >/dev/null 2>&1 ||
  stop "there is no program '$python': install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3.12"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  stop "'$python' is $("$python" --version 2>&1), and 3.11 is needed: name a newer one: make PYTHON=/path/to/python3.12"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
  stop "'$python' cannot make environments (no ensurepip): on Debian and Ubuntu, apt-get install python3-venv"

# An environment whose interpreter has gone (the system's was upgraded) is made anew.
"$folder/bin/python" -c 'import pip' 2>/dev/null || "$python" -m venv --clear "$folder"
"$folder/bin/python" -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
