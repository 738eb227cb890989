// Goal: no backend answers anything that the memory store would not.
// Method: one long random sequence of operations goes to a backend and to a memory store; every answer is compared, and
// from time to time everything that can be seen. A failure prints its seed; HOOKONCE_SEED=n runs that one again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "base/random.h"
#include "store/copy_inbox.h"
#include "store/memory_store.h"
#include "test/contract/store_fixture.h"
#include "test/support/manual_clock.h"

namespace hookonce {
namespace {

std::uint64_t seed_of_run() {
  const char* given = std::getenv("HOOKONCE_SEED");
  if (given != nullptr) return std::strtoull(given, nullptr, 10);
  return static_cast<std::uint64_t>(random_unit() * 1e15);
}

std::string text_of(const std::optional<Time>& time) {
  return time ? std::to_string(time->time_since_epoch().count()) : "-";
}

std::string text_of(const std::optional<Hold>& hold) {
  if (!hold) return "-";
  return std::string(to_string(hold->by)) + (hold->behind ? " behind " + hold->behind->text() : "");
}

// Answers as text, so that a difference reads itself.
std::string text_of(const EventSummary& s) {
  return s.id.text() + " " + s.source + " " + s.type + " " + s.key.value_or("-") + " " + text_of(s.received_at) + " " +
         std::string(to_string(s.state)) + " " + std::to_string(s.duplicates) + " " + std::to_string(s.size) + "\n";
}

std::string text_of(const Attempt& a) {
  return "    " + std::to_string(a.number) + " " + text_of(a.started_at) + " " +
         (a.duration ? std::to_string(a.duration->count()) : "-") + " " +
         (a.outcome ? std::string(to_string(*a.outcome)) : "-") + " " + std::to_string(a.status) + " " + a.error + "\n";
}

std::string text_of(const EventDetail& detail) {
  std::string text = text_of(detail.summary) + " " + detail.body + " " + detail.new_items + "\n";
  for (const StoredArrival& arrival : detail.arrivals) {
    text += "  " + text_of(arrival.arrival.at) + " " + std::string(to_string(arrival.verdict)) + " " +
            std::to_string(arrival.arrival.secret) + std::to_string(arrival.arrival.signature_hash[0]) +
            (arrival.same_body ? " same" : " other") + (arrival.same_key ? "\n" : " other key\n");
  }
  for (const Delivery& delivery : detail.deliveries) {
    text += "  " + delivery.destination + " " + std::string(to_string(delivery.state)) + " " +
            text_of(delivery.next_attempt_at) + " " + text_of(delivery.held) + " " + text_of(delivery.delivered_at) +
            "\n";
    for (const Attempt& attempt : delivery.attempts) text += text_of(attempt);
  }
  return text;
}

std::string text_of(const CommitFacts& facts) {
  std::string text;
  for (const AcceptFacts& fact : facts.accepts) {
    text += std::string(to_string(fact.verdict)) + " " + fact.id.text() + " " + text_of(fact.first_at) +
            (fact.same_body ? " same" : " other") + (fact.same_key ? "" : " other key") +
            (fact.first ? " after " + text_of(fact.first->at) + " " + std::to_string(fact.first->secret) +
                              std::to_string(fact.first->signature_hash[0])
                        : "") +
            (fact.new_delivery ? " new" : "") +
            (fact.lease ? " leased " + text_of(fact.lease->until) + " " + fact.lease->new_items : "") +
            (fact.reply ? " " + fact.reply->body + "\n" : "\n");
  }
  for (const SettleFacts& fact : facts.settles) {
    text += (fact.taken ? "taken " : "not taken ") + std::string(to_string(fact.event_state)) +
            (fact.freed ? " freed\n" : "\n");
  }
  return text;
}

std::string text_of(const Claimed& claimed) {
  std::string text;
  for (const Lease& l : claimed.leases) {
    text += l.idempotency_key() + " " + l.destination + " " + std::to_string(l.attempt) + " " +
            std::to_string(l.counted) + " " + text_of(l.until) + " " + text_of(l.armed_at) +
            (l.replay ? " replay " : " ") + l.source + " " + l.type + " " + *l.body + " " + l.new_items + "\n";
  }
  for (const DeadDelivery& dead : claimed.dead) text += "dead " + dead.event.text() + " " + dead.destination + "\n";
  return text;
}

std::string text_of(const ReplyState& state) {
  return std::string(to_string(state.state)) + (state.reply ? " " + state.reply->body : "");
}

std::string text_of(const EventPage& page) {
  std::string text;
  for (const EventSummary& item : page.items) text += text_of(item);
  return text + (page.next ? "more" : "end");
}

std::string text_of(const DeliveryPage& page) {
  std::string text;
  for (const DeliverySummary& row : page.items) {
    text += row.event.text() + " " + row.source + " " + row.type + " " + row.key.value_or("-") + " " +
            text_of(row.received_at) + " " + row.destination + " " + std::string(to_string(row.state)) + " " +
            std::to_string(row.attempts) + " " + std::to_string(row.last_status) + " " + row.last_error + " " +
            text_of(row.next_attempt_at) + " " + text_of(row.held) + " " + text_of(row.delivered_at) + "\n";
  }
  return text + (page.next ? "more" : "end");
}

std::string text_of(const Replayed& replayed) {
  std::string text;
  for (const ReplayedDelivery& delivery : replayed.deliveries) {
    text += delivery.event.text() + " " + delivery.destination + " " + std::string(to_string(delivery.before)) + "\n";
  }
  return text + (replayed.next ? "more" : "end");
}

// Events are counted by estimate and the log is a matter of the backend, so both are left out.
std::string text_of(const StoreStats& stats) {
  std::string text = std::to_string(stats.pending) + " " + std::to_string(stats.in_flight) + " " +
                     std::to_string(stats.dead) + " " + text_of(stats.oldest_pending);
  for (const auto& [name, count] : stats.pending_by_destination) text += " " + name + "=" + std::to_string(count);
  for (const std::string& name : stats.paused) text += " " + name + " paused";
  return text;
}

template <typename T>
std::string text_of(const Result<T>& result) {
  if (!result.ok()) return std::string(to_string(result.code()));
  if constexpr (std::is_same_v<T, std::optional<Time>>) {
    return text_of(result.value());
  } else if constexpr (std::is_same_v<T, std::optional<ReplyState>>) {
    return result.value() ? text_of(*result.value()) : "none";
  } else if constexpr (std::is_same_v<T, bool>) {
    return result.value() ? "more" : "done";
  } else if constexpr (std::is_same_v<T, std::optional<EventDetail>>) {
    return result.value() ? text_of(*result.value()) : "none";
  } else {
    return text_of(result.value());
  }
}

class StoreModel : public StoreFixture {
 protected:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  std::string source() { return chance(80) ? "shop" : "other"; }
  std::string key() { return "k" + std::to_string(pick(12)); }
  std::string destination() { return std::string(1, static_cast<char>('a' + pick(3))); }
  EventId event() {
    return events_.empty() ? EventId() : events_[static_cast<std::size_t>(pick(static_cast<int>(events_.size())))];
  }

