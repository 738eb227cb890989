#include "cli/sample_sender.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "base/bytes.h"
#include "base/random.h"
#include "cli/option_checks.h"
#include "cli/provider_choice.h"
#include "core/dedup.h"

namespace hookonce {

namespace {

constexpr Duration kAnswerWithin = std::chrono::seconds(30);  // longer than any provider waits

Status check_header(const ProviderTraits& traits, const std::string& header) {
  if (traits.needs_hmac && header.empty()) {
    return invalid(fmt::format("provider {} leaves the signature header to the user: pass --header NAME", traits.name));
  }
  if (!traits.needs_hmac && !header.empty()) {
    return invalid(fmt::format("--header is not for provider {}, which has its own signature header", traits.name));
  }
  return {};
}

}  // namespace

void add_sample_options(CLI::App& command, SampleOptions& options) {
  offer(*command
             .add_option("PROVIDER", options.provider,
                         "Whose events: stripe, slack, github, standard_webhooks (svix), hmac")
             ->required()
             ->type_name(""),
        signing_provider_names());
  command.add_option("--to", options.to, "The webhook endpoint")->required()->type_name("URL");
  command.add_option("--secret", options.secret, "The signing secret: a literal, env:NAME or file:PATH")
      ->required()
      ->type_name("S");
  command.add_option("--type", options.type, "The event type; default the provider's usual one")->type_name("T");
  command
      .add_option("--header", options.header, "The signature header, for provider hmac (SHA-256 in hex over the body)")
      ->type_name("NAME");
}

Result<SampleSender> SampleSender::make(const SampleOptions& options) {
  SampleSender sender;
  HK_ASSIGN(sender.provider_, choose_provider(options.provider));
  HK_TRY(check_header(sender.provider_->traits(), options.header));
  if (url_host(options.to).empty()) {
    return invalid(
        fmt::format("--to {}: must be a URL such as http://127.0.0.1:8080/in/{}", options.to, options.provider));
  }
  HK_ASSIGN(std::vector<std::string> secrets, resolve_secrets({options.secret}));
  sender.url_ = options.to;
  sender.secret_ = std::move(secrets.front());
  sender.type_ = options.type;
  sender.header_ = options.header;
  // What can't be signed is told before anything is sent.
  auto trial = sender.request({}, Time{});
  if (!trial.ok()) return trial.status().with_context(fmt::format("provider {}", options.provider));
  return sender;
}

std::string SampleSender::fresh_id() const {
  std::array<std::uint8_t, 16> random{};
  fill_random(random);
  return provider_->sample_id({reinterpret_cast<const char*>(random.data()), random.size()});
}

Result<ClientRequest> SampleSender::request(SampleRequest sample, Time wall) const {
  sample.type = type_;
  sample.signature_header = header_;
  HK_ASSIGN(SampleMessage message, provider_->sample(sample, secret_, wall));
  ClientRequest request;
  request.url = url_;
  request.headers = std::move(message.headers);
  request.body = std::make_shared<const std::string>(std::move(message.body));
  request.timeout = kAnswerWithin;
  return request;
}

Result<std::optional<std::string>> SampleSender::dedup_key(const ClientRequest& request) const {
  BindSettings settings;
  settings.secrets = {secret_};
  settings.tolerance = provider_->traits().tolerance;
  if (!header_.empty()) {
    settings.hmac = HmacScheme{};
    settings.hmac->header = header_;
  }
  HK_ASSIGN(const auto bound, provider_->bind(settings));
  HttpRequest arriving;
  arriving.method = "POST";
  arriving.headers = request.headers;
  arriving.body = *request.body;
  const Identity identity = bound->identify(arriving);
  if (!identity.body.ok() || !identity.key) return std::optional<std::string>();
  return std::optional(key_text(*identity.key));
}

std::string answer_text(const ClientResponse& response) {
  switch (response.result) {
    case ClientResponse::Result::kAnswered:
      return fmt::format("{}", response.status);
    case ClientResponse::Result::kNotSent:
      return "not sent";
    case ClientResponse::Result::kNoAnswer:
      return "no answer";
    case ClientResponse::Result::kCancelled:
      return "cancelled";
  }
  HK_CHECK(false);
}

bool is_success(const ClientResponse& response) {
  return response.result == ClientResponse::Result::kAnswered && response.status >= 200 && response.status < 300;
}

std::string_view url_host(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return {};
  const std::string_view scheme = url.substr(0, scheme_end);
  if (!equals_ignore_case(scheme, "http") && !equals_ignore_case(scheme, "https")) return {};
  std::string_view authority = url.substr(scheme_end + 3);
  authority = authority.substr(0, authority.find_first_of("/?#\\"));
  // Everything up to the last `@` is a user's name, whatever it looks like.
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t close = authority.find(']');
    return close == std::string_view::npos ? std::string_view() : authority.substr(1, close - 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool is_loopback_host(std::string_view host) {
  if (equals_ignore_case(host, "localhost")) return true;
  const std::string text(host);
  in_addr v4{};
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace hookonce
