#include "test/sim/plan.h"

#include "test/support/destination_builder.h"

namespace hookonce::sim {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

DestinationConfig make_destination(Prng& random, const std::string& name) {
  DestinationConfig destination = destination_config(name);
  destination.timeout = seconds(5);
  destination.lease = destination.timeout + random.between(Duration(seconds(5)), seconds(30));
  destination.concurrency = random.between(1, 4);
  if (random.percent(25)) destination.rate = random.between(1, 5);
  destination.retry.first = seconds(1);
  destination.retry.max = minutes(2);
  destination.retry.jitter = 0.2;
  destination.retry.attempts = random.between(2, 6);
  destination.retry.give_up = random.between(Duration(minutes(5)), minutes(60));
  // Quick to open, so that the few attempts of a plan meet it.
  destination.breaker.enabled = random.percent(70);
  destination.breaker.failure_rate = 0.5;
  destination.breaker.attempts = random.between(2, 6);
  destination.breaker.after = random.between(Duration(seconds(0)), seconds(5));
  destination.breaker.open_max = seconds(20);
  return destination;
}

}  // namespace

Plan make_plan(Prng& random) {
  Plan plan;
  plan.instances = random.between(1, 3);
  plan.own_clocks = plan.instances > 1 && random.percent(40);
  plan.retention = random.between(Duration(minutes(2)), minutes(30));
  plan.steps = random.between(200, 400);
  if (random.percent(40)) plan.storm = 10;
  std::vector<DestinationConfig> destinations;
  const int count = random.between(1, 3);
  for (int i = 0; i < count; ++i) destinations.push_back(make_destination(random, "backend" + std::to_string(i)));
  const int sources = random.between(1, 2);
  for (int i = 0; i < sources; ++i) {
    SourcePlan source;
    source.name = "shop" + std::to_string(i);
    for (const DestinationConfig& destination : destinations) {
      if (source.destinations.empty() || random.percent(50)) source.destinations.push_back(destination.name);
    }
    source.window = random.between(Duration(minutes(5)), minutes(60));
    source.rearm = random.percent(80);
    plan.sources.push_back(std::move(source));
  }
  plan.config = config_of(std::move(destinations));
  return plan;
}

}  // namespace hookonce::sim
