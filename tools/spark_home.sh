#!/bin/bash
# Installs versions of Spark beside that of .venv: in .spark/<version>, once each, for PYTHONPATH to name.
#
# In: versions (arguments). Out: their folders; exit code 1 if one cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

for version in "$@"; do
  home=.spark/$version
  [[ -e $home/.ready ]] && continue
  echo "spark: installing pyspark $version in $home"
  rm -rf "$home"
  .venv/bin/python -m pip install -qq --disable-pip-version-check --target "$home" "pyspark==$version"
  touch "$home/.ready"
done
