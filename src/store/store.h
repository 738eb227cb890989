// The inbox: events, dedup keys, deliveries and attempts behind one contract. What a backend may differ in is speed
// alone.
//
// Every call is synchronous and one transaction, and all of them are safe to call from several threads at once. Writing
// verbs are durable on return (G1); prune() may be so only with the next one that is, because what a power cut takes
// back of it merely happens again. `now` serves the memory and SQLite stores; a shared store judges by its
// own clock instead.
//
// Errors, the same for every method: kUnavailable: nothing was done, the store cannot serve now; kUnknown: a COMMIT
// failed and may or may not have taken effect; kInternal: this batch cannot be stored though the store is well (halve
// it to find the culprit); kExhausted: nothing was done, because somebody else holds something of it for longer than
// the store waits (halve it too; the culprit may go through later). test/contract holds the suite that every backend
// passes; the memory store is the readable specification.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model.h"
#include "core/retry.h"
#include "core/settle.h"

namespace hookonce {

struct CommitFacts {
  std::vector<AcceptFacts> accepts;  // one per event, in order
  std::vector<SettleFacts> settles;  // one per settlement, in order
};

struct ClaimDestination {
  std::string name;
  int slots = 0;  // at most this many leases
  Duration lease{};
  int attempts = 0;        // RetryPolicy::attempts, for deliveries whose lease ran out
  Duration give_up{};      // RetryPolicy::give_up, likewise
  bool skip_dead = false;  // the line of a delivery that ends as dead here goes on without it
};

struct ClaimRequest {
  std::vector<ClaimDestination> destinations;  // deliveries to any other destination are left alone (orphaned)
};

struct DeadDelivery {
  EventId event;
  std::string destination;
};

struct Claimed {
  std::vector<Lease> leases;
  std::vector<DeadDelivery> dead;  // their last lease ran out and the policy is used up
};

struct CommitAndClaimFacts {
  CommitFacts commit;
  Claimed claimed;
};

struct EventFilter {
  std::optional<std::string> source;
  std::optional<std::string> type;  // exact
  std::optional<EventState> state;
  std::optional<std::string> key;  // the dedup key as shown, exact
  std::string query;          // substring of id, key, type or body, as data; empty: all. ASCII letter case is ignored
  std::optional<Time> since;  // received at or after
  std::optional<Time> until;  // received before
};

inline constexpr int kListDefault = 50;
inline constexpr int kListMax = 500;

// How long one call looks for rows before it answers with what it has: a list has to answer within 100 ms, and whoever
// searches in bodies waits a second at most for the first page. Only a test changes it, before it opens a store: what
// it finds must not depend on the machine's speed.
struct ListTime {
  Duration rows = std::chrono::milliseconds(50);
  Duration bodies = std::chrono::milliseconds(500);
};
inline ListTime list_time;

struct EventPage {
  // Newest first by order of acceptance. May be fewer than asked for although `next` is set, down to none, where a
  // call has looked at as much as one may.
  std::vector<EventSummary> items;
  std::optional<std::string> next;  // opaque cursor; nullopt at the end. Stable under inserts
  // While `next` is set: when the last event was received that this call looked at. nullopt where that one is gone.
  std::optional<Time> searched_until;
};

struct DeliveryFilter {
  std::optional<std::string> source;
  std::optional<DeliveryState> state;
  std::optional<std::string> destination;
};

// One delivery as a row of a list, with what is asked for of its event.
struct DeliverySummary {
  EventId event;
  std::string source;
  std::string type;
  std::optional<std::string> key;
  Time received_at{};
  std::string destination;
  DeliveryState state = DeliveryState::kPending;
  int attempts = 0;        // the newest one's number
  int last_status = 0;     // of the newest attempt that has ended: 0 where no answer came, or there is none
  std::string last_error;  // likewise; empty on success
  std::optional<Time> next_attempt_at;  // as in Delivery
  std::optional<Hold> held;             // likewise
  std::optional<Time> delivered_at;
};

struct DeliveryPage {
  // As EventPage; the deliveries of one event by destination name.
  std::vector<DeliverySummary> items;
  std::optional<std::string> next;
  std::optional<Time> searched_until;
};

struct ReplayRequest {
  std::vector<EventId> ids;  // these, or where empty, what `filter` matches
  EventFilter filter;
  bool dead_only = false;  // only dead deliveries
  std::optional<std::string> destination;
  // A delivery is made for an event that has none at `destination` yet (the caller has checked the configuration).
  bool create_missing = false;
  bool new_key = false;
  bool dry_run = false;               // counts, changes nothing
  std::optional<std::string> cursor;  // of the previous part
  int limit = kListMax;               // events of a part; a call with `ids` does them all. REQUIRES: 1 to kListMax
};

struct ReplayedDelivery {
  EventId event;
  std::string destination;
  DeliveryState before = DeliveryState::kPending;  // kInFlight: left alone; kPending: due now; else: pending again
};

struct Replayed {
  std::vector<ReplayedDelivery> deliveries;
  std::optional<std::string> next;  // more to do
};

// What the configuration says of a destination's lines now.
struct LineRule {
  std::string destination;
  bool ordered = false;
  bool skip_dead = false;
};

struct StoreStats {
  std::int64_t events = 0;   // may be an estimate
  std::int64_t pending = 0;  // deliveries
  std::int64_t in_flight = 0;
  std::int64_t dead = 0;
  std::optional<Time> oldest_pending;
  std::vector<std::pair<std::string, std::int64_t>>
      pending_by_destination;       // pending and in flight, orphaned ones included
  std::vector<std::string> paused;  // destinations, ascending; also such as nobody delivers to
  std::int64_t log_bytes = 0;       // of the write-ahead log, where there is one
};

struct PruneRequest {
  Time events_before{};  // events whose last delivery ended before this
  Time keys_now{};       // dedup keys whose window is over at this moment and whose event is gone
  int limit = 500;       // rows at most, so that a commit behind it does not wait long
  std::map<std::string, Time, std::less<>> events_before_of{};  // instead of events_before, for the events of a source

