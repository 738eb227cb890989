#include "core/config_load.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<ProviderTraits> some_providers() {
  ProviderTraits stripe;
  stripe.name = "stripe";
  stripe.ack_deadline = seconds(2);
  stripe.tolerance = minutes(5);
  stripe.retry_horizon = hours(72);
  ProviderTraits slack = stripe;
  slack.name = "slack";
  ProviderTraits github = stripe;
  github.name = "github";
  github.tolerance = Duration::zero();
  github.max_body = 25 * kMiB;
  ProviderTraits standard = stripe;
  standard.name = "standard_webhooks";
  standard.alias = "svix";
  ProviderTraits hmac = stripe;
  hmac.name = "hmac";
  hmac.needs_hmac = true;
  hmac.retry_horizon = Duration::zero();
  ProviderTraits token = hmac;
  token.name = "token";
  token.needs_hmac = false;
  token.needs_token = true;
  ProviderTraits none = token;
  none.name = "none";
  none.needs_token = false;
  none.needs_secret = false;
  return {github, hmac, none, slack, standard, stripe, token};
}

// A world in which env:SET and env:TOKEN exist, env:EMPTY is empty, /good is the one file, and memory: is an unknown
// store.
class ConfigLoadTest : public testing::Test {
 protected:
  ConfigLoadTest() : providers_(some_providers()) {
    world_.providers = providers_;
    world_.environment = [](const std::string& name) -> Result<std::string> {
      if (name == "SET") return std::string("s3cr3t-of-the-environment");
      if (name == "TOKEN") return std::string("t0k3n");
      if (name == "EMPTY") return std::string();
      return not_found("environment variable " + name + " is not set");
    };
    world_.file = [](const std::string& path) -> Result<std::string> {
      if (path == "/good") return std::string("s3cr3t-of-the-file");
      return not_found("file " + path + " cannot be read: No such file or directory");
    };
    world_.check_store = [](const std::string& url) -> Status {
      if (url.rfind("sqlite:", 0) == 0) return {};
      return invalid("this version has no store for `" + url.substr(0, url.find(':') + 1) + "`; use sqlite:PATH");
    };
  }

  LoadedConfig load(std::string_view text) const { return load_config(text, world_); }

  std::vector<std::string> problems(std::string_view text) const {
    std::vector<std::string> lines;
    for (const ConfigProblem& problem : load(text).problems) lines.push_back(problem.text("h.toml"));
    return lines;
  }

  // The problems of a sound configuration with `lines` added to its source or destination.
  std::vector<std::string> source_problems(const std::string& lines) const {
    return problems("[sources.s]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\n" + lines +
                    "\n[destinations.d]\nurl = \"http://127.0.0.1:9000/\"\n");
  }
  std::vector<std::string> destination_problems(const std::string& lines) const {
    return problems(kSource + kDestination + lines);
  }
  std::vector<std::string> server_problems(const std::string& lines) const {
    return problems("[server]\n" + lines + "\n" + kSource + kDestination);
  }

  const std::string kSource = "[sources.s]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\n";
  const std::string kDestination = "[destinations.d]\nurl = \"http://127.0.0.1:9000/\"\n";
  std::vector<ProviderTraits> providers_;
  ConfigWorld world_;
};

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
  std::ifstream file(HOOKONCE_SOURCE_DIR "/examples/hookonce.toml");
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  EXPECT_THAT(problems(text.str()), IsEmpty());
  const LoadedConfig loaded = load(text.str());
  EXPECT_EQ(loaded.config.sources.size(), 5u);
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

TEST_F(ConfigLoadTest, TheProvidersJudgementOfSecretsIsReportedAtThem) {
  world_.check_source = [](const SourceConfig& source) {
    EXPECT_THAT(source.secrets, ElementsAre("s3cr3t-of-the-environment"));
    return invalid("secret 1 is not base64");
  };
  world_.check_destination = [](const DestinationConfig&) { return invalid("secret 1 cannot sign"); };
  EXPECT_THAT(destination_problems("secrets = [\"x\"]"),
              ElementsAre("h.toml:3: sources.s.secrets: secret 1 is not base64",
                          "h.toml:7: destinations.d.secrets: secret 1 cannot sign"));
}

