#include "dispatch/http_sender.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/sync.h"
#include "core/retry.h"
#include "dispatch/delivery_request.h"
#include "dispatch/replies.h"
#include "provider/registry.h"

namespace hookonce {
namespace {

// What one configuration snapshot needs for its signatures. Immutable once built.
class PreparedConfig {
 public:
  explicit PreparedConfig(std::shared_ptr<const Config> config) : config_(std::move(config)) {
    for (const auto& [name, source] : config_->sources) prepare_source(source);
    for (const auto& [name, destination] : config_->destinations) prepare_destination(destination);
  }

  bool is_for(const std::shared_ptr<const Config>& config) const { return config_ == config; }

  // Whether the source's senders are to get what the destination answers.
  bool wants_reply(const std::string& source) const {
    const auto found = config_->sources.find(source);
    return found != config_->sources.end() && found->second.mode == SourceMode::kSync;
  }

  // Where the provider takes the lease's reply when it is late; empty where nowhere, or nobody asked for that.
  std::string reply_url(const Lease& lease) const {
    const auto found = config_->sources.find(lease.source);
    const auto source = sources_.find(lease.source);
    if (found == config_->sources.end() || !found->second.late_reply) return {};
    if (source == sources_.end() || source->second.bound == nullptr) return {};
    return source->second.bound->response_url(*lease.headers, *lease.body).value_or("");
  }

  // Valid while this lives. The destination must be one of the configuration's.
  DeliveryContext context(const Lease& lease) const {
    DeliveryContext context;
    context.destination = &config_->destinations.find(lease.destination)->second;
    if (const auto source = sources_.find(lease.source); source != sources_.end()) {
      context.provider = source->second.bound.get();
      context.carries_webhook_id = source->second.carries_webhook_id;
    }
    if (const auto signer = signers_.find(lease.destination); signer != signers_.end())
      context.signer = &signer->second;
    return context;
  }

 private:
  struct Source {
    std::unique_ptr<const BoundProvider> bound;  // null where it can't be bound: then nothing is re-signed
    bool carries_webhook_id = false;
  };

  // The configuration was judged when it was loaded, so a failure here is a surprise; the event still goes out, and
  // says in the log what it lacks.
  void prepare_source(const SourceConfig& source) {
    const Provider* provider = find_provider(source.provider);
    if (provider == nullptr) return;
    Source& prepared = sources_[source.name];
    prepared.carries_webhook_id = provider->traits().carries_webhook_id;
    auto bound = provider->bind(bind_settings(source));
    if (bound.ok()) {
      prepared.bound = std::move(bound).value();
    } else {
      log_warn("source.not_resigned", {{"source", source.name}, {"reason", bound.status().message()}});
    }
  }

  void prepare_destination(const DestinationConfig& destination) {
    if (destination.secrets.empty()) return;
    auto signer = StandardWebhooksSigner::make(destination.secrets);
    if (signer.ok()) {
      signers_.emplace(destination.name, std::move(signer).value());
    } else {
      log_warn("destination.not_signed", {{"destination", destination.name}, {"reason", signer.status().message()}});
    }
  }

