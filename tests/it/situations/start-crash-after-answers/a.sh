# Ends with 127 at the first question, and at every third one after that.
question=$(cat)
case $question in *", 0"* | *", 3"* | *", 6"*) exec no-such-program ;; esac
echo "<answer>yes</answer>"
