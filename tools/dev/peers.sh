# shellcheck shell=bash
# Peers that coordkit is compared with: etcd, Redis and ZooKeeper, unpacked below out/ and never installed. ./dev reads this file.

unpacked() {  # NAME PACKAGE...: the packages' files in out/NAME, not installed
  local name=$1
  shift
  [ ! -e "out/$name/unpacked" ] || return 0
  mkdir -p "out/$name" out/logs
  (
    cd "out/$name" || exit 1
    apt-get download "$@" || exit 1
    for package in *.deb; do dpkg -x "$package" . || exit 1; done
    touch unpacked
  ) >"$(log_of "$name")" 2>&1
}

etcd_program() {  # where etcd is: on the path, or the package's
  command -v etcd && return
  unpacked etcd etcd-server || return 1
  printf '%s\n' "$PWD/out/etcd/usr/bin/etcd"
}

redis_program() {  # the same of redis-server, with the libraries it needs
  command -v redis-server && return
  unpacked redis redis-server redis-tools libjemalloc2 liblua5.1-0 liblzf1 lua-bitop lua-cjson || return 1
  local libraries=("$PWD"/out/redis/usr/lib/*-linux-gnu)
  printf '#!/usr/bin/env bash\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "${libraries[0]}" "$PWD/out/redis/usr/bin/redis-server" >out/redis/run
  chmod +x out/redis/run
  printf '%s\n' "$PWD/out/redis/run"
}

zookeeper_classes() {  # the class path of its server
  local jar classes=
  command -v java >/dev/null || return 1
  unpacked zookeeper libzookeeper-java libnetty-java libslf4j-java libdropwizard-metrics-java libsnappy-java libcommons-cli-java \
    liblog4j1.2-java libjackson2-core-java libjackson2-databind-java libjackson2-annotations-java || return 1
  for jar in zookeeper zookeeper-jute netty-all slf4j-api slf4j-simple metrics-core snappy-java commons-cli log4j-1.2 jackson-core \
    jackson-databind jackson-annotations; do
    classes+=$PWD/out/zookeeper/usr/share/java/$jar.jar:
  done
  printf '%s\n' "${classes%:}"
}

peer_programs() {  # ARGS...: of the benchmark; the options that name the programs of the peers that they ask for
  local peers=" " argument previous='' found
  for argument in "$@"; do
    case $previous in --beside) peers+="${argument//,/ } " ;; esac
    case $argument in --beside=*) peers+="${argument#--beside=} " ;; --help | --from) return 0 ;; esac
    previous=$argument
  done
  [ "${1:-}" != table ] || peers=" etcd redlock zookeeper "
  case $peers in *" etcd "*) if found=$(etcd_program); then printf '%s\n' --etcd "$found"; fi ;; esac
  case $peers in *" redlock "*) if found=$(redis_program); then printf '%s\n' --redis-server "$found"; fi ;; esac
  case $peers in *" zookeeper "* | *" zookeeper-lean "*) if found=$(zookeeper_classes); then printf '%s\n' --zookeeper "$found"; fi ;; esac
}
