#include "http/client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <deque>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "base/bytes.h"
#include "base/sync.h"
#include "http/client_address.h"
#include "http/client_answer.h"
#include "http/client_resolver.h"
#include "http/client_sockets.h"
#include "http/client_target.h"
#include "http/client_wakeup.h"

namespace hookonce {
namespace {

// An idle connection serves again for less than this plus one second (curl counts whole seconds): below the 5 s after
// which common servers (uvicorn, Node) close, so that a request seldom meets a connection that is just being closed.
constexpr long kIdleReuseSeconds = 3;
// Even a busy connection lets go of the old server after this, so that a moved name is followed.
constexpr long kConnectionLifeSeconds = 60;
// Rounds in which a transfer past its deadline may still read what lies in its socket. The answer's own limits (128
// KiB, in pieces of 16 KiB) need fewer.
constexpr int kLateRounds = 32;
constexpr std::size_t kSpareHandles = 64;
constexpr Duration kPollMax = std::chrono::seconds(60);

struct Target {
  std::string host;  // without brackets, in the form in which names are looked up
  int port = 0;
  bool literal = false;  // the host is an address
};

struct CurlFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  void operator()(char* text) const { curl_free(text); }
};
template <typename T>
using CurlOwned = std::unique_ptr<T, CurlFree>;

struct Transfer {
  Transfer(ClientRequest r, HttpClient::Done d)
      : request(std::move(r)),
        done(std::move(d)),
        began(steady_now()),
        deadline(began + request.timeout),
        answer(request.response_limit) {}

  ClientRequest request;
  HttpClient::Done done;
  const Duration began;
  const Duration deadline;
  std::uint64_t number = 0;          // in order of arrival
  ClientSockets* sockets = nullptr;  // the client's
  Target target;
  std::vector<std::string> found;  // addresses of the target's name; empty where it is an address itself
  bool active = false;             // holds one of the client's connections, or waits for it to come up
  ClientAnswer answer;
  int opened = 0;             // connections that were opened for this transfer
  bool stale = false;         // the kept connection had ended, or held bytes that nobody had asked for
  int goes = 0;               // how often curl was about to write the request: the second time is once too often
  std::string refused;        // an address that allow_private forbids
  std::size_t looked_at = 0;  // answer.received() at the last look past the deadline
  int late_rounds = 0;
  // Valid while the transfer is with curl. The handle points to everything above it.
  CurlOwned<curl_slist> headers;
  CurlOwned<curl_slist> addresses;
  char curl_error[CURL_ERROR_SIZE] = {};
  CurlOwned<CURL> easy;
};

std::string part_of(CURLU* url, CURLUPart part, unsigned flags) {
  char* raw = nullptr;
  if (curl_url_get(url, part, &raw, flags) != CURLUE_OK) return {};
  const CurlOwned<char> text(raw);
  return text.get();
}

Result<Target> parse_target(const std::string& text) {
  const CurlOwned<CURLU> url(curl_url());
  if (!url) return exhausted("no memory for a URL");
  const CURLUcode code = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0);
  // The URL itself is not named in messages: it may hold a secret.
  if (code != CURLUE_OK) return invalid(fmt::format("url: {}", to_lower(curl_url_strerror(code))));
  const std::string scheme = part_of(url.get(), CURLUPART_SCHEME, 0);
  if (scheme != "http" && scheme != "https")
    return invalid(fmt::format("url: scheme \"{}\" is neither http nor https", scheme));
  Target target;
  target.host = to_lower(part_of(url.get(), CURLUPART_HOST, CURLU_PUNYCODE));
  target.port = static_cast<int>(parse_digits(part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT)).value_or(0));
  if (target.host.empty()) return invalid("url: no host that can be looked up");
  if (target.host.front() == '[') {
    target.host = target.host.substr(1, target.host.size() - 2);
    target.literal = true;
  } else {
    target.literal = target.host.find_first_not_of("0123456789.") == std::string::npos;
  }
  return target;
}

// The C callbacks. `data` is the Transfer.
std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* data) {
  return static_cast<Transfer*>(data)->answer.take_line({bytes, size}) ? size : 0;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* data) {
  return static_cast<Transfer*>(data)->answer.take_body({bytes, size}) ? size : 0;
}

