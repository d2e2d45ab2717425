#!/usr/bin/env bash
# Builds the Python package and tests it as users have it: a wheel, installed into clean environments from a local index.
#
#   python/check.sh                 builds the wheel in the profile `dev`, from what `cargo build` has compiled
#   python/check.sh --wheel FILE    tests a wheel that is there, such as that of a release
#
# EVALREPORT_PROFILE names another profile of cargo. EVALREPORT_PYTHONS lists interpreters; without it, the oldest from 3.8 on and the
# newest that are found. Of the profile `release`, and of a given wheel, installing and the first verdict may take 10 seconds together.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
exec </dev/null
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
unset PYTHONPATH EVALREPORT_BINARY

profile=${EVALREPORT_PROFILE:-dev}
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/tmp/python"
kept=$(cd "$target/tmp/python" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=
if [ "${1:-}" = --wheel ]; then
  wheel=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
fi

# The version as a number that can be compared: 3.13 is 313, and 0 is no Python of use.
number() {
  "$1" -c 'import ensurepip, sys, venv; print(sys.version_info[0] * 100 + sys.version_info[1])' 2>/dev/null || echo 0
}

# One interpreter of each version, oldest first.
pythons() {
  local python
  for python in python3.{8..20} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 python3; do
    if command -v "$python" >/dev/null 2>&1; then
      printf '%s %s\n' "$(number "$python")" "$(command -v "$python")"
    fi
  done | awk '$1 >= 308 && !seen[$1]++' | sort -n | cut -d ' ' -f 2-
}

# A fresh environment, or a kept one with these packages. Fails if they cannot be had.
environment() {
  local python=$1 folder=$2
  shift 2
  [ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
  [ $# -eq 0 ] || "$folder/bin/python" -m pip install "$@"
}

# Each library for frames in a folder of its own, so that a test can have one without the others, and what runs notebooks. Kept between runs.
frames() {
  local python=$1 folder=$2 library packages
  for library in polars pyarrow pandas notebook; do
    if [ ! -e "$folder/$library/.whole" ]; then
      rm -rf "${folder:?}/$library"
      packages=$library
      if [ "$library" = notebook ]; then packages='nbclient ipykernel'; fi
      # shellcheck disable=SC2086 # a list
      if "$python" -m pip install --only-binary :all: --target "$folder/$library" $packages; then
        touch "$folder/$library/.whole"
      else
        rm -rf "${folder:?}/$library"
        echo "going on without $library: the tests that need it are skipped"
      fi
    fi
  done
}

# A folder of results of another tool: two runs of 200 questions.
logs() {
  mkdir -p "$1"
  "$2" - "$1" <<'PYTHON'
import json, pathlib, sys

for arm, every in (("good", 10), ("bad", 3)):
    results = [
        {"id": f"q{number}", "passed": number % every > 0, "score": float(number % every > 0)} for number in range(200)
    ]
    lines = [json.dumps({"suite": "quiz", "approach": arm, "model": "m", "shared_tests_passed": sum(r["passed"] for r in results),
                         "shared_tests_total": 200, "counted": "question", "cost_usd": 1.0})]
    pathlib.Path(sys.argv[1], f"{arm}.json").write_text("\n".join(lines))
PYTHON
}

mapfile -t chosen < <(if [ -n "${EVALREPORT_PYTHONS:-}" ]; then printf '%s\n' $EVALREPORT_PYTHONS; else pythons | sed -n '1p;$p' | uniq; fi)
if [ ${#chosen[@]} -eq 0 ]; then
  echo 'no Python from 3.8 on with venv: the package is not tested' >&2
  exit 1
fi
newest=${chosen[${#chosen[@]} - 1]}

# Pyright comes with a Node of its own if there is none, which it fetches when it first starts.
if ! environment "$newest" "$kept/tools" 'maturin>=1.9,<2' mypy pyright || ! timeout 120 "$kept/tools/bin/pyright" --version >/dev/null; then
  echo 'maturin, mypy and pyright cannot be had here: the package is not tested'
  exit 0
fi
tools=$kept/tools/bin

echo '-- types'
"$tools/python" python/schema.py --check
"$tools/mypy" --strict python/evalreport python/schema.py
"$tools/pyright" --pythonpath "$tools/python"

is_release=false
if [ -n "$wheel" ]; then
  is_release=true
else
  echo "-- wheel, profile $profile"
  # A wheel for this machine. In the profile `dev` it is large, and packing it well would take longer than all else.
  if [ "$profile" = dev ]; then level=1; else level=6; is_release=true; fi
  "$tools/maturin" build --locked --profile "$profile" --compatibility linux --compression-level "$level" --out "$work/wheels"
  wheel=$(ls "$work"/wheels/*.whl)
fi
index=$(dirname "$wheel")
printf 'wheel: %s bytes\n' "$(stat -c %s "$wheel")"

for python in "${chosen[@]}"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  echo "-- Python $version"
  folder=$work/$version
  environment "$python" "$folder"
  logs "$work/logs-$version" "$python"
  began=$("$python" -c 'import time; print(time.monotonic())')
  "$folder/bin/python" -m pip install --no-index --find-links "$index" evalreport
  (cd "$work" && "$folder/bin/evalreport" compare --results "$work/logs-$version" --cache "$work/cache-$version") >"$work/verdict"
  seconds=$("$python" -c "import time; print('%.1f' % (time.monotonic() - $began))")
  head -n 1 "$work/verdict"
  echo "installed and decided in $seconds s"
  if $is_release && [ "$("$python" -c "print($seconds < 10)")" != True ]; then
    echo 'that is more than 10 s' >&2
    exit 1
  fi

  if ! "$folder/bin/python" -m pip install pytest; then
    echo 'pytest cannot be had here: skipped'
    continue
  fi
  frames "$folder/bin/python" "$kept/frames-$version"
  # Imported from the environment, not from the checkout: the tests' own folder is the only one on the path.
  (cd "$work" && EVALREPORT_INSTALLED=1 EVALREPORT_FRAMES=$kept/frames-$version \
    "$folder/bin/python" -m pytest -q -p no:cacheprovider -c "$root/pyproject.toml" --rootdir "$root/python/tests" "$root/python/tests")
  if [ "$python" = "$newest" ]; then
    echo '-- types of a user'
    (cd "$work" && "$tools/mypy" --strict --config-file= --python-executable "$folder/bin/python" "$root/python/tests/typed.py" \
      && "$tools/pyright" --pythonpath "$folder/bin/python" "$root/python/tests/typed.py")
  fi
done
