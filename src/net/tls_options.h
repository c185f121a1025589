// TLS of one endpoint. Chain and host name are always verified, TLS 1.2 is the least; there is no switch to turn that
// off. Plain values. Files are read when a connection is made, so that renewed ones take effect without a restart.
#pragma once

#include <string>

namespace frazil::net {

struct TlsOptions {
  std::string ca_file;           // PEM; empty: the system's authorities
  std::string certificate_file;  // PEM, this side's certificate, for servers that ask for one
  std::string key_file;          // PEM, its key
};

}  // namespace frazil::net
