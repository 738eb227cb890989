#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/config_world.h"

namespace hookonce {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ConfigDestinationTest : public ConfigTest {
 protected:
  ConfigDestinationTest() {
    world_.file = [](const std::string& path) -> Result<std::string> {
      if (path == "/ca.pem" || path == "/cert.pem") return std::string("-----BEGIN CERTIFICATE-----\nAAAA\n");
      if (path == "/key.pem") return std::string("-----BEGIN PRIVATE KEY-----\nAAAA\n");
      if (path == "/locked.pem") return std::string("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n");
      if (path == "/proxy") return std::string("http://user:pr0xy-pass@proxy.internal:3128");
      return not_found("file " + path + " cannot be read: No such file or directory");
    };
  }
  DestinationConfig read(const std::string& lines) const {
    const LoadedConfig loaded = load(kSource + "[destinations.d]\nurl = \"https://127.0.0.1:9000/\"\n" + lines);
    for (const ConfigProblem& problem : loaded.problems) ADD_FAILURE() << problem.text("h.toml");
    return loaded.config.destinations.at("d");
  }
};

TEST_F(ConfigDestinationTest, TheBreakerIsOnAndSlowToOpenByDefault) {
  const BreakerPolicy breaker = read("").breaker;
  EXPECT_TRUE(breaker.enabled);
  EXPECT_EQ(breaker.failure_rate, 0.8);
  EXPECT_EQ(breaker.attempts, 10);
  EXPECT_EQ(breaker.after, seconds(10));
  EXPECT_EQ(breaker.open, seconds(1));
  EXPECT_EQ(breaker.open_max, seconds(30));
}

TEST_F(ConfigDestinationTest, TheBreakerCanBeSetAndSwitchedOff) {
  EXPECT_FALSE(read("breaker = false").breaker.enabled);
  EXPECT_TRUE(read("breaker = true").breaker.enabled);
  const BreakerPolicy breaker = read(
                                    "breaker = { failure_rate = 0.5, attempts = 20, after = \"0s\", open = \"5s\", "
                                    "open_max = \"5m\" }")
                                    .breaker;
  EXPECT_EQ(breaker.failure_rate, 0.5);
  EXPECT_EQ(breaker.attempts, 20);
  EXPECT_EQ(breaker.after, seconds(0));
  EXPECT_EQ(breaker.open, seconds(5));
  EXPECT_EQ(breaker.open_max, seconds(300));
}

TEST_F(ConfigDestinationTest, MistakesInTheBreakerNameTheirMend) {
  EXPECT_THAT(destination_problems("breaker = \"off\""), ElementsAre(HasSubstr("breaker = false for none")));
  EXPECT_THAT(destination_problems("breaker = { failure_rate = 0 }"),
              ElementsAre(HasSubstr("destinations.d.breaker.failure_rate: 0 is out of range")));
  EXPECT_THAT(destination_problems("breaker = { attempts = 65 }"), ElementsAre(HasSubstr("from 2 to 64 is possible")));
  EXPECT_THAT(destination_problems("breaker = { open = \"1m\" }"),
              ElementsAre(HasSubstr("is longer than open_max (30s)")));
  EXPECT_THAT(destination_problems("breaker = { cooldown = \"1m\" }"), ElementsAre(HasSubstr("did you mean `open`?")));
  EXPECT_THAT(destination_problems("circuit_breaker = false"), ElementsAre(HasSubstr("did you mean `breaker`?")));
}

TEST_F(ConfigDestinationTest, CertificatesAreReadAndJudged) {
  const DestinationConfig destination =
      read("ca_file = \"/ca.pem\"\nclient_cert = \"/cert.pem\"\nclient_key = \"/key.pem\"");
  EXPECT_EQ(destination.ca_file, "/ca.pem");
  EXPECT_EQ(destination.client_cert, "/cert.pem");
  EXPECT_EQ(destination.client_key, "/key.pem");
  const std::string https = kSource + "[destinations.d]\nurl = \"https://127.0.0.1:9000/\"\n";
  EXPECT_THAT(problems(https + "ca_file = \"/missing\""), ElementsAre(HasSubstr("d.ca_file: file /missing cannot")));
  EXPECT_THAT(problems(https + "ca_file = \"/key.pem\""), ElementsAre(HasSubstr("holds no certificate in PEM form")));
  EXPECT_THAT(problems(https + "client_cert = \"/cert.pem\""), ElementsAre(HasSubstr("needs client_key")));
  EXPECT_THAT(problems(https + "client_key = \"/key.pem\""), ElementsAre(HasSubstr("needs client_cert")));
  EXPECT_THAT(problems(https + "client_cert = \"/cert.pem\"\nclient_key = \"/locked.pem\""),
              ElementsAre(HasSubstr("needs a passphrase")));
  EXPECT_THAT(destination_problems("ca_file = \"/ca.pem\""), ElementsAre(HasSubstr("warning: destinations.d.ca_file")));
}

TEST_F(ConfigDestinationTest, AProxyIsAUrlOfItsOwnAndItsPasswordIsNeverShown) {
  EXPECT_EQ(read("proxy = \"http://proxy.internal:3128\"").proxy, "http://proxy.internal:3128");
  EXPECT_EQ(read("proxy = \"http://[::1]:3128/\"").proxy, "http://[::1]:3128/");
  EXPECT_EQ(read("proxy = \"file:/proxy\"").proxy, "http://user:pr0xy-pass@proxy.internal:3128");
  for (const char* bad : {"proxy.internal:3128", "https://proxy.internal:3128", "socks5://p:1", "http://proxy.internal",
                          "http://user:pr0xy-pass@proxy.internal", "http://:3128", "http://proxy:0x", "http://p:1/path",
                          "http://p:1?q", "env:UNSET"}) {
    EXPECT_THAT(destination_problems(std::string("proxy = \"") + bad + "\""),
                ElementsAre(testing::AllOf(HasSubstr("destinations.d.proxy: "), Not(HasSubstr("pr0xy-pass")))))
        << bad;
  }
}

TEST_F(ConfigDestinationTest, AProxyWouldHideTheAddressThatAllowPrivateIsAbout) {
  EXPECT_THAT(destination_problems("allow_private = false\nproxy = \"http://proxy.internal:3128\""),
              ElementsAre(HasSubstr("cannot be used with allow_private = false")));
}

}  // namespace
}  // namespace hookonce
