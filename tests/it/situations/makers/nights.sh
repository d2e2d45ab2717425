# nights.sh ARM HOUR FIRST LAST FAILING: one run a night of twenty questions, of which so many fail.
a=$1 hour=$2 d=$3
mkdir -p results
while [ $d -le $4 ]; do
  day=$(printf %02d $d) id=run-$a-$(printf %02d $d)
  mkdir -p results/$id
  printf '{"id":"%s","suite":"qa","approach":"%s","model":"m","timestamp":"2026-11-%sT%s:00:00Z","suite_version":"v1","batch_id":"night-%s"}\n' $id $a $day $hour $day > results/$id.json
  q=1
  while [ $q -le 20 ]; do
    s=pass; [ $q -le $5 ] && s=fail
    printf '{"item":"q%02d","kind":"question","evaluator":"answers","attempt":1,"revision":0,"status":"%s"}\n' $q $s
    q=$((q + 1))
  done > results/$id/items.jsonl
  d=$((d + 1))
done
