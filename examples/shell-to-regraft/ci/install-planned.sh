#!/usr/bin/env bash
# install-planned.sh PLAN: replace what the plan overrides, and nothing else. Each line ends the step where it fails.
# IMAGE_ROOT is the folder that holds the image's files; empty inside the image itself.
set -euo pipefail
plan=$1
project=$PWD

read_plan() { # a line per override, of fields that none of them can hold a blank in: path, url, commit, and the patches
  python - "$plan" <<'PY'
import json, sys


def patches(one):
    return [patch["path"] for patch in one["patches"] if patch["state"] == "applies"]


plan = json.load(open(sys.argv[1], encoding="utf-8"))
paths = {"engine": "/opt/stack/engine", "trainer": "/opt/stack/trainer"}
for name, one in plan["dependencies"].items():
    if one["action"] == "override":
        print(paths[name], one["url"], one["commit"], *patches(one))
PY
}

overrides=$(read_plan)
[[ -n $overrides ]] || { echo 'this image overrides nothing'; exit 0; }

while read -r path url commit patches; do
  checkout=${IMAGE_ROOT:-}$path
  git -C "$checkout" fetch --quiet --depth 1 -- "$url" "$commit"
  git -C "$checkout" checkout --quiet --force --detach "$commit"
  for patch in $patches; do
    git -C "$checkout" apply --check "$project/$patch"
    git -C "$checkout" apply "$project/$patch"
  done
  python -m pip install --quiet --no-deps --no-build-isolation -e "$checkout" </dev/null
done <<<"$overrides"
