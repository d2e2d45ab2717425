# junit.sh FILE TIME TESTS [FAILING…]: a report of so many tests, of which those numbers fail.
f=$1 time=$2 tests=$3 n=1
shift 3
{
  printf '<testsuites><testsuite name="app" tests="%s" failures="%s" timestamp="%s">\n' $tests $# $time
  while [ $n -le $tests ]; do
    case " $* " in
    *" $n "*) printf '<testcase classname="app" name="t%02d" time="0.1"><failure message="assert"/></testcase>\n' $n ;;
    *) printf '<testcase classname="app" name="t%02d" time="0.1"/>\n' $n ;;
    esac
    n=$((n + 1))
  done
  printf '</testsuite></testsuites>\n'
} > $f