  NewEvent new_event() {
    NewEventBuilder builder;
    builder.source(source()).type(chance(50) ? "t1" : "t2").body("body" + std::to_string(pick(3))).rearm(chance(80));
    builder.window(std::chrono::seconds(chance(50) ? 5 : 200)).at(now_);
    if (chance(15)) {
      for (int i = pick(4) + 1; i > 0; --i) builder.item(key());
    } else if (chance(90)) {
      builder.key(key());
      if (chance(40)) builder.also("a" + std::to_string(pick(8)));
    }
    std::vector<std::string> names;
    for (const char* name : {"a", "b", "c"}) {
      if (chance(45)) names.push_back(name);
    }
    builder.to(names);
    if (names.size() == 1 && chance(30)) {
      builder.first_lease(std::chrono::seconds(10));
    } else if (chance(50))
      builder.ordering_key("o" + std::to_string(pick(3))).ordered({"a", "c"});
    NewEvent event = builder.build();
    event.arrival.secret = pick(3);
    event.arrival.signature_hash[0] = static_cast<std::uint8_t>(pick(5));
    events_.push_back(event.id);
    return event;
  }

  Settlement new_settlement() {
    const std::size_t index = static_cast<std::size_t>(pick(static_cast<int>(leases_.size())));
    const Lease lease = leases_[index];
    // Now and then one is told twice, or long after its lease.
    if (chance(80)) leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(index));
    switch (pick(5)) {
      case 0:
        return death(lease);
      case 1: {
        Settlement skipped = death(lease);
        skipped.skip_dead = true;
        return chance(50) ? skipped : release(lease);
      }
      case 2:
        return failure(lease, std::chrono::seconds(pick(20)));
      default: {
        Settlement delivered = success(lease);
        if (chance(40)) delivered.reply = Reply{200, "text/plain", "reply" + std::to_string(pick(3))};
        return delivered;
      }
    }
  }

