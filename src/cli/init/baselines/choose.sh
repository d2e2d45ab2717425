#!/bin/sh
# Answers without thinking: `random` takes any choice, `longest` takes the longest one.
#
# The prompt comes on standard input: the question, a line `Choices:`, one `- choice` per line, and how to answer. Whatever is printed is
# the answer, as long as it ends in <answer>choice</answer>.
set -eu

choices=$(sed -n '/^Choices:$/,$ s/^- //p')
case $1 in
random)
    # The seed is the same whenever this run is done again, and another one for each run and question.
    count=$(printf '%s\n' "$choices" | wc -l)
    choice=$(printf '%s\n' "$choices" | sed -n "$((EVAL_SEED % count + 1))p")
    ;;
longest)
    choice=$(printf '%s\n' "$choices" | awk 'length > length(longest) { longest = $0 } END { print longest }')
    ;;
*)
    echo "usage: choose.sh random|longest" >&2
    exit 2
    ;;
esac
escaped=$(printf '%s' "$choice" | sed 's/&/\&amp;/g; s/</\&lt;/g')
printf 'No reason at all.\n<answer>%s</answer>\n' "$escaped"
