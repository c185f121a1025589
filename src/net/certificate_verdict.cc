#include "net/certificate_verdict.h"

#include <openssl/bio.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace frazil::net {

namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, FreeCertificate>;

Certificate read_certificate(std::string_view der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return Certificate(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
}

// What `print` writes into a BIO.
template <typename Print>
std::string printed(Print print) {
  const std::unique_ptr<BIO, FreeBio> bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || print(bio.get()) < 0) return "?";
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio.get(), &data);
  return bytes > 0 ? std::string(data, static_cast<size_t>(bytes)) : "";
}

std::string name_text(const X509_NAME* name) {
  return printed([&](BIO* bio) { return X509_NAME_print_ex(bio, name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB); });
}

std::string time_text(const ASN1_TIME* time) {
  return printed([&](BIO* bio) { return ASN1_TIME_print(bio, time); });
}

// "DNS:localhost, IP Address:127.0.0.1", or the subject where there are no other names.
std::string host_names(X509* certificate) {
  const int at = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1);
  if (at < 0) return name_text(X509_get_subject_name(certificate));
  return printed([&](BIO* bio) { return X509V3_EXT_print(bio, X509_get_ext(certificate, at), 0, 0); });
}

bool is_missing_authority(int verify_error) {
  return verify_error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT || verify_error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
         verify_error == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
         verify_error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT || verify_error == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN;
}

}  // namespace

std::string certificate_verdict(std::string_view der, int verify_error, int depth) {
  const std::string reason = X509_verify_cert_error_string(verify_error);
  const Certificate certificate = read_certificate(der);
  const std::string place = depth == 0 ? "its certificate" : "an authority's certificate in its chain";
  if (!certificate) return place + " is refused: " + reason;
  const std::string which = place + " (" + name_text(X509_get_subject_name(certificate.get())) + ")";
  if (verify_error == X509_V_ERR_HOSTNAME_MISMATCH || verify_error == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    return which + " is for another host: it names " + host_names(certificate.get());
  }
  if (verify_error == X509_V_ERR_CERT_HAS_EXPIRED) {
    return which + " has expired: it was valid until " + time_text(X509_get0_notAfter(certificate.get()));
  }
  if (verify_error == X509_V_ERR_CERT_NOT_YET_VALID) {
    return which + " is not valid before " + time_text(X509_get0_notBefore(certificate.get())) + "; look at the clocks";
  }
  if (is_missing_authority(verify_error)) {
    return which + " is signed by " + name_text(X509_get_issuer_name(certificate.get())) + ", which is not trusted here (" +
           reason + ")";
  }
  return which + " is refused: " + reason;
}

}  // namespace frazil::net
