# shellcheck shell=bash
# ./dev test, mutants and determinism. ./dev reads this file.

table_command() {  # NAME [ID]: the rows of docs/NAME.md and the tests that cover them, or the tests of one id; builds nothing
  local files
  mapfile -t files < <(find tests src verify include/coordkit/testing -name '*.cc' -o -name '*.h' -o -path 'tests/proof/scenarios/*.txt' -o -path 'tests/proof/mutants/*.txt' | LC_ALL=C sort)
  awk -f tests/proof/house/covered.awk -v table="docs/$1.md" -v only="${2:-}" "docs/$1.md" "${files[@]}"
}

table_of() {  # ID: the document with its row
  case $1 in
    REG_*) echo regressions ;;
    FLT_*) echo faults ;;
    INV_*) echo invariants ;;
    S-[0-9]*) echo semantics ;;
    T[0-9]* | LT-[0-9]*) echo time ;;
  esac
}

tests_of() {  # ID: the tests that cover it, as a regular expression of ctest
  local names
  names=$(table_command "$(table_of "$1")" "$1") || return
  [ -n "$names" ] || fail "no test covers $1"
  names=${names//$'\n'/|}
  printf '(^|/)(%s)(/|$)' "${names//./\\.}"
}

differential_command() {
  local etcd
  need_for "${preset:-dev}" programs test
  if ! etcd=$(etcd_program); then
    say "skipped: etcd is not installed, and the package etcd-server cannot be fetched (out/logs/etcd.log)"
    return
  fi
  program "${preset:-dev}" coordkit-differential tools/coordkit-differential --etcd "$etcd" "$@"
}

# Three real processes of an older build, exchanged one after the other for this tree's (docs/upgrading.md).
upgrade_command() {
  local preset=${preset:-dev} source=out/older/source build=out/older/build
  [ $# -eq 1 ] || fail "test upgrade takes a revision: the older build"
  git rev-parse --quiet --verify "$1^{commit}" >/dev/null || fail "no such revision: $1"
  need_for "$preset" programs test
  build "$preset" test_runbooks_full
  rm -rf "$source"
  mkdir -p "$source"
  git archive "$1" | tar -x -C "$source"
  logged "configuring $1" older-configure cmake --preset "$preset" -S "$source" -B "$build" || give_up older-configure
  CCACHE_BASEDIR=$PWD/$source CCACHE_NOHASHDIR=1 \
    logged "building $1" older-build cmake --build "$build" -j "$jobs" --target deployment_member || give_up older-build
  COORDKIT_OLDER_MEMBER=$PWD/$build/tests/deployment/deployment_member "out/$preset/tests/runbooks/test_runbooks_full" --gtest_filter='UpgradeTest.*'
}

is_test_folder() { [ -d "tests/unit/$1" ] || [ -d "tests/proof/$1" ] || [ -d "tests/system/$1" ]; }

labels_in() {  # FOLDER: the names of the folders in it, as a regular expression
  local names=("$1"/*/)
  names=("${names[@]%/}")
  (IFS='|'; printf '%s' "${names[*]##*/}")
}

test_command() {
  case ${1:-} in
    differential | upgrade)
      local which=$1
      shift
      "${which}_command" "$@"
      return ;;
  esac
  local preset=${preset:-dev} what=${1:-all} select log code=0
  [ $# -le 1 ] || fail "test takes one argument: quick, full or a name"
  case $what in
    regressions | faults | invariants | semantics | time) table_command "$what"; return ;;
    all) select=(-LE '-full$') ;;
    quick) select=(-LE '-(slow|full)$') ;;
    full) select=() ;;
    REG_?* | FLT_?* | INV_?* | S-[0-9]* | T[0-9]* | LT-[0-9]*) select=(-R "$(tests_of "$what")") || return ;;
    unit | proof | system) select=(-L "^($(labels_in "tests/$what"))(-|\$)") ;;
    *) if is_test_folder "$what"; then select=(-L "^$what(-|\$)"); else select=(-R "$what"); fi ;;
  esac
  need_for "$preset" programs test
  case $what in full | system | browser) need browser ;; esac
  case $what in full | system | docs) need docs ;; esac
  build "$preset" all
  log=$(log_of "$preset-test")
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=\'$PWD/tests/tsan.supp\'}
  # Three more than there are processors: many tests wait for a while.
  logged "testing $preset" "$preset-test" ctest --test-dir "out/$preset" -j $((jobs + 3)) --output-on-failure --no-tests=error \
    --no-label-summary "${select[@]}" || code=$?
  if [ $code -ne 0 ]; then
    # The blocks of the failed tests only, then ctest's list of them.
    awk '/^ *[0-9]+\/[0-9]+ Test +#/ {show = !/ Passed |[*]Skipped /} /^ +Start +[0-9]+:/ {show = 0} /^[0-9]+% tests passed/ {show = 0} show' "$log" |
      head -n 200 >&2 || true  # awk may still be writing
    sed -n '/^The following tests FAILED/,/^$/p; /^No tests were found/p' "$log" >&2
    say "the whole log is $log" >&2
  fi
  grep -E '^[0-9]+% tests passed' "$log" || true
  return $code
}

determinism_command() {  # RUNS: of each profile in each build
  local runs=${1:-40} builds=(release unoptimised dev asan clang) profiles=(swarm membership disks leases locks)
  local preset profile hash hashes expected="" same=0
  for preset in "${builds[@]}"; do
    need_for "$preset" programs
    build "$preset" coordkit-sim
    hashes=""
    for profile in "${profiles[@]}"; do
      attended "out/$preset/tools/coordkit-sim" --runs "$runs" --profile "$profile" --jobs "$jobs" --trace "" --json >"$(log_of hash)"
      hash=$(sed -n 's/.*"trace_hash":"\([^"]*\)".*/\1/p' "$(log_of hash)")
      [ -n "$hash" ] || fail "$preset: the runs of $profile did not end with a hash"
      hashes+=" $profile $hash"
    done
    [ -n "$expected" ] || expected=$hashes
    [ "$hashes" != "$expected" ] || same=$((same + 1))
    printf '%-12s%s\n' "$preset" "$hashes"
  done
  say "$same of ${#builds[@]} builds agree on ${#profiles[@]} times $runs runs"
  [ "$same" -eq ${#builds[@]} ]
}

# Each must be killed by its directed test, those that break safety by random simulation as well (tools/mutants).
mutants_command() {
  local targets
  need_for mutants programs test
  build release coordkit-mutants
  case " $* " in *" --help "* | *" -h "*) exec out/release/tools/coordkit-mutants try --help ;; esac
  mapfile -t targets < <(out/release/tools/coordkit-mutants try --targets "$@")
  [ ${#targets[@]} -gt 0 ] || exit 1
  build mutants "${targets[@]}"
  exec out/release/tools/coordkit-mutants try --jobs "$jobs" "$@"
}
