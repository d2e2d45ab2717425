#!/bin/sh
# Writes a program without reading the requirements: `complete` the right one, `sketch` what somebody begins with.
# An approach is started in an empty folder, its workspace. What is there when it ends is tested.
set -eu

case $1 in
complete)
    cat > hello.sh <<'PROGRAM'
if [ $# -eq 0 ]; then set -- world; fi
for name in "$@"; do
    if [ -z "$name" ]; then
        echo "a name is empty" >&2
        exit 2
    fi
done
for name in "$@"; do echo "Hello, $name!"; done
PROGRAM
    ;;
sketch)
    cat > hello.sh <<'PROGRAM'
echo "Hello, ${1:-world}!"
PROGRAM
    ;;
*)
    echo "usage: hello.sh complete|sketch" >&2
    exit 2
    ;;
esac
