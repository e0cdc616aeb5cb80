#!/usr/bin/env bash
# Builds for 64-bit ARM and runs the result under qemu. `./dev arm64` runs this.
#
#   arm64.sh PACKAGES [--runs N] [FOLDER...]
#
# PACKAGES: the -dev packages to link, in one word, separated by spaces. FOLDER: folders of tests/ (default: those below). The
# compiler is g++ for aarch64; the libraries are Debian's arm64 packages, unpacked below out/arm64/root and never installed. Then
# the simulator runs N seeds (default 200) of several profiles here and under qemu, and the hashes of their traces must be equal.
# It ends with one line for each, and fails if a test fails or a hash differs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

packages=$1
shift
runs=200
if [ "${1:-}" = --runs ]; then
  runs=$2
  shift 2
fi
folders=("$@")
[ $# -gt 0 ] || folders=(base raft log mvcc lease lock coordination machine engine client storage transport backup check)
profiles=(swarm membership disks leases locks)

root=$PWD/out/arm64/root
build=out/arm64/build
mkdir -p out/arm64 out/logs

step() {  # LOG COMMAND...: with its output in that log, whose end is shown if it fails
  local log=out/logs/arm64-$1.log
  shift
  "$@" >"$log" 2>&1 </dev/null || { tail -n 40 "$log" >&2; printf 'arm64: failed; the whole log is %s\n' "$log" >&2; exit 1; }
}

sources() {  # of this machine's Debian
  local file
  for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    if [ -s "$file" ]; then
      printf '%s\n' "$file"
      return
    fi
  done
  printf 'arm64: no sources of Debian packages are known on this machine\n' >&2
  return 1
}

if [ "$(cat out/arm64/packages 2>/dev/null)" != "$packages" ]; then
  rm -rf --one-file-system "$root"
  step root mmdebstrap --variant=extract --architectures=arm64 --include="libc6-dev ${packages}" \
    "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" "$root" "$(sources)"
  printf '%s' "$packages" >out/arm64/packages
fi

targets=(coordkit-sim)
for folder in "${folders[@]}"; do targets+=("test_$folder"); done
step configure cmake --preset dev -B "$build" --toolchain cmake/arm64.cmake
step build cmake --build "$build" -j "${COORDKIT_JOBS:-$(nproc)}" --target "${targets[@]}"

failed=0
# qemu applies no limit of address space to what it runs, so a test that sets one finds nothing short.
ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error --no-label-summary \
  -E WithoutAddressSpace -L "^($(IFS='|'; printf '%s' "${folders[*]}"))\$" >out/logs/arm64-test.log 2>&1 || failed=1
grep -E '^[0-9]+% tests passed' out/logs/arm64-test.log || tail -n 20 out/logs/arm64-test.log
[ $failed -eq 0 ] || sed -n '/^The following tests FAILED/,$p' out/logs/arm64-test.log

hash_of() {  # PROFILE COMMAND...: the simulator
  local profile=$1
  shift
  "$@" --runs "$runs" --profile "$profile" --jobs "$(nproc)" --trace "" --json | sed -n 's/.*"trace_hash":"\([^"]*\)".*/\1/p'
}
for profile in "${profiles[@]}"; do
  here=$(hash_of "$profile" out/dev/tools/coordkit-sim)
  there=$(hash_of "$profile" qemu-aarch64 -L "$root" "$build/tools/coordkit-sim")
  printf '%-12s %s runs: %s here, %s on arm64\n' "$profile" "$runs" "${here:-none}" "${there:-none}"
  if [ -z "$here" ] || [ "$here" != "$there" ]; then failed=1; fi
done
exit $failed
