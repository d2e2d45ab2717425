# The tests of hello.sh, reported as TAP: `ok 1 - name` or `not ok 1 - name`.
program=$EVAL_WORKSPACE/hello.sh
number=0

# check NAME EXPECTED ACTUAL
check() {
    number=$((number + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        echo "# expected: $2, but got: $3"
    fi
}

echo "1..5"
check "greets the world" "Hello, world!" "$(sh "$program" 2>&1)"
check "greets by name" "Hello, Ada!" "$(sh "$program" Ada 2>&1)"
check "keeps spaces in names" "Hello, Ada Lovelace!" "$(sh "$program" "Ada Lovelace" 2>&1)"
check "greets several" "Hello, Ada! Hello, Bob!" "$(sh "$program" Ada Bob 2>&1 | tr '\n' ' ' | sed 's/ $//')"
check "refuses an empty name" "2" "$(sh "$program" "" > /dev/null 2>&1; echo $?)"
