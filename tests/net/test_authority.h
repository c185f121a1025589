// Certificates for tests of TLS, made while the test runs: an authority, and what it signs, as PEM files.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/check.h"
#include "tests/conformance/scratch_folder.h"

namespace frazil::net {

struct CertificateFiles {
  std::string certificate;
  std::string key;
};

struct CertificateWishes {
  std::string common_name = "localhost";
  std::string names = "DNS:localhost,IP:127.0.0.1";  // subject alternative names, as OpenSSL writes them
  bool has_expired = false;                          // yesterday; else it is valid for a year
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& common_name)
      : key_(EVP_EC_gen("P-256")), certificate_(make({common_name, ""}, nullptr, key_.get())) {
    ca_file_ = write("ca.pem", certificate_.get());
  }

  const std::string& ca_file() const { return ca_file_; }

  CertificateFiles issue(const CertificateWishes& wishes) {
    const Key key(EVP_EC_gen("P-256"));
    const Certificate leaf = make(wishes, certificate_.get(), key.get());
    const std::string name = std::to_string(++issued_);
    CertificateFiles files{write(name + ".pem", leaf.get()), folder_.path() + "/" + name + ".key"};
    std::FILE* out = std::fopen(files.key.c_str(), "w");
    CHECK(out != nullptr && PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
    std::fclose(out);
    return files;
  }

  // One PEM file of this authority and another.
  std::string bundle_with(const TestAuthority& other) const {
    const std::string path = folder_.path() + "/bundle.pem";
    std::ofstream(path) << text_of(other.ca_file_) << text_of(ca_file_);
    return path;
  }

  static std::string text_of(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;

  // Signed by this authority, or by itself when there is no `issuer`.
  Certificate make(const CertificateWishes& wishes, X509* issuer, EVP_PKEY* subject_key) {
    static long serial = 0;
    Certificate made(X509_new());
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
    constexpr long kDay = 86'400;
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3 * kDay);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), wishes.has_expired ? -kDay : 365 * kDay);
    X509_set_pubkey(made.get(), subject_key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(wishes.common_name.c_str()), -1, -1, 0);
    X509* signer = issuer == nullptr ? made.get() : issuer;
    X509_set_issuer_name(made.get(), X509_get_subject_name(signer));
    if (issuer == nullptr) extend(made.get(), signer, NID_basic_constraints, "critical,CA:TRUE");
    if (!wishes.names.empty()) extend(made.get(), signer, NID_subject_alt_name, wishes.names);
    CHECK(X509_sign(made.get(), key_.get(), EVP_sha256()) > 0);
    return made;
  }

  static void extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    CHECK(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
  }

  std::string write(const std::string& name, X509* certificate) {
    const std::string path = folder_.path() + "/" + name;
    std::FILE* out = std::fopen(path.c_str(), "w");
    CHECK(out != nullptr && PEM_write_X509(out, certificate) == 1);
    std::fclose(out);
    return path;
  }

  conformance::ScratchFolder folder_;
  Key key_;
  Certificate certificate_;
  std::string ca_file_;
  int issued_ = 0;
};

}  // namespace frazil::net
