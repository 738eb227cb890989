// A backend to try things on: keeps what it receives, answers as it was told, and counts effects by the provider's
// event id.
//
// GET /effects answers {"event id": number of effects}, GET /requests a list of the raw requests; every other request
// is a delivery. Only an answer of 2xx is an effect. Thread-safe: the server calls from all its I/O threads.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/http_handler.h"
#include "base/json.h"
#include "base/sync.h"
#include "core/config.h"
#include "provider/provider.h"

namespace hookonce {

struct SinkOptions {
  int status = 200;
  Duration delay{};
  int fail_first = 0;                             // of each event id
  const Provider* provider = nullptr;             // whose id is looked for; may be null
  std::shared_ptr<const BoundProvider> verifier;  // null: nothing is verified
};

inline constexpr std::size_t kSinkBodyMax = 64 * kMiB;
inline constexpr std::size_t kSinkRequestsMax = 100'000;  // the oldest make room
inline constexpr std::size_t kSinkBytesMax = 256 * kMiB;  // of kept requests
inline constexpr std::size_t kSinkIdsMax = 2'000'000;     // further ones are answered 503, so that no count is wrong
inline constexpr std::size_t kSinkLinesMax = 10'000;      // unprinted lines; further ones are counted, not kept

class Sink final : public HttpHandler {
 public:
  // `wake` is called on any thread when there are lines to print; it must not block. REQUIRES: clock outlives this.
  Sink(SinkOptions options, const Clock& clock, std::function<void()> wake);

  HeadDecision on_head(const HttpRequest& head) override;
  void on_request(HttpRequest request, Responder responder) override;

  // The lines since the last call, each with its line end.
  std::string take_lines();

  // Lets go of the answers that are still delayed. REQUIRES: the server has stopped and is not destroyed yet.
  void end();

 private:
  struct Kept {
    std::string method;
    std::string path;  // with the query
    Headers headers;
    std::string body;
    int status = 0;
    Time received_at{};
    std::size_t bytes = 0;  // what it counts against kSinkBytesMax
  };
  struct Waiting {
    Time due{};
    HttpResponse response;
    Responder responder;
  };
  struct Judged {
    int status = 0;
    std::string note;  // for people
  };

  std::string event_id(const HttpRequest& request) const;
  // Why the verifier refuses the request; empty where it does not, or where there is none.
  std::string refusal(const HttpRequest& request) const;
  Judged judge(const std::string& id) LOCKS_REQUIRED(mutex_);
  void keep(HttpRequest request, int status) LOCKS_REQUIRED(mutex_);
  void put_line(std::string line) LOCKS_REQUIRED(mutex_);
  void answer(HttpResponse response, Responder responder);
  HttpResponse effects() const;
  HttpResponse requests() const;

  const SinkOptions options_;
  const Clock& clock_;
  const std::function<void()> wake_;
  const FieldReader ids_;

  mutable Mutex mutex_;
  std::map<std::string, std::int64_t> effects_ GUARDED_BY(mutex_);
  std::map<std::string, int> failures_ GUARDED_BY(mutex_);  // by event id, as long as fail_first asks for them
  std::deque<Kept> kept_ GUARDED_BY(mutex_);
  std::size_t kept_bytes_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> lines_ GUARDED_BY(mutex_);
  std::size_t lines_dropped_ GUARDED_BY(mutex_) = 0;

  Mutex waiting_mutex_;
  std::deque<Waiting> waiting_ GUARDED_BY(waiting_mutex_);  // delayed answers in order of their due time
};

}  // namespace hookonce
