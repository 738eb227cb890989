// From a request to a verdict to an answer (contract section 5).
//
//   path -> source -> unsigned handshake -> verify -> handshake -> identify -> dedup key -> committer -> answer
//
// A synchronous source's sender waits behind the commit for its destination's answer (core/sync_delivery.h).
//
// Thread-safe: the server calls from all its I/O threads.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/http_handler.h"
#include "base/metrics.h"
#include "core/cause.h"
#include "core/config.h"
#include "core/rejected.h"
#include "core/sync_delivery.h"
#include "provider/provider.h"
#include "store/committer.h"

namespace hookonce {

class Ingest final : public HttpHandler {
 public:
  struct Arrived {
    const std::string& source;
    const std::string& type;
    const std::optional<std::string>& key;
    const AcceptFacts& facts;
    Cause cause = Cause::kFirst;
    Duration since_first{};
  };

  // Sees facts as they happen, for live views (`forward`, later the stream); called on I/O threads, must not block.
  struct Observer {
    virtual ~Observer() = default;
    virtual void arrived(const Arrived& arrived) = 0;
    virtual void rejected(const std::string& source, const std::string& code, const std::string& message) = 0;
    // What was found out about a rejected request that is kept, some time after rejected(); bounded as in the log.
    virtual void explained(const std::string& source, const std::string& reason) {
      (void)source;
      (void)reason;
    }
    // A request to a path that is no source's; the first of a burst alone, as in the log.
    virtual void misdirected(const std::string& method, const std::string& path) {
      (void)method;
      (void)path;
    }
    // The whole of a request that was rejected, after rejected(). Not of one that accept_again() refused again.
    virtual void keep(RejectedRequest) {}
  };

  // REQUIRES: all outlive this. `observer` may be null, `sync` where no source is synchronous.
  Ingest(Store& store, Committer& committer, const Clock& clock, Observer* observer = nullptr,
         SyncDelivery* sync = nullptr);
  ~Ingest() override;

  // Takes a new configuration for all requests whose head is read from now on; on an error the old one stays. Any
  // thread.
  Status configure(std::shared_ptr<const Config> config);
  // Takes a rejected request again, as it would have been at its moment: verified with today's secrets as of then, and
  // then an arrival as any other. The answer is what the source answers, with what diagnose() finds, and 404 where the
  // source is gone. Blocks until the event is durable; any thread but the committer's.
  HttpResponse accept_again(const RejectedRequest& rejected);
  // Why a rejected request was refused, as far as it can be proven (ingest/diagnosis.h), told to the log and to the
  // observer too; nullopt where `reason` says all. Takes up to some tenths of a second; any thread.
  std::optional<std::string> explain(const RejectedRequest& rejected);
  // New requests are answered 503 `draining` with `Connection: close`, /readyz too. Any thread.
  void drain();

  HeadDecision on_head(const HttpRequest& head) override;
  void on_request(HttpRequest request, Responder responder) override;

 private:
  struct State;
  // `again`: the rejected request that it was. It is neither counted nor kept as rejected once more, its sender is
  // gone, and without a dedup key of its own it is one event all the same, however often it is accepted.
  void take(HttpRequest request, Responder responder, const std::optional<EventId>& again);

  std::unique_ptr<State> state_;
};

}  // namespace hookonce
