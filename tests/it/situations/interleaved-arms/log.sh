echo "$1 $(tail -n 40 | grep -o 'Say yes, [0-9]')" >>order.txt
[ -e "stop-$1" ] && exec no-such-program
echo "<answer>yes</answer>"
