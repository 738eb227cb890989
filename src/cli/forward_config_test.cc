#include "cli/forward_config.h"

#include <gmock/gmock.h>

#include "app/gateway.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

using testing::HasSubstr;

constexpr const char* kSecret = "sample-not-a-secret";

ForwardOptions forward_to(std::string provider) {
  ForwardOptions options;
  options.provider = std::move(provider);
  options.secrets = {kSecret};
  options.to = "http://127.0.0.1:9000/hook";
  return options;
}

TEST(ForwardProvider, MustBeKnown) {
  const Status status = check_forward_provider(forward_to("strype"));
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("did you mean stripe?"));
  EXPECT_THAT(check_forward_provider(forward_to("zzz")).message(), HasSubstr("github"));
}

TEST(ForwardProvider, MustNeedNoMoreThanTheOptionsSay) {
  EXPECT_OK(check_forward_provider(forward_to("stripe")));
  EXPECT_OK(check_forward_provider(forward_to("svix")));
  EXPECT_FALSE(check_forward_provider(forward_to("none")).ok());
  EXPECT_FALSE(check_forward_provider(forward_to("token")).ok());
  EXPECT_THAT(check_forward_provider(forward_to("hmac")).message(), HasSubstr("--header"));
}

TEST(ForwardProvider, TakesAHeaderOnlyWhereThatIsAChoice) {
  ForwardOptions options = forward_to("hmac");
  options.header = "X-Signature";
  EXPECT_OK(check_forward_provider(options));
  options.provider = "github";
  EXPECT_FALSE(check_forward_provider(options).ok());
}

TEST(ForwardToml, MakesAValidConfigurationOfTheArguments) {
  ForwardOptions options = forward_to("slack");
  options.path = "/slack/events";
  options.secrets = {"a\\b\"c\n", "second"};
  const CheckedConfig checked = check_config_text(forward_toml(options, "127.0.0.1:8085"), "forward");
  ASSERT_THAT(checked.errors, testing::IsEmpty());
  const Config& config = *checked.config;
  EXPECT_THAT(config.server.listen, testing::ElementsAre("127.0.0.1:8080"));
  EXPECT_EQ(config.server.admin, "127.0.0.1:8085");
  EXPECT_EQ(config.store.url, "sqlite:hookonce-slack.db");
  const SourceConfig& source = config.sources.at("slack");
  EXPECT_EQ(source.path, "/slack/events");
  EXPECT_THAT(source.secrets, testing::ElementsAre("a\\b\"c\n", "second"));
  EXPECT_EQ(config.destinations.at("backend").url, "http://127.0.0.1:9000/hook");
}

TEST(ForwardToml, ReportsTheArgumentsMistakesWithoutLines) {
  ForwardOptions options = forward_to("stripe");
  options.to = "no url";
  const CheckedConfig checked = check_config_text(forward_toml(options, "127.0.0.1:8085"), "forward");
  ASSERT_EQ(checked.errors.size(), 1U);
  EXPECT_THAT(checked.errors.front(), testing::StartsWith("forward: destinations.backend.url: "));
  EXPECT_EQ(checked.config, nullptr);
}

TEST(ForwardToml, NamesAMistakeByTheOptionThatMadeIt) {
  ForwardOptions options = forward_to("stripe");
  options.to = "127.0.0.1:9000";
  options.listen = "8080";
  options.path = "hook";
  options.store = "inbox.db";
  options.secrets = {""};
  const CheckedConfig checked = check_config_text(forward_toml(options, "127.0.0.1:8085"), kForwardConfigName);
  std::string named;
  for (const std::string& error : checked.errors) named += named_by_option(error) + "\n";
  EXPECT_EQ(checked.errors.size(), 5U);
  for (const char* option :
       {"--to: is no URL", "--listen: `8080`", "--path: `hook`", "--store: ", "--secret: secret 1"})
    EXPECT_THAT(named, HasSubstr(option));
  EXPECT_EQ(named_by_option("forward: server.admin: is taken"), "forward: server.admin: is taken");
}

TEST(ForwardToml, NamesTheHeaderOfAnHmacProvider) {
  ForwardOptions options = forward_to("hmac");
  options.header = "X-Signature";
  const CheckedConfig checked = check_config_text(forward_toml(options, "127.0.0.1:8085"), "forward");
  ASSERT_THAT(checked.errors, testing::IsEmpty());
  EXPECT_EQ(checked.config->sources.at("hmac").hmac->header, "X-Signature");
}

}  // namespace
}  // namespace hookonce
