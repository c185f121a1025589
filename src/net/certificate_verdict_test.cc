#include "net/certificate_verdict.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace frazil::net {

// A certificate signed by itself: CN=broker, DNS:kafka.example.test, 2020-01-01 to 2021-01-01.
static std::string certificate_of_2020() {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
  X509_set_version(made.get(), 2);
  ASN1_TIME_set_string_X509(X509_getm_notBefore(made.get()), "20200101000000Z");
  ASN1_TIME_set_string_X509(X509_getm_notAfter(made.get()), "20210101000000Z");
  X509_NAME* name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("broker"), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:kafka.example.test");
  X509_add_ext(made.get(), names, -1);
  X509_EXTENSION_free(names);
  X509_set_pubkey(made.get(), key.get());
  X509_sign(made.get(), key.get(), EVP_sha256());
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(made.get(), &bytes);
  std::string der(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

TEST(CertificateVerdict, SaysWhoseCertificateItIsAndWhatIsWrong) {
  const std::string der = certificate_of_2020();
  EXPECT_EQ(certificate_verdict(der, X509_V_ERR_HOSTNAME_MISMATCH),
            "its certificate (CN = broker) is for another host: it names DNS:kafka.example.test");
  EXPECT_EQ(certificate_verdict(der, X509_V_ERR_CERT_HAS_EXPIRED),
            "its certificate (CN = broker) has expired: it was valid until Jan  1 00:00:00 2021 GMT");
  EXPECT_NE(certificate_verdict(der, X509_V_ERR_CERT_NOT_YET_VALID).find("not valid before Jan  1 00:00:00 2020 GMT"), std::string::npos);
  EXPECT_NE(certificate_verdict(der, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN).find("signed by CN = broker, which is not trusted"),
            std::string::npos);
  EXPECT_NE(certificate_verdict(der, X509_V_ERR_CERT_REVOKED).find("certificate revoked"), std::string::npos);
}

TEST(CertificateVerdict, SaysWhichOfTheChainItIs) {
  const std::string der = certificate_of_2020();
  EXPECT_TRUE(certificate_verdict(der, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, 1).starts_with("an authority's certificate in its chain (CN = broker) is signed by"));
  EXPECT_TRUE(certificate_verdict(der, X509_V_ERR_CERT_HAS_EXPIRED, 0).starts_with("its certificate (CN = broker)"));
}

TEST(CertificateVerdict, SaysLessAboutBytesThatAreNoCertificate) {
  EXPECT_EQ(certificate_verdict("nothing", X509_V_ERR_CERT_HAS_EXPIRED), "its certificate is refused: certificate has expired");
  EXPECT_EQ(certificate_verdict("", X509_V_ERR_CERT_HAS_EXPIRED), "its certificate is refused: certificate has expired");
}

}  // namespace frazil::net
