// The load generator of `./x bench ingest`: signed Stripe events over keep-alive connections, one request at a time on
// each, bounded by time and by number. Prints one JSON line of what came back.
//
//   hookonce_bench --port 8080 --secret whsec_bench --seconds 5
//
// It runs against anything that answers 200 to a POST, so that a peer is measured with the same requests.
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/json.h"
#include "bench/load_connection.h"

namespace hookonce {
namespace {

struct Options {
  LoadTarget target;
  std::int64_t connections = 64;
  std::int64_t seconds = 5;
  std::int64_t events = 10'000'000;    // the bound by number
  std::int64_t duplicate_every = 100;  // each that many-th request repeats an earlier event; 0 for none
};

Status read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return invalid("no value behind " + std::string(name));
    const std::string value = argv[i + 1];
    const auto number = parse_digits(value);
    if (name == "--host") {
      options.target.host = value;
    } else if (name == "--path") {
      options.target.path = value;
    } else if (name == "--secret") {
      options.target.secret = value;
    } else if (!number) {
      return invalid("unknown option, or no number: " + std::string(name) + " " + value);
    } else if (name == "--port") {
      options.target.port = static_cast<std::uint16_t>(*number);
    } else if (name == "--connections") {
      options.connections = *number;
    } else if (name == "--seconds") {
      options.seconds = *number;
    } else if (name == "--events") {
      options.events = *number;
    } else if (name == "--duplicate-every") {
      options.duplicate_every = *number;
    } else {
      return invalid("unknown option: " + std::string(name));
    }
  }
  if (options.target.port == 0 || options.target.secret.empty() || options.connections == 0) {
    return invalid("--port, --secret and at least one connection are needed");
  }
  return {};
}

// All of one run. Single-threaded: one generator must load neither core so much that it becomes what is measured.
class Load {
 public:
  explicit Load(const Options& options) : options_(options), event_(options_.target) {}
  ~Load() {
    if (poll_ >= 0) ::close(poll_);
  }

  Status run() {
    poll_ = ::epoll_create1(EPOLL_CLOEXEC);
    HK_CHECK(poll_ >= 0);
    begun_ = steady_now();
    stop_at_ = begun_ + std::chrono::seconds(options_.seconds);
    const Duration cpu_before = process_cpu_time();
    for (std::int64_t i = 0; i < options_.connections; ++i) {
      connections_.push_back(std::make_unique<LoadConnection>(options_.target));
      if (!open(*connections_.back())) return unavailable("the target does not take connections");
      send_next(*connections_.back());
    }
    while (under_way_ > 0) {
      if (!await_some()) return unavailable("the target has answered nothing for ten seconds");
    }
    took_ = steady_now() - begun_;
    cpu_ = process_cpu_time() - cpu_before;
    return {};
  }

  std::string report() {
    std::sort(latencies_.begin(), latencies_.end());
    json::object out;
    out["answers"] = latencies_.size();
    out["ok"] = ok_;
    out["accepted"] = accepted_;
    out["duplicates"] = duplicates_;
    out["other"] = latencies_.size() - ok_;
    out["broken"] = broken_;
    out["seconds"] = static_cast<double>(took_.count()) / 1e6;
    out["cpu_seconds"] = static_cast<double>(cpu_.count()) / 1e6;
    for (const auto& [name, share] :
         {std::pair{"p50_ms", 0.5}, {"p99_ms", 0.99}, {"p999_ms", 0.999}, {"max_ms", 1.0}}) {
      out[name] = milliseconds_at(share);
    }
    return to_json(out);
  }

 private:
  bool open(LoadConnection& connection) {
    if (!connection.connect()) return false;
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.ptr = &connection;
    return ::epoll_ctl(poll_, EPOLL_CTL_ADD, connection.descriptor(), &interest) == 0;
  }

  // Sends the next event, unless the run is over. A broken connection is opened anew, within reason.
  void send_next(LoadConnection& connection) {
    while (sent_ < options_.events && steady_now() < stop_at_) {
      ++sent_;
      if (connection.send(event_.request(next_number()))) {
        ++under_way_;
        return;
      }
      if (!reopen(connection)) return;
    }
  }

  bool reopen(LoadConnection& connection) {
    constexpr std::size_t kBrokenMax = 1000;
    ++broken_;
    if (broken_ < kBrokenMax && open(connection)) return true;  // closing took the old descriptor out of the poll set
    stop_at_ = begun_;
    return false;
  }

  // Counts up; each duplicate_every-th repeats the number that came that many before it, answered long since.
  std::uint64_t next_number() {
    const auto every = static_cast<std::uint64_t>(options_.duplicate_every);
    const auto position = static_cast<std::uint64_t>(sent_ - 1);
    if (every > 0 && position >= every && position % every == every - 1) return position - every + 1;
    return position;
  }

  void receive(LoadConnection& connection) {
    std::optional<LoadAnswer> answer;
    if (connection.receive(answer)) {
      if (!answer) return;
      --under_way_;
      count(*answer);
    } else {
      --under_way_;
      if (!reopen(connection)) return;
    }
    send_next(connection);
  }

  void count(const LoadAnswer& answer) {
    latencies_.push_back(static_cast<std::uint32_t>(answer.took.count()));
    if (answer.status == 200) ++ok_;
    if (answer.word == "accepted") ++accepted_;
    if (answer.word == "duplicate") ++duplicates_;
  }

  bool await_some() {
    constexpr int kSilenceMaxMs = 10'000;
    epoll_event ready[64];
    const int n = ::epoll_wait(poll_, ready, 64, kSilenceMaxMs);
    if (n == 0) return false;
    for (int i = 0; i < n; ++i) receive(*static_cast<LoadConnection*>(ready[i].data.ptr));
    return true;
  }

  double milliseconds_at(double share) const {
    if (latencies_.empty()) return 0;
    const auto last = static_cast<double>(latencies_.size() - 1);
    return latencies_[static_cast<std::size_t>(share * last)] / 1e3;
  }

  const Options options_;
  LoadEvent event_;
  int poll_ = -1;
  std::vector<std::unique_ptr<LoadConnection>> connections_;
  Duration begun_{}, stop_at_{}, took_{}, cpu_{};
  std::int64_t sent_ = 0;
  std::int64_t under_way_ = 0;
  std::vector<std::uint32_t> latencies_;  // in microseconds, one per answer
  std::size_t ok_ = 0, accepted_ = 0, duplicates_ = 0, broken_ = 0;
};

int run_load(int argc, char** argv) {
  Options options;
  Status status = read_options(argc, argv, options);
  if (!status.ok()) {
    std::fprintf(stderr, "hookonce_bench: %s\n", status.message().c_str());
    return 2;
  }
  Load load(options);
  status = load.run();
  if (!status.ok()) {
    std::fprintf(stderr, "hookonce_bench: %s\n", status.message().c_str());
    return 1;
  }
  std::printf("%s\n", load.report().c_str());
  return 0;
}

}  // namespace
}  // namespace hookonce

int main(int argc, char** argv) {
  return hookonce::run_load(argc, argv);
}
