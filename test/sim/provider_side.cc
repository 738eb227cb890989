#include "test/sim/provider_side.h"

#include <fmt/format.h>

#include <algorithm>

namespace hookonce::sim {

namespace {

constexpr std::size_t kEventsMax = 30;
constexpr Duration kRetryEvery = std::chrono::seconds(5);  // in the healed world

}  // namespace

std::vector<Request> ProviderSide::traffic() {
  Prng& random = world_.random;
  const int draw = random.between(1, 100);
  std::vector<Request> requests;
  if (draw <= 12) return {forgery()};
  Event* event = nullptr;
  if (draw <= 50 && events_.size() < kEventsMax) {
    event = &make_event();
  } else if (!events_.empty()) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!events_[i].acknowledged) waiting.push_back(i);
    }
    const bool retry = draw <= 80 && !waiting.empty();
    event = &events_[retry ? waiting[random.below(waiting.size())] : random.below(events_.size())];
  } else {
    return {};
  }
  const int copies = random.percent(40) ? random.between(2, 3) : 1;
  for (int i = 0; i < copies; ++i) requests.push_back(request_of(*event));
  return requests;
}

std::vector<Request> ProviderSide::retries() {
  std::vector<Request> requests;
  if (world_.now() < next_retry_) return requests;
  next_retry_ = world_.now() + kRetryEvery;
  for (Event& event : events_) {
    if (!event.acknowledged && event.body != kPoison) requests.push_back(request_of(event));
  }
  return requests;
}

void ProviderSide::hear(const Answer& answer) {
  if (answer.status != 200) return;
  for (Event& event : events_) {
    if (event.source == answer.request.source && event.body == answer.request.body) event.acknowledged = true;
  }
}

bool ProviderSide::content() const {
  return std::all_of(events_.begin(), events_.end(),
                     [](const Event& event) { return event.acknowledged || event.body == kPoison; });
}

ProviderSide::Event& ProviderSide::make_event() {
  Prng& random = world_.random;
  Event event;
  const std::size_t number = events_.size();
  event.source = static_cast<int>(random.below(world_.plan.sources.size()));
  // Two sources may use one key: each is a name space of its own.
  event.key = fmt::format("evt_{}", event.source == 0 ? number : number / 2);
  if (random.percent(25)) {
    event.alias = fmt::format("alias_{}", number);
    event.also = fmt::format("order_{}", number);
  }
  event.body = random.percent(3) ? std::string(kPoison) : fmt::format("event {}", number);
  const std::string& source = world_.plan.sources[static_cast<std::size_t>(event.source)].name;
  for (const Event& other : events_) {
    if (other.source == event.source && other.key == event.key) event.key = fmt::format("evt_again_{}", number);
  }
  world_.auditor.signed_by_provider(source, event.key, event.body);
  if (!event.alias.empty()) world_.auditor.signed_by_provider(source, event.alias, event.body);
  events_.push_back(std::move(event));
  return events_.back();
}

Request ProviderSide::request_of(Event& event) {
  Request request;
  request.number = ++requests_;
  request.source = event.source;
  request.key = !event.alias.empty() && world_.random.percent(40) ? event.alias : event.key;
  request.also = event.also;
  request.body = event.body;
  request.stamp = world_.now();
  request.retry = event.sends++ > 0;
  return request;
}

// Whoever forges knows a key: one that is taken, or one that the provider is about to use.
Request ProviderSide::forgery() {
  Request request;
  request.number = ++requests_;
  request.source = static_cast<int>(world_.random.below(world_.plan.sources.size()));
  request.key = fmt::format("evt_{}", world_.random.below(events_.size() + 2));
  request.body = "forged";
  request.stamp = world_.now();
  request.forged = true;
  return request;
}

}  // namespace hookonce::sim