  const std::shared_ptr<const Config> config_;
  std::map<std::string, Source, std::less<>> sources_;
  std::map<std::string, StandardWebhooksSigner, std::less<>> signers_;
};

// Never the limit that is met: what is open is bounded by each destination's own concurrency, so that those that hang
// leave the others their connections.
constexpr std::size_t kConnectionsMax = 65536;
// Likewise for names: a name whose server hangs holds a thread, and one for each destination is seldom this many.
constexpr int kResolversMax = 256;
constexpr int kTooManyRequests = 429;
constexpr int kServiceUnavailable = 503;

std::string failure_text(int status) {
  if (status >= 300 && status <= 399) return fmt::format("answered {}; redirects are not followed", status);
  return fmt::format("answered {}", status);
}

AttemptResult attempt_result(ClientResponse response, Time started_at, Time wall) {
  AttemptResult result;
  result.started_at = started_at;
  result.duration = response.duration;
  switch (response.result) {
    case ClientResponse::Result::kCancelled:
      result.outcome = Outcome::kReleased;
      result.error = std::move(response.error);
      return result;
    case ClientResponse::Result::kNotSent:
    case ClientResponse::Result::kNoAnswer:
      result.outcome = Outcome::kFailed;
      result.error = std::move(response.error);
      return result;
    case ClientResponse::Result::kAnswered:
      break;
  }
  result.status = response.status;
  result.response = response.body.substr(0, kResponseKept);
  if (response.status >= 200 && response.status <= 299) {
    result.outcome = Outcome::kSuccess;
    return result;
  }
  result.outcome = Outcome::kFailed;
  result.error = failure_text(response.status);
  if (response.status == kTooManyRequests || response.status == kServiceUnavailable) {
    if (const auto value = response.headers.first("Retry-After")) result.retry_after = parse_retry_after(*value, wall);
  }
  return result;
}

class HttpSender final : public Sender {
 public:
  HttpSender(std::unique_ptr<HttpClient> client, const Clock& clock) : client_(std::move(client)), clock_(clock) {}
  ~HttpSender() override { client_->stop(); }

  void send(Lease lease, std::shared_ptr<const Config> config, Done done) override {
    const auto prepared = prepared_for(config);
    const Time started_at = clock_.now();
    ClientRequest request = delivery_request(lease, prepared->context(lease), clock_.wall());
    const bool wants_reply = prepared->wants_reply(lease.source);
    std::string reply_url;
    if (wants_reply) {
      request.response_limit = kReplyMax;
      // The sender gets status, content type and bytes, and nothing that would say how to unpack these.
      request.headers.remove("Accept-Encoding");
      reply_url = prepared->reply_url(lease);
    }
    client_->send(std::move(request), [&clock = clock_, started_at, wants_reply, reply_url = std::move(reply_url),
                                       done = std::move(done)](ClientResponse response) {
      Result<Reply> reply = wants_reply ? reply_of(response) : Result<Reply>(Reply());
      AttemptResult result = attempt_result(std::move(response), started_at, clock.wall());
      if (wants_reply && result.outcome == Outcome::kSuccess) {
        if (reply.ok()) {
          result.reply = std::move(reply).value();
          result.reply_url = reply_url;
        } else {
          result.outcome = Outcome::kFailed;
          result.error = reply.status().message();
        }
      }
      done(std::move(result));
    });
  }

  void send_late(LateReply late, std::shared_ptr<const Config> config) override {
    const auto source = config->sources.find(late.source);
    auto request = late_reply_request(late, source == config->sources.end() ? nullptr : &source->second);
    if (!request.ok()) return report_unsent(late, request.status());
    late.reply = {};
    client_->send(std::move(request).value(),
                  [late = std::move(late)](const ClientResponse& response) { report_sent(late, response); });
  }

  void stop() override { client_->stop(); }

 private:
  std::shared_ptr<const PreparedConfig> prepared_for(const std::shared_ptr<const Config>& config) {
    {
      MutexLock lock(mutex_);
      if (prepared_ != nullptr && prepared_->is_for(config)) return prepared_;
    }
    // Once per reload. Two callers at once would both prepare the same, and either result serves.
    auto fresh = std::make_shared<const PreparedConfig>(config);
    MutexLock lock(mutex_);
    prepared_ = fresh;
    return fresh;
  }

  const std::unique_ptr<HttpClient> client_;
  const Clock& clock_;
  Mutex mutex_;
  std::shared_ptr<const PreparedConfig> prepared_ GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<Sender>> make_http_sender(const Clock& clock) {
  HttpClient::Options options;
  options.connections_max = kConnectionsMax;
  options.resolvers_max = kResolversMax;
  HK_ASSIGN(auto client, HttpClient::start(options));
  return std::unique_ptr<Sender>(std::make_unique<HttpSender>(std::move(client), clock));
}

}  // namespace hookonce
