# shellcheck shell=bash
# Work whose output goes to out/logs/, with one line of progress; a signal ends all of it. ./dev reads this file.

log_of() { printf 'out/logs/%s.log' "$1"; }

give_up() {  # LOG: the end of that log, and out
  tail -n "${2:-60}" "$(log_of "$1")" >&2
  fail "failed; the whole log is $(log_of "$1")"
}

progress_of() {  # LOG: "12/80" as ninja and ctest count, or nothing
  tail -c 2000 "$1" 2>/dev/null | tr '\r' '\n' | grep -aoE '^ *\[?[0-9]+/[0-9]+(\]| Test)' | tail -n 1 | tr -dc '0-9/' || true
}

# What is started here is a process group of its own, and a signal to this script goes to all of it: nothing is left running.
child=
end_child() {  # SIGNAL
  trap - INT TERM HUP
  if [ -n "$child" ]; then
    kill "-$1" -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  kill "-$1" $$
}
trap 'end_child INT' INT
trap 'end_child TERM' TERM
trap 'end_child HUP' HUP

start() {  # COMMAND...: in the background, with this script's input and output; its group is $child
  set -m
  "$@" <&0 &
  child=$!
  set +m
}

finish() {  # waits for what was started, and returns its exit code
  local code=0
  wait "$child" || code=$?
  child=
  return $code
}

attended() { start "$@"; finish; }  # COMMAND...: runs it; a signal ends it too

# Runs a command with all output in out/logs/LOG.log. Progress goes to stderr: a rewritten line on a terminal, else one now and
# then; stdout is for what the caller asked for. How long it took is noted in out/logs/seconds.
logged() {  # WHAT LOG COMMAND...
  local what=$1 name=$2 log begun=$SECONDS next=20 code=0
  log=$(log_of "$2")
  shift 2
  mkdir -p out/logs
  start "$@" >"$log" 2>&1 </dev/null
  while kill -0 "$child" 2>/dev/null; do
    if [ -t 2 ]; then
      printf '\r\033[K%s %s %ss' "$what" "$(progress_of "$log")" $((SECONDS - begun)) >&2
    elif [ $((SECONDS - begun)) -ge $next ]; then
      say "$what $(progress_of "$log") ${next}s" >&2
      next=$((next + 20))
    fi
    sleep 0.2
  done
  finish || code=$?
  [ ! -t 2 ] || printf '\r\033[K' >&2
  printf '%s %s\n' "$name" $((SECONDS - begun)) >>out/logs/seconds
  return $code
}
