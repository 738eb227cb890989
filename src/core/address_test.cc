#include "core/address.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

TEST(ListenAddress, TakesAddressesWithPortsFromZeroOn) {
  for (const char* text : {"127.0.0.1:8080", "0.0.0.0:0", "[::1]:8080", "[::]:65535", "[fe80::1]:1"}) {
    const Result<ListenAddress> address = parse_listen_address(text);
    ASSERT_OK(address);
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_EQ(parse_listen_address("localhost:8080")->text(), "127.0.0.1:8080");
}

TEST(ListenAddress, SaysWhatToWriteInstead) {
  struct Case {
    const char* text;
    const char* mend;
  };
  const Case cases[] = {
      {":8080", "did you mean `0.0.0.0:8080`?"},
      {"*:8080", "did you mean `0.0.0.0:8080`?"},
      {"8080", "did you mean `0.0.0.0:8080`?"},
      {"127.0.0.1", "ADDRESS:PORT"},
      {"127.0.0.1:", "between 0 and 65535"},
      {"127.0.0.1:65536", "between 0 and 65535"},
      {"127.0.0.1:-1", "between 0 and 65535"},
      {"127.0.0.1:80a", "between 0 and 65535"},
      {"::1:8080", "[::1]:8080"},
      {"::1", "[::1]:8080"},
      {"[127.0.0.1]:80", "IPv6"},
      {"[::1:80", "IP address"},
      {"[]:80", "IPv6"},
      {"hooks.example.com:80", "IP address"},
      {"127.0.0.256:80", "IP address"},
      {"", "ADDRESS:PORT"},
  };
  for (const Case& c : cases) {
    const Result<ListenAddress> address = parse_listen_address(c.text);
    ASSERT_FALSE(address.ok()) << c.text;
    EXPECT_NE(address.status().message().find(c.mend), std::string::npos)
        << c.text << ": " << address.status().message();
  }
}

TEST(Address, LoopbackIsTheWholeBlockAndIpv6sOne) {
  for (const char* text : {"127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1"})
    EXPECT_TRUE(is_loopback(text)) << text;
  for (const char* text : {"0.0.0.0", "128.0.0.1", "::", "::2", "fe80::1", "", "localhost"})
    EXPECT_FALSE(is_loopback(text)) << text;
  EXPECT_TRUE(is_any_address("0.0.0.0"));
  EXPECT_TRUE(is_any_address("::"));
  EXPECT_FALSE(is_any_address("127.0.0.1"));
  EXPECT_FALSE(is_any_address(""));
}

TEST(Address, BlocksNeedAnAddressAndAPrefixOfItsLength) {
  for (const char* text : {"10.0.0.0/8", "0.0.0.0/0", "192.0.2.1/32", "fd00::/8", "::/128"})
    EXPECT_TRUE(is_ip_block(text)) << text;
  for (const char* text :
       {"10.0.0.0", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/", "/8", "10.0.0.0/-1", "10.0.0.0/8/8"}) {
    EXPECT_FALSE(is_ip_block(text)) << text;
  }
  EXPECT_TRUE(is_ip_address("192.0.2.1"));
  EXPECT_FALSE(is_ip_address("192.0.2.1/32"));
  EXPECT_FALSE(is_ip_address(std::string_view("192.0.2.1\0x", 11)));
}

TEST(HttpUrl, NeedsASchemeAndAHost) {
  for (const char* url : {"http://127.0.0.1:9000/slack/events", "https://example.com", "HTTP://example.com/?a=b",
                          "http://[::1]:9000/", "http://my_service:80", "https://example.com:443/a%20b"}) {
    EXPECT_OK(check_http_url(url));
  }
  for (const char* url : {"",
                          "/path",
                          "127.0.0.1:9000",
                          "ftp://example.com/",
                          "unix:/run/x.sock",
                          "http://",
                          "http:///path",
                          "http://:80/",
                          "http://example.com:0/",
                          "http://example.com:65536/",
                          "http://example.com:/",
                          "http://exa mple.com/",
                          "http://example.com/a b",
                          "http://example.com/#part",
                          "http://[::1/",
                          "http://[127.0.0.1]/",
                          "http://[::1]x/",
                          "http://-a/",
                          "http://a,b/",
                          "http://example.com/\xc3\xa9",
                          "http://example.com\\evil/",
                          "http://?x"}) {
    EXPECT_EQ(check_http_url(url).code(), Code::kInvalid) << url;
  }
}

TEST(HttpUrl, ARefusalNeverRepeatsWhatMayBeAPassword) {
  const Status status = check_http_url("http://user:hunter2@example.com/?token=hunter3");
  ASSERT_EQ(status.code(), Code::kInvalid);
  EXPECT_EQ(status.message().find("hunter"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace hookonce
