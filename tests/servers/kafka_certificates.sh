#!/usr/bin/env bash
# Certificates for a Kafka with TLS, for tests: everything that is right, and what may be wrong with it.
#
#   kafka_certificates.sh DIR
#
# ca.pem            the authority that signed all below            other_ca.pem   one that signed none
# broker.pem        a broker's key and chain for localhost         other_host.pem the same for kafka.example.test
# expired.pem       the same as broker.pem, ended years ago
# client.pem, client.key, client_encrypted.key (password in client_key_password), client_keystore.p12 (same password)
# expired_client.pem, expired_client.key
set -euo pipefail

PASSWORD=canary-key-password

authority() {  # NAME
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem" \
    -addext basicConstraints=critical,CA:TRUE
}

# certificate NAME SUBJECT-ALTERNATIVE-NAMES FROM TO (times as YYYYMMDDhhmmssZ)
certificate() {
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
  openssl ca -batch -config ca.conf -name authority -in "$1.csr" -out "$1.crt" -notext -startdate "$3" -enddate "$4" \
    -extfile <(echo "subjectAltName=$2")
}

write_ca_conf() {
  : > ca_index
  echo "unique_subject = no" > ca_index.attr
  cat > ca.conf <<CONF
[authority]
database = ca_index
rand_serial = yes
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
[any]
commonName = supplied
CONF
}

make_all() {
  local day=86400 begin end past
  begin=$(date -u -d "@$(($(date +%s) - day))" +%Y%m%d%H%M%SZ)
  end=$(date -u -d "@$(($(date +%s) + 3650 * day))" +%Y%m%d%H%M%SZ)
  past=$(date -u -d "@$(($(date +%s) - 1000 * day))" +%Y%m%d%H%M%SZ)
  authority ca
  authority other_ca
  write_ca_conf
  certificate broker "DNS:localhost,IP:127.0.0.1" "$begin" "$end"
  certificate other_host "DNS:kafka.example.test" "$begin" "$end"
  certificate expired "DNS:localhost,IP:127.0.0.1" 20200101000000Z "$past"
  certificate client "DNS:client.example.test" "$begin" "$end"
  certificate expired_client "DNS:client.example.test" 20200101000000Z "$past"
  local name
  for name in broker other_host expired; do cat "$name.key" "$name.crt" ca.pem > "$name.pem"; done
  for name in client expired_client; do mv "$name.crt" "$name.pem"; done
  printf %s "$PASSWORD" > client_key_password
  openssl pkcs8 -topk8 -in client.key -out client_encrypted.key -passout "pass:$PASSWORD"
  openssl pkcs12 -export -in client.pem -inkey client.key -certfile ca.pem -out client_keystore.p12 -passout "pass:$PASSWORD"
}

[ $# = 1 ] || { sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
make_all > certificates.log 2>&1 || { tail -20 certificates.log >&2; exit 1; }
