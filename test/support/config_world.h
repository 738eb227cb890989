// A configuration's world for tests: seven providers with made-up traits, a few secrets, and one store.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/config_load.h"

namespace hookonce {

inline std::vector<ProviderTraits> some_providers() {
  ProviderTraits stripe;
  stripe.name = "stripe";
  stripe.ack_deadline = std::chrono::seconds(2);
  stripe.tolerance = std::chrono::minutes(5);
  stripe.retry_horizon = std::chrono::hours(72);
  ProviderTraits slack = stripe;
  slack.name = "slack";
  slack.has_response_url = true;
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
  hmac.takes_items = true;
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

// A world in which env:SET and env:TOKEN exist, env:EMPTY is empty, /good is the one file and sqlite: the one store.
class ConfigTest : public testing::Test {
 protected:
  ConfigTest() : providers_(some_providers()) {
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

}  // namespace hookonce
