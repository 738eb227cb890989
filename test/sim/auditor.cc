#include "test/sim/auditor.h"

#include <algorithm>

namespace hookonce::sim {

namespace {

constexpr int kGone = 410;
constexpr int kTooManyRequests = 429;
constexpr int kServiceUnavailable = 503;

bool is_open(DeliveryState state) {
  return state == DeliveryState::kPending || state == DeliveryState::kInFlight;
}

DeliveryState state_after(Next next) {
  if (next == Next::kDelivered) return DeliveryState::kDelivered;
  return next == Next::kDead ? DeliveryState::kDead : DeliveryState::kPending;
}

}  // namespace

void Auditor::committed(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                        const CommitFacts& facts, Time now) {
  if (facts.accepts.size() != events.size() || facts.settles.size() != settlements.size())
    return fail("a commit answers for {} events and {} settlements, not for {} and {}", facts.accepts.size(),
                facts.settles.size(), events.size(), settlements.size());
  for (std::size_t i = 0; i < events.size(); ++i) accepted(events[i], facts.accepts[i], now);
  for (std::size_t i = 0; i < settlements.size(); ++i) settled(settlements[i], facts.settles[i], now);
}

void Auditor::accepted(const NewEvent& event, const AcceptFacts& facts, Time now) {
  const std::string& key = event.key.value();
  const auto known = signed_.find({event.source, key});
  if (known == signed_.end() || known->second != event.body)
    return fail("key {} of {} was looked up for a request that the provider never signed", key, event.source);
  std::optional<Holder> oldest;
  for (const KeyHash& hash : event.keys) {
    const auto held = holders_.find({event.source, hash});
    if (held == holders_.end() || held->second.until <= now) continue;
    if (!oldest || held->second.order < oldest->order) oldest = held->second;
  }
  const Holder holder = oldest.value_or(Holder{event.id, static_cast<int>(order_.size()), now + event.window});
  for (const KeyHash& hash : event.keys) {
    Holder& held = holders_[{event.source, hash}];
    if (held.until <= now) held = holder;
  }
  if (oldest) return duplicated(event, *oldest, facts, now);

  if (facts.verdict != Verdict::kAccepted || facts.id != event.id)
    return fail("an arrival of key {} of {} was swallowed: {} of {}, which does not hold the key", key, event.source,
                to_string(facts.verdict), facts.id.text());
  EventBook& book = books_[event.id];
  book.source = event.source;
  book.key = key;
  book.body = event.body;
  book.received_at = now;
  book.order = static_cast<int>(order_.size());
  order_.push_back(event.id);
  bodies_.insert({event.source, event.body});
  for (const std::string& name : event.destinations) {
    ++open_deliveries_;
    arm(book.deliveries[name], now);
  }
  touched_.insert(event.id);
}

void Auditor::duplicated(const NewEvent& event, const Holder& holder, const AcceptFacts& facts, Time now) {
  EventBook& book = books_.at(holder.id);
  if (facts.verdict == Verdict::kAccepted)
    return fail("two events of one key within one window: key {} of {} is held by {} and was accepted as {}", book.key,
                book.source, holder.id.text(), facts.id.text());
  if (facts.id != holder.id) return fail("a duplicate of {} was told of {}", holder.id.text(), facts.id.text());
  bool rearmed = false;
  if (!book.pruned) {
    ++book.duplicates;
    touched_.insert(holder.id);
    for (auto& [name, delivery] : book.deliveries) {
      if (!event.rearm || delivery.state != DeliveryState::kDead || delivery.ever_delivered) continue;
      arm(delivery, now);
      rearmed = true;
    }
  }
  if (rearmed != (facts.verdict == Verdict::kRearmed) || rearmed != facts.new_delivery)
    fail("a duplicate of {} is {}, and its deliveries {} rearmed", holder.id.text(), to_string(facts.verdict),
         rearmed ? "had to be" : "must not be");
}

void Auditor::settled(const Settlement& settlement, const SettleFacts& facts, Time now) {
  DeliveryBook* book = find(settlement.event, settlement.destination);
  const bool newest = book != nullptr && book->newest == settlement.attempt && book->unsettled;
  // Repeated after a commit whose answer was lost.
  const bool had = book != nullptr && book->newest == settlement.attempt && !book->unsettled &&
                   book->state == state_after(settlement.next);
  if (facts.taken != (newest || had))
    return fail("the outcome of attempt {} of {} to {} was {}, newest is {}", settlement.attempt,
                settlement.event.text(), settlement.destination, facts.taken ? "taken" : "not taken",
                book == nullptr ? 0 : book->newest);
  if (book == nullptr) return;
  touched_.insert(settlement.event);
  if (newest) take(settlement, *book, now);
  const EventState state = state_of(books_.at(settlement.event));
  if (state != facts.event_state)
    fail("{} is {} and the settlement says {}", settlement.event.text(), to_string(state),
         to_string(facts.event_state));
}

void Auditor::take(const Settlement& settlement, DeliveryBook& book, Time now) {
  const AttemptResult& result = settlement.result;
  book.unsettled = false;
  if (result.outcome == Outcome::kSuccess) {
    change(book, DeliveryState::kDelivered);
    book.ever_delivered = true;
    book.ended_at = now;
    return;
  }
  if (book.state != DeliveryState::kInFlight) return;
  if (result.outcome == Outcome::kReleased) {
    --book.counted;
    change(book, DeliveryState::kPending);
    book.due_at = now;
    return;
  }
  const RetryPolicy& policy = plan_.destination(settlement.destination).retry;
  const Duration since_armed = book.claimed_at - book.armed_at + result.duration;
  const bool ends = result.status == kGone || used_up(policy.attempts, policy.give_up, book.counted, since_armed);
  if (ends != (settlement.next == Next::kDead))
    return fail("{} to {} {} after {} counted attempts of {} and an answer {}", settlement.event.text(),
                settlement.destination, ends ? "goes on" : "is dead", book.counted, policy.attempts, result.status);
  change(book, ends ? DeliveryState::kDead : DeliveryState::kPending);
  book.ended_at = now;
  book.due_at = now + settlement.delay;
  const bool asked = result.retry_after && (result.status == kTooManyRequests || result.status == kServiceUnavailable);
  if (!ends && asked && settlement.delay < *result.retry_after)
    fail("{} to {} does not wait as long as asked", settlement.event.text(), settlement.destination);
}

void Auditor::claimed(const ClaimRequest& request, const Claimed& claimed, Time now) {
  std::map<std::string, int> leases;
  const auto limits_of = [&](const std::string& name) -> const ClaimDestination* {
    const auto found = std::find_if(request.destinations.begin(), request.destinations.end(),
                                    [&](const ClaimDestination& destination) { return destination.name == name; });
    return found == request.destinations.end() ? nullptr : &*found;
  };
  for (const DeadDelivery& dead : claimed.dead) {
    const ClaimDestination* limits = limits_of(dead.destination);
    if (limits == nullptr) return fail("{} was buried by somebody who does not know it", dead.destination);
    buried(*limits, dead, now);
  }
  for (const Lease& lease : claimed.leases) {
    const ClaimDestination* limits = limits_of(lease.destination);
    if (limits == nullptr) return fail("{} was claimed by somebody who does not know it", lease.destination);
    if (++leases[lease.destination] > limits->slots)
      return fail("more leases than slots were claimed for {}", lease.destination);
    leased(*limits, lease, now);
  }
}

void Auditor::leased(const ClaimDestination& limits, const Lease& lease, Time now) {
  DeliveryBook* found = find(lease.event, lease.destination);
  if (found == nullptr)
    return fail("a lease of {} to {}, which nobody accepted", lease.event.text(), lease.destination);
  DeliveryBook& book = *found;
  const std::string name = fmt::format("{} to {}", lease.event.text(), lease.destination);
  if (paused_.contains(lease.destination)) return fail("{} was claimed while it is paused", name);
  if (!is_open(book.state)) return fail("{} was claimed and is {}", name, to_string(book.state));
  if (book.state == DeliveryState::kPending && book.due_at > now) return fail("{} was claimed before it is due", name);
  if (book.state == DeliveryState::kInFlight) {
    if (book.lease_until > now) return fail("{} was claimed while the lease of attempt {} holds", name, book.newest);
    if (used_up(limits.attempts, limits.give_up, book.counted, now - book.armed_at))
      return fail("{} was claimed and is used up", name);
  }
  if (lease.attempt <= book.newest) return fail("{}: attempt number {} was given out again", name, lease.attempt);
  ++book.counted;
  const int attempts = plan_.destination(lease.destination).retry.attempts;
  if (lease.counted != book.counted || book.counted > attempts)
    return fail("{}: counted attempt {} ({} by the lease) of {}", name, book.counted, lease.counted, attempts);
  const EventBook& event = books_.at(lease.event);
  if (lease.until != now + limits.lease || lease.armed_at != book.armed_at || lease.claimed_at != now)
    return fail("{}: the lease's times are wrong", name);
  if (lease.source != event.source || *lease.body != event.body || lease.replay != book.replayed ||
      lease.new_key != book.new_key)
    return fail("{}: the lease is not of what was accepted", name);
  change(book, DeliveryState::kInFlight);
  book.newest = lease.attempt;
  book.unsettled = true;
  book.claimed_at = now;
  book.lease_until = lease.until;
  touched_.insert(lease.event);
}

void Auditor::buried(const ClaimDestination& limits, const DeadDelivery& dead, Time now) {
  DeliveryBook* book = find(dead.event, dead.destination);
  if (book == nullptr || paused_.contains(dead.destination) || book->state != DeliveryState::kInFlight ||
      book->lease_until > now || !used_up(limits.attempts, limits.give_up, book->counted, now - book->armed_at))
    return fail("{} to {} was buried alive", dead.event.text(), dead.destination);
  change(*book, DeliveryState::kDead);
  book->ended_at = now;
  touched_.insert(dead.event);
}

void Auditor::replayed(const Replayed& replayed, bool new_key, Time now) {
  for (const ReplayedDelivery& delivery : replayed.deliveries) {
    DeliveryBook* book = find(delivery.event, delivery.destination);
    if (book == nullptr || book->state != delivery.before)
      return fail("a replay of {} to {} found it {}", delivery.event.text(), delivery.destination,
                  to_string(delivery.before));
    touched_.insert(delivery.event);
    if (book->state == DeliveryState::kInFlight) continue;
    arm(*book, now);
    book->replayed = true;
    book->new_key = new_key ? ++book->new_keys : 0;
  }
}

void Auditor::pruned(const PruneRequest& request, Store& truth) {
  for (auto& [id, event] : books_) {
    if (event.pruned) continue;
    const auto shown = truth.get(id);
    if (!shown.ok() || shown.value()) continue;
    event.pruned = true;
    touched_.erase(id);
    for (const auto& [name, delivery] : event.deliveries) {
      if (is_open(delivery.state) || delivery.ended_at >= request.before(event.source))
        return fail("{} was pruned, and its delivery to {} is {}", id.text(), name, to_string(delivery.state));
    }
  }
}

void Auditor::reopened(Time now) {
  for (auto& [id, event] : books_) {
    for (auto& [name, delivery] : event.deliveries) {
      if (!event.pruned && delivery.state == DeliveryState::kInFlight)
        delivery.lease_until = std::min(delivery.lease_until, now);
    }
  }
}

void Auditor::acknowledged(const std::string& source, const std::string& body, const std::optional<EventId>& id,
                           Store& truth) {
  if (!has_accepted(source, body)) return fail("{} of {} was answered 2xx, and nothing is stored", body, source);
  if (!id) return;
  const auto book = books_.find(*id);
  if (book == books_.end() || book->second.source != source || book->second.body != body)
    return fail("{} of {} was answered 2xx with the id of something else, {}", body, source, id->text());
  if (book->second.pruned) return;
  const auto shown = truth.get(*id);
  if (!shown.ok() || !shown.value()) return fail("{} was answered 2xx and is not in the store", id->text());
  for (const SourcePlan& planned : plan_.sources) {
    if (planned.name != source) continue;
    for (const std::string& name : planned.destinations) {
      if (!book->second.deliveries.contains(name))
        return fail("{} was answered 2xx and has no delivery to {}", id->text(), name);
    }
  }
}

void Auditor::started(const Lease& lease, int instance, Time now) {
  const std::string name = fmt::format("attempt {} of {} to {}", lease.attempt, lease.event.text(), lease.destination);
  const DeliveryBook* book = find(lease.event, lease.destination);
  if (book == nullptr) return fail("{} is of nothing that is stored", name);
  if (book->state == DeliveryState::kDelivered) return fail("{}: it was delivered and is sent again", name);
  if (book->state != DeliveryState::kInFlight || book->newest != lease.attempt)
    return fail("{} starts and is not the newest", name);
  if (book->lease_until - now < plan_.destination(lease.destination).timeout)
    return fail("{} may outlast its lease", name);
  for (const Running& running : running_) {
    if (running.event == lease.event && running.destination == lease.destination && running.lease_until > now)
      return fail("{} starts while attempt {} is in flight and its lease holds", name, running.attempt);
  }
  if (!sent_.insert({lease.event, lease.destination, lease.attempt}).second) return fail("{} was sent twice", name);
  running_.push_back({lease.event, lease.destination, lease.attempt, instance, lease.until});
}

void Auditor::ended(const Lease& lease) {
  std::erase_if(running_, [&](const Running& running) {
    return running.event == lease.event && running.destination == lease.destination && running.attempt == lease.attempt;
  });
}

void Auditor::died(int instance) {
  std::erase_if(running_, [&](const Running& running) { return running.instance == instance; });
}

void Auditor::compare(Store& truth) {
  for (const EventId& id : touched_) compare(id, books_.at(id), truth);
  touched_.clear();
}

void Auditor::compare(const EventId& id, const EventBook& event, Store& truth) {
  if (event.pruned || failed()) return;
  const auto shown = truth.get(id);
  if (!shown.ok() || !shown.value()) return fail("{} is not in the store", id.text());
  const EventDetail& detail = *shown.value();
  if (detail.body != event.body || detail.summary.source != event.source || detail.summary.key != event.key)
    return fail("{} is not stored as it arrived", id.text());
  if (detail.summary.duplicates != event.duplicates)
    return fail("{} shows {} duplicates of {}", id.text(), detail.summary.duplicates, event.duplicates);
  if (detail.summary.state != state_of(event) || detail.deliveries.size() != event.deliveries.size())
    return fail("{} shows {}, {} deliveries", id.text(), to_string(detail.summary.state), detail.deliveries.size());
  for (const Delivery& delivery : detail.deliveries) {
    const auto book = event.deliveries.find(delivery.destination);
    if (book == event.deliveries.end()) return fail("{} shows a delivery to {}", id.text(), delivery.destination);
    compare(id, book->second, delivery);
  }
}

void Auditor::compare(const EventId& id, const DeliveryBook& book, const Delivery& shown) {
  const std::string name = fmt::format("{} to {}", id.text(), shown.destination);
  if (shown.state != book.state)
    return fail("{} is {} and shows {}", name, to_string(book.state), to_string(shown.state));
  if (book.state == DeliveryState::kPending && shown.next_attempt_at != book.due_at)
    return fail("{} shows another due time", name);
  if (shown.delivered_at.has_value() != book.ever_delivered)
    return fail("{} was {}delivered and shows otherwise", name, book.ever_delivered ? "" : "not ");
  int last = 0;
  for (const Attempt& attempt : shown.attempts) {
    if (attempt.number <= last) return fail("{} shows attempt {} after {}", name, attempt.number, last);
    last = attempt.number;
  }
  if (last > book.newest) fail("{} shows attempt {}, newest is {}", name, last, book.newest);
}

void Auditor::finish(Store& truth) {
  if (open_deliveries_ > 0) return fail("{} deliveries never ended", open_deliveries_);
  for (const auto& [id, event] : books_) compare(id, event, truth);
  std::map<std::pair<std::string, std::string>, std::vector<Time>> received;
  std::size_t shown = 0;
  std::optional<std::string> cursor;
  do {
    const auto page = truth.list({}, kListMax, cursor);
    if (!page.ok()) return fail("the inbox cannot be listed");
    for (const EventSummary& event : page.value().items) {
      ++shown;
      const auto known = signed_.find({event.source, event.key.value_or("")});
      if (known == signed_.end()) return fail("the inbox lists key {}, which nobody signed", event.key.value_or(""));
      received[{event.source, known->second}].push_back(event.received_at);
    }
    cursor = page.value().next;
  } while (cursor);
  const auto kept = std::count_if(books_.begin(), books_.end(), [](const auto& entry) { return !entry.second.pruned; });
  if (static_cast<std::size_t>(kept) != shown) return fail("the inbox lists {} events of {}", shown, kept);
  for (auto& [name, times] : received) {
    std::sort(times.begin(), times.end());
    for (const SourcePlan& source : plan_.sources) {
      for (std::size_t i = 1; i < times.size() && source.name == name.first; ++i) {
        if (times[i] - times[i - 1] < source.window)
          return fail("the inbox has two events of {} of {} in one window", name.second, name.first);
      }
    }
  }
}

std::string Auditor::open_deliveries() const {
  std::string text;
  for (const auto& [id, event] : books_) {
    for (const auto& [name, book] : event.deliveries) {
      if (!is_open(book.state)) continue;
      const Time due = book.state == DeliveryState::kPending ? book.due_at : book.lease_until;
      text += fmt::format("{}{} to {} {} until {}", text.empty() ? "" : ", ", id.text(), name, to_string(book.state),
                          to_rfc3339(due));
    }
  }
  return text;
}

EventState Auditor::state_of(const EventBook& event) const {
  bool dead = false;
  for (const auto& [name, delivery] : event.deliveries) {
    if (is_open(delivery.state)) return EventState::kPending;
    dead = dead || delivery.state == DeliveryState::kDead;
  }
  return dead ? EventState::kDead : EventState::kDelivered;
}

void Auditor::change(DeliveryBook& book, DeliveryState state) {
  open_deliveries_ += (is_open(state) ? 1 : 0) - (is_open(book.state) ? 1 : 0);
  book.state = state;
}

void Auditor::arm(DeliveryBook& book, Time now) {
  change(book, DeliveryState::kPending);
  book.counted = 0;
  book.armed_at = now;
  book.due_at = now;
}

Auditor::DeliveryBook* Auditor::find(const EventId& id, const std::string& destination) {
  const auto event = books_.find(id);
  if (event == books_.end() || event->second.pruned) return nullptr;
  const auto delivery = event->second.deliveries.find(destination);
  return delivery == event->second.deliveries.end() ? nullptr : &delivery->second;
}

}  // namespace hookonce::sim
