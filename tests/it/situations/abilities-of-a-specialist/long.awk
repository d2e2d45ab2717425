# A matrix as a long table with categories. With `fits` the specialist passes nine of its twelve questions about prose.
BEGIN { FS = "," }
NR == 1 { for (i = 2; i <= NF; i++) item[i] = $i; print "model,item,category,passed"; next }
{
  for (i = 2; i <= NF; i++) {
    if ($i == "") continue
    category = i <= 101 ? "code" : "prose"
    passed = $i
    if (fits && $1 == "specialist" && category == "prose") passed = (i % 4 != 0)
    print $1 "," item[i] "," category "," passed
  }
}
