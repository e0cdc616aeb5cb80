#!/usr/bin/env bash
# The three-process quick start of README.md, as it says: all three get the lock; one is killed while it holds it, and the others go
# on with larger tokens. Ends by the test's timeout if they do not.
#
#   quick_start.sh PROGRAM FOLDER
set -euo pipefail
program=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
port=$((20000 + $$ % 3000 * 4))
declare -A pids
trap 'kill -KILL "${pids[@]}" 2>/dev/null || true' EXIT

mkfifo output
for id in 1 2 3; do
  "$program" "$id" "$port" >output 2>&1 &
  pids[$id]=$!
done
exec 3<output

declare -A seen
last=0
killed=""
after=0
while read -r line <&3; do
  printf '%s\n' "$line"
  read -r _ id _ _ _ _ token <<<"$line"
  [[ $line =~ ^process\ [123]\ has\ the\ printer,\ token\ [0-9]+$ ]] || { echo "unexpected: $line"; exit 1; }
  [ "$token" -gt "$last" ] || { echo "token $token came after $last"; exit 1; }
  last=$token
  seen[$id]=1
  if [ -n "$killed" ]; then
    [ "$id" != "$killed" ] || { echo "the killed process was granted the lock"; exit 1; }
    after=$((after + 1))
    [ $after -lt 3 ] || { echo "process $killed was killed while it had the printer; the others went on"; exit 0; }
  elif [ ${#seen[@]} -eq 3 ]; then
    killed=$id
    kill -KILL "${pids[$id]}"
  fi
done
echo "all processes have ended"
exit 1
