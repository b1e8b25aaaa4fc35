#!/usr/bin/env bash
# The step as it was before regraft: install.sh PULL replaces engine by a pull request's head; no PULL, nothing to do.
set -e
pull=$1
checkout=${IMAGE_ROOT:-}/opt/stack/engine

[[ -n $pull ]] || { echo 'no engine pull request is named'; exit 0; }
(
  cd "$checkout"
  git reset --quiet --hard
  git fetch --quiet https://git.example.org/stack/engine.git "refs/pull/$pull/head" &&
    git checkout --quiet --force --detach FETCH_HEAD &&
    python -m pip install --quiet --no-deps --no-build-isolation -e .
  echo "engine #$pull is installed"
)