  Time before(std::string_view source) const;
  Time latest_before() const;  // of any source: what was accepted later is kept
};

// What a sender that waits for an event's reply can hope for: one may still come while the event is pending.
struct ReplyState {
  EventState state = EventState::kPending;
  std::optional<Reply> reply;  // of a delivered event: as it was settled, for both are one transaction
};

class InboxRecords;  // store/inbox_records.h

class Store {
 public:
  virtual ~Store() = default;

  // The deliveries to one destination of one source's events with one ordering key, in the order of acceptance, are a
  // line where the destination was among NewEvent::ordered. Only the first of a line is due; the others are pending
  // without a time, until the one before them has been delivered, or ended as dead where skip_dead is set (else it
  // holds the line up). A replayed or rearmed delivery is due whatever its place; its success takes it out of the line.

  // Accepts and settles in one transaction, in order: first the events, then the settlements. For each event either it
  // is new (event, keys, deliveries and first arrival are written), or it is a duplicate (counted, its arrival recorded
  // while there are fewer than kArrivalsMax) and, where event.rearm and one of its deliveries is dead and never
  // succeeded, rearmed: those deliveries are pending and due again with a fresh policy. Equal keys within one batch
  // count as arriving in batch order. A settlement is taken exactly if its attempt is the delivery's newest and
  // unsettled; another one is shown and changes nothing else. An attempt whose lease ran out stays unsettled; where its
  // delivery was buried or put back to pending since, only a success still changes the state.
  virtual Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                                     Time now) = 0;

