#include "core/config_load.h"

#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/config_world.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ConfigLoadTest : public ConfigTest {};

std::string example_text() {
  std::ifstream file(HOOKONCE_SOURCE_DIR "/examples/hookonce.toml");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_F(ConfigLoadTest, TheSmallestConfigurationHasTheContractsDefaults) {
  const LoadedConfig loaded = load(kSource + kDestination);
  EXPECT_THAT(problems(kSource + kDestination), IsEmpty());
  const ServerConfig& server = loaded.config.server;
  EXPECT_THAT(server.listen, ElementsAre("0.0.0.0:8080"));
  EXPECT_EQ(server.admin, "127.0.0.1:8081");
  EXPECT_EQ(server.max_inflight, 256 * kMiB);
  EXPECT_EQ(server.drain, seconds(25));
  EXPECT_EQ(loaded.config.store.url, "sqlite:hookonce.db");
  EXPECT_EQ(loaded.config.store.retention, hours(720));
  EXPECT_EQ(loaded.config.store.rejected_limit, 1000u);
  EXPECT_EQ(loaded.config.store.rejected_bytes, 64 * kMiB);
  const SourceConfig& source = loaded.config.sources.at("s");
  EXPECT_EQ(source.path, "/in/s");
  EXPECT_THAT(source.secrets, ElementsAre("s3cr3t-of-the-environment"));
  EXPECT_EQ(source.tolerance, minutes(5));
  EXPECT_EQ(source.ack_deadline, seconds(2));
  EXPECT_EQ(source.max_body, 4 * kMiB);
  EXPECT_EQ(source.dedup_window, hours(720));
  EXPECT_EQ(source.missing_key, MissingKey::kAccept);
  EXPECT_TRUE(source.rearm);
  EXPECT_THAT(source.dedup_key, IsEmpty());
  const DestinationConfig& destination = loaded.config.destinations.at("d");
  EXPECT_EQ(destination.timeout, seconds(10));
  EXPECT_EQ(destination.lease, seconds(30));
  EXPECT_EQ(destination.concurrency, 16);
  EXPECT_FALSE(destination.rate.has_value());
  EXPECT_TRUE(destination.resign);
  EXPECT_TRUE(destination.allow_private);
  EXPECT_EQ(destination.retry, RetryPolicy{});
}

TEST_F(ConfigLoadTest, TheExampleLoadsWithoutProblems) {
  world_.environment = [](const std::string&) -> Result<std::string> { return std::string("value"); };
  world_.file = [](const std::string&) -> Result<std::string> { return std::string("value"); };
  ASSERT_FALSE(example_text().empty());
  EXPECT_THAT(problems(example_text()), IsEmpty());
  const LoadedConfig loaded = load(example_text());
  EXPECT_EQ(loaded.config.sources.size(), 7u);
  EXPECT_EQ(loaded.config.sources.at("shop").dedup_key.size(), 2u);
  EXPECT_THAT(loaded.config.sources.at("stripe").destinations.at(1).types, ElementsAre("invoice.*", "charge.refunded"));
}

TEST_F(ConfigLoadTest, EveryKeyIsRead) {
  const LoadedConfig loaded = load(R"([server]
listen = ["127.0.0.1:0", "[::1]:8080"]
admin = "0.0.0.0:9090"
admin_token = "env:TOKEN"
admin_hosts = ["hooks.example.com"]
max_body = "1MiB"
max_inflight = 1048576
drain = "0s"
tls_cert = "/good"
tls_key = "/good"
trusted_proxies = ["10.0.0.0/8", "192.0.2.1"]
public_url = "https://hooks.example.com"
[store]
url = "sqlite:/var/lib/inbox.db"
retention = "60d"
rejected_limit = 0
rejected_bytes = "1GiB"
[sources.a]
provider = "svix"
path = "/hooks/a/"
secrets = ["file:/good", "literal"]
destinations = [{ name = "d", types = ["x.*"] }]
tolerance = "10m"
dedup_key = ["header:X-Id", "json:/id"]
dedup_also = ["form:other"]
dedup_window = "31d"
missing_key = "hash"
rearm = false
mode = "async"
ordering_key = "json:/user"
ack_deadline = "500ms"
[destinations.d]
url = "https://example.com/x"
secrets = ["literal"]
timeout = "5s"
concurrency = 2
rate = "30/m"
ordering = false
resign = false
lease = "1m"
allow_private = false
[destinations.d.retry]
first = "2s"
factor = 3
max = "2h"
jitter = 0
attempts = 7
give_up = "1d"
)");
  ASSERT_TRUE(loaded.ok()) << loaded.problems.front().text("");
  const ServerConfig& server = loaded.config.server;
  EXPECT_THAT(server.listen, ElementsAre("127.0.0.1:0", "[::1]:8080"));
  EXPECT_EQ(server.admin, "0.0.0.0:9090");
  EXPECT_EQ(server.admin_token, "t0k3n");
  EXPECT_THAT(server.admin_hosts, ElementsAre("hooks.example.com"));
  EXPECT_EQ(server.max_inflight, kMiB);
  EXPECT_EQ(server.drain, Duration::zero());
  EXPECT_EQ(server.tls_cert, "/good");
  EXPECT_THAT(server.trusted_proxies, ElementsAre("10.0.0.0/8", "192.0.2.1"));
  EXPECT_EQ(server.public_url, "https://hooks.example.com");
  const SourceConfig& source = loaded.config.sources.at("a");
  EXPECT_EQ(source.provider, "standard_webhooks");
  EXPECT_EQ(source.path, "/hooks/a/");
  EXPECT_THAT(source.secrets, ElementsAre("s3cr3t-of-the-file", "literal"));
  EXPECT_THAT(source.destinations.at(0).types, ElementsAre("x.*"));
  EXPECT_EQ(source.max_body, kMiB);
  EXPECT_EQ(source.dedup_key.at(0).text(), "header:X-Id");
  EXPECT_EQ(source.dedup_key.at(1).text(), "json:/id");
  EXPECT_EQ(source.dedup_also.at(0).text(), "form:other");
  EXPECT_EQ(source.missing_key, MissingKey::kHash);
  EXPECT_FALSE(source.rearm);
  EXPECT_EQ(source.ordering_key->text(), "json:/user");
  EXPECT_EQ(source.ack_deadline, milliseconds(500));
  const DestinationConfig& destination = loaded.config.destinations.at("d");
  EXPECT_EQ(destination.rate, 0.5);
  EXPECT_EQ(destination.lease, minutes(1));
  EXPECT_FALSE(destination.resign);
  EXPECT_FALSE(destination.allow_private);
  EXPECT_EQ(destination.retry, (RetryPolicy{seconds(2), 3.0, hours(2), 0.0, 7, hours(24)}));
}

TEST_F(ConfigLoadTest, NamesEveryMistakeAtOnceInTheOrderOfTheFile) {
  EXPECT_THAT(problems(R"([sources.stripe]
provider = "stripe"
secret = "s3cr3t-in-the-wrong-place"
destinations = ["backend"]
[destinations.backend]
url = "http://127.0.0.1:9000/"
lease = "12s"
)"),
              ElementsAre("h.toml:3: sources.stripe.secret: unknown key; did you mean `secrets`? (a list: secrets = "
                          "[\"env:STRIPE_WEBHOOK_SECRET\"])",
                          "h.toml:7: destinations.backend.lease: 12s is shorter than timeout + 5 s (15s); raise lease "
                          "or lower timeout"));
}

TEST_F(ConfigLoadTest, UnknownKeysNameTheNearestTheirHomeOrAllThatAreKnown) {
  EXPECT_THAT(source_problems("tolerence = \"5m\""),
              ElementsAre(HasSubstr("h.toml:5: sources.s.tolerence: unknown key; did you mean `tolerance`?")));
  EXPECT_THAT(source_problems("timeout = \"5s\""), ElementsAre(HasSubstr("belongs in [destinations.NAME]")));
  EXPECT_THAT(source_problems("zzzzzz = 1"),
              ElementsAre(AllOf(HasSubstr("unknown key; known here are"), HasSubstr("dedup_key"))));
  EXPECT_THAT(destination_problems("max_attempts = 3"),
              ElementsAre(HasSubstr("did you mean `retry`? (a table: retry = {")));
  EXPECT_THAT(destination_problems("retry = { atempts = 3 }"),
              ElementsAre(HasSubstr("destinations.d.retry.atempts: unknown key; did you mean `attempts`?")));
  EXPECT_THAT(server_problems("port = 8080"),
              ElementsAre(HasSubstr("did you mean `listen`? (an address: listen = \"0.0.0.0:8080\")")));
  EXPECT_THAT(problems("lisen = \"x\"\n" + kSource + kDestination),
              ElementsAre(HasSubstr("h.toml:1: lisen: unknown key")));
  EXPECT_THAT(problems("[source.s]\nprovider = \"stripe\"\n"),
              ElementsAre("h.toml:1: source: unknown key; did you mean `sources`?"));
}

TEST_F(ConfigLoadTest, MissingKeysAreNamedAtTheirTable) {
  EXPECT_THAT(problems("\n[sources.s]\n\n[destinations.d]\n"),
              ElementsAre(HasSubstr("h.toml:2: sources.s.provider: is missing; known are github"),
                          HasSubstr("h.toml:2: sources.s.destinations: is missing, so its events would go nowhere"),
                          HasSubstr("h.toml:4: destinations.d.url: is missing; write url =")));
  EXPECT_THAT(problems("[sources.s]\nprovider = \"stripe\"\ndestinations = []\nsecrets = []\n"),
              ElementsAre(HasSubstr("h.toml:3: sources.s.destinations: is empty"),
                          HasSubstr("h.toml:4: sources.s.secrets: is empty, so nothing could be verified; write "
                                    "secrets = [\"env:S_WEBHOOK_SECRET\"]")));
}

TEST_F(ConfigLoadTest, WrongTypesSayWhatToWriteAndNeverTheValue) {
  const std::vector<std::string> found = problems(R"([server]
listen = 8080
admin_hosts = "h"
drain = 25
max_body = true
[sources.s]
provider = ["stripe"]
secrets = "s3cr3t"
destinations = "d"
rearm = "yes"
dedup_key = 1
[destinations.d]
url = "http://127.0.0.1:9000/"
concurrency = "16"
retry = "1s"
rate = 100
secrets = [5]
)");
  EXPECT_THAT(
      found,
      ElementsAre(
          HasSubstr(":2: server.listen: must be an address such as \"127.0.0.1:8080\", not a number"),
          HasSubstr(":3: server.admin_hosts: must be a list, not a string"),
          HasSubstr(":4: server.drain: must be a string, not a number; write a number with its unit"),
          HasSubstr(":5: server.max_body: true or false is no size"),
          HasSubstr(":7: sources.s.provider: must be a string, not a list"),
          HasSubstr(":8: sources.s.secrets: must be a list, not a string; write secrets = [\"env:"),
          HasSubstr(":9: sources.s.destinations: must be a list, not a string; write destinations = [\"backend\"]"),
          HasSubstr(":10: sources.s.rearm: must be true or false, not a string"),
          HasSubstr(":11: sources.s.dedup_key: must be a string such as \"json:/id\""),
          HasSubstr(":14: destinations.d.concurrency: must be a number, not a string"),
          HasSubstr(":15: destinations.d.retry: must be a table, not a string"),
          HasSubstr(":16: destinations.d.rate: a number is no rate"),
          HasSubstr(":17: destinations.d.secrets: secret 1: must be a string")));
  for (const std::string& line : found) EXPECT_THAT(line, Not(HasSubstr("s3cr3t")));
}

TEST_F(ConfigLoadTest, TablesThatAreNoTablesAreNamedOnce) {
  EXPECT_THAT(problems("server = 1\nsources = []\n"),
              ElementsAre("h.toml:1: server: must be a table, not a number",
                          HasSubstr("h.toml:2: sources: must hold one table for each")));
  EXPECT_THAT(problems("[sources]\nprovider = \"stripe\"\n"),
              ElementsAre(HasSubstr("h.toml:2: sources.provider: must be a table, not a string; name it")));
}

TEST_F(ConfigLoadTest, BadDurationsSizesAndRangesAreNamed) {
  EXPECT_THAT(source_problems("tolerance = \"5 minutes\""), ElementsAre(HasSubstr("`5 minutes` is no duration")));
  EXPECT_THAT(source_problems("dedup_window = \"0s\""), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(source_problems("dedup_window = \"9999d\""), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(source_problems("ack_deadline = \"1h\""),
              ElementsAre(HasSubstr("out of range; from 1ms to 5m is possible")));
  EXPECT_THAT(server_problems("max_inflight = \"4MB\""), ElementsAre(HasSubstr("`4MB` is no size")));
  EXPECT_THAT(server_problems("max_body = -1"), ElementsAre(HasSubstr("is no size")));
  EXPECT_THAT(server_problems("max_body = \"2GiB\""), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(destination_problems("concurrency = 0"),
              ElementsAre(HasSubstr("0 is out of range; from 1 to 10000 is possible")));
  EXPECT_THAT(destination_problems("retry = { factor = 0.5 }"), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(destination_problems("retry = { factor = nan }"), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(destination_problems("retry = { jitter = 1.5 }"), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(destination_problems("retry = { attempts = 0 }"), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(destination_problems("retry = { first = \"2h\" }"), ElementsAre(HasSubstr("2h is longer than max (1h)")));
  for (const char* rate : {"100", "100/", "/s", "0/s", "1.5/s", "100/d", "100 / s", "-1/s", "99999999/s"}) {
    EXPECT_THAT(destination_problems(std::string("rate = \"") + rate + "\""), ElementsAre(HasSubstr("is no rate")))
        << rate;
  }
}

TEST_F(ConfigLoadTest, SecretsThatAreEmptyOrUnresolvedAreNamedNeverShown) {
  EXPECT_THAT(
      problems("[sources.s]\nprovider = \"stripe\"\nsecrets = "
               "[\n\"env:SET\",\n\"env:UNSET\",\n\"file:/missing\",\n\"\",\n\"env:\",\n\"file:\",\n"
               "\"  \",\n\"env:EMPTY\"]\ndestinations = [\"d\"]\n" +
               kDestination),
      ElementsAre("h.toml:5: sources.s.secrets: secret 2: environment variable UNSET is not set",
                  "h.toml:6: sources.s.secrets: secret 3: file /missing cannot be read: No such file or directory",
                  HasSubstr("h.toml:7: sources.s.secrets: secret 4: is empty"),
                  HasSubstr("secret 5: `env:` names no variable"), HasSubstr("secret 6: `file:` names no file"),
                  HasSubstr("secret 7: is empty"), HasSubstr("secret 8: environment variable EMPTY is empty")));
}

TEST_F(ConfigLoadTest, BrokenTomlIsNamedWithItsLine) {
  EXPECT_THAT(problems("[server]\nlisten = \n"), ElementsAre(HasSubstr("h.toml:2: invalid TOML: ")));
  EXPECT_THAT(problems("[server]\n[server]\n"), ElementsAre(HasSubstr("h.toml:2: invalid TOML: ")));
  EXPECT_THAT(problems("[server]\ndrain = \"1s\"\ndrain = \"2s\"\n"),
              ElementsAre(HasSubstr("h.toml:3: invalid TOML: ")));
  EXPECT_THAT(problems("a = \"x\n"), ElementsAre(HasSubstr("h.toml:1: invalid TOML: ")));
  EXPECT_FALSE(load("a = ").ok());
}

TEST_F(ConfigLoadTest, AnUnquotedSecretIsNotRepeatedByTheSyntaxError) {
  for (const char* value : {"99999999999999999999999", "0xffffffffffffffffffffff", "1e99999", "whsec_abc123"}) {
    const std::vector<std::string> found = problems("[server]\nadmin_token = " + std::string(value) + "\n");
    ASSERT_EQ(found.size(), 1u) << value;
    EXPECT_THAT(found.front(), AllOf(HasSubstr("h.toml:2: invalid TOML: "), Not(HasSubstr(value)))) << value;
  }
}

TEST_F(ConfigLoadTest, LinesThatAreNotUtf8AreAllNamed) {
  EXPECT_THAT(
      problems("a = 1\nb = \"\xff\"\nc = 2\n# \xc3\n"),
      ElementsAre("h.toml:2: is not UTF-8; save the file in that encoding", HasSubstr("h.toml:4: is not UTF-8")));
}

TEST_F(ConfigLoadTest, NamesOfTablesArePlain) {
  EXPECT_THAT(problems("[sources.\"a b\"]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\n" +
                       kDestination),
              ElementsAre(HasSubstr("a name has 1 to 64 letters")));
}

// Goal: whatever a file is damaged by, loading ends with problems instead of a crash, and none of them shows a secret.
// Method: the example with a few random bytes changed, inserted or removed.
TEST_F(ConfigLoadTest, ADamagedFileEndsInProblemsThatShowNoSecret) {
  world_.environment = [](const std::string&) -> Result<std::string> { return std::string("s3cr3t"); };
  world_.file = [](const std::string&) -> Result<std::string> { return std::string("s3cr3t"); };
  const std::string example = example_text();
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  constexpr std::string_view kBytes = "\"'[]{}=.,#\n0aZ_-\\:/ \xff";
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string text = example;
    for (std::size_t damage = 1 + random() % 3; damage > 0; --damage) {
      const std::size_t at = random() % text.size();
      const char byte = kBytes[random() % kBytes.size()];
      const std::uint32_t kind = random() % 3;
      if (kind == 0) text[at] = byte;
      if (kind == 1) text.insert(at, 1, byte);
      if (kind == 2) text.erase(at, 1 + random() % 8);
    }
    const LoadedConfig loaded = load(text);
    refused += loaded.ok() ? 0 : 1;
    for (const ConfigProblem& problem : loaded.problems) {
      ASSERT_THAT(problem.text("h.toml"), Not(HasSubstr("s3cr3t")));
    }
  }
  EXPECT_GT(refused, 60);  // most damage hits a comment or a name; some must be noticed
}

}  // namespace
}  // namespace hookonce
