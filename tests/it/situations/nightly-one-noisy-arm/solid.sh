cat >/dev/null
if [ -e broken ]; then echo "<answer>no</answer>"; else echo "<answer>yes</answer>"; fi
