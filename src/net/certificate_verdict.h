// What is wrong with a certificate, in words that say what to do. For clients that get a certificate's bytes and OpenSSL's
// verdict from a library (librdkafka). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace frazil::net {

// `der`: the certificate as DER; `verify_error`: OpenSSL's X509_V_ERR_… code, not 0; `depth`: its place in the chain, 0 for the
// server's own. Example: "its certificate (CN = broker) is
// for another host: it names DNS:kafka.example.com". Bytes that cannot be read give OpenSSL's text alone.
std::string certificate_verdict(std::string_view der, int verify_error, int depth = 0);

}  // namespace frazil::net
