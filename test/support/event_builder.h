// Builders with defaults for what goes into and out of a store, so that a test says only what matters to it.
//
//   NewEvent event = NewEventBuilder().key("evt_1").to({"a", "b"}).build();
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/dedup.h"
#include "core/model.h"
#include "core/settle.h"

namespace hookonce {

inline constexpr Time kTestStart{std::chrono::seconds(1790000000)};  // as ManualClock's

// One event of source "shop" to destination "backend" with a fresh id, and without a dedup key until one is given.
class NewEventBuilder {
 public:
  NewEventBuilder() {
    event_.id = EventId::make(kTestStart);
    event_.source = "shop";
    event_.type = "order.paid";
    event_.window = std::chrono::hours(24);
    event_.headers = Headers{{"Content-Type", "application/json"}};
    event_.body = "{\"paid\":true}";
    event_.arrival.at = kTestStart;
    event_.arrival.remote = "203.0.113.7";
    event_.destinations = {"backend"};
  }

  NewEventBuilder& id(const EventId& id) { return set(event_.id, id); }
  NewEventBuilder& source(std::string name) { return set(event_.source, std::move(name)); }
  NewEventBuilder& type(std::string type) { return set(event_.type, std::move(type)); }
  // The shown key and its hash, as the provider's event id would be.
  NewEventBuilder& key(const std::string& text) {
    event_.key = text;
    event_.keys.push_back(key_hash("", {text}));
    return *this;
  }
  // A further key that is not shown, as one of dedup_also.
  NewEventBuilder& also(const std::string& text) {
    event_.keys.push_back(key_hash("also", {text}));
    return *this;
  }
  // An item of a batch.
  NewEventBuilder& item(const std::string& key) {
    event_.rule = KeyRule::kEach;
    event_.keys.push_back(key_hash("", {key}));
    return *this;
  }
  NewEventBuilder& rule(KeyRule rule) { return set(event_.rule, rule); }
  NewEventBuilder& window(Duration window) { return set(event_.window, window); }
  NewEventBuilder& ordering_key(std::string key) {
    event_.ordering_key = std::move(key);
    return *this;
  }
  NewEventBuilder& headers(Headers headers) { return set(event_.headers, std::move(headers)); }
  NewEventBuilder& body(std::string body) { return set(event_.body, std::move(body)); }
  NewEventBuilder& to(std::vector<std::string> names) { return set(event_.destinations, std::move(names)); }
  // Of `to`, those that take it in the order of its ordering key.
  NewEventBuilder& ordered(std::vector<std::string> names) { return set(event_.ordered, std::move(names)); }
  NewEventBuilder& first_lease(Duration lease) {
    event_.first_lease = lease;
    return *this;
  }
  NewEventBuilder& rearm(bool rearm) { return set(event_.rearm, rearm); }
  NewEventBuilder& forwarded_trusted(bool trusted) { return set(event_.forwarded_trusted, trusted); }
  NewEventBuilder& arrival(Arrival arrival) { return set(event_.arrival, std::move(arrival)); }
  NewEventBuilder& at(Time at) { return set(event_.arrival.at, at); }

  NewEvent build() {
    event_.arrival.body_hash = body_hash(event_.body);
    return std::move(event_);
  }

 private:
  template <typename T>
  NewEventBuilder& set(T& field, T value) {
    field = std::move(value);
    return *this;
  }
  NewEvent event_;
};

inline std::vector<NewEvent> events_of(NewEvent event) {
  std::vector<NewEvent> events;
  events.push_back(std::move(event));
  return events;
}

// How the lease's attempt ended: 200, or 500, or given back unsent.
inline Settlement settlement(const Lease& lease, Outcome outcome, Next next, Duration delay = Duration::zero()) {
  Settlement settlement;
  settlement.event = lease.event;
  settlement.destination = lease.destination;
  settlement.attempt = lease.attempt;
  settlement.result.outcome = outcome;
  settlement.result.started_at = lease.claimed_at;
  settlement.result.duration = std::chrono::milliseconds(12);
  settlement.result.status = outcome == Outcome::kSuccess ? 200 : outcome == Outcome::kFailed ? 500 : 0;
  settlement.result.error = outcome == Outcome::kSuccess ? "" : "it did not work";
  settlement.result.response = outcome == Outcome::kSuccess ? "ok" : "";
  settlement.next = next;
  settlement.delay = delay;
  return settlement;
}
inline Settlement success(const Lease& lease) {
  return settlement(lease, Outcome::kSuccess, Next::kDelivered);
}
inline Settlement failure(const Lease& lease, Duration delay) {
  return settlement(lease, Outcome::kFailed, Next::kRetry, delay);
}
inline Settlement death(const Lease& lease) {
  return settlement(lease, Outcome::kFailed, Next::kDead);
}
inline Settlement release(const Lease& lease) {
  return settlement(lease, Outcome::kReleased, Next::kRelease);
}

}  // namespace hookonce