TEST_F(ConfigLoadTest, TwoSourcesWithOnePathAreAMistakeOfTheLater) {
  const std::string other =
      "[sources.a]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\npath = \"/in/s/\"\n";
  EXPECT_THAT(problems(kSource + other + kDestination),
              ElementsAre(HasSubstr("h.toml:9: sources.a.path: `/in/s/` is the path of source `s` too")));
  EXPECT_THAT(problems(other + kSource + kDestination),
              ElementsAre(HasSubstr("h.toml:6: sources.s.path: `/in/s` is the path of source `a` too")));
}

TEST_F(ConfigLoadTest, PathsAreComparedByteForByteButForOneTrailingSlash) {
  for (const char* path : {"/in/S", "/in//s", "/in/s//", "/in/%73", "/"}) {
    EXPECT_THAT(
        problems("[sources.a]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\npath = \"" +
                 std::string(path) + "\"\n" + kSource + kDestination),
        IsEmpty())
        << path;
  }
  for (const char* path : {"in", "/in?x", "/a#b", "/ä", "/a b", "/healthz", "/readyz/", ""}) {
    EXPECT_THAT(source_problems(std::string("path = \"") + path + "\""),
                ElementsAre(HasSubstr("h.toml:5: sources.s.path: ")))
        << path;
  }
}

TEST_F(ConfigLoadTest, UnknownReferencesNameTheNearest) {
  EXPECT_THAT(
      problems("[sources.s]\nprovider = \"strpe\"\nsecrets = [\"env:SET\"]\ndestinations = [\"bakend\", \"zzzzzzz\"]\n"
               "[destinations.backend]\nurl = \"http://127.0.0.1:9000/\"\n"),
      ElementsAre("h.toml:2: sources.s.provider: unknown provider `strpe`; did you mean `stripe`?",
                  "h.toml:4: sources.s.destinations: unknown destination `bakend`; did you mean `backend`?",
                  HasSubstr("unknown destination `zzzzzzz`; add a table [destinations.zzzzzzz]")));
  EXPECT_THAT(
      problems("[sources.s]\nprovider = \"zzzzzzzzzzz\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\n" +
               kDestination),
      ElementsAre(HasSubstr("this version knows github, hmac, none, slack, standard_webhooks, svix, stripe, token")));
}

TEST_F(ConfigLoadTest, DestinationEntriesAreNamesOrTablesAndNamedOnce) {
  const auto with = [&](const std::string& list) {
    return problems("[sources.s]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = " + list + "\n" +
                    kDestination);
  };
  EXPECT_THAT(with("[\"d\", { name = \"d\" }]"), ElementsAre(HasSubstr("`d` is named twice")));
  EXPECT_THAT(with("[{ nam = \"d\" }]"),
              ElementsAre(HasSubstr("sources.s.destinations.nam: unknown key; did you mean `name`?")));
  EXPECT_THAT(with("[{ types = [\"x\"] }]"), ElementsAre(HasSubstr("sources.s.destinations.name: is missing")));
  EXPECT_THAT(with("[{ name = \"d\", types = [] }]"), ElementsAre(HasSubstr("no event would ever be delivered")));
  EXPECT_THAT(with("[\"d\", 7]"), ElementsAre(HasSubstr("an entry must be a name or {")));
  EXPECT_THAT(with("[\"d\", \"\"]"), ElementsAre(HasSubstr("an entry must be a name or {")));
}

TEST_F(ConfigLoadTest, TheAdminAddressNeedsATokenOutsideLoopback) {
  EXPECT_THAT(server_problems("admin = \"0.0.0.0:8081\""),
              ElementsAre(HasSubstr("server.admin: 0.0.0.0:8081 can be reached from other machines; set admin_token")));
  EXPECT_THAT(server_problems("admin = \"[::]:8081\""), ElementsAre(HasSubstr("set admin_token")));
  EXPECT_THAT(server_problems("admin = \"0.0.0.0:8081\"\nadmin_token = \"env:TOKEN\""), IsEmpty());
  EXPECT_THAT(server_problems("admin = \"0.0.0.0:8081\"\nadmin_token = \"env:UNSET\""),
              ElementsAre(HasSubstr("server.admin_token: environment variable UNSET is not set")));
  EXPECT_THAT(server_problems("admin = \"127.1.2.3:8081\""), IsEmpty());
  EXPECT_THAT(server_problems("admin = \"[::1]:0\""), IsEmpty());
}

