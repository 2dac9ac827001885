#!/bin/bash
# Makes .venv at the project's root: pinned tools, and the package installed editable.
#
# In: a Python of 3.11 or newer (first argument, or found on PATH), a C++ compiler, a package index.
# Out: .venv with the stamp file .venv/.ready. Refuses early, in one line with the remedy, when something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

refuse() {
  echo "make env: $*" >&2
  exit 1
}

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
  for candidate in python3.11 python3.12 python3.13 python3; do
    if command -v "$candidate" >/dev/null && is_new_enough "$candidate"; then
      echo "$candidate"
      return
    fi
  done
}

python=${1:-$(find_python)}
if [[ -z $python ]] || ! is_new_enough "$python"; then
  found=$("${python:-python3}" -V 2>/dev/null || echo "no ${python:-python3}")
  refuse "needs Python 3.11 or newer, found $found; install one (apt-get install python3.11-venv python3.11-dev)" \
    "or say where it is: make env PYTHON=/path/to/python3.11"
fi
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
  refuse "$python cannot make virtual environments; run: apt-get install python3-venv"
header=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h
[[ -e $header ]] || refuse "the headers of $python are missing ($header); run: apt-get install python3-dev"
compiler=${CXX:-$("$python" -c 'import sysconfig; print((sysconfig.get_config_var("CXX") or "g++").split()[0])')}
command -v "${compiler%% *}" >/dev/null ||
  refuse "no C++ compiler ('$compiler' not found); run: apt-get install g++  (or set CXX)"

echo "make env: $("$python" -V) -> .venv (about 1 GB to download the first time)"
"$python" -m venv .venv
.venv/bin/python -m pip install -qq --disable-pip-version-check -r requirements/dev.txt
echo "make env: building the extension"
.venv/bin/python -m pip install -qq --disable-pip-version-check --no-build-isolation --no-deps --editable .
touch .venv/.ready
echo "make env: ready; Java for Spark: $(.venv/bin/python tools/java_home.py 2>&1)"
