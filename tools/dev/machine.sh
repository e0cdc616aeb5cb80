# shellcheck shell=bash
# ./dev fresh, arm64 and doctor: other machines, and this one. ./dev reads this file.

fresh_command() {
  [ "$(id -u)" -ne 0 ] || need fresh
  exec tools/fresh/fresh.sh "$@"
}

arm64_command() {
  local choice package libraries=()
  need_for dev programs test arm64
  for choice in ${packages[build]} ${packages[programs]} ${packages[test]}; do
    for package in ${choice//|/ }; do
      installed "$package" || continue
      case $package in *-dev) libraries+=("$package") ;; esac
      break
    done
  done
  build dev coordkit-sim
  exec tools/arm64/arm64.sh "${libraries[*]}" "$@"
}

doctor_command() {
  local tool group package line filesystem
  for tool in g++ clang++ cmake ninja ccache mold clang-format-14 clang-format clang-tidy git; do
    line=$("$tool" --version 2>/dev/null | head -n 1) || true
    printf '%-16s %s\n' "$tool" "${line:-missing}"
  done
  for group in build programs test bench clang format lint browser docs fresh arm64; do
    line=
    for package in ${packages[$group]}; do installed "$package" || line+=" $package"; done
    [ -z "$line" ] && line=complete || line="missing:$line (the commands install them)"
    printf '%-16s %s\n' "packages: $group" "$line"
  done
  filesystem=$(stat -f -c %T .)
  printf '%-16s %s\n' cores "$(nproc)"
  printf '%-16s %s on %s\n' "free disk" "$(df -h --output=avail . | tail -n 1 | tr -d ' ')" "$filesystem"
  case $filesystem in
    tmpfs | ramfs) say "warning: out/ is in memory; a sync costs nothing here, so durable figures from this place mean nothing" ;;
  esac
}
