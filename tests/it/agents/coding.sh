#!/bin/sh
# A stand-in for a coding agent's command line program: prints a recorded session as its first two arguments say.
act="$1"
session="$2"
cat > "$PWD/prompt.seen"
printf '%s\n' "$@" > "$PWD/arguments.seen"
case "$act" in
  whole) cat "$session" ;;
  noise) echo "npm warn deprecated"; cat "$session"; echo 'bye {' ;;
  half) head -c "$(($(wc -c < "$session") * 2 / 3))" "$session" ;;
  stall) sed '$d' "$session"; sleep 30 ;;
  # Also ends in an exit status that says something else.
  late) cat "$session"; echo "late trouble" >&2; exit 1 ;;
  refused) echo "Error: 401 invalid api key" >&2; exit 1 ;;
  crash) echo "boom" >&2; exit 3 ;;
  codex-quota)
    echo '{"type":"turn.started"}'
    echo '{"type":"error","message":"You'"'"'ve hit your usage limit. Try again at 8:01 PM."}'
    echo '{"type":"turn.failed","error":{"message":"You'"'"'ve hit your usage limit. Try again at 8:01 PM."}}'
    exit 1 ;;
  gemini-turns)
    echo '{"type":"result","status":"error","error":{"type":"FatalTurnLimitedError","message":"Reached max session turns"}}'
    exit 53 ;;
  gemini-auth) echo '[ERROR] {"error": {"message": "Please set an Auth method"}}' >&2; exit 41 ;;
  gemini-blocked)
    echo '{"type":"error","severity":"error","message":"The model response was blocked due to safety settings."}'
    echo '{"type":"result","status":"error","stats":{"models":{}}}' ;;
  opencode-overload)
    echo '{"type":"error","error":{"name":"APIError","data":{"message":"Overloaded","statusCode":529,"isRetryable":true}}}'
    exit 1 ;;
  opencode-length) sed 's/"reason":"stop"/"reason":"length"/' "$session" ;;
  # Writes what the requirements ask for, if it is told how.
  build) if [ -f AGENTS.md ]; then echo x > made.txt; fi; cat "$session" ;;
esac