  EventFilter new_filter() {
    EventFilter filter;
    if (chance(30)) filter.source = source();
    if (chance(30)) filter.type = chance(50) ? "t1" : "t2";
    if (chance(40)) filter.state = static_cast<EventState>(pick(3));
    if (chance(30)) filter.key = key();
    if (chance(20)) {
      const bool in_body = chance(50) && searches_bodies(scheme_);
      filter.query = in_body ? "ODY" + std::to_string(pick(3)) : "k" + std::to_string(pick(12));
    }
    if (chance(15)) filter.since = now_ - std::chrono::seconds(pick(60));
    if (chance(15)) filter.until = now_ - std::chrono::seconds(pick(60));
    return filter;
  }

  void step() {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return step_commit();
      case 4:
      case 5:
        return step_claim();
      case 6:
        return step_replay();
      case 7:
        return chance(50) ? step_list() : step_deliveries();
      case 8: {
        const EventId id = event();
        compare("reply", store_->reply(id), model_->reply(id));
        return compare("get", store_->get(id), model_->get(id));
      }
      case 9: {
        const std::vector<std::string> names{destination(), destination()};
        compare("next_due", store_->next_due(names, now_), model_->next_due(names, now_));
        return compare("stats", store_->stats(now_), model_->stats(now_));
      }
      case 10: {
        // How many rows went is not compared: which of them exist is the backend's own business.
        if (chance(10)) {
          const LineRule rule{destination(), chance(70), chance(50)};
          compare("apply_line_rule", store_->apply_line_rule(rule, now_), model_->apply_line_rule(rule, now_));
        }
        PruneRequest request{now_ - std::chrono::seconds(60 + pick(100)), now_};
        if (chance(30)) request.events_before_of[source()] = now_ - std::chrono::seconds(pick(300));
        ASSERT_OK(store_->prune(request));
        ASSERT_OK(model_->prune(request));
        return;
      }
      default:
        pass(std::chrono::milliseconds(pick(15000)));
        if (chance(5)) reopen();
        if (chance(30)) step_pause();
    }
  }

  void step_commit() {
    std::vector<NewEvent> events;
    for (int i = pick(4); i > 0; --i) events.push_back(new_event());
    std::vector<Settlement> settlements;
    for (int i = pick(3); i > 0 && !leases_.empty(); --i) settlements.push_back(new_settlement());
    const auto facts = store_->commit(events, settlements, now_);
    compare("commit", facts, model_->commit(events, settlements, now_));
    if (!facts.ok()) return;
    for (const AcceptFacts& fact : facts.value().accepts) {
      if (fact.lease) leases_.push_back(*fact.lease);
    }
  }

  void step_claim() {
    ClaimRequest request;
    for (const char* name : {"a", "b"}) {
      request.destinations.push_back(
          {name, pick(4), std::chrono::seconds(10), 3, std::chrono::seconds(100), chance(30)});
    }
    const auto claimed = store_->claim(request, now_);
    compare("claim", claimed, model_->claim(request, now_));
    if (!claimed.ok()) return;
    leases_.insert(leases_.end(), claimed.value().leases.begin(), claimed.value().leases.end());
  }

  // More often ended than begun, so that the others find something to do.
  void step_pause() {
    const std::string name = destination();
    const bool paused = chance(30);
    compare("set_paused", store_->set_paused(name, paused), model_->set_paused(name, paused));
  }

  void step_replay() {
    ReplayRequest request;
    if (chance(50) && !events_.empty()) {
      for (int i = pick(3) + 1; i > 0; --i) request.ids.push_back(event());
    } else {
      request.filter = new_filter();
    }
    request.dead_only = chance(30);
    if (chance(30)) request.destination = destination();
    request.create_missing = chance(30);
    request.new_key = chance(30);
    request.dry_run = chance(30);
    // Which events are looked at for their dead deliveries is the backend's own business.
    if (!request.dead_only && chance(20)) request.limit = 1 + pick(3);
    compare("replay", store_->replay(request, now_), model_->replay(request, now_));
  }

  void step_list() {
    const EventFilter filter = new_filter();
    std::optional<std::string> cursor, model_cursor;
    for (int page = 0; page < 4; ++page) {
      const auto mine = store_->list(filter, 1 + page * 3, cursor);
      const auto model = model_->list(filter, 1 + page * 3, model_cursor);
      compare("list", mine, model);
      if (!mine.ok() || !model.ok() || !mine.value().next || !model.value().next) return;
      cursor = mine.value().next;
      model_cursor = model.value().next;
    }
  }

