# Writes a night's report of nine tests, of which these fail: night.sh DAY FAILING...
day=$1
shift
echo "<testsuite name=\"api\" timestamp=\"2026-05-${day}T02:00:00\">"
for test in 1 2 3 4 5 6 7 8 9; do
  body=""
  for failing in "$@"; do [ "$failing" = "$test" ] && body="<failure/>"; done
  echo "<testcase classname=\"t\" name=\"test_$test\">$body</testcase>"
done
echo "</testsuite>"
