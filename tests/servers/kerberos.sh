#!/usr/bin/env bash
# A Kerberos realm of its own (EXAMPLE.COM) on loopback, for tests. Needs Debian's krb5-kdc and krb5-user.
#
#   kerberos.sh start DIR PORT PRINCIPAL...   make the realm and the principals, start its KDC on PORT
#   kerberos.sh stop DIR                      end it
#
# DIR gets krb5.conf (for KRB5_CONFIG), one keytab for each principal (kafka/localhost → kafka.keytab), kdc.log, kdc.pid.
set -euo pipefail

READY_SECONDS=30
PATH=$PATH:/usr/sbin

fail() { echo "kerberos.sh: $*" >&2; exit 1; }

write_configuration() {  # DIR PORT
  # No name service is asked, for anything: "localhost" stays localhost.
  cat > "$1/krb5.conf" <<CONF
[libdefaults]
 default_realm = EXAMPLE.COM
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 EXAMPLE.COM = {
  kdc = 127.0.0.1:$2
 }
[domain_realm]
 localhost = EXAMPLE.COM
CONF
  cat > "$1/kdc.conf" <<CONF
[kdcdefaults]
 kdc_listen = 127.0.0.1:$2
 kdc_tcp_listen = 127.0.0.1:$2
[realms]
 EXAMPLE.COM = {
  database_name = $1/principals
  key_stash_file = $1/stash
  acl_file = $1/acl
  supported_enctypes = aes256-cts-hmac-sha1-96:normal
 }
CONF
}

# As the brokers of the tests do: up when the port answers.
wait_until_ready() {  # DIR PORT
  local tick
  for ((tick = 0; tick < READY_SECONDS * 20; tick++)); do
    if (exec 3<> "/dev/tcp/127.0.0.1/$2") 2> /dev/null; then return 0; fi
    kill -0 "$(cat "$1/kdc.pid")" 2> /dev/null || { cat "$1/kdc.log" >&2; fail "the KDC ended while it started"; }
    sleep 0.05
  done
  fail "the KDC was not ready within $READY_SECONDS s"
}

start() {  # DIR PORT PRINCIPAL...
  command -v krb5kdc > /dev/null || fail "krb5kdc is missing: run tools/setup --tests"
  mkdir -p "$1"
  local dir port=$2 principal name
  dir=$(cd "$1" && pwd)
  shift 2
  write_configuration "$dir" "$port"
  export KRB5_CONFIG=$dir/krb5.conf KRB5_KDC_PROFILE=$dir/kdc.conf
  kdb5_util create -s -r EXAMPLE.COM -P of-no-importance > "$dir/create.log" 2>&1 || { cat "$dir/create.log" >&2; exit 1; }
  for principal in "$@"; do
    name=${principal%%/*}
    kadmin.local -q "addprinc -randkey $principal" >> "$dir/create.log" 2>&1
    kadmin.local -q "ktadd -k $dir/$name.keytab $principal" >> "$dir/create.log" 2>&1
    [ -s "$dir/$name.keytab" ] || { cat "$dir/create.log" >&2; fail "no keytab for $principal"; }
  done
  setsid krb5kdc -n > "$dir/kdc.log" 2>&1 < /dev/null &
  echo $! > "$dir/kdc.pid"
  wait_until_ready "$dir" "$port"
}

stop() {  # DIR
  [ -f "$1/kdc.pid" ] || return 0
  kill "$(cat "$1/kdc.pid")" 2> /dev/null || true
  rm -f "$1/kdc.pid"
}

case ${1:-} in
  start) [ $# -ge 4 ] || fail "usage: start DIR PORT PRINCIPAL..."; shift; start "$@" ;;
  stop) stop "${2:?DIR}" ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
