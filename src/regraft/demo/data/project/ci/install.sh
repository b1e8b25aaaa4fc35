# A usual install step. `set -e` does not see a failure in the middle of a chain of `&&`.
set -e
exec 2>&1
pip_install="python -m pip install --quiet --no-deps --no-build-isolation"
PATH=$PWD/../image/opt/venv/bin:$PATH

(
  cd ../image/opt/stack/engine
  git fetch --quiet origin refs/pull/12/head &&
    git checkout --quiet --force --detach FETCH_HEAD &&
    git apply ../../../../tinyrl/patches/engine-lanes.patch &&
    $pip_install -e .
  echo "engine is installed"
)
$pip_install -e .
