# shellcheck shell=bash
# ./dev fmt and lint. ./dev reads this file.

need_git() { git rev-parse --git-dir >/dev/null || fail "$1 needs a checkout of git, which says what belongs to the tree"; }

sources() {  # tracked or about to be, and still there
  git ls-files --cached --others --exclude-standard '*.h' '*.cc' | while IFS= read -r file; do
    [ ! -f "$file" ] || printf '%s\n' "$file"
  done
}

formatter() {  # the program that formats: another version breaks other lines, so the tree has one
  local program
  for program in clang-format-14 clang-format; do
    ! "$program" --version 2>/dev/null | grep -q 'version 14\.' || { printf '%s\n' "$program"; return; }
  done
  return 1
}

fmt_command() {
  local program
  need format
  need_git fmt
  program=$(formatter) || fail "fmt needs clang-format 14, the version that formats this tree; $(clang-format --version) is here"
  case ${1:-} in
    "") sources | xargs -r -d '\n' "$program" -i ;;
    --check) sources | xargs -r -d '\n' "$program" --dry-run --Werror ;;
    *) fail "fmt takes --check or nothing" ;;
  esac
}

changed_sources() {  # against the branch this work started from, uncommitted files included
  local base
  base=$(git merge-base HEAD origin/HEAD 2>/dev/null || git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
  { git diff --name-only --diff-filter=d "$base" -- '*.h' '*.cc'; git ls-files --others --exclude-standard '*.h' '*.cc'; } | sort -u
}

lint_command() {
  local preset=${preset:-dev} files sources program unformatted code=0
  need build programs test clang format lint
  need_git lint
  case ${1:-} in
    "") mapfile -t files < <(sources) ;;
    --changed) mapfile -t files < <(changed_sources) ;;
    *) files=("$@") ;;
  esac
  build "$preset" test_house
  if program=$(formatter); then
    say "format"
    # None of them may have changed, and what prints nothing prints a line.
    unformatted=$([ ${#files[@]} -eq 0 ] || printf '%s\n' "${files[@]}" | xargs -r -d '\n' "$program" --dry-run 2>&1 |
      sed -n 's/:[0-9]*:[0-9]*: warning: .*//p' | sort -u)
  else
    unformatted=
    say "format: not looked at; the tree is formatted by clang-format 14, and $(clang-format --version) is here"
  fi
  [ -z "$unformatted" ] || { code=1; say "./dev fmt would change:" "$unformatted" >&2; }
  say "shell"
  shellcheck --external-sources dev .ci/run tools/dev/commit-msg tools/fresh/fresh.sh tools/arm64/arm64.sh tests/system/examples/quick_start.sh tests/system/examples/three_processes.sh tests/system/install/dockerfile.sh || code=1
  say "floors"
  logged "floors" lint-floors "out/$preset/tests/house/test_house" || { code=1; grep -A 20 ': Failure' out/logs/lint-floors.log >&2; }
  say "clang and clang-tidy"
  logged "configuring syntax" syntax-configure cmake --preset syntax || give_up syntax-configure
  mapfile -t sources < <(including "${files[@]}")
  logged "reading" lint-syntax syntax "${sources[@]}" || { code=1; grep -E '(warning|error):' -A 3 out/logs/lint-syntax.log >&2 || cat out/logs/lint-syntax.log >&2; }
  [ $code -eq 0 ] || fail "lint found something"
  say "lint: clean"
}

including() {  # FILE...: the sources among these, and those that include one of the headers among these by name
  local file
  for file in "$@"; do
    printf '%s\n' "$file"
    case $file in
      include/*.h) git grep -lF "\"${file#include/}\"" -- '*.cc' ;;
      src/*.h | verify/*.h) git grep -lF "\"${file#*/}\"" -- '*.cc' ;;
      *.h) git grep -lF "\"$file\"" -- '*.cc' ;;
    esac
  done | grep '\.cc$' | sort -u
}

# What clang has read and what has not changed since is not read again: each of these sources by itself, and with clang-tidy the
# units (docs/decisions/0014) that they belong to.
syntax() {  # FILE...
  local objects
  mapfile -t objects < <(awk -F '"' -v top="$PWD/" -v wanted="$(printf '%s\n' "$@")" '
    BEGIN {count = split(wanted, files, "\n"); for (i = 1; i <= count; ++i) want[top files[i]] = 1}
    function holds(unit, line, words) {
      while ((getline line < unit) > 0) if (split(line, words, "\"") == 3 && words[2] in want) {close(unit); return 1}
      close(unit)
      return 0
    }
    $2 == "file" {file = $4}
    $2 != "output" || $4 !~ /[.]o$/ {next}
    file ~ /[/]Unity[/]unity_/ {if (holds(file)) print $4; next}
    file in want && ($4 !~ /_each[.]dir/ || !tidied[file]) {print $4; tidied[file] = 1}' <(ninja -C out/syntax -t compdb))
  [ ${#objects[@]} -eq 0 ] || ninja -C out/syntax -k 0 -j "$jobs" "${objects[@]}"
}