  // What commit() would answer for this arrival if it is a duplicate of a durable event and nothing but its own record
  // would be written: for the moment when that cannot be. nullopt: a first arrival, or one that would rearm a delivery.
  // Of the event's first arrival and own key it tells nothing. Reads only; may answer while commit() does not.
  virtual Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time now) = 0;

  // Leases due deliveries, the longest due first per destination; what this call frees comes with the next one. A
  // delivery in flight whose lease is over is due too: its old attempt is recorded as kUnknown, and it ends as dead
  // instead where the policy is used up. Every lease has a new attempt number.
  virtual Result<Claimed> claim(const ClaimRequest& request, Time now) = 0;

  // Whether a claim may go with a commit: a backend with one writer and a sync per transaction gains by it. Else the
  // two go side by side.
  virtual bool claims_with_commit() const { return false; }
  // commit() and then claim() of what it leaves, in one transaction: both took effect, or neither. REQUIRES:
  // claims_with_commit().
  virtual Result<CommitAndClaimFacts> commit_and_claim(std::span<const NewEvent> events,
                                                       std::span<const Settlement> settlements,
                                                       const ClaimRequest& request, Time now);

  // When the next delivery to one of `destinations` becomes due (the past: now); nullopt where nothing is waiting.
  virtual Result<std::optional<Time>> next_due(const std::vector<std::string>& destinations, Time now) = 0;

  // Holds a destination or frees it, for every gateway on this store and across restarts. Once a pause has returned,
  // claim() leaves the destination alone (it buries nothing there either), next_due() does not speak of it, and
  // commit() gives no first lease of it. What is in flight ends as ever. Any name will do. Whether that is news.
  virtual Result<bool> set_paused(const std::string& destination, bool paused) = 0;

  // What the destination of a synchronous source's event answered, and whether that may still come; nullopt: the event
  // is not here (any more). One look at the inbox, so that an event is never seen delivered without the reply that came
  // with it.
  virtual Result<std::optional<ReplyState>> reply(const EventId& id) = 0;

  virtual Result<std::optional<EventDetail>> get(const EventId& id) = 0;
  // kInvalid for a cursor that is not one. REQUIRES: 1 <= limit <= kListMax.
  virtual Result<EventPage> list(const EventFilter& filter, int limit, const std::optional<std::string>& cursor) = 0;
  // As list().
  virtual Result<DeliveryPage> deliveries(const DeliveryFilter& filter, int limit,
                                          const std::optional<std::string>& cursor) = 0;
  virtual Result<StoreStats> stats(Time now) = 0;

  // Puts deliveries back to pending, due now, with a fresh policy; marks them as replayed. kNotFound for an unknown id.
  virtual Result<Replayed> replay(const ReplayRequest& request, Time now) = 0;

  // Frees what a changed configuration no longer holds up: all lines where the destination is not ordered any more,
  // dead ones at a head where they are skipped now. A part at a time; true while there may be more. A backend without
  // lines has nothing to free.
  virtual Result<bool> apply_line_rule(const LineRule& rule, Time now);

  // Removes what retention allows; the number of events and keys removed, of which there may be more when it is not 0.
  // Pending events and taken keys stay.
  virtual Result<std::int64_t> prune(const PruneRequest& request) = 0;

  // ok while a commit can be expected to succeed; else why not. Cheap.
  virtual Status health() = 0;
  // Tries to become healthy again. kUnavailable: later perhaps (no space, a lock held); kPrecondition: never without a
  // person.
  virtual Status recover(Time now) = 0;
  // Where it promises less than G1, in words for the log and /readyz; empty where it does not. May change while the
  // store serves. Cheap.
  virtual std::vector<std::string> weaknesses() { return {}; }

  // Whether EventFilter::query looks into bodies too.
  virtual bool searches_bodies() const { return true; }

  // The inbox as whole records, for copying it while no gateway runs; null where a backend cannot. Lives as long as
  // this.
  virtual InboxRecords* records() { return nullptr; }
};

inline Time PruneRequest::before(std::string_view source) const {
  const auto own = events_before_of.find(source);
  return own == events_before_of.end() ? events_before : own->second;
}

inline Time PruneRequest::latest_before() const {
  Time latest = events_before;
  for (const auto& [source, before] : events_before_of) latest = std::max(latest, before);
  return latest;
}

inline Result<CommitAndClaimFacts> Store::commit_and_claim(std::span<const NewEvent>, std::span<const Settlement>,
                                                           const ClaimRequest&, Time) {
  return internal("this store claims apart from its commits");
}

inline Result<bool> Store::apply_line_rule(const LineRule&, Time) {
  return false;
}

}  // namespace hookonce
