// One run of the load generator: many connections, one request at a time on each, bounded by time and by number.
//
//   LoadRun run(options);
//   HK_TRY(run.run());
//   puts(run.report().c_str());
//
// Without a rate each connection sends its next request when it has its answer (a closed loop), which finds the maximal
// rate. With a rate requests are due at even distances whatever the target does (an open loop), which finds answer
// times: while the target stands still, what became due meanwhile counts as waiting.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/load_connection.h"
#include "bench/load_event.h"

namespace hookonce {

struct LoadOptions {
  LoadTarget target;
  std::int64_t connections = 64;
  std::int64_t seconds = 5;
  std::int64_t events = 10'000'000;    // the bound by number
  std::int64_t duplicate_every = 100;  // each that many-th request repeats an earlier event; 0 for none
  std::int64_t rate = 0;               // requests a second; 0 for as many as the target takes
  std::int64_t stall_ms = 50;          // an answer that takes longer belongs to a stall
  std::string accepted_file;           // where each accepted event's id and time go; empty: nowhere
};

// Single-threaded: the generator must load no core so much that it becomes what is measured.
class LoadRun {
 public:
  explicit LoadRun(const LoadOptions& options);
  ~LoadRun();

  // Unavailable where the target takes no connections or falls silent.
  Status run();
  // A line for each accepted event: its id, and when its answer was there, in microseconds of the steady clock, which
  // all processes share. REQUIRES: run() was ok.
  Status write_accepted() const;
  // What came back, as one JSON object. REQUIRES: run() was ok.
  std::string report();

 private:
  // From when the first of the late answers was due until the last of them came. Overlapping ones are one stall.
  struct Stall {
    Duration begun;
    Duration ended;
    std::int64_t answers = 0;
  };

  bool open(LoadConnection& connection);
  bool reopen(LoadConnection& connection);
  std::optional<Duration> next_due(Duration now) const;
  void send_due();
  std::uint64_t next_number();
  void receive(LoadConnection& connection);
  void count(const LoadAnswer& answer);
  void count_stall(Duration took);
  bool await_some();
  double milliseconds_at(double share) const;

  const LoadOptions options_;
  LoadEvent event_;
  int poll_ = -1;
  std::vector<std::unique_ptr<LoadConnection>> connections_;
  std::deque<LoadConnection*> idle_;  // each in its turn, so that all of them stay in use
  Duration begun_{}, stop_at_{}, took_{}, cpu_{};
  std::int64_t sent_ = 0;
  std::int64_t under_way_ = 0;
  std::vector<std::uint32_t> latencies_;  // in microseconds, one per answer
  std::vector<Stall> stalls_;             // in the order of their ends
  std::vector<std::pair<std::string, Duration>> accepted_events_;
  std::size_t ok_ = 0, accepted_ = 0, duplicates_ = 0, broken_ = 0;
};

}  // namespace hookonce
