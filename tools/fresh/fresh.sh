#!/usr/bin/env bash
# What a newcomer meets: commands of this tree on a Debian on which nothing was ever installed. `./dev fresh` runs this.
#
#   fresh.sh [--suite bookworm|trixie] [--folder PATH] [--cold] [COMMAND...]
#
# A bare root of the suite (Debian 12 unless told otherwise) is made once below out/fresh/ (mmdebstrap, minbase) and kept while its
# recipe is unchanged. Each run works in two copies of it, each with a clone of this tree, changed files as they are here, in the folder
# coordkit of a user's home, or in PATH there. The host lends them only how packages are fetched:
#   root       runs the commands as root; what is missing they install themselves
#   newcomer   a user without rights gets one line to paste; root pastes it, and the commands run as that user
# Without COMMAND: ./dev demo, ./dev test, and the examples against the installed package alone. The compiler cache of this tree is
# lent, unless --cold is given: then every file is compiled in the first copy, the command list ends with bash .ci/run, and its cache is
# lent to the second copy only.
# Exit code 77 where this cannot be done: it takes root, mmdebstrap and the right to mount.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

skip() { printf 'fresh: skipped: %s\n' "$*" >&2; exit 77; }
say() { printf 'fresh: %s\n' "$*"; }

cold=
suite=bookworm
folder=coordkit
while [ $# -gt 0 ]; do
  case $1 in
    --cold) cold=1 ;;
    --suite) suite=${2:?--suite needs a name: bookworm or trixie}; shift ;;
    --folder) folder=${2:?--folder needs a path below the home of a user}; shift ;;
    *) break ;;
  esac
  shift
done
case $suite in
  bookworm) name="Debian 12" ;;
  trixie) name="Debian 13" ;;
  *) printf 'fresh: no suite is called %s: bookworm or trixie\n' "$suite" >&2; exit 1 ;;
