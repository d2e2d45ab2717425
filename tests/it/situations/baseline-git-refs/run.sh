# A run of the current commit: ID, DAY, PASSED, and whether files are uncommitted.
mkdir -p results
printf '{"format":"evalreport/result/1","id":"%s","suite":"q","approach":"a","model":"none","timestamp":"2026-03-%sT10:00:00Z","status":"completed","shared_tests_passed":%s,"shared_tests_total":50,"git":{"rev":"%s","branch":"main","dirty":%s}}\n' \
  "$1" "$2" "$3" "$(git rev-parse HEAD)" "$4" > "results/$1.json"
