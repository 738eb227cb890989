// One run of one gateway: the ingesting and the delivering half, whose every step is a call. Destroying it is kill -9.
//
// What ingest, the committer and the delivery pool do on threads is done here step by step in the same order of
// effects, so that anything else can happen between any two of them. The dispatcher, the decisions and the keys are the
// real ones.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/dispatcher.h"
#include "test/sim/fault_store.h"
#include "test/sim/world.h"

namespace hookonce::sim {

struct Request {
  int number = 0;
  int source = 0;
  std::string key;
  std::string also;  // of dedup_also; empty: none
  std::string body;
  Time stamp{};         // signed by the provider
  bool retry = false;   // its headers say so
  bool forged = false;  // its signature is wrong
};

struct Answer {
  Request request;
  int status = 0;
  std::optional<EventId> id;
};

// How the machine's clocks stand to the store's.
struct Clocks {
  Duration skew{};  // of now()
  Duration wall{};  // of wall(), besides
};

class Process {
 public:
  // REQUIRES: all outlive this.
  Process(World& world, FaultStore& store, const Clocks& clocks, int instance);
  ~Process();

  enum class Work { kCommit, kAnswer, kTick, kStart, kEnd };
  static constexpr int kWorks = 5;
  // Instances that share a store look again after this though nobody told them.
  static constexpr Duration kIdlePoll = std::chrono::milliseconds(250);
  // One step of one kind; false where there was nothing to do.
  bool work(Work work);
  // Answers that left; the provider takes them.
  std::vector<Answer> take_answers() { return std::exchange(sent_, {}); }

  void receive(Request request);
  void configure(std::shared_ptr<const Config> config);
  void replay(const ReplayRequest& request);
  void set_paused(const std::string& destination, bool paused);
  std::size_t destinations() const { return config_->destinations.size(); }
  // SIGTERM: takes no more, waits for attempts until `limit`, releases the rest. REQUIRES: called once.
  void drain(Duration limit);
  bool is_draining() const { return drain_until_.has_value(); }
  bool has_drained() const;
  // When there is something to do, by the store's clock; nullopt: when something comes in.
  std::optional<Time> wake_at() const;

 private:
  struct Waiting {
    Request request;
    NewEvent event;
    Time deadline{};
    bool answered = false;  // a broken gateway did so already
  };
  struct Claim {
    Lease lease;
    RetryPolicy policy;
    Duration timeout{};
    Time claimed_before{};
  };
  struct Attempted {
    Lease lease;
    RetryPolicy policy;
    Time started_at{};
    Time ends_at{};  // by the store's clock, as the destination's
    AttemptResult result;
  };

  Time now() const { return world_.now() + clocks_.skew; }
  Time wall() const { return world_.now() + clocks_.skew + clocks_.wall; }
  NewEvent new_event(const Request& request);
  void answer(Request request, int status, std::optional<EventId> id = std::nullopt);

  bool commit();
  bool recover();
  void commit_range(std::deque<Waiting> accepts, std::deque<Settlement> settles);
  void answer_range(const CommitFacts& facts, std::deque<Waiting>& accepts, const std::deque<Settlement>& settles);
  void put_aside(const Status& status, std::deque<Waiting>& accepts, std::deque<Settlement>& settles);
  // A duplicate of a durable event is one even where nothing can be written.
  bool answer_unrecorded(Waiting& waiting);
  void refuse(Waiting& waiting, const Status& status);

  bool tick();
  bool start();
  bool end();
  AttemptResult scripted_result(const Claim& claim, Duration& takes);
  void settle(const Lease& lease, AttemptResult result, RetryPolicy policy);

  World& world_;
  FaultStore& store_;
  const Clocks& clocks_;
  const int instance_;
  std::shared_ptr<const Config> config_;
  std::optional<Time> drain_until_;

  std::deque<Waiting> accepts_;
  std::deque<Settlement> settles_;
  std::deque<Answer> answers_;
  std::vector<Answer> sent_;
  bool healthy_ = true;
  Time recover_at_{};

  Dispatcher dispatcher_;
  bool nudged_ = true;
  std::vector<AttemptEnd> ended_;
  std::optional<Time> wake_at_;
  std::optional<Time> blocked_until_;
  Time poll_at_{};  // where the store is shared
  std::deque<Claim> claims_;
  std::vector<Attempted> attempts_;
};

}  // namespace hookonce::sim
