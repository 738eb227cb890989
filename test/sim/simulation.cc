#include "test/sim/simulation.h"

#include <algorithm>
#include <array>

#include "store/memory_store.h"
#include "test/sim/fault_store.h"
#include "test/sim/process.h"
#include "test/sim/provider_side.h"
#include "test/sim/world.h"

namespace hookonce::sim {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Everything that may still be waited for in a healed world: a Retry-After, a backoff, a lease, and the queues behind
// small concurrencies and rates.
constexpr Duration kHealsWithin = minutes(30);
constexpr int kHealingRoundsMax = 20000;
// Near a lease's length, so that whoever took its own clock for the store's would be caught.
constexpr Duration kSkewMax = seconds(20);
constexpr int kPruneRows = 500;

// A machine: its clocks, its way to the store, and the process that runs on it, if one does.
struct Instance {
  Instance(World& world, int n) : number(n), store(*world.store, world.clock) {}
  const int number;
  Clocks clocks;
  FaultStore store;
  std::unique_ptr<Process> process;
  std::optional<Time> stalled_until;
};

class Simulation {
 public:
  explicit Simulation(const Options& options);
  Outcome run();

 private:
  void step();
  void act(int draw);
  void send(std::vector<Request> requests);
  void work(Instance& instance);
  void take_answers(Instance& instance);
  void pass_time();
  void start(Instance& instance);
  void kill(Instance& instance);
  void kill_all();
  void drain(Instance& instance);
  void arm_fault(Instance& instance);
  void replay(Instance& instance);
  void reload(Instance& instance);
  void prune(Instance& instance);
  void pause(Instance& instance);
  void step_wall(Instance& instance);

  void rest();
  void heal();
  void mend();
  void settle_down(bool retries);
  void do_all_work();
  bool quiet() const;
  std::optional<Time> next_moment(bool retries);

  Instance& any() { return *instances_[world_.random.below(instances_.size())]; }
  std::vector<std::string> all_destinations() const {
    std::vector<std::string> names;
    for (const auto& [name, destination] : world_.plan.config->destinations) names.push_back(name);
    return names;
  }

