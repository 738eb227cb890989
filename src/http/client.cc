#include "http/client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <deque>
#include <map>
#include <thread>
#include <utility>

#include "base/bytes.h"
#include "base/sync.h"
#include "http/client_resolver.h"
#include "http/client_sockets.h"
#include "http/client_transfer.h"
#include "http/client_wakeup.h"

namespace hookonce {
namespace {

// Rounds in which a transfer past its deadline may still read what lies in its socket. The answer's own limits (128
// KiB, in pieces of 16 KiB) need fewer.
constexpr int kLateRounds = 32;
constexpr std::size_t kSpareHandles = 64;
constexpr Duration kPollMax = std::chrono::seconds(60);

class CurlClient final : public HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> make(const Options& options) {
    static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (global != CURLE_OK) return internal(fmt::format("http client: {}", curl_easy_strerror(global)));
    auto wakeup = std::make_shared<ClientWakeup>();
    CURLM* multi = curl_multi_init();
    if (multi == nullptr || !wakeup->valid()) {
      curl_multi_cleanup(multi);
      return exhausted("http client: no memory or no free file descriptor");
    }
    return std::unique_ptr<HttpClient>(new CurlClient(multi, std::move(wakeup), options));
  }
  ~CurlClient() override {
    stop();
    spare_.clear();
    curl_multi_cleanup(multi_);
  }

  void send(ClientRequest request, Done done) override {
    auto transfer = std::make_unique<ClientTransfer>(std::move(request), std::move(done));
    {
      MutexLock lock(mutex_);
      if (!stopping_) arrived_.push_back(std::move(transfer));
    }
    if (transfer == nullptr) {
      wakeup_->wake();
    } else {
      transfer->done(cancelled());  // there is no loop any more, so on the caller's thread
    }
  }

  void stop() override {
    {
      MutexLock lock(mutex_);
      if (std::exchange(stopping_, true)) return;
    }
    wakeup_->wake();
    thread_.join();
  }

 private:
  // In order of their deadlines; the number tells equal ones apart.
  using Key = std::pair<Duration, std::uint64_t>;
  using Transfers = std::map<Key, std::unique_ptr<ClientTransfer>>;

