#include "bench/load_run.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/json.h"

namespace hookonce {
namespace {

// Connections come one after the other, as a provider's do: in one burst they would all fall to whichever of a server's
// workers wakes first.
constexpr Duration kBetweenConnects = std::chrono::milliseconds(2);
constexpr Duration kSilenceMax = std::chrono::seconds(10);
constexpr std::size_t kBrokenMax = 1000;
constexpr std::size_t kStallsShownMax = 1000;

timespec to_timespec(Duration duration) {
  const auto micros = std::max<std::int64_t>(0, duration.count());
  return {micros / 1'000'000, micros % 1'000'000 * 1000};
}

double seconds_of(Duration duration) {
  return static_cast<double>(duration.count()) / 1e6;
}

}  // namespace

LoadRun::LoadRun(const LoadOptions& options) : options_(options), event_(options_.target) {}

LoadRun::~LoadRun() {
  if (poll_ >= 0) ::close(poll_);
}

Status LoadRun::run() {
  poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  HK_CHECK(poll_ >= 0);
  for (std::int64_t i = 0; i < options_.connections; ++i) {
    connections_.push_back(std::make_unique<LoadConnection>(options_.target));
    if (!open(*connections_.back())) return unavailable("the target does not take connections");
    idle_.push_back(connections_.back().get());
    std::this_thread::sleep_for(kBetweenConnects);
  }
  const Duration cpu_before = process_cpu_time();
  begun_ = steady_now();
  stop_at_ = begun_ + std::chrono::seconds(options_.seconds);
  send_due();
  while (under_way_ > 0 || next_due(steady_now())) {
    if (!await_some()) return unavailable("the target has answered nothing for ten seconds");
  }
  took_ = steady_now() - begun_;
  cpu_ = process_cpu_time() - cpu_before;
  return {};
}

bool LoadRun::open(LoadConnection& connection) {
  if (!connection.connect()) return false;
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.ptr = &connection;
  return ::epoll_ctl(poll_, EPOLL_CTL_ADD, connection.descriptor(), &interest) == 0;
}

// A broken connection is opened anew, within reason.
bool LoadRun::reopen(LoadConnection& connection) {
  ++broken_;
  if (broken_ < kBrokenMax && open(connection)) return true;  // closing took the old descriptor out of the poll set
  stop_at_ = begun_;
  return false;
}

// When the next request should leave; nullopt once all have left. Those that became due in time are sent, however late.
std::optional<Duration> LoadRun::next_due(Duration now) const {
  if (sent_ >= options_.events) return std::nullopt;
  const Duration due = options_.rate == 0 ? now : begun_ + Duration(sent_ * 1'000'000 / options_.rate);
  return due < stop_at_ ? std::optional(due) : std::nullopt;
}

void LoadRun::send_due() {
  while (!idle_.empty()) {
    const Duration now = steady_now();
    const auto due = next_due(now);
    if (!due || *due > now) return;
    LoadConnection& connection = *idle_.front();
    idle_.pop_front();
    ++sent_;
    if (connection.send(event_.request(next_number()), *due)) {
      ++under_way_;
    } else if (reopen(connection)) {
      idle_.push_back(&connection);
    }
  }
}

// Counts up; each duplicate_every-th repeats the number that came that many before it, answered long since.
std::uint64_t LoadRun::next_number() {
  const auto every = static_cast<std::uint64_t>(options_.duplicate_every);
  const auto position = static_cast<std::uint64_t>(sent_ - 1);
  if (every > 0 && position >= every && position % every == every - 1) return position - every + 1;
  return position;
}

void LoadRun::receive(LoadConnection& connection) {
  std::optional<LoadAnswer> answer;
  const bool whole = connection.receive(answer);
  if (whole && !answer) return;
  // A target may close a connection on which nothing is under way; then no request was lost.
  const auto at = std::find(idle_.begin(), idle_.end(), &connection);
  if (at != idle_.end()) {
    idle_.erase(at);
  } else {
    --under_way_;
  }
  if (answer) count(*answer);
  if (whole || reopen(connection)) idle_.push_back(&connection);
  send_due();
}

void LoadRun::count(const LoadAnswer& answer) {
  latencies_.push_back(static_cast<std::uint32_t>(answer.took.count()));
  if (answer.took > std::chrono::milliseconds(options_.stall_ms)) count_stall(answer.took);
  if (answer.status == 200) ++ok_;
  if (answer.word == "accepted") ++accepted_;
  if (answer.word == "accepted" && !options_.accepted_file.empty())
    accepted_events_.emplace_back(answer.event, steady_now());
  if (answer.word == "duplicate") ++duplicates_;
}

void LoadRun::count_stall(Duration took) {
  const Duration now = steady_now();
  Stall stall{now - took, now, 1};
  while (!stalls_.empty() && stalls_.back().ended >= stall.begun) {
    stall.begun = std::min(stall.begun, stalls_.back().begun);
    stall.answers += stalls_.back().answers;
    stalls_.pop_back();
  }
  stalls_.push_back(stall);
}

bool LoadRun::await_some() {
  const Duration now = steady_now();
  const auto due = next_due(now);
  const bool sends = due && !idle_.empty();
  const timespec timeout = to_timespec(sends ? *due - now : kSilenceMax);
  epoll_event ready[64];
  const int n = ::epoll_pwait2(poll_, ready, 64, &timeout, nullptr);
  if (n == 0 && !sends) return false;
  for (int i = 0; i < n; ++i) receive(*static_cast<LoadConnection*>(ready[i].data.ptr));
  send_due();
  return true;
}

Status LoadRun::write_accepted() const {
  std::ofstream file(options_.accepted_file);
  for (const auto& [event, at] : accepted_events_) file << event << ' ' << at.count() << '\n';
  file.close();
  return file ? Status() : unavailable("cannot write " + options_.accepted_file);
}

double LoadRun::milliseconds_at(double share) const {
  if (latencies_.empty()) return 0;
  const auto last = static_cast<double>(latencies_.size() - 1);
  return latencies_[static_cast<std::size_t>(share * last)] / 1e3;
}

std::string LoadRun::report() {
  std::sort(latencies_.begin(), latencies_.end());
  json::object out;
  out["answers"] = latencies_.size();
  out["ok"] = ok_;
  out["accepted"] = accepted_;
  out["duplicates"] = duplicates_;
  out["other"] = latencies_.size() - ok_;
  out["broken"] = broken_;
  out["seconds"] = seconds_of(took_);
  out["cpu_seconds"] = seconds_of(cpu_);
  for (const auto& [name, share] : {std::pair{"p50_ms", 0.5}, {"p99_ms", 0.99}, {"p999_ms", 0.999}, {"max_ms", 1.0}}) {
    out[name] = milliseconds_at(share);
  }
  json::array stalls;
  for (const Stall& stall : stalls_) {
    if (stalls.size() == kStallsShownMax) break;
    json::object shown;
    shown["begun"] = seconds_of(stall.begun);  // of the steady clock, which all processes share
    shown["ended"] = seconds_of(stall.ended);
    shown["answers"] = stall.answers;
    stalls.push_back(shown);
  }
  out["stalls"] = stalls;
  return to_json(out);
}

}  // namespace hookonce
