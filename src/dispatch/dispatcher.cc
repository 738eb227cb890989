#include "dispatch/dispatcher.h"

#include <algorithm>

#include "base/check.h"

namespace hookonce {
namespace {

// The store may name something as due that it did not lease (another instance was faster, a pause has just ended). Then
// it is asked again after this and not at once, so that the two of them never spin.
constexpr Duration kDueAgain = std::chrono::milliseconds(10);

void take_earlier(std::optional<Time>& earliest, Time candidate) {
  if (!earliest || candidate < *earliest) earliest = candidate;
}

}  // namespace

Dispatcher::Dispatcher(Store& store, Claim claim) : store_(store), claim_(std::move(claim)) {}

Dispatcher::Room Dispatcher::room_of(const DestinationConfig& config, Time now) {
  Destination& destination = destinations_[config.name];
  if (destination.url.empty()) destination.url = config.url;
  Room room;
  const int unused = std::max(0, config.concurrency - destination.busy);
  const Breaker& breaker = destination.breaker;
  const BreakerState state = state_of(breaker, now);
  const bool waits_for_probe = state == BreakerState::kHalfOpen && breaker.probe && now < breaker.probe->until;
  if (state == BreakerState::kOpen || waits_for_probe) {
    room.not_before = waits_for_probe ? breaker.probe->until : breaker.open_until;
    return room;
  }
  room.free_slots = room_for(breaker, unused, destination.busy - destination.older, now);
  room.leases = room.free_slots;
  if (!config.rate) return room;
  destination.bucket = refilled(destination.bucket, *config.rate, now);
  room.leases = std::min(room.leases, whole_tokens(destination.bucket));
  return room;
}

// A breaker is about one URL: where that has changed, or nobody wants one any more, what it knows is void, and
// what is still on its way to the former URL says nothing about the new one.
void Dispatcher::forget_breakers(const Config& config, Time now) {
  for (auto& [name, destination] : destinations_) {
    const auto known = config.destinations.find(name);
    const bool stays =
        known != config.destinations.end() && known->second.breaker.enabled && known->second.url == destination.url;
    if (!stays) set_breaker(name, destination, closed_from(now), {});
    if (known != config.destinations.end()) destination.url = known->second.url;
  }
}

void Dispatcher::set_breaker(const std::string& name, Destination& destination, Breaker breaker,
                             const std::string& error) {
  const bool changed = breaker.open_until != destination.breaker.open_until;
  destination.breaker = std::move(breaker);
  if (!changed) return;
  const std::optional<Time>& open_until = destination.breaker.open_until;
  if (!open_until) destination.older = destination.busy;
  changes_.push_back({name, open_until, open_until ? error : std::string()});
}

void Dispatcher::take(const Lease& lease, const DestinationConfig& config, Room& room, Time now) {
  Destination& destination = destinations_[lease.destination];
  ++destination.busy;
  if (state_of(destination.breaker, now) == BreakerState::kHalfOpen) {
    started(destination.breaker, config.breaker, lease, now);
    room.not_before = destination.breaker.probe->until;
  }
  --room.free_slots;
  --room.leases;
  HK_CHECK(room.leases >= 0);  // more leases than slots would age in a queue
}

ClaimRequest Dispatcher::wanted(const Config& config, Time now, Rooms& rooms) {
  ClaimRequest request;
  for (const auto& [name, destination] : config.destinations) {
    const Room room = room_of(destination, now);
    rooms[name] = room;
    if (room.leases == 0) continue;
    destinations_[name].due_waits = false;
    request.destinations.push_back({name, room.leases, destination.lease, destination.retry.attempts,
                                    destination.retry.give_up, destination.skips_dead()});
  }
  return request;
}

Result<Dispatcher::Tick> Dispatcher::tick(Time now, const Config& config) {
  forget_breakers(config, now);
  Rooms rooms;
  Tick tick;
  ClaimRequest request = wanted(config, now, rooms);
  if (!request.destinations.empty()) {
    HK_ASSIGN(Claimed claimed, claim_ ? claim_([&](Time then) {
                now = std::max(now, then);
                return wanted(config, now, rooms);
              })
                                      : store_.claim(request, now));
    tick.leases = std::move(claimed.leases);
    tick.dead = std::move(claimed.dead);
  }
  for (const Lease& lease : tick.leases)
    take(lease, config.destinations.find(lease.destination)->second, rooms[lease.destination], now);
  for (auto& [name, room] : rooms) {
    const DestinationConfig& destination = config.destinations.find(name)->second;
    if (!destination.rate) continue;
    TokenBucket& bucket = destinations_[name].bucket;
    const auto used = std::count_if(tick.leases.begin(), tick.leases.end(),
                                    [&name = name](const Lease& lease) { return lease.destination == name; });
    bucket.tokens = std::max(0.0, bucket.tokens - static_cast<double>(used));
    // Where no slot is free either, ended() comes first, whatever the rate would allow.
    if (room.leases == 0 && room.free_slots > 0 && !room.not_before)
      room.not_before = next_token_at(bucket, *destination.rate, now);
  }

  tick.asked_at = now;
  auto wake = wake_at(rooms, now);
  // The leases are taken already and must not be lost over a question that can be asked again.
  tick.wake_at = wake.ok() ? *wake : std::optional<Time>(now + kDueAgain);
  return tick;
}

Result<std::optional<Time>> Dispatcher::wake_at(const Rooms& rooms, Time now) {
  std::optional<Time> earliest;
  std::vector<std::string> open;
  for (const auto& [name, room] : rooms) {
    if (room.free_slots == 0 && !room.not_before) continue;  // ended() comes first
    if (!room.not_before) {
      open.push_back(name);
      continue;
    }
    bool& due_waits = destinations_[name].due_waits;
    if (due_waits) {
      take_earlier(earliest, std::max(*room.not_before, now + kDueAgain));
      continue;
    }
    HK_ASSIGN(const std::optional<Time> due, store_.next_due({name}, now));
    if (due) take_earlier(earliest, std::max({*due, *room.not_before, now + kDueAgain}));
    due_waits = due && *due <= *room.not_before;
  }
  if (!open.empty()) {
    HK_ASSIGN(const std::optional<Time> due, store_.next_due(open, now));
    if (due) take_earlier(earliest, *due > now ? *due : now + kDueAgain);
  }
  return earliest;
}

void Dispatcher::ended(const AttemptEnd& end, const Config& config, Time now) {
  const auto it = destinations_.find(end.destination);
  HK_CHECK(it != destinations_.end() && it->second.busy > 0);
  Destination& destination = it->second;
  --destination.busy;
  if (is_older(destination.breaker, end)) --destination.older;
  destination.older = std::clamp(destination.older, 0, destination.busy);
  judge(destination, end, config, now);
}

void Dispatcher::noted_beside(const AttemptEnd& end, const Config& config, Time now) {
  const auto known = config.destinations.find(end.destination);
  if (known == config.destinations.end()) return;
  Destination& destination = destinations_[end.destination];
  if (destination.url.empty()) destination.url = known->second.url;
  judge(destination, end, config, now);
}

void Dispatcher::judge(Destination& destination, const AttemptEnd& end, const Config& config, Time now) {
  const auto known = config.destinations.find(end.destination);
  if (known == config.destinations.end() || !known->second.breaker.enabled) return;
  set_breaker(end.destination, destination, noted(destination.breaker, known->second.breaker, end, now), end.error);
}

int Dispatcher::in_flight(const std::string& destination) const {
  const auto it = destinations_.find(destination);
  return it == destinations_.end() ? 0 : it->second.busy;
}

}  // namespace hookonce
