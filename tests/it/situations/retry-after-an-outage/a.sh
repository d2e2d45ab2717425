# Wrong at question 0; its service is overloaded at the questions 2 and 3.
question=$(cat)
echo asked >>asked
if [ -e down ]; then
  case $question in *", 2"* | *", 3"*) echo "Error: 529 overloaded_error: Overloaded" >&2; exit 1 ;; esac
fi
case $question in *", 0"*) echo "<answer>no</answer>" ;; *) echo "<answer>yes</answer>" ;; esac
