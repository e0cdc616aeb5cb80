#!/usr/bin/env bash
# The steps of a Dockerfile, without Docker: each FROM is a bare root of that Debian, each RUN a shell line inside it, each COPY a copy.
#
#   dockerfile.sh TREE DOCKERFILE FOLDER
#
# The stages are left in FOLDER/NAME, the last one in FOLDER/image with the words of its ENTRYPOINT in FOLDER/entrypoint and its user in
# FOLDER/user. The compiler cache CCACHE_DIR, if set, is lent to the build. Exit code 77 where this cannot be done: it takes root,
# mmdebstrap and the right to mount. Knows FROM, RUN, COPY, USER, VOLUME, EXPOSE and ENTRYPOINT, and refuses any other word.
set -euo pipefail
tree=$1 dockerfile=$2 folder=$3
skip() { printf 'skipped: %s\n' "$*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "a bare Debian is made and entered by root only"
command -v mmdebstrap >/dev/null || skip "there is no mmdebstrap"
unshare --mount --pid --fork true 2>/dev/null || skip "this machine does not let us mount"

base_of() {  # SUITE: the bare root of it, made once
  local base=$folder/base-$1 setting
  if [ ! -x "$base/usr/bin/apt-get" ]; then
    rm -rf --one-file-system "$base"
    mmdebstrap --quiet --variant=minbase --include=ca-certificates,passwd "$1" "$base" >"$folder/base.log" 2>&1 ||
      { rm -rf --one-file-system "$base"; skip "mmdebstrap failed ($folder/base.log)"; }
    # How packages are fetched here, and nothing else of this machine.
    cp /etc/resolv.conf "$base/etc/resolv.conf" 2>/dev/null || true
    for setting in /etc/apt/apt.conf.d/*; do
      if grep -qE '^ *Acquire::' "$setting"; then cp "$setting" "$base/etc/apt/apt.conf.d/"; fi
    done
  fi
}

enter() {  # ROOT USER COMMAND...
  local root=$1 user=$2 settings=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
  shift 2
  mapfile -t -O "${#settings[@]}" settings < <(env | grep -iE '^(https?|no|all)_proxy=' || true)
  if [ -n "${CCACHE_DIR:-}" ] && [ -x "$root/usr/bin/ccache" ]; then
    mkdir -p "$root/ccache"
    settings+=(CCACHE_DIR=/ccache CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=/coordkit "CCACHE_IGNOREOPTIONS=--param=ggc*")
  fi
  # shellcheck disable=SC2016  # the words are for the inner shell
  unshare --mount --pid --fork --kill-child --propagation private bash -euc '
    root=$1 cache=$2 user=$3 count=$4
    shift 4
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    if [ -n "$cache" ] && [ -d "$root/ccache" ]; then mount --bind "$cache" "$root/ccache"; fi
    exec chroot "$root" setpriv --reuid "$user" --init-groups --reset-env env "${@:1:count}" "${@:count+1}"' \
    enter "$root" "${CCACHE_DIR:-}" "$user" "${#settings[@]}" "${settings[@]}" "$@" </dev/null
}

mkdir -p "$folder"
user=root stage="" number=0 lines=()
mapfile -t lines < <(sed -e '/^ *#/d' -e :more -e '/\\$/{N;s/\\\n//;b more' -e '}' "$dockerfile" | sed '/^ *$/d')
for line in "${lines[@]}"; do
  read -r -a words <<<"$line"
  case ${words[0]} in
    FROM)
      number=$((number + 1))
      stage=$folder/${words[3]:-image}
      user=root
      base_of "${words[1]#debian:}"
      rm -rf --one-file-system "$stage"
      cp -a --reflink=auto "$folder/base-${words[1]#debian:}" "$stage"
      if [ -n "${CCACHE_DIR:-}" ] && [ "${words[2]:-}" = AS ]; then
        enter "$stage" root sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends ccache >/dev/null'
      fi ;;
    RUN) enter "$stage" "$user" sh -c "${line#RUN }" ;;
    COPY)
      target=$stage${words[-1]}
      mkdir -p "$target"
      case ${words[1]} in
        --from=*) for path in "${words[@]:2:${#words[@]}-3}"; do cp -a "$folder/${words[1]#--from=}$path" "$target"; done ;;
        .) (cd "$tree" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
          [ ! -e "$file" ] || printf '%s\0' "$file"; done | tar --create --null --files-from=-) | tar --extract --directory "$target" ;;
        *) printf 'dockerfile.sh: only COPY . and COPY --from= are known: %s\n' "$line"; exit 1 ;;
      esac ;;
    USER) user=${words[1]} ;;
    VOLUME | EXPOSE) ;;
    ENTRYPOINT) printf '%s\n' "${line#ENTRYPOINT }" | tr -d '[]",' >"$folder/entrypoint" ;;
    *) printf 'dockerfile.sh: %s is not known\n' "${words[0]}"; exit 1 ;;
  esac
done
printf '%s' "$user" >"$folder/user"
[ "$stage" = "$folder/image" ] || { printf 'dockerfile.sh: the last stage must have no name\n'; exit 1; }

# The image's program, as a cluster of one: ready, then told to end. coordctl is there too.
install -d "$folder/image/tmp/settings"
printf 'one secret that nobody else in the world knows' >"$folder/image/tmp/settings/secret"
chmod -R a+rX "$folder/image/tmp/settings"
enter "$folder/image" "$user" coordctl --help >/dev/null
# shellcheck disable=SC2016
enter "$folder/image" "$user" env POD_NAME=ledger-0 CLUSTER=ledger "MEMBERS=127.0.0.1:0" DATA=/var/lib/ledger/replica SECRET_FILE=/tmp/settings/secret \
  HTTP=127.0.0.1:18080 "PROGRAM=$(cat "$folder/entrypoint")" bash -c '
  $PROGRAM & program=$!
  for i in $(seq 600); do
    kill -0 $program || exit 1
    if exec 3<>/dev/tcp/127.0.0.1/18080; then
      printf "GET /ready HTTP/1.0\r\n\r\n" >&3
      read -r status <&3
      exec 3>&-
      case $status in *" 200 "*) break ;; esac
    fi 2>/dev/null
    sleep 0.1
  done
  echo "ready: $status"
  kill -TERM $program
  wait $program'