  void step_deliveries() {
    DeliveryFilter filter;
    if (chance(30)) filter.source = source();
    if (chance(60)) filter.state = static_cast<DeliveryState>(pick(4));
    if (chance(30)) filter.destination = destination();
    std::optional<std::string> cursor, model_cursor;
    for (int page = 0; page < 4; ++page) {
      const auto mine = store_->deliveries(filter, 1 + page * 3, cursor);
      const auto model = model_->deliveries(filter, 1 + page * 3, model_cursor);
      compare("deliveries", mine, model);
      if (!mine.ok() || !model.ok() || !mine.value().next || !model.value().next) return;
      cursor = mine.value().next;
      model_cursor = model.value().next;
    }
  }

  // Only for what survives the process; the leases of a dead process end, so they are let run out first.
  void reopen() {
    if (scheme_ == "memory") return;
    pass(std::chrono::seconds(11));
    store_.reset();
    auto opened = backend_->open(now_);
    ASSERT_OK(opened);
    store_ = *std::move(opened);
    step_claim_everything();
  }

  // Opening made what was in flight due at this moment, which sorts otherwise than the ends of the leases did; so all
  // of it is taken.
  void step_claim_everything() {
    for (const char* name : {"a", "b", "c"}) {
      compare("set_paused", store_->set_paused(name, false), model_->set_paused(name, false));
    }
    ClaimRequest request;
    for (const char* name : {"a", "b", "c"}) {
      request.destinations.push_back({name, 10000, std::chrono::seconds(10), 1000, std::chrono::hours(1000)});
    }
    ASSERT_OK(store_->claim(request, now_));
    ASSERT_OK(model_->claim(request, now_));
  }

  template <typename T>
  void compare(const char* verb, const Result<T>& mine, const Result<T>& model) {
    EXPECT_EQ(text_of(mine), text_of(model)) << verb;
    if (!mine.ok()) {
      EXPECT_EQ(mine.code(), model.code()) << mine.status().message();
    }
  }

  // The sequence goes on in a copy of the store. A backend that this machine lacks is passed over.
  void move_to(const std::string& scheme) {
    std::unique_ptr<Backend> backend = make_backend(scheme);
    if (!backend->missing().empty()) return;
    auto opened = backend->open(now_);
    ASSERT_OK(opened);
    if (store_->records() == nullptr || (*opened)->records() == nullptr) return;  // cannot be copied
    const ManualClock clock(now_);
    const auto report =
        copy_inbox({*store_, scheme_}, {**opened, scheme}, clock, [](const CopyProgress&) { return true; });
    ASSERT_OK(report);
    ASSERT_TRUE(report->equal()) << scheme_ << " to " << scheme << ": " << report->difference.value_or("");
    store_ = *std::move(opened);
    backend_ = std::move(backend);
    scheme_ = scheme;
    for (const EventId& id : events_) {
      compare("get", store_->get(id), model_->get(id));
      compare("reply", store_->reply(id), model_->reply(id));
    }
    compare("list", store_->list(EventFilter(), kListMax, std::nullopt),
            model_->list(EventFilter(), kListMax, std::nullopt));
    compare("stats", store_->stats(now_), model_->stats(now_));
  }

  std::mt19937_64 random_;
  std::string scheme_ = GetParam();  // where the sequence is now
  std::unique_ptr<Store> model_ = make_memory_store();
  std::vector<EventId> events_;
  std::vector<Lease> leases_;
};
INSTANTIATE_TEST_SUITE_P(Backends, StoreModel, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreModel, AnswersAsTheMemoryStoreDoes) {
  const std::uint64_t seed = seed_of_run();
  std::printf("HOOKONCE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  random_.seed(seed);
  constexpr int kSteps = 1500;
  for (int i = 0; i < kSteps && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(i));
    step();
    if (i % 500 != 499) continue;
    for (const EventId& id : events_) compare("get", store_->get(id), model_->get(id));
  }
}

// From each backend to each other one and back, and on with the random sequence after every move.
TEST_P(StoreModel, ACopyAnswersAsTheOriginalWould) {
  const std::uint64_t seed = seed_of_run();
  std::printf("HOOKONCE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  random_.seed(seed);
  constexpr int kSteps = 200;
  int step_number = 0;
  for (const std::string& other : store_schemes()) {
    for (const std::string& next : {other, GetParam()}) {
      for (int i = 0; i < kSteps && !HasFailure(); ++i) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step_number++) + " in " + scheme_);
        step();
      }
      if (!HasFailure()) move_to(next);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", moved to " << next;
    }
  }
}

}  // namespace
}  // namespace hookonce