  const Options options_;
  World world_;
  ProviderSide provider_;
  std::vector<std::unique_ptr<Instance>> instances_;
  int step_ = 0;
};

Simulation::Simulation(const Options& options)
    : options_(options), world_(options.seed, options.canary, options.keep_trace), provider_(world_) {
  world_.store = std::make_unique<AuditedStore>(
      with_canary(options.canary, options.open ? options.open() : make_memory_store()), world_.auditor);
  for (int i = 0; i < world_.plan.instances; ++i) {
    instances_.push_back(std::make_unique<Instance>(world_, i));
    if (world_.plan.own_clocks) instances_.back()->clocks.skew = world_.random.between(-kSkewMax, kSkewMax);
    start(*instances_.back());
  }
}

Outcome Simulation::run() {
  for (step_ = 1; step_ <= world_.plan.steps && !world_.auditor.failed(); ++step_) {
    step();
    if (step_ == options_.die_at) kill_all();
  }
  if (!world_.auditor.failed()) heal();
  Outcome outcome;
  outcome.violation = world_.auditor.violation();
  outcome.step = step_;
  outcome.hash = world_.trace.hash();
  outcome.trace = world_.trace.lines();
  outcome.events = world_.auditor.events().size();
  return outcome;
}

void Simulation::step() {
  act(world_.random.between(1, 100));
  world_.auditor.compare(world_.store->truth());
}

void Simulation::act(int draw) {
  if (draw <= 14) return send(provider_.traffic());
  if (draw <= 14 + world_.plan.storm) return arm_fault(any());
  if (draw <= 66) return work(any());
  if (draw <= 81) return pass_time();
  if (draw <= 84) return kill(any());
  if (draw <= 88) return start(any());
  if (draw <= 91) return arm_fault(any());
  if (draw <= 93) return drain(any());
  if (draw <= 95) return replay(any());
  if (draw <= 97) return reload(any());
  if (draw <= 98) return world_.random.percent(50) ? prune(any()) : pause(any());
  if (draw <= 99) return step_wall(any());
  if (world_.random.percent(50)) return rest();
  Instance& instance = any();
  instance.stalled_until = world_.now() + world_.random.between(Duration(seconds(1)), minutes(2));
  world_.trace.add("i{} stands still", instance.number);
}

void Simulation::send(std::vector<Request> requests) {
  for (Request& request : requests) {
    Instance& instance = any();
    world_.trace.add("request {} {} of source {} to i{}{}", request.number, request.key, request.source,
                     instance.number, request.forged ? ", forged" : "");
    if (instance.process) instance.process->receive(std::move(request));
  }
}

// A few steps in a row, so that things get done; which ones is chance.
void Simulation::work(Instance& instance) {
  if (!instance.process) return;
  if (instance.stalled_until && world_.now() < *instance.stalled_until) return;
  for (int i = world_.random.between(1, 4); i > 0 && !world_.auditor.failed(); --i) {
    instance.process->work(static_cast<Process::Work>(world_.random.below(Process::kWorks)));
    take_answers(instance);
  }
  if (instance.process->has_drained()) kill(instance);
}

void Simulation::take_answers(Instance& instance) {
  for (const Answer& answer : instance.process->take_answers()) {
    const SourcePlan& source = world_.plan.sources[static_cast<std::size_t>(answer.request.source)];
    world_.trace.add("i{} answers request {}: {}", instance.number, answer.request.number, answer.status);
    if (answer.status == 200)
      world_.auditor.acknowledged(source.name, answer.request.body, answer.id, world_.store->truth());
    if (world_.healed || world_.random.percent(85)) provider_.hear(answer);
  }
}

void Simulation::pass_time() {
  Prng& random = world_.random;
  const int draw = random.between(1, 100);
  Duration by = random.between(Duration(milliseconds(1)), milliseconds(500));
  if (draw > 45) by = random.between(Duration(milliseconds(500)), seconds(5));
  if (draw > 80) by = random.between(Duration(seconds(5)), minutes(1));
  if (draw > 95) by = random.between(Duration(minutes(1)), minutes(30));
  world_.clock.advance(by);
  world_.trace.add("{} us pass", by.count());
}

void Simulation::start(Instance& instance) {
  if (instance.process) return;
  // A gateway opens its store before it starts, so that an old fault is over.
  instance.store.mend();
  instance.stalled_until.reset();
  instance.process = std::make_unique<Process>(world_, instance.store, instance.clocks, instance.number);
  world_.trace.add("i{} starts", instance.number);
}

void Simulation::kill(Instance& instance) {
  if (!instance.process) return;
  instance.process.reset();
  world_.trace.add("i{} ends", instance.number);
}

void Simulation::kill_all() {
  for (const auto& instance : instances_) kill(*instance);
  if (!options_.open) return;
  world_.store->reopen(options_.open, world_.now());
  world_.trace.add("the store is opened again");
}

void Simulation::drain(Instance& instance) {
  if (!instance.process || instance.process->is_draining()) return;
  instance.process->drain(world_.random.between(Duration(seconds(0)), seconds(25)));
  world_.trace.add("i{} drains", instance.number);
}

void Simulation::arm_fault(Instance& instance) {
  // Sometimes all of them die together instead: the whole store's machine did.
  if (options_.open && world_.random.percent(20)) return kill_all();
  Fault fault;
  fault.kind = static_cast<Fault::Kind>(world_.random.below(4));
  fault.call = world_.random.between(1, 4);
  fault.recovers = world_.random.between(0, 2);
  fault.reads = world_.random.percent(50);
  instance.store.arm(fault);
  world_.trace.add("i{} will meet fault {} at call {}", instance.number, static_cast<int>(fault.kind), fault.call);
}

void Simulation::replay(Instance& instance) {
  const std::vector<EventId>& events = world_.auditor.events();
  if (!instance.process || events.empty()) return;
  ReplayRequest request;
  request.ids = {events[world_.random.below(events.size())]};
  request.dead_only = world_.random.percent(30);
  request.new_key = world_.random.percent(30);
  instance.process->replay(request);
}

// Destinations leave one instance's configuration, and return with its next one: a rolling deploy.
void Simulation::reload(Instance& instance) {
  if (!instance.process) return;
  auto config = std::make_shared<Config>(*world_.plan.config);
  const std::vector<std::string> names = all_destinations();
  if (world_.random.percent(50)) config->destinations.erase(names[world_.random.below(names.size())]);
  world_.trace.add("i{} knows {} destinations", instance.number, config->destinations.size());
  instance.process->configure(std::move(config));
}

void Simulation::prune(Instance& instance) {
  PruneRequest request;
  request.events_before = world_.now() - world_.plan.retention;
  request.events_before_of[world_.plan.sources.front().name] = world_.now() - world_.plan.retention / 2;
  request.keys_now = world_.now();
  request.limit = world_.random.percent(20) ? 1 : kPruneRows;
  const auto removed = instance.store.prune(request);
  world_.trace.add("i{} prunes {}", instance.number, removed.ok() ? removed.value() : -1);
}

void Simulation::pause(Instance& instance) {
  const std::vector<std::string> names = all_destinations();
  const std::string& name = names[world_.random.below(names.size())];
  const bool paused = world_.random.percent(50);
  if (instance.process) instance.process->set_paused(name, paused);
}

void Simulation::step_wall(Instance& instance) {
  instance.clocks.wall = world_.random.percent(50) ? Duration::zero() : world_.random.between(-hours(3), hours(3));
  world_.trace.add("i{} wall clock steps", instance.number);
}

// All goes well for a while, and whatever the last thing before it was, its deliveries must end.
void Simulation::rest() {
  for (int i = world_.random.between(0, 3); i > 0; --i) {
    Instance& instance = any();
    arm_fault(instance);
    send(provider_.traffic());
    work(instance);
  }
  mend();
  settle_down(false);
  world_.healed = false;
  world_.trace.add("the rest is over");
}

// Every event must be acknowledged, every delivery end, and all of it soon.
void Simulation::heal() {
  mend();
  // First in silence: what is stored ends without anybody's asking again. Then the provider retries what it must.
  settle_down(false);
  settle_down(true);
  if (!world_.auditor.failed()) world_.auditor.finish(world_.store->truth());
}

// Nothing fails any more.
void Simulation::mend() {
  world_.healed = true;
  world_.trace.add("the world heals");
  for (const auto& instance : instances_) {
    instance->clocks.wall = Duration::zero();
    instance->store.mend();
    instance->stalled_until.reset();
    if (instance->process && instance->process->is_draining()) kill(*instance);
    // Not a word to those who know every destination: they must find what is left by themselves.
    if (instance->process && instance->process->destinations() < all_destinations().size())
      instance->process->configure(world_.plan.config);
    start(*instance);
  }
  const auto stats = world_.store->truth().stats(world_.now());
  for (const std::string& name : stats.ok() ? stats.value().paused : std::vector<std::string>()) {
    instances_[0]->process->set_paused(name, false);  // the others find out by looking
  }
}

void Simulation::settle_down(bool retries) {
  const Time end = world_.now() + kHealsWithin;
  for (int round = 0; round < kHealingRoundsMax && !world_.auditor.failed(); ++round) {
    if (retries) send(provider_.retries());
    do_all_work();
    world_.auditor.compare(world_.store->truth());
    const bool content = !retries || provider_.content();
    if (content && world_.auditor.all_ended() && quiet()) return;
    const std::optional<Time> next = next_moment(retries);
    if (!next || *next > end) break;
    if (*next > world_.now()) world_.clock.advance(*next - world_.now());
  }
  if (retries && !provider_.content())
    return world_.auditor.fail("the world has healed, and an event is not acknowledged");
  world_.auditor.fail("the world has healed, and at {} these do not end: {}", to_rfc3339(world_.now()),
                      world_.auditor.open_deliveries());
}

void Simulation::do_all_work() {
  constexpr std::array kOrder = {Process::Work::kEnd, Process::Work::kCommit, Process::Work::kAnswer,
                                 Process::Work::kTick, Process::Work::kStart};
  for (const auto& instance : instances_) {
    bool busy = true;
    // Bounded by what is waiting: nothing new comes in here, and time stands still.
    while (busy && !world_.auditor.failed()) {
      busy = false;
      for (const Process::Work work : kOrder) busy = instance->process->work(work) || busy;
      take_answers(*instance);
    }
  }
}

bool Simulation::quiet() const {
  return std::none_of(instances_.begin(), instances_.end(), [&](const auto& instance) {
    const std::optional<Time> wake = instance->process->wake_at();
    return wake && *wake <= world_.now();
  });
}

std::optional<Time> Simulation::next_moment(bool retries) {
  std::optional<Time> next;
  const auto take = [&](Time time) {
    next = std::min(next.value_or(time), std::max(time, world_.now() + milliseconds(1)));
  };
  for (const auto& instance : instances_) {
    if (const std::optional<Time> wake = instance->process->wake_at()) take(*wake);
  }
  if (retries && !provider_.content()) take(provider_.next_retry());
  if (instances_.size() < 2) return next;
  // Those who poll would look in vain until something is due.
  const auto due = world_.store->truth().next_due(all_destinations(), world_.now());
  if (due.ok() && due.value()) take(std::max(*due.value(), world_.now()) + Process::kIdlePoll);
  return next;
}

}  // namespace

Outcome simulate(const Options& options) {
  return Simulation(options).run();
}

}  // namespace hookonce::sim
