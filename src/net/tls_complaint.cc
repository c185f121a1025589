#include "net/tls_complaint.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

namespace frazil::net {

namespace {

int slot_of_contexts() {
  static const int slot = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return slot;
}

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio, &data);
  return bytes > 0 ? std::string(data, static_cast<size_t>(bytes)) : "";
}

std::string name_text(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB) < 0) return "?";
  return text_of(bio.get());
}

std::string time_text(const ASN1_TIME* time) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || ASN1_TIME_print(bio.get(), time) != 1) return "?";
  return text_of(bio.get());
}

int note_refusal(int is_good, X509_STORE_CTX* chain) {
  if (is_good == 1) return is_good;
  const auto* connection = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const X509* certificate = X509_STORE_CTX_get_current_cert(chain);
  if (connection == nullptr || certificate == nullptr) return is_good;
  auto* complaint = static_cast<std::string*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), slot_of_contexts()));
  if (complaint != nullptr && complaint->empty()) {
    *complaint = "certificate of " + name_text(X509_get_subject_name(certificate)) + ", issued by " +
                 name_text(X509_get_issuer_name(certificate)) + ", valid until " +
                 time_text(X509_get0_notAfter(certificate));
  }
  return is_good;
}

}  // namespace

void record_tls_complaints(ssl_ctx_st* context, std::string* complaint) {
  SSL_CTX_set_ex_data(context, slot_of_contexts(), complaint);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, note_refusal);
}

}  // namespace frazil::net
