# categories.sh ARM FIRST LAST ADD MULTIPLY: one run a night of twenty questions of two categories, of which so many fail.
a=$1 d=$2
mkdir -p results
while [ $d -le $3 ]; do
  day=$(printf %02d $d) id=run-$a-$(printf %02d $d)
  mkdir -p results/$id
  printf '{"id":"%s","suite":"sums","approach":"%s","model":"m","timestamp":"2026-11-%sT02:00:00Z","suite_version":"v1","batch_id":"night-%s"}\n' $id $a $day $day > results/$id.json
  q=1
  while [ $q -le 10 ]; do
    s=pass; [ $q -le $4 ] && s=fail
    printf '{"item":"a%02d","kind":"question","category":"addition","evaluator":"answers","attempt":1,"revision":0,"status":"%s"}\n' $q $s
    s=pass; [ $q -le $5 ] && s=fail
    printf '{"item":"m%02d","kind":"question","category":"multiplication","evaluator":"answers","attempt":1,"revision":0,"status":"%s"}\n' $q $s
    q=$((q + 1))
  done > results/$id/items.jsonl
  d=$((d + 1))
done
