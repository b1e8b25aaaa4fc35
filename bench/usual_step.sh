#!/usr/bin/env bash
# What a project does today in its workflow: find the line, look the ref up, fetch it, check it out. For comparison only.
set -euo pipefail
body=$1 url=$2 checkout=$3

ref=$(grep -oP 'ci-engine-pr:\s+\K\S+' "$body" | head -n 1 || true)
[[ -n $ref ]] || exit 0
case $ref in
  '#'*) ref=refs/pull/${ref#'#'}/head ;;
  *) ref=refs/heads/$ref ;;
esac
commit=$(git ls-remote "$url" "$ref" | cut -f 1)
[[ -n $commit ]] || { echo "no $ref" >&2; exit 1; }
git -C "$checkout" fetch --quiet --depth 1 "$url" "$ref"
git -C "$checkout" checkout --quiet --force --detach "$commit"
