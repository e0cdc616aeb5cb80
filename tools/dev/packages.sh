# shellcheck shell=bash
# Debian's packages: which are missing, and how they get here. ./dev reads this file.

# The one list of packages, by what needs them. Of "a|b" one is enough: if none is installed, the first that the suite at hand has.
# Boost: coordkit::asio and its tests want 1.81, which Debian 12 has beside its default of 1.74; the library takes either, so a
# machine with the default keeps it. Formatting is clang-format-14's; clang-tidy may be of any version.
declare -A packages=(
  [build]="g++ cmake ninja-build ccache mold libabsl-dev libboost1.81-dev|libboost-dev|libboost1.74-dev libfmt-dev liblmdb-dev
           libxxhash-dev libprotozero-dev libssl-dev"
  [programs]="libcli11-dev nlohmann-json3-dev"
  [test]="libgtest-dev libgmock-dev librapidcheck-dev libsqlite3-dev libyaml-cpp-dev pkg-config git"
  [bench]="libbenchmark-dev libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc libzookeeper-mt-dev"
  [clang]="clang libclang-rt-dev"
  [format]="git clang-format-14|clang-format"
  [lint]="git clang-tidy-14|clang-tidy shellcheck"
  [browser]="chromium"
  [docs]="mkdocs mkdocs-material doxygen"
  [fresh]="mmdebstrap"
  [arm64]="g++-aarch64-linux-gnu qemu-user mmdebstrap"
  # Fetched and unpacked below out/, never installed: etcd-server (./dev test differential, ./dev bench), redis-server and
  # libzookeeper-java with what they need (./dev bench).
)

installed() {  # A|B...: whether one of these packages is
  local package
  for package in ${1//|/ }; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ] || return 0
  done
  return 1
}

missing_of() {  # GROUP...: the packages of these groups that are not installed
  local group package
  for group in "$@"; do
    for package in ${packages[$group]}; do installed "$package" || printf '%s\n' "$package"; done
  done | sort -u
}

need() {  # GROUP...: installs what is missing, or says how
  command -v dpkg-query >/dev/null || return 0  # not Debian: CMake says what it misses
  local missing wanted install as_root=()
  mapfile -t missing < <(missing_of "$@")
  if [ ${#missing[@]} -eq 0 ]; then
    [ -z "${COORDKIT_ONLY_PACKAGES:-}" ] || exit 0
    return 0
  fi
  # As a package states its dependencies: apt takes the first of several that it knows.
  wanted=$(printf '%s, ' "${missing[@]}")
  wanted=${wanted%, }
  wanted=${wanted//|/ | }
  install=(apt-get satisfy --yes --no-install-recommends --no-remove "$wanted")
  if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      say "dev: packages are missing and this user cannot install them; paste this line, then try again:" "" \
        "  sudo apt-get update && sudo ${install[*]:0:5} '$wanted'" >&2
      exit 1
    fi
    as_root=(sudo -n)
  fi
  say "installing: ${missing[*]}" >&2
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  # The package list may be absent or too old; only then is it worth the time to fetch it.
  logged "installing packages" install "${as_root[@]}" "${install[@]}" && return 0
  logged "fetching the package list" install-update "${as_root[@]}" apt-get update || give_up install-update
  logged "installing packages" install "${as_root[@]}" "${install[@]}" || give_up install
}
