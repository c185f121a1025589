#include "clients/kafka/plaintext_guard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace frazil::clients {

static sockaddr_storage address_of(const std::string& text) {
  sockaddr_storage storage{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    storage.ss_family = AF_INET;
  } else {
    EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr), 1) << text;
    storage.ss_family = AF_INET6;
  }
  return storage;
}

TEST(PlaintextGuard, KnowsTheAddressesOfThisMachine) {
  for (const char* here : {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"}) {
    const sockaddr_storage address = address_of(here);
    EXPECT_TRUE(is_loopback_address(reinterpret_cast<const sockaddr&>(address))) << here;
  }
  for (const char* elsewhere : {"10.0.0.1", "0.0.0.0", "128.0.0.1", "::", "fe80::1", "2001:db8::1", "::ffff:10.0.0.1", "::2"}) {
    const sockaddr_storage address = address_of(elsewhere);
    EXPECT_FALSE(is_loopback_address(reinterpret_cast<const sockaddr&>(address))) << elsewhere;
  }
}

TEST(PlaintextGuard, WritesAddressesForPeople) {
  const sockaddr_storage v4 = address_of("192.0.2.1"), v6 = address_of("2001:db8::1");
  EXPECT_EQ(address_text(reinterpret_cast<const sockaddr&>(v4)), "192.0.2.1");
  EXPECT_EQ(address_text(reinterpret_cast<const sockaddr&>(v6)), "2001:db8::1");
}

}  // namespace frazil::clients