TEST_F(ConfigLoadTest, ListenersThatCollideAreNamed) {
  EXPECT_THAT(server_problems("admin = \"127.0.0.1:8080\""),
              ElementsAre(HasSubstr("is taken by listen = \"0.0.0.0:8080\"")));
  EXPECT_THAT(server_problems("listen = [\"127.0.0.1:80\", \"127.0.0.1:80\"]"), ElementsAre(HasSubstr("listed twice")));
  EXPECT_THAT(server_problems("listen = [\"127.0.0.1:0\", \"127.0.0.1:0\"]\nadmin = \"127.0.0.1:0\""), IsEmpty());
  EXPECT_THAT(server_problems("listen = []"), ElementsAre(HasSubstr("is empty")));
  EXPECT_THAT(server_problems("listen = [\":80\", \"127.0.0.1:99999\"]"),
              ElementsAre(HasSubstr("did you mean `0.0.0.0:80`?"), HasSubstr("between 0 and 65535")));
}

TEST_F(ConfigLoadTest, CertificateAndKeyBelongTogetherAndMustBeReadable) {
  EXPECT_THAT(server_problems("tls_cert = \"/good\""), ElementsAre(HasSubstr("server.tls_cert: needs tls_key")));
  EXPECT_THAT(server_problems("tls_key = \"/good\""), ElementsAre(HasSubstr("server.tls_key: needs tls_cert")));
  EXPECT_THAT(server_problems("tls_cert = \"/good\"\ntls_key = \"/missing\""),
              ElementsAre(HasSubstr("server.tls_key: file /missing cannot be read")));
}

TEST_F(ConfigLoadTest, ProxiesHostsAndUrlsAreJudged) {
  EXPECT_THAT(server_problems("trusted_proxies = [\"10.0.0.0/8\", \"proxy.local\", \"10.0.0.0/99\"]"),
              ElementsAre(HasSubstr("`proxy.local` is neither"), HasSubstr("`10.0.0.0/99` is neither")));
  EXPECT_THAT(server_problems("trusted_proxies = [\"0.0.0.0/0\"]"),
              ElementsAre(HasSubstr("warning: server.trusted_proxies: `0.0.0.0/0` trusts everybody")));
  EXPECT_THAT(server_problems("admin_hosts = [\"https://h.example.com\"]"), ElementsAre(HasSubstr("is no host name")));
  EXPECT_THAT(server_problems("public_url = \"hooks.example.com\""),
              ElementsAre(HasSubstr("server.public_url: is no URL")));
  EXPECT_THAT(server_problems("public_url = \"https://hooks.example.com/?a\""),
              ElementsAre(HasSubstr("must not have a query")));
  EXPECT_THAT(problems(kSource + "[destinations.d]\nurl = \"ftp://h/\"\n"),
              ElementsAre(HasSubstr("only http:// and https://")));
  EXPECT_THAT(problems(kSource + "[destinations.d]\nurl = \"http:///p\"\n"),
              ElementsAre(HasSubstr("destinations.d.url: has no host")));
}

