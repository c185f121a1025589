#!/usr/bin/env bash
# A real single-node Apache Kafka (KRaft) on loopback, for tests. Its jars come from
# tools/setup --tests.
#
#   kafka.sh start DIR PORT   format DIR when it is new, start, return when it is ready.
#                             The broker listens on PORT, its controller on PORT + 1.
#   kafka.sh start-node DIR   start again what stop or kill ended, with the same data
#   kafka.sh kill DIR [SIG]   send SIG (default KILL), return when the process is gone
#   kafka.sh stop DIR         shut down in order; KILL after 20 s
#   kafka.sh pid DIR          print the process id
#
# DIR holds everything: data, server.properties, server.log, pid.
# Environment: FRAZIL_DEPS (default: .deps of this repository), KAFKA_HEAP (512m),
# KAFKA_PROPERTIES (a file whose lines are appended to server.properties; the last wins),
# KAFKA_CLUSTER_ID (for nodes of one cluster; else a new one).
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
JARS=${FRAZIL_DEPS:-$ROOT/.deps}/kafka
READY_SECONDS=120
STOP_SECONDS=20
# A test broker lives for seconds: a quick start counts for more than peak speed.
JVM_OPTIONS=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Djava.awt.headless=true
  -Dorg.slf4j.simpleLogger.showDateTime=true -Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS)

fail() { echo "kafka.sh: $*" >&2; exit 1; }

write_properties() {  # DIR PORT
  cat > "$1/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$(($2 + 1))
listeners=PLAINTEXT://127.0.0.1:$2,CONTROLLER://127.0.0.1:$(($2 + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$2
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=$1/data
num.partitions=1
auto.create.topics.enable=false
delete.topic.enable=true
default.replication.factor=1
min.insync.replicas=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
# After kill -9 the controller takes the broker back only when the old session has ended.
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
# Deleted topics and records are gone at once, not after a minute.
log.segment.delete.delay.ms=1000
file.delete.delay.ms=1000
log.retention.check.interval.ms=1000
# Small: the machine is shared with what is tested.
num.network.threads=2
num.io.threads=4
log.cleaner.dedupe.buffer.size=16777216
PROPERTIES
  if [ -n "${KAFKA_PROPERTIES:-}" ]; then cat "$KAFKA_PROPERTIES" >> "$1/server.properties"; fi
}

format_storage() {  # DIR
  local id
  id=${KAFKA_CLUSTER_ID:-$(head -c 16 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')}
  java -Xmx256m "${JVM_OPTIONS[@]}" -cp "$JARS/*" kafka.tools.StorageTool format \
    --cluster-id="$id" --config "$1/server.properties" > "$1/format.log" 2>&1 \
    || { cat "$1/format.log" >&2; fail "could not format $1"; }
}

# A zombie counts as gone: in a container nobody may ever collect it.
is_alive() {  # DIR
  [ -f "$1/pid" ] || return 1
  local status
  status=$(cat "/proc/$(cat "$1/pid")/status" 2> /dev/null) || return 1
  ! grep -q '^State:.*zombie' <<< "$status"
}

# Starts the broker in a session of its own, so that a signal for the tests spares it,
# and waits for the line that it logs once it serves.
launch() {  # DIR
  local dir=$1 tick
  is_alive "$dir" && fail "$dir: already running as $(cat "$dir/pid")"
  touch "$dir/server.log"
  mv "$dir/server.log" "$dir/server.log.$(date +%s%N)"
  setsid java -Xms128m "-Xmx${KAFKA_HEAP:-512m}" "${JVM_OPTIONS[@]}" -cp "$JARS/*" \
    kafka.Kafka "$dir/server.properties" > "$dir/server.log" 2>&1 < /dev/null &
  echo $! > "$dir/pid"
  for ((tick = 0; tick < READY_SECONDS * 10; tick++)); do
    if grep -q 'Kafka Server started' "$dir/server.log"; then return 0; fi
    is_alive "$dir" || { tail -20 "$dir/server.log" >&2; fail "the broker ended while it started"; }
    sleep 0.1
  done
  fail "the broker was not ready within $READY_SECONDS s, see $dir/server.log"
}

wait_until_gone() {  # DIR SECONDS
  local tick
  for ((tick = 0; tick < $2 * 20; tick++)); do
    is_alive "$1" || { rm -f "$1/pid"; return 0; }
    sleep 0.05
  done
  return 1
}

start() {  # DIR PORT
  mkdir -p "$1"
  local dir
  dir=$(cd "$1" && pwd)
  [ -f "$JARS/.stamp" ] || fail "no Kafka in $JARS: run tools/setup --tests"
  write_properties "$dir" "$2"
  [ -f "$dir/data/meta.properties" ] || format_storage "$dir"
  launch "$dir"
}

start_node() {  # DIR
  [ -f "$1/server.properties" ] || fail "$1 was never started"
  launch "$(cd "$1" && pwd)"
}

end_node() {  # DIR SIGNAL SECONDS
  is_alive "$1" || fail "$1: no broker is running"
  kill -"$2" "$(cat "$1/pid")"
  wait_until_gone "$1" "$3"
}

stop() {  # DIR
  is_alive "$1" || { rm -f "$1/pid"; return 0; }
  end_node "$1" TERM $STOP_SECONDS || end_node "$1" KILL 5 || fail "$1: the broker does not end"
}

case ${1:-} in
  start) [ $# = 3 ] || fail "usage: start DIR PORT"; start "$2" "$3" ;;
  start-node) start_node "${2:?DIR}" ;;
  kill) end_node "${2:?DIR}" "${3:-KILL}" 20 || fail "$2: the broker is still there" ;;
  stop) stop "${2:?DIR}" ;;
  pid) cat "${2:?DIR}/pid" ;;
  *) sed -n '2,17s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
