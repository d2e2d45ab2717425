#!/usr/bin/env bash
# Fails if a program for Linux asks for more than its target promises: packaging/portable.sh PROGRAM TARGET. Musl programs are static, others
# need glibc 2.28 at most.
set -euo pipefail
program=$1
target=$2
headers=$(LC_ALL=C readelf --wide --dynamic "$program" 2>/dev/null | grep -F '(NEEDED)' || true)
case $target in
  *-musl)
    if [ -n "$headers" ]; then
      printf 'error: %s is not static; it needs\n%s\n' "$program" "$headers" >&2
      exit 1
    fi
    echo "$program is static" ;;
  *)
    oldest=$(LC_ALL=C objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
    echo "$program needs glibc $oldest"
    if [ "$(printf '%s\n2.28\n' "$oldest" | sort -V | tail -n 1)" != 2.28 ]; then
      echo 'error: that is newer than 2.28' >&2
      exit 1
    fi ;;
esac
