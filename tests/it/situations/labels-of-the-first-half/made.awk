# 120 questions of two arms, decided by a judge.
BEGIN {
  print "suite,approach,model,item,passed,judge"
  for (q = 1; q <= 120; q++) {
    printf "support,v3,nova,q%d,%d,gpt-judge\n", q, (q * 37) % 100 < 60
    printf "support,v4,nova,q%d,%d,gpt-judge\n", q, (q * 53) % 100 < 60
  }
}
