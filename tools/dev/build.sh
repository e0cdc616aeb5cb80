# shellcheck shell=bash
# Presets are configured and built here, and programs run. ./dev reads this file.

jobs=${COORDKIT_JOBS:-$(nproc)}

planted() {  # the tree that the preset mutants is built from: this one with all of tests/proof/mutants in it
  build release coordkit-mutants
  logged "planting mutants" mutants-plant out/release/tools/coordkit-mutants plant --into out/mutants-src || give_up mutants-plant
}

build() {  # PRESET TARGET...: configures when needed, builds
  local preset=$1 source=. first=()
  shift
  # A first build finds in the cache what another checkout has built of the same files, or nothing: not worth preprocessing for.
  [ -d "out/$preset" ] || first=(env CCACHE_DEPEND=1)
  if [ "$preset" = mutants ]; then
    planted
    source=out/mutants-src
  fi
  if [ -z "${CCACHE_DIR:-}" ]; then
    export CCACHE_DIR=$PWD/out/ccache CCACHE_MAXSIZE=3G
  fi
  # The same files in another checkout are served from the cache too. Not from a path that a makefile has to quote: ccache keeps
  # it as it is in the list of dependencies, and another checkout would depend on this one's files.
  export CCACHE_IGNOREOPTIONS='--param=ggc*'
  case $PWD in
    *[!A-Za-z0-9/._-]*) ;;
    *) export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1 ;;
  esac
  logged "configuring $preset" "$preset-configure" cmake --preset "$preset" -S "$source" -B "out/$preset" || give_up "$preset-configure"
  logged "building $preset" "$preset-build" "${first[@]}" cmake --build "out/$preset" -j "$jobs" --target "$@" && return 0
  # The compiler's words, not ninja's count of what else went well.
  grep -vE '^\[[0-9]+/[0-9]+\]' "$(log_of "$preset-build")" | head -n 60 >&2
  fail "the build failed; the whole log is $(log_of "$preset-build")"
}

need_for() {  # PRESET GROUP...: these groups, and the compiler the preset asks for
  local preset=$1
  shift
  case $preset in
    tsan | fuzz | clang | syntax) need build clang "$@" ;;
    dev | asan | coverage | release | bench | mutants | unoptimised) need build "$@" ;;
    *) fail "there is no preset $preset; see ./dev help" ;;
  esac
}

program() {  # PRESET TARGET PATH ARGS...: builds one program and becomes it
  local preset=$1 target=$2 path=$3
  shift 3
  build "$preset" "$target"
  exec "out/$preset/$path" "$@"
}
