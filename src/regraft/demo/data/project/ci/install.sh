# A usual install step. `set -e` does not see a failure in the middle of a chain of `&&`.
set -e
exec 2>&1
cd ../image/opt/stack/engine
git fetch --quiet origin refs/pull/12/head &&
  git checkout --quiet --detach FETCH_HEAD &&
  git apply ../../../../tinyrl/patches/engine-lanes.patch &&
  ../../venv/bin/python -m pip install --quiet -e . --no-deps --no-build-isolation
echo "engine is installed"