TEST_F(ConfigLoadTest, SchemesAreRequiredForTheirProviderAndForbiddenElsewhere) {
  EXPECT_THAT(source_problems("hmac = { header = \"X-S\" }"),
              ElementsAre(HasSubstr("sources.s.hmac: has no meaning for provider `stripe`")));
  EXPECT_THAT(source_problems("token = { header = \"X-S\" }"),
              ElementsAre(HasSubstr("sources.s.token: has no meaning for provider `stripe`")));
  const auto generic = [&](const std::string& provider, const std::string& lines) {
    return problems("[sources.s]\nprovider = \"" + provider +
                    "\"\nsecrets = [\"env:SET\"]\ndedup_key = \"json:/id\"\ndestinations = [\"d\"]\n" + lines + "\n" +
                    kDestination);
  };
  EXPECT_THAT(generic("hmac", ""), ElementsAre(HasSubstr("sources.s.hmac: is missing and provider `hmac` needs it")));
  EXPECT_THAT(generic("token", ""),
              ElementsAre(HasSubstr("sources.s.token: is missing and provider `token` needs it")));
  EXPECT_THAT(generic("token", "token = {}"), ElementsAre(HasSubstr("exactly one of them")));
  EXPECT_THAT(generic("token", "token = { header = \"X-T\", basic_user = \"u\" }"),
              ElementsAre(HasSubstr("exactly one of them")));
  EXPECT_THAT(generic("token", "token = { basic_user = \"a:b\" }"), ElementsAre(HasSubstr("must not hold `:`")));
  EXPECT_THAT(generic("token", "token = { header = \"X T\" }"),
              ElementsAre(HasSubstr("sources.s.token.header: `X T` is no header name")));
  EXPECT_THAT(generic("hmac", "hmac = {}"), ElementsAre(HasSubstr("sources.s.hmac.header: is missing")));
  EXPECT_THAT(generic("hmac", "hmac = { header = \"X-S\", algorithm = \"sha265\", encoding = \"b64\" }"),
              ElementsAre(HasSubstr("`sha265` is unknown; did you mean `sha256`?"), HasSubstr("`b64` is unknown")));
  EXPECT_THAT(generic("hmac", "hmac = { header = \"X-S\", signed = \"fixed\" }"),
              ElementsAre(HasSubstr("must hold {body}")));
  EXPECT_THAT(generic("hmac", "hmac = { header = \"X-S\", signed = \"{timestamp}{bdy}{body}\" }"),
              ElementsAre(HasSubstr("say where it stands"), HasSubstr("`{bdy}` is unknown")));
  EXPECT_THAT(generic("hmac", "hmac = { header = \"X-S\", timestamp = \"json:/t\", signed = \"{timestamp}.{body}\" }"),
              ElementsAre(HasSubstr("must be a header")));
  EXPECT_THAT(generic("hmac", "hmac = { header = \"X-S\", timestamp = \"header:X-T\" }"),
              ElementsAre(HasSubstr("warning: sources.s.hmac.timestamp: is not part of `signed`")));
  EXPECT_THAT(generic("hmac", "hmac = { header = \"X-S\", prefix = \"\", signed = \"{id}.{body}\" }"), IsEmpty());
}

TEST_F(ConfigLoadTest, AnHmacSchemeIsReadWhole) {
  const LoadedConfig loaded = load(
      "[sources.s]\nprovider = \"hmac\"\nsecrets = [\"env:SET\"]\ndedup_key = \"json:/id\"\ndestinations = [\"d\"]\n"
      "hmac = { header = \"X-S\", algorithm = \"sha512\", encoding = \"base64\", prefix = \"v1=\", signed = "
      "\"{timestamp}.{body}\", "
      "timestamp = \"header:X-T\" }\n" +
      kDestination);
  ASSERT_TRUE(loaded.ok());
  const HmacScheme& hmac = *loaded.config.sources.at("s").hmac;
  EXPECT_EQ(hmac.header, "X-S");
  EXPECT_EQ(hmac.algorithm, HmacScheme::Algorithm::kSha512);
  EXPECT_EQ(hmac.encoding, HmacScheme::Encoding::kBase64);
  EXPECT_EQ(hmac.prefix, "v1=");
  EXPECT_EQ(hmac.signed_text, "{timestamp}.{body}");
  EXPECT_EQ(hmac.timestamp->text(), "header:X-T");
}

TEST_F(ConfigLoadTest, WhatThisVersionLacksIsRefusedByName) {
  EXPECT_THAT(source_problems("mode = \"sync\""),
              ElementsAre(HasSubstr("h.toml:5: sources.s.mode: synchronous sources are not in this version yet")));
  EXPECT_THAT(destination_problems("ordering = true"),
              ElementsAre(HasSubstr("destinations.d.ordering: ordered destinations are not in this version yet")));
  EXPECT_THAT(problems("[store]\nurl = \"postgres://db/hooks\"\n" + kSource + kDestination),
              ElementsAre(HasSubstr("h.toml:2: store.url: this version has no store for `postgres:`")));
}

