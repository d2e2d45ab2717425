#!/bin/sh
# A stand-in for Claude's command line program: does what its first argument says.
act="$1"
cat > "$PWD/prompt.seen"
printf '%s\n' "$@" > "$PWD/arguments.seen"
result='{"type":"result","subtype":"success","is_error":false,"num_turns":3,"duration_ms":15,"result":"<answer>Blue</answer>","total_cost_usd":0.25,"usage":{"input_tokens":2,"cache_creation_input_tokens":6843,"cache_read_input_tokens":91983,"output_tokens":400}}'
message='{"type":"assistant","message":{"id":"m1","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}],"usage":{"input_tokens":7,"output_tokens":5}}}'
case "$act" in
  answer) echo "$message"; echo "$result" ;;
  json) echo "$result" ;;
  stall) echo "$message"; sleep 30 ;;
  half) echo "$message"; printf '{"type":"result","subtype":"succ' ;;
  flood) echo "$message"; head -c 100000000 /dev/zero | tr '\0' 'x'; echo; echo "$result" ;;
  exit-after-success) echo "$result"; echo "late trouble" >&2; exit 1 ;;
  ignore-term) trap '' TERM; echo "$message"; while true; do sleep 0.1; done ;;
  grandchild) (sleep 30) & echo "$result" ;;
  limit) echo '{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached|1749924000"}'; exit 1 ;;
  limit-text) echo "You've hit your limit · resets 3pm"; exit 1 ;;
  limit-as-success) echo '{"type":"result","subtype":"success","is_error":false,"result":"Claude AI usage limit reached|1749924000"}' ;;
  turns) echo "$message"; echo '{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":4,"usage":{"input_tokens":9,"output_tokens":1}}' ;;
  broken) echo '{"type":"result","subtype":"error_during_execution","is_error":true,"result":"it broke"}' ;;
  crash) echo "first" >&2; echo "Traceback: boom" >&2; exit 3 ;;
  silent) ;;
  latin) printf '{"type":"result","subtype":"success","result":"caf\351"}' ;;
  leak) echo "the key is $OPENAI_API_KEY" >&2; exit 1 ;;
esac
