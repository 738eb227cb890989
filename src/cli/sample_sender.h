// Signed sample requests to somebody's endpoint: what `send` and `hammer` have in common.
//
//   SampleOptions options;
//   add_sample_options(*command, options);                  // PROVIDER --to --secret --type --header
//   HK_ASSIGN(SampleSender sender, SampleSender::make(options));
//   HK_ASSIGN(ClientRequest request, sender.request(sample, system_clock().wall()));
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "http/client.h"
#include "provider/provider.h"

namespace CLI {
class App;
}

namespace hookonce {

struct SampleOptions {
  std::string provider;
  std::string to;
  std::string secret;  // as given: a literal, env:NAME, file:PATH
  std::string type;    // empty: the provider's usual one
  std::string header;
};
void add_sample_options(CLI::App& command, SampleOptions& options);

class SampleSender {
 public:
  // kInvalid: an unknown provider, one that can't sign, a secret of another form, a URL that is none.
  static Result<SampleSender> make(const SampleOptions& options);

  const Provider& provider() const { return *provider_; }
  // An event id that nobody has used before.
  std::string fresh_id() const;
  // Signed as of `wall`. Type and header are the options'.
  Result<ClientRequest> request(SampleRequest sample, Time wall) const;
  // What a source of this provider without a dedup_key of its own takes as the request's; nullopt: nothing.
  Result<std::optional<std::string>> dedup_key(const ClientRequest& request) const;

 private:
  const Provider* provider_ = nullptr;
  std::string url_;
  std::string secret_;
  std::string type_;
  std::string header_;
};

// How an exchange ended, in few words: "200", "no answer", "not sent".
std::string answer_text(const ClientResponse& response);
bool is_success(const ClientResponse& response);

// The host of an http or https URL, without port and brackets; empty where it is none.
std::string_view url_host(std::string_view url);
// Whether the host can only be this machine: localhost, or an address of the loopback networks in its plain form.
bool is_loopback_host(std::string_view host);

}  // namespace hookonce
