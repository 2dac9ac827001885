#!/bin/bash
# Runs what has to work everywhere under each version of Spark that is named, with everything else as it is in .venv.
#
# In: versions (arguments). Out: .spark/<version>, installed once; exit code 1 if a version fails, after all have run.
set -uo pipefail
cd "$(dirname "$0")/.."

failed=()
for version in "$@"; do
  home=.spark/$version
  tools/spark_home.sh "$version" || exit 1
  echo "spark matrix: Spark $version"
  PYTHONPATH=$PWD/$home .venv/bin/python -m pytest -q tests/spark/test_this_version.py || failed+=("$version")
done
[[ ${#failed[@]} -eq 0 ]] && echo "spark matrix: all of $* passed" && exit 0
echo "spark matrix: failed under ${failed[*]}" >&2
exit 1
