# shellcheck shell=bash
# ./dev bench. ./dev reads this file.

bench_command() {
  local preset=${preset:-bench} programs
  if [ "${1:-}" = against ]; then
    shift
    against_command "$@"
    return
  fi
  need_for "$preset" programs bench
  if [ "${1:-}" = micro ]; then
    shift
    program "$preset" coordkit-micro bench/micro/coordkit-micro "$@"
  fi
  case " $* " in
    " kv "*--beside* | *" --help "*) ;;
    " kv "*) set -- "$@" --beside etcd ;;
  esac
  mapfile -t programs < <(peer_programs "$@")
  program "$preset" coordkit-bench bench/coordkit-bench "$@" "${programs[@]}"
}

# The same suite by two builds in turns, so that a slow minute spoils a round of both.
against_command() {  # REVISION SUITE ARGS...
  local source=out/against/source build=out/against/build lines=out/against rounds=3 round revision commit arguments=()
  [ $# -ge 2 ] || fail "bench against takes a revision and a suite: ./dev bench against HEAD~1 lock --kind lock"
  revision=$1
  shift
  commit=$(git rev-parse --quiet --verify "$revision^{commit}") || fail "no such revision: $revision"
  while [ $# -gt 0 ]; do
    case $1 in
      --rounds)
        rounds=${2:?--rounds needs a number}
        shift ;;
      --json) ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  need_for "$preset" programs bench
  build "$preset" coordkit-bench
  if [ "$(cat out/against/commit 2>/dev/null)" != "$commit" ]; then
    rm -rf "$source"
    mkdir -p "$source"
    git archive "$commit" | tar -xm -C "$source"  # all of it new: the build must not take an older file for one it knows
    printf '%s\n' "$commit" >out/against/commit
  fi
  logged "configuring $revision" against-configure cmake --preset "$preset" -S "$source" -B "$build" || give_up against-configure
  CCACHE_BASEDIR=$PWD/$source CCACHE_NOHASHDIR=1 \
    logged "building $revision" against-build cmake --build "$build" -j "$jobs" --target coordkit-bench || give_up against-build
  : >"$lines/then"
  : >"$lines/now"
  for ((round = 1; round <= rounds; round++)); do
    attended "$build/bench/coordkit-bench" "${arguments[@]}" --json >>"$lines/then"
    attended "out/$preset/bench/coordkit-bench" "${arguments[@]}" --json >>"$lines/now"
  done
  exec "out/$preset/bench/coordkit-bench" compare "$lines/then" "$lines/now"
}
