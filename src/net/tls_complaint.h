// Why a certificate was refused, in words that name it: libcurl's own say neither whose it is nor when it ended.
// One thread (that of the connection).
#pragma once

#include <string>

struct ssl_ctx_st;

namespace frazil::net {

// From now on the first complaint about a certificate of a connection of `context` is written to *complaint:
// "certificate of CN=x, issued by CN=y, valid until Jan  1 00:00:00 2026 GMT". The verdict stays OpenSSL's. *complaint
// must outlive the connections.
void record_tls_complaints(ssl_ctx_st* context, std::string* complaint);

}  // namespace frazil::net
