# Labels of the first 60 questions, or of every other one.
BEGIN { FS = OFS = "," }
NR == 1 { print; next }
{
  number = substr($2, 2) + 0
  if (part == "first" ? number <= 60 : number % 2 == 0) {
    $3 = (number * 37) % 100 < 55 ? "pass" : "fail"
    print
  }
}
