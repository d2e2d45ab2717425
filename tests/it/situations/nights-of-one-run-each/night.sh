# Writes a night's report of 20 tests, of which so many pass: night.sh DAY PASSED
echo "<testsuite name=\"api\" timestamp=\"2026-05-$1T02:00:00\">"
for test in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20; do
  if [ "$test" -gt "$2" ]; then body="<failure/>"; else body=""; fi
  echo "<testcase classname=\"t\" name=\"test_$test\">$body</testcase>"
done
echo "</testsuite>"
