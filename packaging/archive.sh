#!/usr/bin/env bash
# Makes the archive of a release: packaging/archive.sh TARGET PROGRAM DIR. The program must run on this machine, since it writes its own
# completions.
set -euo pipefail
if [ $# -ne 3 ]; then
  echo 'usage: archive.sh TARGET PROGRAM DIR' >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
target=$1
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
mkdir -p "$3"
out=$(cd "$3" && pwd)
version=$("$program" --version | cut -d ' ' -f 2)
name=evalreport-v$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/completions" "$work/$name/man"
suffix=
case $target in *-windows-*) suffix=.exe ;; esac
cp "$program" "$work/$name/evalreport$suffix"
cp "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$work/$name/"
"$program" completions bash >"$work/$name/completions/evalreport.bash"
"$program" completions zsh >"$work/$name/completions/_evalreport"
"$program" completions fish >"$work/$name/completions/evalreport.fish"
"$program" completions powershell >"$work/$name/completions/_evalreport.ps1"
"$program" completions man >"$work/$name/man/evalreport.1"
cd "$work"
case $target in
  *-windows-*) 7z a -bso0 "$out/$name.zip" "$name" ;;
  *) tar -czf "$out/$name.tar.gz" "$name" ;;
esac
echo "$name"
