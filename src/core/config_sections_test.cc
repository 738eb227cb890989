#include "core/config_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/config_world.h"

namespace hookonce {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigSectionsTest : public ConfigTest {};

TEST_F(ConfigSectionsTest, TheProvidersJudgementOfSecretsIsReportedAtThem) {
  world_.check_source = [](const SourceConfig& source) {
    EXPECT_THAT(source.secrets, ElementsAre("s3cr3t-of-the-environment"));
    return invalid("secret 1 is not base64");
  };
  world_.check_destination = [](const DestinationConfig&) { return invalid("secret 1 cannot sign"); };
  EXPECT_THAT(destination_problems("secrets = [\"x\"]"),
              ElementsAre("h.toml:3: sources.s.secrets: secret 1 is not base64",
                          "h.toml:7: destinations.d.secrets: secret 1 cannot sign"));
}

TEST_F(ConfigSectionsTest, TwoSourcesWithOnePathAreAMistakeOfTheLater) {
  const std::string other =
      "[sources.a]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\npath = \"/in/s/\"\n";
  EXPECT_THAT(problems(kSource + other + kDestination),
              ElementsAre(HasSubstr("h.toml:9: sources.a.path: `/in/s/` is the path of source `s` too")));
  EXPECT_THAT(problems(other + kSource + kDestination),
              ElementsAre(HasSubstr("h.toml:6: sources.s.path: `/in/s` is the path of source `a` too")));
}

TEST_F(ConfigSectionsTest, PathsAreComparedByteForByteButForOneTrailingSlash) {
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

TEST_F(ConfigSectionsTest, UnknownReferencesNameTheNearest) {
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

TEST_F(ConfigSectionsTest, DestinationEntriesAreNamesOrTablesAndNamedOnce) {
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

TEST_F(ConfigSectionsTest, TheAdminAddressNeedsATokenOutsideLoopback) {
  EXPECT_THAT(server_problems("admin = \"0.0.0.0:8081\""),
              ElementsAre(HasSubstr("server.admin: 0.0.0.0:8081 can be reached from other machines; set admin_token")));
  EXPECT_THAT(server_problems("admin = \"[::]:8081\""), ElementsAre(HasSubstr("set admin_token")));
  EXPECT_THAT(server_problems("admin = \"0.0.0.0:8081\"\nadmin_token = \"env:TOKEN\""), IsEmpty());
  EXPECT_THAT(server_problems("admin = \"0.0.0.0:8081\"\nadmin_token = \"env:UNSET\""),
              ElementsAre(HasSubstr("server.admin_token: environment variable UNSET is not set")));
  EXPECT_THAT(server_problems("admin = \"127.1.2.3:8081\""), IsEmpty());
  EXPECT_THAT(server_problems("admin = \"[::1]:0\""), IsEmpty());
}

TEST_F(ConfigSectionsTest, ListenersThatCollideAreNamed) {
  EXPECT_THAT(server_problems("admin = \"127.0.0.1:8080\""),
              ElementsAre(HasSubstr("is taken by listen = \"0.0.0.0:8080\"")));
  EXPECT_THAT(server_problems("listen = [\"127.0.0.1:80\", \"127.0.0.1:80\"]"), ElementsAre(HasSubstr("listed twice")));
  EXPECT_THAT(server_problems("listen = [\"127.0.0.1:0\", \"127.0.0.1:0\"]\nadmin = \"127.0.0.1:0\""), IsEmpty());
  EXPECT_THAT(server_problems("listen = []"), ElementsAre(HasSubstr("is empty")));
  EXPECT_THAT(server_problems("listen = [\":80\", \"127.0.0.1:99999\"]"),
              ElementsAre(HasSubstr("did you mean `0.0.0.0:80`?"), HasSubstr("between 0 and 65535")));
}

TEST_F(ConfigSectionsTest, CertificateAndKeyBelongTogetherAndMustBeReadable) {
  EXPECT_THAT(server_problems("tls_cert = \"/good\""), ElementsAre(HasSubstr("server.tls_cert: needs tls_key")));
  EXPECT_THAT(server_problems("tls_key = \"/good\""), ElementsAre(HasSubstr("server.tls_key: needs tls_cert")));
  EXPECT_THAT(server_problems("tls_cert = \"/good\"\ntls_key = \"/missing\""),
              ElementsAre(HasSubstr("server.tls_key: file /missing cannot be read")));
}

TEST_F(ConfigSectionsTest, ProxiesHostsAndUrlsAreJudged) {
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

TEST_F(ConfigSectionsTest, SchemesAreRequiredForTheirProviderAndForbiddenElsewhere) {
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

TEST_F(ConfigSectionsTest, ASourceSaysWhatIsNotShownAndForHowLongItIsKept) {
  const LoadedConfig loaded = load(kSource +
                                   "redact = [\"json:/cards/*/number\", \"header:authorization\"]\n"
                                   "retention = \"60d\"" +
                                   "\n" + kDestination);
  ASSERT_TRUE(loaded.ok());
  const SourceConfig& source = loaded.config.sources.at("s");
  EXPECT_EQ(source.redact, (std::vector<FieldSpec>{*FieldSpec::parse("json:/cards/*/number"),
                                                   *FieldSpec::parse("header:authorization")}));
  EXPECT_EQ(source.retention, std::chrono::hours(60 * 24));
  EXPECT_EQ(load(kSource + kDestination).config.sources.at("s").retention, std::nullopt);
  EXPECT_THAT(source_problems("redact = \"json:card\""), ElementsAre(HasSubstr("sources.s.redact: ")));
  EXPECT_THAT(source_problems("redact = [7]"), ElementsAre(HasSubstr("sources.s.redact: ")));
  EXPECT_THAT(source_problems("retention = \"0s\""), ElementsAre(HasSubstr("sources.s.retention: ")));
  EXPECT_THAT(source_problems("retention = \"7d\""),
              ElementsAre(HasSubstr("warning: sources.s.retention: 7d is shorter than the dedup_window, 30d")));
}

TEST_F(ConfigSectionsTest, TheStoresRetentionIsNotWarnedOfForASourceWithItsOwn) {
  const std::string store = "[store]\nretention = \"7d\"\n";
  EXPECT_THAT(problems(store + kSource + "retention = \"30d\"" + "\n" + kDestination), IsEmpty());
  EXPECT_THAT(problems(store + kSource + "retention = \"1d\"\ndedup_window = \"5d\"" + "\n" + kDestination),
              testing::Not(testing::Contains(HasSubstr("store.retention"))));
}

TEST_F(ConfigSectionsTest, AHiddenPlaceThatIsShownAsAKeyIsWarnedOf) {
  EXPECT_THAT(source_problems("redact = [\"json:/card\"]\ndedup_key = \"json:/card/id\""),
              ElementsAre(HasSubstr("warning: sources.s.redact: hides `json:/card/id`, which dedup_key reads")));
  EXPECT_THAT(source_problems("redact = [\"header:x-a\"]\nordering_key = \"header:X-A\""),
              ElementsAre(HasSubstr("warning: sources.s.redact: hides `header:X-A`, which ordering_key reads")));
  EXPECT_THAT(source_problems("redact = [\"json:/card/number\"]\ndedup_key = \"json:/card/id\""), IsEmpty());
}

TEST_F(ConfigSectionsTest, AHiddenPlaceWithinTheItemsOfABatchIsWarnedOf) {
  const auto batch = [&](const std::string& redact) {
    return problems(
        "[sources.s]\nprovider = \"hmac\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\n"
        "hmac = { header = \"X-S\" }\nitems = \"json:/events/*\"\ndedup_key = \"json:/id\"\nredact = [\"" +
        redact + "\"]\n" + kDestination);
  };
  for (const char* hides : {"json:/events/*/id", "json:/events/*", "json:/events"}) {
    EXPECT_THAT(batch(hides),
                ElementsAre(HasSubstr("warning: sources.s.redact: hides `json:/events/*/id`, which dedup_key reads")))
        << hides;
  }
  EXPECT_THAT(batch("json:/id"), IsEmpty()) << "of the whole body, not of an item";
  EXPECT_THAT(batch("json:/events/*/card"), IsEmpty());
}

TEST_F(ConfigSectionsTest, ItemsNameAnArrayWhoseElementsHaveTheKey) {
  const auto batches = [&](const std::string& lines, const std::string& scheme = "header = \"X-S\"") {
    return "[sources.s]\nprovider = \"hmac\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\nhmac = { " + scheme +
           " }\n" + lines + "\n" + kDestination;
  };
  const std::string key = "dedup_key = \"json:/id\"\n";
  LoadedConfig loaded = load(batches(key + "items = \"json:/events/*\""));
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.config.sources.at("s").items, "/events");
  loaded = load(batches(key + "items = \"json:/*\""));
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.config.sources.at("s").items, "");
  EXPECT_EQ(load(batches(key)).config.sources.at("s").items, std::nullopt);
  for (const char* wrong : {"json:/events", "json:/events/0", "header:X-Events", "json:/events/*/id", "json:"}) {
    EXPECT_THAT(problems(batches(key + "items = \"" + wrong + "\"")), ElementsAre(HasSubstr("sources.s.items: ")))
        << wrong;
  }
  EXPECT_THAT(problems(batches("dedup_key = \"header:X-Id\"\nitems = \"json:/events/*\"")),
              ElementsAre(HasSubstr("sources.s.dedup_key: is read within each item")));
  EXPECT_THAT(problems(batches(key + "items = \"json:/events/*\"\ndedup_also = [\"json:/other\"]")),
              ElementsAre(HasSubstr("sources.s.dedup_also: has no meaning where `items` is set")));
  EXPECT_THAT(problems(batches(key + "items = \"json:/events/*\"", "header = \"X-S\", signed = \"{id}.{body}\"")),
              ElementsAre(HasSubstr("sources.s.hmac.signed: holds {id}, and with `items` there is no one id")));
  EXPECT_THAT(source_problems("items = \"json:/events/*\""),
              ElementsAre(HasSubstr("sources.s.items: has no meaning for provider `stripe`")));
}

TEST_F(ConfigSectionsTest, AnHmacSchemeIsReadWhole) {
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

TEST_F(ConfigSectionsTest, OrderIsKeptWhereThereIsAKeyForIt) {
  EXPECT_THAT(destination_problems("ordering = true"),
              ElementsAre(HasSubstr("sources.s.ordering_key: is missing, so destination d gets this source's events in "
                                    "no order")));
  EXPECT_THAT(destination_problems("on_dead = \"skip\""),
              ElementsAre(HasSubstr("destinations.d.on_dead: has no effect without ordering = true")));
  EXPECT_THAT(destination_problems("ordering = true\non_dead = \"wait\""),
              testing::Contains(HasSubstr("destinations.d.on_dead: ")));
}

TEST_F(ConfigSectionsTest, ASynchronousSourceHasOneDestinationWithoutOrder) {
  EXPECT_THAT(source_problems("mode = \"sync\""), ElementsAre());
  EXPECT_THAT(
      problems("[sources.s]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\", \"e\"]\n"
               "mode = \"sync\"\n" +
               kDestination + "[destinations.e]\nurl = \"http://127.0.0.1/\"\n"),
      ElementsAre(HasSubstr("h.toml:4: sources.s.destinations: a synchronous source has exactly one destination")));
  EXPECT_THAT(problems(kSource + "mode = \"sync\"\nordering_key = \"json:/a\"\n" + kDestination + "ordering = true\n"),
              ElementsAre(HasSubstr("h.toml:5: sources.s.mode: a synchronous source cannot have destination d, which "
                                    "keeps order")));
}

TEST_F(ConfigSectionsTest, ASynchronousSourceIsNotAlsoAskedForAnOrderingKey) {
  EXPECT_THAT(problems(kSource + "mode = \"sync\"\n" + kDestination + "ordering = true\n"),
              ElementsAre(HasSubstr("sources.s.mode: a synchronous source cannot have destination d")));
}

TEST_F(ConfigSectionsTest, LateAnswersAndRepliesAreForSynchronousSources) {
  const std::string slack = "[sources.s]\nprovider = \"slack\"\nsecrets = [\"env:SET\"]\ndestinations = [\"d\"]\n";
  const std::string sync = slack + "mode = \"sync\"\n";
  const auto loaded = load(sync + "late_reply = \"response_url\"\nlate_answer = {}\n" + kDestination);
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(loaded.config.sources.at("s").late_reply.has_value());
  EXPECT_EQ(loaded.config.sources.at("s").late_answer->body, "");
  EXPECT_THAT(
      problems(slack + "late_reply = \"response_url\"\nlate_answer = {}\n" + kDestination),
      ElementsAre(HasSubstr("s.late_reply: means something for synchronous sources only; write mode = \"sync\""),
                  HasSubstr("s.late_answer: means something for synchronous sources only")));
  EXPECT_THAT(source_problems("mode = \"sync\"\nlate_reply = \"response_url\""),
              ElementsAre(HasSubstr("requests of provider `stripe` name no address for a late reply")));
  EXPECT_THAT(problems(sync + "late_reply = \"callback\"\n" + kDestination), ElementsAre(HasSubstr("response_url")));
  EXPECT_THAT(problems(sync + "late_reply = { proxy = \"http://proxy:3128\" }\n" + kDestination),
              ElementsAre(HasSubstr("s.late_reply.to: ")));
  EXPECT_THAT(problems(sync + "late_reply = { to = \"response_url\", proxy = \"proxy:3128\", ca_file = \"/good\" }\n" +
                       kDestination),
              ElementsAre(HasSubstr("s.late_reply.ca_file: file /good holds no certificate"),
                          HasSubstr("s.late_reply.proxy: ")));
  EXPECT_THAT(problems(sync + "late_answer = { body = \"wait\" }\n" + kDestination),
              ElementsAre(HasSubstr("s.late_answer.content_type: ")));
  EXPECT_THAT(problems(sync + "late_answer = \"wait\"\n" + kDestination),
              ElementsAre(HasSubstr("s.late_answer: must be a table, not ")));
}

TEST_F(ConfigSectionsTest, WhatThisVersionLacksIsRefusedByName) {
  EXPECT_THAT(problems("[store]\nurl = \"postgres://db/hooks\"\n" + kSource + kDestination),
              ElementsAre(HasSubstr("h.toml:2: store.url: this version has no store for `postgres:`")));
}

TEST_F(ConfigSectionsTest, AStoreUrlMayStandWhereSecretsDo) {
  const auto environment = world_.environment;
  world_.environment = [environment](const std::string& name) {
    return name == "INBOX" ? Result<std::string>("sqlite:elsewhere.db") : environment(name);
  };
  const LoadedConfig loaded = load_config("[store]\nurl = \"env:INBOX\"\n" + kSource + kDestination, world_);
  EXPECT_EQ(loaded.config.store.url, "sqlite:elsewhere.db");
  EXPECT_THAT(problems("[store]\nurl = \"env:MISSING\"\n" + kSource + kDestination),
              ElementsAre(HasSubstr("h.toml:2: store.url: environment variable MISSING is not set")));
}

TEST_F(ConfigSectionsTest, WhatIsLegalAndProbablyNotMeantIsAWarning) {
  EXPECT_THAT(source_problems("dedup_window = \"1h\""),
              ElementsAre(HasSubstr(
                  "h.toml:5: warning: sources.s.dedup_window: 1h is shorter than provider `stripe` goes on retrying")));
  EXPECT_THAT(problems("[store]\nretention = \"7d\"\n" + kSource + kDestination),
              ElementsAre(HasSubstr("h.toml:2: warning: store.retention: 7d is shorter than the dedup_window of s")));
  world_.default_retention = [](const std::string&) { return std::chrono::hours(72); };
  EXPECT_THAT(problems(kSource + kDestination), ElementsAre()) << "nobody wrote that retention";
  world_.default_retention = nullptr;
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

TEST_F(ConfigSectionsTest, FieldSpecsAreJudgedWithTheirMend) {
  EXPECT_THAT(source_problems("dedup_key = \"json:id\""),
              ElementsAre(HasSubstr("`json:id` is not a JSON pointer; did you mean `json:/id`?")));
  EXPECT_THAT(source_problems("dedup_key = []"), ElementsAre(HasSubstr("is empty; leave it out")));
  EXPECT_THAT(source_problems("dedup_key = [\"body\", \"nope\"]"), ElementsAre(HasSubstr("`nope` does not say where")));
  EXPECT_THAT(source_problems("ordering_key = \"form_json:payload:/a\""),
              ElementsAre(HasSubstr("not for configurations")));
  EXPECT_THAT(source_problems("missing_key = \"hashed\""), ElementsAre(HasSubstr("did you mean `hash`?")));
}

}  // namespace
}  // namespace hookonce
