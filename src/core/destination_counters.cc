#include "core/destination_counters.h"

#include <map>
#include <memory>

#include "base/sync.h"

namespace hookonce {
namespace {

struct Registry {
  Mutex mutex;
  std::map<std::string, std::unique_ptr<DestinationCounters>> counters GUARDED_BY(mutex);
};

// Never destroyed: counting goes on until the last thread ends.
Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

}  // namespace

DestinationCounters::DestinationCounters(const std::string& destination)
    : delivered(metrics().counter("hookonce_destination_delivered_total", "Attempts that succeeded",
                                  {{"destination", destination}})),
      failed(metrics().counter("hookonce_destination_failed_total", "Attempts that failed",
                               {{"destination", destination}})),
      open_(metrics().gauge("hookonce_breaker_open", "1 while a destination's breaker is open or half-open, else 0",
                            {{"destination", destination}})),
      paused_(metrics().gauge("hookonce_destination_paused", "1 while a destination is paused, else 0",
                              {{"destination", destination}})),
      waiting_(metrics().gauge("hookonce_destination_waiting", "Deliveries pending or in flight by destination",
                               {{"destination", destination}})),
      openings_(metrics().counter("hookonce_breaker_opened_total", "How often a destination's closed breaker opened",
                                  {{"destination", destination}})) {}

void DestinationCounters::set_breaker(const std::optional<Time>& open_until) {
  const std::int64_t micros =
      open_until ? std::chrono::duration_cast<std::chrono::microseconds>(open_until->time_since_epoch()).count() : 0;
  const bool was_open = open_until_.exchange(micros, std::memory_order_relaxed) != 0;
  if (open_until && !was_open) openings_.add();
  open_.set(open_until ? 1 : 0);
}

std::optional<Time> DestinationCounters::breaker_open_until() const {
  const std::int64_t micros = open_until_.load(std::memory_order_relaxed);
  if (micros == 0) return std::nullopt;
  return Time(std::chrono::duration_cast<Time::duration>(std::chrono::microseconds(micros)));
}

DestinationCounters& destination_counters(const std::string& destination) {
  Registry& all = registry();
  MutexLock lock(all.mutex);
  auto& counters = all.counters[destination];
  if (!counters) counters = std::make_unique<DestinationCounters>(destination);
  return *counters;
}

std::vector<DestinationCounters*> all_destination_counters() {
  Registry& all = registry();
  MutexLock lock(all.mutex);
  std::vector<DestinationCounters*> found;
  found.reserve(all.counters.size());
  for (const auto& [name, counters] : all.counters) found.push_back(counters.get());
  return found;
}

DeliveryCounters& delivery_counters() {
  static DeliveryCounters counters{
      metrics().counter("hookonce_dead_total", "Deliveries that ended as dead"),
      metrics().histogram("hookonce_delivery_seconds", "Time from acceptance to the recorded success of a delivery")};
  return counters;
}

}  // namespace hookonce
