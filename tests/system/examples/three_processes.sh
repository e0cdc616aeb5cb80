#!/usr/bin/env bash
# The deployment of examples/16_three_processes: three processes, a fourth added, every one restarted in turn while the others
# work, the first one removed. Jobs are counted without a gap and without a repeat. Ends by the test's timeout if it hangs.
#
#   three_processes.sh PROGRAM FOLDER [CERTIFICATES]
#
# With CERTIFICATES, the program coordkit-certificates, they speak TLS, and get a new authority and new certificates on the way.
set -euo pipefail
program=$1
folder=$2
certificates=${3:-}
rm -rf "$folder"
mkdir -p "$folder/data"
cd "$folder"
port=$((10000 + $$ % 1900 * 5))  # below the kernel's ephemeral ports
declare -A pids
trap 'kill -KILL "${pids[@]}" 2>/dev/null || true' EXIT

security="secret 0123456789abcdef0123456789abcdef"
if [ -n "$certificates" ]; then
  security="certificates $folder/certificates"
  "$certificates" "$folder/certificates" jobs 4
fi

founders() {
  printf 'cluster jobs\n%s\ndata %s\n' "$security" "$folder/data"
  for id in 1 2 3; do printf 'member %d 127.0.0.1:%d\n' $id $((port + id)); done
}
founders >three.conf
{ founders; printf 'member 4 127.0.0.1:%d\n' $((port + 4)); } >four.conf

mkfifo output
exec 4<>output

start() {  # ID
  [ -p "to-$1" ] || mkfifo "to-$1"
  local configuration=three.conf
  [ "$1" -lt 4 ] || configuration=four.conf
  "$program" $configuration "$1" <"to-$1" >output 2>&1 &
  pids[$1]=$!
  case $1 in
    1) exec 11>"to-1" ;;
    2) exec 12>"to-2" ;;
    3) exec 13>"to-3" ;;
    4) exec 14>"to-4" ;;
  esac
}
tell() { printf '%s\n' "$2" >&$((10 + $1)); }  # ID LINE

last=0
# Reads what the processes say until a line matches; each job must be the one after the job before.
await() {  # PATTERN
  local line
  while read -r line <&4; do
    if [[ $line =~ \ has\ done\ job\ ([0-9]+)$ ]]; then
      # Two processes write into one pipe: a line may overtake the one before it, but every number comes once.
      [ -z "${seen[${BASH_REMATCH[1]}]:-}" ] || { echo "job ${BASH_REMATCH[1]} was done twice"; exit 1; }
      seen[${BASH_REMATCH[1]}]=1
      [ "${BASH_REMATCH[1]}" -le "$last" ] || last=${BASH_REMATCH[1]}
    else
      printf '%s\n' "$line"
    fi
    if [[ $line =~ $1 ]]; then return; fi
  done
}
declare -A seen

for id in 1 2 3; do start $id; done
for id in 1 2 3; do await 'is ready$'; done
for id in 1 2 3; do await "process $id has done job"; done

start 4
tell 1 "add 4 127.0.0.1:$((port + 4))"
await '^changed: add 4'
await 'process 4 has done job'

# First everybody trusts the new authority, then it signs.
if [ -n "$certificates" ]; then
  for flags in --new-authority ""; do
    "$certificates" "$folder/certificates" jobs 4 ${flags:+"$flags"}
    for id in 1 2 3 4; do
      tell $id reload
      await '^reloaded'
    done
  done
fi

for id in 1 2 3 4; do
  before=$last
  tell $id stop
  wait "${pids[$id]}" || { echo "process $id did not end well"; exit 1; }
  start $id
  await "process $id is ready"
  await "process $id has done job"
  [ "$last" -gt "$before" ] || { echo "nothing was done while process $id was away"; exit 1; }
done

tell 2 "remove 1"
await '^changed: remove 1'
tell 2 status
await ' 3 members'
for id in 2 3 4; do tell $id stop; done
for id in 2 3 4; do wait "${pids[$id]}" || { echo "process $id did not end well"; exit 1; }; done
while read -r -t 0.2 line <&4; do
  if [[ $line =~ \ has\ done\ job\ ([0-9]+)$ ]]; then
    seen[${BASH_REMATCH[1]}]=1
    [ "${BASH_REMATCH[1]}" -le "$last" ] || last=${BASH_REMATCH[1]}
  fi
done
[ ${#seen[@]} -eq "$last" ] || { echo "${#seen[@]} of $last jobs were told"; exit 1; }
echo "$last jobs, each done once, by processes of which every one was restarted"