// Asked right before the request is written, on a new connection and on a reused one.
int on_request(void* data, char* remote, char* local, int remote_port, int local_port) {
  auto& transfer = *static_cast<Transfer*>(data);
  // curl writes a request again by itself when a reused connection turns out to be dead. The first one may have arrived
  // all the same, and the second would be an attempt that nobody recorded.
  if (transfer.goes > 0) {
    ++transfer.goes;
    return CURL_PREREQFUNC_ABORT;
  }
  // A kept connection was perhaps opened for a request that allows private addresses.
  if (!transfer.request.allow_private && !is_public_address(remote)) {
    transfer.refused = remote;
    return CURL_PREREQFUNC_ABORT;
  }
  // Bytes on a kept connection before the request would be taken for its answer, and an event for delivered that nobody
  // saw.
  const ClientSockets::Ends ends{endpoint_text(local, local_port), endpoint_text(remote, remote_port)};
  if (transfer.opened == 0 && transfer.sockets->is_readable(ends)) {
    transfer.stale = true;
    return CURL_PREREQFUNC_ABORT;
  }
  ++transfer.goes;
  return CURL_PREREQFUNC_OK;
}

curl_socket_t on_open(void* data, curlsocktype, struct curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(data);
  if (!transfer.request.allow_private && !is_public_address(address->addr)) {
    char text[64] = {};
    if (getnameinfo(&address->addr, address->addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      transfer.refused = text;
    if (transfer.refused.empty()) transfer.refused = "an address of no known family";
    return CURL_SOCKET_BAD;
  }
  ++transfer.opened;
  return transfer.sockets->open(address->family, address->socktype, address->protocol);
}

// `data` is the ClientSockets: a connection outlives the transfer that opened it.
int on_close(void* data, curl_socket_t fd) {
  static_cast<ClientSockets*>(data)->close(fd);
  return 0;
}

template <typename Value>
void set(CURL* easy, CURLoption option, Value value) {
  // Each option exists in the oldest curl that we build with, so a refusal is a mistake in this file.
  HK_CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

void set_method(CURL* easy, const ClientRequest& request) {
  const bool has_body =
      request.body != nullptr || request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (request.method == "HEAD") {
    set(easy, CURLOPT_NOBODY, 1L);
  } else if (has_body) {
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body ? request.body->size() : 0));
    set(easy, CURLOPT_POSTFIELDS, request.body ? request.body->data() : "");  // not copied; the transfer holds the body
    if (request.method != "POST") set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  } else {
    set(easy, CURLOPT_HTTPGET, 1L);
    if (request.method != "GET") set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

void set_habits(CURL* easy) {
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy, CURLOPT_HTTP09_ALLOWED, 0L);
  set(easy, CURLOPT_PATH_AS_IS, 1L);
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_PROXY, "");  // the empty name also switches the proxy environment off
  set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_MAXAGE_CONN, kIdleReuseSeconds);
  set(easy, CURLOPT_MAXLIFETIME_CONN, kConnectionLifeSeconds);
  // Names are looked up by our own resolver, and what it says stays valid while a request waits for a free connection.
  // Should curl ever look one up by itself, it must not join a thread that hangs.
  set(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
  set(easy, CURLOPT_QUICK_EXIT, 1L);
}

void set_callbacks(CURL* easy, Transfer& transfer) {
  void* data = &transfer;
  set(easy, CURLOPT_PRIVATE, data);
  set(easy, CURLOPT_ERRORBUFFER, transfer.curl_error);
  set(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set(easy, CURLOPT_HEADERDATA, data);
  set(easy, CURLOPT_WRITEFUNCTION, &on_body);
  set(easy, CURLOPT_WRITEDATA, data);
  set(easy, CURLOPT_PREREQFUNCTION, &on_request);
  set(easy, CURLOPT_PREREQDATA, data);
  set(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open);
  set(easy, CURLOPT_OPENSOCKETDATA, data);
  set(easy, CURLOPT_CLOSESOCKETFUNCTION, &on_close);
  set(easy, CURLOPT_CLOSESOCKETDATA, static_cast<void*>(transfer.sockets));
}

Result<CurlOwned<curl_slist>> make_list(const std::vector<std::string>& lines) {
  CurlOwned<curl_slist> list;
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) return exhausted("no memory for the request");
    (void)list.release();  // `longer` is the same list, or its first element
    list.reset(longer);
  }
  return list;
}