TEST_F(ConfigLoadTest, WhatIsLegalAndProbablyNotMeantIsAWarning) {
  EXPECT_THAT(source_problems("dedup_window = \"1h\""),
              ElementsAre(HasSubstr(
                  "h.toml:5: warning: sources.s.dedup_window: 1h is shorter than provider `stripe` goes on retrying")));
  EXPECT_THAT(problems("[store]\nretention = \"7d\"\n" + kSource + kDestination),
              ElementsAre(HasSubstr("h.toml:2: warning: store.retention: 7d is shorter than the dedup_window of s")));
  EXPECT_THAT(problems(kSource + kDestination + "[destinations.e]\nurl = \"http://127.0.0.1/\"\n"),
              ElementsAre(HasSubstr("h.toml:7: warning: destinations.e: no source names")));
  EXPECT_THAT(
      problems("[sources.s]\nprovider = \"none\"\ndestinations = [\"d\"]\ndedup_key = \"json:/id\"\n" + kDestination),
      ElementsAre(HasSubstr("h.toml:2: warning: sources.s.provider: provider `none` VERIFIES NOTHING")));
  EXPECT_THAT(problems("[sources.s]\nprovider = \"none\"\ndestinations = [\"d\"]\n" + kDestination),
              Contains(HasSubstr("no duplicate is recognised")));
  EXPECT_THAT(server_problems("max_inflight = \"1MiB\""), ElementsAre(HasSubstr("warning: server.max_inflight")));
  EXPECT_THAT(
      problems(""),
      ElementsAre(
          "h.toml: warning: sources: no source is configured, so nothing can arrive; add a table [sources.NAME]"));
  EXPECT_TRUE(load("").ok());
}

TEST_F(ConfigLoadTest, FieldSpecsAreJudgedWithTheirMend) {
  EXPECT_THAT(source_problems("dedup_key = \"json:id\""),
              ElementsAre(HasSubstr("`json:id` is not a JSON pointer; did you mean `json:/id`?")));
  EXPECT_THAT(source_problems("dedup_key = []"), ElementsAre(HasSubstr("is empty; leave it out")));
  EXPECT_THAT(source_problems("dedup_key = [\"body\", \"nope\"]"), ElementsAre(HasSubstr("`nope` does not say where")));
  EXPECT_THAT(source_problems("ordering_key = \"form_json:payload:/a\""),
              ElementsAre(HasSubstr("not for configurations")));
  EXPECT_THAT(source_problems("missing_key = \"hashed\""), ElementsAre(HasSubstr("did you mean `hash`?")));
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

TEST_F(ConfigLoadTest, ASecretOfTheCommandLineIsALiteralAVariableOrAFile) {
  EXPECT_EQ(*resolve_secret("whsec_x", world_), "whsec_x");
  EXPECT_EQ(*resolve_secret("env:SET", world_), "s3cr3t-of-the-environment");
  EXPECT_EQ(*resolve_secret("file:/good", world_), "s3cr3t-of-the-file");
  for (const char* text : {"", " ", "env:", "env:UNSET", "env:EMPTY", "file:", "file:/missing"})
    EXPECT_FALSE(resolve_secret(text, world_).ok()) << text;
}

TEST(MachineWorld, ReadsFilesWithoutTheirOneFinalNewline) {
  const ConfigWorld world = machine_world({}, nullptr);
  const std::string path = testing::TempDir() + "hookonce_config_world_secret";
  const auto read_back = [&](std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
    return world.file(path);
  };
  EXPECT_EQ(*read_back("abc"), "abc");
  EXPECT_EQ(*read_back("abc\n"), "abc");
  EXPECT_EQ(*read_back("abc\r\n"), "abc");
  EXPECT_EQ(*read_back("abc\n\n"), "abc\n");
  EXPECT_EQ(*read_back("abc\r"), "abc\r");
  EXPECT_EQ(*read_back(""), "");
  EXPECT_EQ(read_back(std::string(2 * kMiB, 'x')).code(), Code::kInvalid);
  std::remove(path.c_str());
}

TEST(MachineWorld, NamesWhatIsNotThere) {
  const ConfigWorld world = machine_world({}, nullptr);
  EXPECT_THAT(world.file("/nonexistent/hookonce").status().message(),
              AllOf(HasSubstr("/nonexistent/hookonce"), HasSubstr("No such file")));
  EXPECT_FALSE(world.file(testing::TempDir()).ok());
  EXPECT_THAT(world.environment("HOOKONCE_TEST_NEVER_SET").status().message(),
              HasSubstr("HOOKONCE_TEST_NEVER_SET is not set"));
}

}  // namespace
}  // namespace hookonce
