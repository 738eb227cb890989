#include "core/client_address.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

TrustedProxies proxies(const std::vector<std::string>& texts) {
  auto parsed = TrustedProxies::parse(texts);
  EXPECT_OK(parsed);
  return std::move(parsed).value();
}

HttpRequest from(std::string remote, std::vector<std::string> forwarded_for) {
  HttpRequest request;
  request.remote = std::move(remote);
  for (std::string& line : forwarded_for) request.headers.add("X-Forwarded-For", std::move(line));
  return request;
}

TEST(TrustedProxies, AreAddressesAndBlocksOfBothFamilies) {
  const TrustedProxies list = proxies({"10.0.0.0/8", "192.0.2.1", "fd00::/7", "2001:db8::1"});
  EXPECT_TRUE(list.contains("10.255.1.2"));
  EXPECT_TRUE(list.contains("192.0.2.1"));
  EXPECT_TRUE(list.contains("fc00::1"));
  EXPECT_TRUE(list.contains("2001:db8::1"));
  EXPECT_FALSE(list.contains("11.0.0.1"));
  EXPECT_FALSE(list.contains("192.0.2.2"));
  EXPECT_FALSE(list.contains("2001:db8::2"));
  EXPECT_FALSE(list.contains(""));
  EXPECT_FALSE(list.contains("localhost"));
}

TEST(TrustedProxies, BlocksEndAtAnyBit) {
  const TrustedProxies list = proxies({"203.0.113.128/25", "198.51.100.4/30"});
  EXPECT_TRUE(list.contains("203.0.113.128"));
  EXPECT_FALSE(list.contains("203.0.113.127"));
  EXPECT_TRUE(list.contains("198.51.100.7"));
  EXPECT_FALSE(list.contains("198.51.100.8"));
  EXPECT_TRUE(proxies({"0.0.0.0/0"}).contains("8.8.8.8"));
  EXPECT_FALSE(proxies({"0.0.0.0/0"}).contains("2001:db8::1"));
}

TEST(TrustedProxies, KnowAnIpv4AddressThatComesAsIpv6) {
  EXPECT_TRUE(proxies({"10.0.0.0/8"}).contains("::ffff:10.0.0.1"));
  EXPECT_TRUE(proxies({"::ffff:10.0.0.1"}).contains("10.0.0.1"));
}

TEST(TrustedProxies, RefuseWhatIsNeitherAddressNorBlock) {
  for (const char* text : {"", "localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "fd00::/129", "1.2.3.4/x"}) {
    const auto parsed = TrustedProxies::parse({"127.0.0.1", text});
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.status().message().find("\"" + std::string(text) + "\""), std::string::npos);
  }
}

TEST(Client, IsThePeerWhereThePeerIsNotTrusted) {
  const Client client = client_of(from("203.0.113.7", {"198.51.100.1"}), proxies({"10.0.0.0/8"}));
  EXPECT_EQ(client.address, "203.0.113.7");
  EXPECT_FALSE(client.forwarded_trusted);
}

TEST(Client, IsTheRightMostAddressThatIsNotInTheList) {
  const TrustedProxies list = proxies({"10.0.0.0/8"});
  const Client client = client_of(from("10.0.0.1", {"6.6.6.6, 198.51.100.1, 10.0.0.3"}), list);
  EXPECT_EQ(client.address, "198.51.100.1");
  EXPECT_TRUE(client.forwarded_trusted);
}

TEST(Client, ReadsRepeatedHeadersAsOneList) {
  const TrustedProxies list = proxies({"10.0.0.0/8"});
  EXPECT_EQ(client_of(from("10.0.0.1", {"6.6.6.6,198.51.100.1", "10.0.0.3"}), list).address, "198.51.100.1");
  EXPECT_EQ(client_of(from("10.0.0.1", {"6.6.6.6", "198.51.100.1"}), list).address, "198.51.100.1");
}

TEST(Client, IsTheLeftMostWhereAllAreInTheList) {
  EXPECT_EQ(client_of(from("10.0.0.1", {"10.0.0.2, 10.0.0.3"}), proxies({"10.0.0.0/8"})).address, "10.0.0.2");
}

TEST(Client, IsThePeerWithoutTheHeader) {
  const Client client = client_of(from("10.0.0.1", {}), proxies({"10.0.0.0/8"}));
  EXPECT_EQ(client.address, "10.0.0.1");
  EXPECT_TRUE(client.forwarded_trusted);
}

TEST(Client, EndsTheSearchAtWhatIsNoAddress) {
  const TrustedProxies list = proxies({"10.0.0.0/8"});
  // What stands left of it may be anybody's invention.
  EXPECT_EQ(client_of(from("10.0.0.1", {"6.6.6.6, unknown, 10.0.0.3"}), list).address, "10.0.0.3");
  EXPECT_EQ(client_of(from("10.0.0.1", {"6.6.6.6, "}), list).address, "10.0.0.1");
  EXPECT_EQ(client_of(from("10.0.0.1", {"[::1"}), list).address, "10.0.0.1");
}

TEST(Client, ReadsEntriesWithPorts) {
  const TrustedProxies list = proxies({"10.0.0.0/8"});
  EXPECT_EQ(client_of(from("10.0.0.1", {"198.51.100.1:4711"}), list).address, "198.51.100.1");
  EXPECT_EQ(client_of(from("10.0.0.1", {"[2001:db8::7]:4711"}), list).address, "2001:db8::7");
  EXPECT_EQ(client_of(from("10.0.0.1", {"2001:db8::7"}), list).address, "2001:db8::7");
}

TEST(Client, ShowsAnIpv4PeerOfAnIpv6ListenerAsIpv4) {
  EXPECT_EQ(client_of(from("::ffff:203.0.113.7", {}), TrustedProxies()).address, "203.0.113.7");
}

TEST(NetworkOf, IsAnIpv4AddressOrTheNetworkOfAnIpv6One) {
  EXPECT_EQ(network_of("203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(network_of("::ffff:203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(network_of("no address"), "no address");
}

}  // namespace
}  // namespace hookonce