// What went wrong, in people's words.
std::string reason_of(const Transfer& transfer, CURLcode code) {
  const std::string endpoint = endpoint_text(transfer.target.host, transfer.target.port);
  if (!transfer.refused.empty()) {
    return fmt::format("connect {}: address {} is not public, and allow_private is false", endpoint, transfer.refused);
  }
  if (transfer.goes > 1) return fmt::format("{}: connection closed before an answer came", endpoint);
  const std::string detail = to_lower(transfer.curl_error[0] != '\0' ? transfer.curl_error : curl_easy_strerror(code));
  switch (code) {
    case CURLE_COULDNT_CONNECT: {
      long cause = 0;
      curl_easy_getinfo(transfer.easy.get(), CURLINFO_OS_ERRNO, &cause);
      return fmt::format("connect {}: {}", endpoint,
                         cause != 0 ? to_lower(std::generic_category().message(static_cast<int>(cause))) : detail);
    }
    case CURLE_OPERATION_TIMEDOUT:
      return fmt::format("connect {}: no connection within {}", endpoint, format_duration(transfer.request.timeout));
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return fmt::format("{}: connection closed before an answer came", endpoint);
    case CURLE_WRITE_ERROR:
      return fmt::format("{}: the head of the answer is over {}", endpoint, format_size(kAnswerHeadMax));
    case CURLE_OK:
      return fmt::format("{}: the head of the answer is incomplete", endpoint);
    default:
      return fmt::format("{}: {}", endpoint, detail);
  }
}

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
    auto transfer = std::make_unique<Transfer>(std::move(request), std::move(done));
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
  using Transfers = std::map<Key, std::unique_ptr<Transfer>>;

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
      std::vector<std::unique_ptr<Transfer>> arrived;
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

  void admit(std::unique_ptr<Transfer> owned) {
    auto target = parse_target(owned->request.url);
    Transfer& transfer = *owned;
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
      const std::vector<Transfer*> waiting = std::move(it->second);
      unresolved_.erase(it);
      for (Transfer* transfer : waiting) {
        if (found.answer.addresses.empty()) {
          fail(*transfer, fmt::format("resolve {}: {}", found.host, found.answer.error));
        } else {
          enqueue(*transfer, found.answer);
        }
      }
    }
  }

  void enqueue(Transfer& transfer, const Resolver::Answer& found) {
    transfer.found = found.addresses;
    queued_.push_back(&transfer);
  }

  // Hands waiting transfers to curl, the oldest first, while there are connections for them.
  void begin_queued() {
    while (!queued_.empty() && active_ < connections_max_) {
      Transfer& transfer = *queued_.front();
      queued_.pop_front();
      transfer.active = true;
      ++active_;
      const Status status = prepare(transfer);
      if (status.ok()) {
        hand_over(transfer);
      } else {
        fail(transfer, status.message());
      }
    }
  }

  // Nothing has been written yet, so this is the same go on a connection of its own.
  void begin_afresh(Transfer& transfer) {
    curl_multi_remove_handle(multi_, transfer.easy.get());
    set(transfer.easy.get(), CURLOPT_FRESH_CONNECT, 1L);
    hand_over(transfer);
  }

  void hand_over(Transfer& transfer) {
    const CURLMcode code = curl_multi_add_handle(multi_, transfer.easy.get());
    if (code == CURLM_OK) return;
    transfer.easy.reset();
    fail(transfer, fmt::format("http client: {}", to_lower(curl_multi_strerror(code))));
  }

  Status prepare(Transfer& transfer) {
    if (!is_token(transfer.request.method)) return invalid("method: not an HTTP method");
    HK_ASSIGN(const std::vector<std::string> lines, header_lines(transfer.request.headers));
    HK_ASSIGN(transfer.headers, make_list(lines));
    CurlOwned<CURL> handle = take_handle();
    if (!handle) return exhausted("http client: no memory for a request");
    CURL* easy = handle.get();
    set_habits(easy);
    set_callbacks(easy, transfer);
    set_method(easy, transfer.request);
    set(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
    if (!transfer.found.empty()) {
      std::vector<std::string> all;
      for (const std::string& address : transfer.found) all.push_back(bracketed(address));
      const std::string& host = transfer.target.host;
      HK_ASSIGN(transfer.addresses, make_list({fmt::format("+{}:{}:{}", host, transfer.target.port, join(all, ","))}));
      set(easy, CURLOPT_RESOLVE, transfer.addresses.get());
    }
    // Only so that curl's own limit of 300 s for connecting does not come first: the deadline is ours.
    const auto longest = std::chrono::ceil<std::chrono::seconds>(transfer.request.timeout) + std::chrono::seconds(1);
    set(easy, CURLOPT_CONNECTTIMEOUT, static_cast<long>(longest.count()));
    if (curl_easy_setopt(easy, CURLOPT_URL, transfer.request.url.c_str()) != CURLE_OK) return invalid("url: too long");
    transfer.easy = std::move(handle);
    return {};
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
      auto& transfer = *reinterpret_cast<Transfer*>(data);
      const CURLcode code = message->data.result;  // `message` is gone with the handle
      if (transfer.answer.complete_head()) {
        answered(transfer, code == CURLE_OK);
      } else if (std::exchange(transfer.stale, false)) {
        begin_afresh(transfer);
      } else {
        if (code == CURLE_COULDNT_CONNECT) resolver_.forget(transfer.target.host);
        fail(transfer, reason_of(transfer, code));
      }
    }
  }

  // Ends what is past its deadline. A deadline counts for when the answer came, not for when this loop looked: a
  // transfer whose answer still grows from what lies in its socket is looked at again; true: there is one.
  bool expire(Duration now) {
    bool look_again = false;
    for (auto it = transfers_.begin(); it != transfers_.end() && it->first.first <= now;) {
      Transfer& transfer = *(it++)->second;
      const std::size_t received = transfer.answer.received();
      if (received > transfer.looked_at && transfer.late_rounds < kLateRounds) {
        transfer.looked_at = received;
        ++transfer.late_rounds;
        look_again = true;
      } else if (transfer.answer.complete_head()) {
        answered(transfer, false);
      } else if (waits_for_connection(transfer)) {
        end(transfer, cancelled(timeout_text(transfer)));  // the limit is ours: the peer has failed nothing
      } else {
        fail(transfer, timeout_text(transfer));
      }
    }
    return look_again;
  }

  static bool waits_for_connection(const Transfer& transfer) {
    return !transfer.active && (transfer.target.literal || !transfer.found.empty());
  }

  static std::string timeout_text(const Transfer& transfer) {
    const std::string endpoint = endpoint_text(transfer.target.host, transfer.target.port);
    const std::string limit = format_duration(transfer.request.timeout);
    if (waits_for_connection(transfer)) return fmt::format("{}: no free connection within {}", endpoint, limit);
    if (!transfer.active) return fmt::format("resolve {}: no answer within {}", transfer.target.host, limit);
    if (transfer.goes == 0) return fmt::format("connect {}: no connection within {}", endpoint, limit);
    return fmt::format("{}: no answer within {}", endpoint, limit);
  }

  void answered(Transfer& transfer, bool whole) {
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

  void fail(Transfer& transfer, std::string reason) {
    ClientResponse response;
    response.result = transfer.goes == 0 ? ClientResponse::Result::kNotSent : ClientResponse::Result::kNoAnswer;
    response.error = std::move(reason);
    end(transfer, std::move(response));
  }

  // Takes the transfer out of everything, then tells its sender.
  void end(Transfer& transfer, ClientResponse response) {
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
  std::deque<Transfer*> queued_;  // their names are known; they wait for a connection
  std::size_t active_ = 0;
  std::map<std::string, std::vector<Transfer*>> unresolved_;
  std::vector<CurlOwned<CURL>> spare_;
  std::uint64_t next_number_ = 0;

  Mutex mutex_;
  std::vector<std::unique_ptr<Transfer>> arrived_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // joined by the one stop() that counts
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::start(const Options& options) {
  return CurlClient::make(options);
}

}  // namespace hookonce