  CurlClient(CURLM* multi, std::shared_ptr<ClientWakeup> wakeup, const Options& options)
      : multi_(multi),
        wakeup_(std::move(wakeup)),
        resolver_(options.resolvers_max, wakeup_),
        connections_max_(std::max<std::size_t>(1, options.connections_max)) {
    // The limit is kept by `queued_`, not by curl's own: with that one, requests that wait now and then wait for ever.
    HK_CHECK(curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections_max_)) == CURLM_OK);
    thread_ = std::thread([this] { run(); });
  }

  void run() {
    // A peer that hangs up must be an error of its transfer, never a signal.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    for (;;) {
      wakeup_->drain();
      std::vector<std::unique_ptr<ClientTransfer>> arrived;
      bool stopping = false;
      {
        MutexLock lock(mutex_);
        arrived.swap(arrived_);
        stopping = stopping_;
      }
      for (auto& transfer : arrived) admit(std::move(transfer));
      if (stopping) return cancel_all();
      resume_resolved();
      // The time is read before the sockets: what lay in a socket at a deadline that is over by then has been read
      // below.
      const Duration now = steady_now();
      int running = 0;
      begin_queued();
      curl_multi_perform(multi_, &running);
      finish_completed();
      const bool look_again = expire(now);
      begin_queued();  // what has just ended makes room; curl wakes at once for what is new
      wait(look_again ? Duration(0) : time_left());
    }
  }

  void wait(Duration limit) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::clamp(limit, Duration(0), kPollMax));
    curl_waitfd extra{wakeup_->fd(), CURL_WAIT_POLLIN, 0};
    curl_multi_poll(multi_, &extra, 1, static_cast<int>(ms.count()), nullptr);
  }

  Duration time_left() const { return transfers_.empty() ? kPollMax : transfers_.begin()->first.first - steady_now(); }

  void admit(std::unique_ptr<ClientTransfer> owned) {
    auto target = target_of(owned->request);
    ClientTransfer& transfer = *owned;
    transfer.number = next_number_++;
    transfer.sockets = &sockets_;
    transfers_.emplace(Key{transfer.deadline, transfer.number}, std::move(owned));
    if (!target.ok()) return fail(transfer, target.status().message());
    transfer.target = std::move(target).value();
    if (transfer.target.literal) return queued_.push_back(&transfer);
    const std::string& host = transfer.target.host;
    if (const Resolver::Answer* known = resolver_.find(host, steady_now())) return enqueue(transfer, *known);
    unresolved_[host].push_back(&transfer);
    resolver_.look_up(host);
  }

  void resume_resolved() {
    for (const Resolver::Found& found : resolver_.collect(steady_now())) {
      const auto it = unresolved_.find(found.host);
      if (it == unresolved_.end()) continue;
      const std::vector<ClientTransfer*> waiting = std::move(it->second);
      unresolved_.erase(it);
      for (ClientTransfer* transfer : waiting) {
        if (found.answer.addresses.empty()) {
          fail(*transfer, fmt::format("resolve {}: {}", found.host, found.answer.error));
        } else {
          enqueue(*transfer, found.answer);
        }
      }
    }
  }

  void enqueue(ClientTransfer& transfer, const Resolver::Answer& found) {
    transfer.found = found.addresses;
    queued_.push_back(&transfer);
  }

  // Hands waiting transfers to curl, the oldest first, while there are connections for them.
  void begin_queued() {
    while (!queued_.empty() && active_ < connections_max_) {
      ClientTransfer& transfer = *queued_.front();
      queued_.pop_front();
      transfer.active = true;
      ++active_;
      const Status status = set_up(transfer, take_handle());
      if (status.ok()) {
        hand_over(transfer);
      } else {
        fail(transfer, status.message());
      }
    }
  }

  // Nothing has been written yet, so this is the same go on a connection of its own.
  void begin_afresh(ClientTransfer& transfer) {
    curl_multi_remove_handle(multi_, transfer.easy.get());
    use_fresh_connection(transfer);
    hand_over(transfer);
  }

  void hand_over(ClientTransfer& transfer) {
    const CURLMcode code = curl_multi_add_handle(multi_, transfer.easy.get());
    if (code == CURLM_OK) return;
    transfer.easy.reset();
    fail(transfer, fmt::format("http client: {}", to_lower(curl_multi_strerror(code))));
  }

  CurlOwned<CURL> take_handle() {
    if (spare_.empty()) return CurlOwned<CURL>(curl_easy_init());
    CurlOwned<CURL> handle = std::move(spare_.back());
    spare_.pop_back();
    return handle;
  }

  void finish_completed() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      char* data = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &data);
      auto& transfer = *reinterpret_cast<ClientTransfer*>(data);
      const CURLcode code = message->data.result;  // `message` is gone with the handle
      if (transfer.answer.complete_head()) {
        answered(transfer, code == CURLE_OK);
      } else if (std::exchange(transfer.stale, false)) {
        begin_afresh(transfer);
      } else {
        if (code == CURLE_COULDNT_CONNECT) resolver_.forget(transfer.target.host);
        fail(transfer, failure_text(transfer, code));
      }
    }
  }

  // Ends what is past its deadline. A deadline counts for when the answer came, not for when this loop looked: a
  // transfer whose answer still grows from what lies in its socket is looked at again; true: there is one.
  bool expire(Duration now) {
    bool look_again = false;
    for (auto it = transfers_.begin(); it != transfers_.end() && it->first.first <= now;) {
      ClientTransfer& transfer = *(it++)->second;
      const std::size_t received = transfer.answer.received();
      if (received > transfer.looked_at && transfer.late_rounds < kLateRounds) {
        transfer.looked_at = received;
        ++transfer.late_rounds;
        look_again = true;
      } else if (transfer.answer.complete_head()) {
        answered(transfer, false);
      } else if (transfer.waits_for_connection()) {
        end(transfer, cancelled(timeout_text(transfer)));  // the limit is ours: the peer has failed nothing
      } else {
        fail(transfer, timeout_text(transfer));
      }
    }
    return look_again;
  }

  void answered(ClientTransfer& transfer, bool whole) {
    ClientResponse response;
    response.result = ClientResponse::Result::kAnswered;
    response.status = transfer.answer.status();
    response.headers = transfer.answer.take_headers();
    response.body = transfer.answer.take_body_bytes();
    if (!whole) {
      response.error = transfer.answer.cut()
                           ? fmt::format("answer cut at {}", format_size(transfer.request.response_limit))
                           : std::string("the answer's body is incomplete");
    }
    end(transfer, std::move(response));
  }

  void fail(ClientTransfer& transfer, std::string reason) {
    ClientResponse response;
    response.result = transfer.goes == 0 ? ClientResponse::Result::kNotSent : ClientResponse::Result::kNoAnswer;
    response.error = std::move(reason);
    end(transfer, std::move(response));
  }

  // Takes the transfer out of everything, then tells its sender.
  void end(ClientTransfer& transfer, ClientResponse response) {
    if (const auto name = unresolved_.find(transfer.target.host); name != unresolved_.end()) {
      auto& waiting = name->second;
      waiting.erase(std::remove(waiting.begin(), waiting.end(), &transfer), waiting.end());
      if (waiting.empty()) unresolved_.erase(name);
    }
    if (transfer.active) {
      --active_;
    } else {
      queued_.erase(std::remove(queued_.begin(), queued_.end(), &transfer), queued_.end());
    }
    const auto it = transfers_.find(Key{transfer.deadline, transfer.number});
    const auto owned = std::move(it->second);
    transfers_.erase(it);
    if (owned->easy) {
      curl_multi_remove_handle(multi_, owned->easy.get());
      if (spare_.size() < kSpareHandles) {
        curl_easy_reset(owned->easy.get());
        spare_.push_back(std::move(owned->easy));
      }
    }
    response.duration = steady_now() - owned->began;
    owned->done(std::move(response));
  }

  void cancel_all() {
    while (!transfers_.empty()) end(*transfers_.begin()->second, cancelled());
  }

  static ClientResponse cancelled(std::string reason = "cancelled: the client stops") {
    ClientResponse response;
    response.result = ClientResponse::Result::kCancelled;
    response.error = std::move(reason);
    return response;
  }

  // Of the loop's thread alone, from the constructor's end on.
  CURLM* const multi_;
  const std::shared_ptr<ClientWakeup> wakeup_;
  Resolver resolver_;
  const std::size_t connections_max_;
  ClientSockets sockets_;
  Transfers transfers_;
  std::deque<ClientTransfer*> queued_;  // their names are known; they wait for a connection
  std::size_t active_ = 0;
  std::map<std::string, std::vector<ClientTransfer*>> unresolved_;
  std::vector<CurlOwned<CURL>> spare_;
  std::uint64_t next_number_ = 0;

  Mutex mutex_;
  std::vector<std::unique_ptr<ClientTransfer>> arrived_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // joined by the one stop() that counts
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::start(const Options& options) {
  return CurlClient::make(options);
}

}  // namespace hookonce
