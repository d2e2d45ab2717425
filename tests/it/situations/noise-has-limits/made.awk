# Fifty questions in four runs; `down` of them fail in the last run.
BEGIN {
  print "question,model,run,passed"
  for (q = 1; q <= 50; q++)
    for (r = 1; r <= 4; r++) {
      passes = ((q * (2 * r + 1)) % 11 < 6) && !(r == 4 && q <= down)
      printf "q%02d,a,%d,%d\n", q, r, passes
    }
}
