// The words of the house as plain values: event, arrival, delivery, attempt. No behaviour beyond conversion to text.
//
// The delivery state machine is drawn in docs/states.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/http_message.h"

namespace hookonce {

// A UUIDv7: sorts roughly by time, which nothing relies on (the store's own sequence decides order).
class EventId {
 public:
  using Bytes = std::array<std::uint8_t, 16>;
  EventId() = default;
  explicit EventId(const Bytes& bytes) : bytes_(bytes) {}
  // `random` are 10 bytes of randomness; the version and variant bits are set here.
  static EventId make(Time now, const std::array<std::uint8_t, 10>& random);
  static EventId make(Time now);  // randomness from base/random.h
  static std::optional<EventId> parse(std::string_view text);

  std::string text() const;  // 0199a1b2-....: lower case with dashes
  const Bytes& bytes() const { return bytes_; }
  auto operator<=>(const EventId&) const = default;

 private:
  Bytes bytes_{};
};

enum class EventState { kPending, kDelivered, kDead };
enum class DeliveryState { kPending, kInFlight, kDelivered, kDead };
// kUnknown: the lease ran out or the gateway died. kReleased: never sent, or given back by a shutdown; not counted.
enum class Outcome { kSuccess, kFailed, kUnknown, kReleased };
// What an arrival turned out to be.
enum class Verdict { kAccepted, kDuplicate, kRearmed };

std::string_view to_string(EventState state);     // "pending" "delivered" "dead"
std::string_view to_string(DeliveryState state);  // "pending" "in_flight" "delivered" "dead"
std::string_view to_string(Outcome outcome);      // "success" "failed" "unknown" "released"
std::string_view to_string(Verdict verdict);      // "accepted" "duplicate" "rearmed"
std::optional<EventState> parse_event_state(std::string_view text);

// The first 16 bytes of a SHA-256 over length-prefixed key parts (core/dedup.h); stored per source.
using KeyHash = std::array<std::uint8_t, 16>;

// kAny: a hit on any key is a duplicate of the oldest hit, and the missing keys are added to that event (dedup_also).
// kEach: a batch: keys[i] is that of the body's i-th item, a provider event of its own; the arrival is an event if at
// least one item is new.
enum class KeyRule { kAny, kEach };

// What the provider says about its own retrying, from its headers. It is shown, and never decides anything (G3).
struct RetryHint {
  int number = 0;
  std::string reason;  // the provider's word, may be empty
  bool operator==(const RetryHint&) const = default;
};

// One request that passed verification.
struct Arrival {
  Time at{};
  std::string remote;  // the client's address
  std::optional<RetryHint> retry;
  std::optional<Time> provider_time;  // the provider's own time stamp of this request
  int secret = 0;                     // index of the configured secret that verified it
  KeyHash body_hash{};                // first 16 bytes of SHA-256 over the body
  // Likewise over what signed it, time stamp included: equal ones are the same request. Zeros: nothing is known.
  KeyHash signature_hash{};
  bool operator==(const Arrival&) const = default;
};

inline constexpr int kArrivalsMax = 100;  // kept per event; later duplicates are counted only

struct Lease;  // core/settle.h

// What ingest puts in. The body is moved from the socket's buffer to the store's statement, never copied.
struct NewEvent {
  EventId id;  // used if this arrival is the first
  std::string source;
  std::string type;                // the provider's event type, may be empty
  std::optional<std::string> key;  // the dedup key for people; nullopt where the event has none, and for a batch
  std::vector<KeyHash> keys;       // empty: never a duplicate of anything
  KeyRule rule = KeyRule::kAny;
  Duration window{};  // how long the keys stay taken, from this arrival on
  std::optional<std::string> ordering_key;
  Headers headers;                 // as they arrived
  bool forwarded_trusted = false;  // X-Forwarded-* and Forwarded came from a trusted proxy and may be passed on
  std::string body;
  Arrival arrival;
  std::vector<std::string> destinations;  // one delivery each; may be empty (no destination wants it)
  // Those of `destinations` that take the events of one ordering key one after another; without a key it means nothing.
  std::vector<std::string> ordered;
  // Of a synchronous source: its one delivery is leased for this long at once, unless its destination is paused.
  std::optional<Duration> first_lease;
  bool rearm = true;      // a duplicate of an event with a dead delivery makes that pending again
  Budget::Charge charge;  // what the body takes of max_inflight, until the accept is done
};

// Items of one batch. Their indexes must fit into one header (4 KiB), and one body must not fill a transaction.
inline constexpr std::size_t kItemsMax = 1000;

// To `items`, the indexes of a batch's new items as text ("0,3,4"): one more.
void add_item(std::string& items, std::size_t index);
// The indexes; empty where `items` is no such text.
std::vector<std::size_t> parse_items(std::string_view items);

inline constexpr std::size_t kReplyMax = 64 * 1024;  // bytes of a reply's body

// What a destination answered to a synchronous source's event: the sender gets it, and so does every duplicate.
struct Reply {
  int status = 200;
  std::string content_type;
  std::string body;
  bool operator==(const Reply&) const = default;
};

// Of an event's first arrival what a duplicate is compared with (core/cause.h).
struct FirstArrival {
  Time at{};
  int secret = 0;
  KeyHash signature_hash{};
  bool operator==(const FirstArrival&) const = default;
};

struct AcceptFacts {
  Verdict verdict = Verdict::kAccepted;
  EventId id;       // the first one's id
  Time first_at{};  // when the event was accepted
  bool same_body = true;
  bool new_delivery = false;          // whether a delivery became pending: the dispatcher is nudged
  std::shared_ptr<Lease> lease;       // of a first arrival with first_lease whose destination is not paused
  std::optional<Reply> reply;         // of a duplicate with first_lease, where the event has one
  bool same_key = true;               // false: the event's own dedup key is another, a key of dedup_also is the same
  std::optional<FirstArrival> first;  // of a duplicate whose event is still here
};

struct Attempt {
  int number = 0;  // from 1, never reused; gaps are possible
  Time started_at{};
  std::optional<Duration> duration;  // nullopt while in flight or where nobody knows
  std::optional<Outcome> outcome;    // nullopt while in flight
  int status = 0;                    // HTTP status, 0 where no answer came
  std::string error;                 // why it failed, for people; empty on success; at most kErrorKept bytes
  std::string response;              // the beginning of the answer's body, at most kResponseKept bytes
  bool operator==(const Attempt&) const = default;
};

inline constexpr std::size_t kResponseKept = 4096;  // enough of an error page to read what it says
inline constexpr std::size_t kErrorKept = 1024;     // our own words, and a name or two in them
inline constexpr int kAttemptsShown = 100;  // newest kept per delivery; replays for ever must not grow a row for ever

// Why a pending delivery is not sent, however long it is due. kLine: the first of its line has to be done before.
// kPaused: its destination is paused; it goes before kLine, because nothing else helps meanwhile.
enum class HeldBy { kLine, kPaused };
std::string_view to_string(HeldBy held_by);  // "line" "paused"
struct Hold {
  HeldBy by = HeldBy::kLine;
  std::optional<EventId> behind;  // where it waits in a line, paused or not: the event at its head
  bool operator==(const Hold&) const = default;
};

struct Delivery {
  std::string destination;
  DeliveryState state = DeliveryState::kPending;
  std::optional<Time> next_attempt_at;  // while pending; nullopt where it waits behind an earlier one of its line
  std::optional<Hold> held;             // of a pending one; nullopt where it is sent when it is due
  std::optional<Time> delivered_at;     // of the last recorded success
  bool replayed = false;                // a person sent it again
  std::vector<Attempt> attempts;        // oldest first
};

struct StoredArrival {
  Arrival arrival;
  Verdict verdict = Verdict::kAccepted;
  bool same_body = true;
  bool same_key = true;  // as in AcceptFacts
};

// One row of a list.
struct EventSummary {
  EventId id;
  std::string source;
  std::string type;
  std::optional<std::string> key;
  Time received_at{};
  EventState state = EventState::kPending;
  std::int64_t duplicates = 0;
  std::size_t size = 0;  // of the body, in bytes
};

struct EventDetail {
  EventSummary summary;
  std::optional<std::string> ordering_key;
  std::string new_items;  // of a batch: the indexes of the items that were new with it, as add_item() writes them
  Headers headers;
  std::string body;
  std::vector<StoredArrival> arrivals;  // the first, then at most kArrivalsMax - 1 duplicates, oldest first
  std::vector<Delivery> deliveries;     // by destination name
};

}  // namespace hookonce
