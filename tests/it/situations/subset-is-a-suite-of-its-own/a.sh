# Right at the first two questions only.
question=$(cat)
[ -e away ] && exec no-such-program
case $question in *", 0"* | *", 1"*) echo "<answer>yes</answer>" ;; *) echo "<answer>no</answer>" ;; esac