esac
steps=("./dev demo" "./dev test" "./dev test install/examples")
[ -z "$cold" ] || steps+=("bash .ci/run")
[ $# -eq 0 ] || steps=("$(printf '%q ' "$@")")

[ "$(id -u)" -eq 0 ] || skip "a bare root is made and entered by root only"
command -v unshare >/dev/null || skip "the program unshare is missing (package util-linux)"
unshare --mount --pid --fork true 2>/dev/null || skip "this machine does not let us mount (unshare --mount --pid)"

fresh=$PWD/out/fresh
base=$fresh/$suite
mkdir -p "$fresh" out/logs

# ---- the bare root

sources() {  # where the suite comes from: as on this machine, if it has the same, or from the same archive
  local archive
  if grep -q "^VERSION_CODENAME=$suite" /etc/os-release; then
    if [ -f /etc/apt/sources.list.d/debian.sources ]; then cat /etc/apt/sources.list.d/debian.sources && return; fi
    if [ -s /etc/apt/sources.list ]; then cat /etc/apt/sources.list && return; fi
  fi
  archive=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
  printf 'deb %s %s main\n' "${archive:-http://deb.debian.org/debian}" "$suite"
}

make_base() {
  local recipe list
  list=$fresh/$suite.$(sources | grep -q '^URIs:' && echo sources || echo list)
  recipe="minbase ca-certificates passwd $(sources | cksum)"
  if [ -x "$base/usr/bin/apt-get" ] && [ "$(cat "$fresh/$suite.recipe" 2>/dev/null)" = "$recipe" ]; then return; fi
  command -v mmdebstrap >/dev/null || apt-get install --yes --no-install-recommends mmdebstrap >out/logs/fresh-base.log 2>&1 ||
    skip "mmdebstrap is missing and cannot be installed (out/logs/fresh-base.log)"
  say "making a bare $name below out/fresh/, about a minute"
  rm -rf --one-file-system "$base"
  sources >"$list"
  mmdebstrap --variant=minbase --mode=root --include=ca-certificates,passwd "$suite" "$base" "$list" >out/logs/fresh-base.log 2>&1 ||
    skip "mmdebstrap failed (out/logs/fresh-base.log)"
  printf '%s' "$recipe" >"$fresh/$suite.recipe"
}

# ---- a copy of it, with this tree inside

home=/home/newcomer/$folder

make_copy() {  # NAME
  local root=$fresh/$1 conf
  rm -rf --one-file-system "$root"
  cp -a --reflink=auto "$base" "$root"
  chroot "$root" useradd --create-home newcomer
  mkdir -p "$root/ccache" "$(dirname "$root$home")"
  git clone --quiet --no-hardlinks . "$root$home"
  git ls-files -z | while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=- | tar --extract --directory "$root$home"
  # Every installer and every container runtime writes these lines; the packages of a bare root do not.
  [ -e "$root/etc/hosts" ] || printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
  # How packages are fetched here, and nothing else.
  cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
  for conf in /etc/apt/apt.conf.d/*; do
    if grep -qE '^ *Acquire::' "$conf"; then cp "$conf" "$root/etc/apt/apt.conf.d/"; fi
  done
  chroot "$root" chown --recursive newcomer /home/newcomer
}

drop_copies() { rm -rf --one-file-system "$fresh/root" "$fresh/newcomer"; }

inside() {  # ROOT USER CACHE LINE SETTING...: in namespaces of its own already
  local root=$1 user=$2 cache=$3 line=$4 settings
  shift 4
  settings=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@")
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  if [ -n "$cache" ]; then
    mount --bind "$cache" "$root/ccache"
    settings+=(CCACHE_DIR=/ccache)
  fi
  exec chroot "$root" setpriv --reuid "$user" --regid "$user" --init-groups --reset-env env "${settings[@]}" bash -c "cd ${home@Q} && $line"
}

# Runs a shell line in a copy. Its processes have a namespace of their own and end with this one.
enter() {  # NAME USER CACHE LINE: CACHE is a folder to lend as compiler cache, or nothing
  local proxies
  mapfile -t proxies < <(env | grep -iE '^(https?|no|all)_proxy=' || true)
  export -f inside
  # shellcheck disable=SC2016  # the words are for the inner shell
  home=$home unshare --mount --pid --fork --kill-child --propagation private bash -euc 'inside "$@"' inside \
    "$fresh/$1" "$2" "$3" "$4" "${proxies[@]}" </dev/null
}

# ---- what happened

# Runs one command with its output shown, and says when its first line on stdout came and when it ended. Waiting for packages,
# which ./dev notes in out/logs/seconds, does not count.
run_step() {  # NAME USER CACHE LINE
  local started=$SECONDS first="" line code=0 fetched notes=$fresh/$1$home/out/logs/seconds
  : >"$fresh/first"
  enter "$@" > >(while IFS= read -r line; do
    [ -s "$fresh/first" ] || printf '%s' "$SECONDS" >"$fresh/first"
    printf '%s\n' "$line"
  done) || code=$?
  wait $! 2>/dev/null || true
  fetched=$(awk '$1 ~ /^install/ {sum += $2} END {print sum + 0}' "$notes" 2>/dev/null || echo 0)
  fetched=$((fetched - ${fetched_before:-0}))
  fetched_before=$((${fetched_before:-0} + fetched))
  first=$(cat "$fresh/first")
  if [ $code -ne 0 ]; then
    say "FAILED as $2: $4 (exit code $code)"
    return 1
  fi
  report+=("$(printf '%-9s %-18s first line %4d s, end %4d s; packages %4d s' \
    "$2" "$4" $((${first:-$SECONDS} - started - fetched)) $((SECONDS - started - fetched)) "$fetched")")
  say "${report[-1]}"
}

run_as_root() {
  local step fetched_before=0
  make_copy root
  for step in "${steps[@]}"; do run_step root root "$1" "$step" || return 1; done
  if [ -n "$cold" ] && [ $# -eq 1 ] && [ -z "$1" ]; then cold_ci; fi
}

# What .ci/run takes on a machine that has nothing: what the first build of its preset took here, and its own tests.
cold_ci() {
  local seconds
  seconds=$(awk '$1 == "dev-configure" || $1 == "dev-build" {sum += $2} $1 == "dev-test" {tests = $2} END {printf "%d", sum + tests}' \
    "$fresh/root$home/out/logs/seconds")
  report+=("$(printf '%-9s %-18s from nothing %d s: configured, built and tested' root "bash .ci/run" "$seconds")")
}

# A step that lacks packages must end at once with one line that, pasted, is enough.
run_as_newcomer() {  # CACHE
  local step output line pasted=0 fetched_before=0
  make_copy newcomer
  for step in "${steps[@]}"; do
    output=$(enter newcomer newcomer "$1" "COORDKIT_ONLY_PACKAGES=1 $step" 2>&1) && continue
    line=$(sed -n 's/^ *\(sudo apt-get .*\)$/\1/p' <<<"$output")
    [ -n "$line" ] || { say "FAILED: no line to paste, but:" "$output"; return 1; }
    say "as newcomer, $step asks for: $line"
    enter newcomer root "" "${line//sudo /}" >out/logs/fresh-paste.log 2>&1 || { say "FAILED: that line (out/logs/fresh-paste.log)"; return 1; }
    pasted=$((pasted + 1))
  done
  [ $pasted -gt 0 ] || { say "FAILED: nothing was missing on a machine that has nothing"; return 1; }
  for step in "${steps[@]}"; do run_step newcomer newcomer "$1" "$step" || return 1; done
}

cache=
if [ -z "$cold" ]; then
  cache=${CCACHE_DIR:-$PWD/out/ccache}
  mkdir -p "$cache"
fi
report=()
make_base
trap drop_copies EXIT
run_as_root "$cache" || exit 1
if [ -n "$cold" ]; then
  cache=$fresh/cache
  rm -rf --one-file-system "$cache"
  mv "$fresh/root$home/out/ccache" "$cache"
fi
chmod -R a+rwX "$cache"  # the newcomer writes there too
run_as_newcomer "$cache" || exit 1
[ -z "$cold" ] || rm -rf --one-file-system "$fresh/cache"
say "passed on a bare $name, $(nproc) processors; without the time for packages:"
printf '  %s\n' "${report[@]}"
