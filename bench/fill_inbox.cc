// Fills an empty inbox for `./x bench lists`, with whole records as `hookonce store copy` writes them: what a gateway
// would have left there after many days, in a minute. Prints one JSON line.
//
//   hookonce_fill_inbox --store sqlite:inbox.db --events 1000000 --pending 200000
//
// Five sources with four types each; every ten-thousandth event is of a rare type, every tenth body has a frequent
// word, two have a rare one. Of the pending ones half are the oldest (a destination that has been down for long) and
// half the newest; of the others one in a hundred is dead. A delivery that has ended has one attempt.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/json.h"
#include "core/dedup.h"
#include "store/inbox_records.h"
#include "store/open.h"

namespace hookonce {
namespace {

constexpr std::int64_t kRareTypeEvery = 10'000;
constexpr std::int64_t kDeadEvery = 100;
constexpr std::int64_t kFrequentWordEvery = 10;
constexpr std::size_t kBodyBytes = 1000;
constexpr Duration kBetweenEvents = std::chrono::milliseconds(500);
constexpr Duration kKeysKept = std::chrono::hours(24 * 30);

const std::vector<std::string> kSources = {"stripe", "github", "shop", "slack", "crm"};
const std::vector<std::string> kTypes = {"invoice.paid", "customer.updated", "order.created", "ticket.closed"};

struct FillOptions {
  std::string store;
  std::int64_t events = 0;
  std::int64_t pending = 0;
};

Status read_options(int argc, char** argv, FillOptions& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return invalid("no value behind " + std::string(name));
    const std::string value = argv[i + 1];
    const auto number = parse_digits(value);
    if (name == "--store") {
      options.store = value;
    } else if (name == "--events" && number) {
      options.events = *number;
    } else if (name == "--pending" && number) {
      options.pending = *number;
    } else {
      return invalid("unknown option, or no number: " + std::string(name) + " " + value);
    }
  }
  if (options.store.empty() || options.events < 2 || options.pending > options.events) {
    return invalid("--store, at least two --events and no more --pending than those are needed");
  }
  return {};
}

class Filler {
 public:
  Filler(const FillOptions& options, Time now) : options_(options), begun_(now - options.events * kBetweenEvents) {}

  InboxRecord record(std::int64_t number) const {
    const std::string& source = kSources[static_cast<std::size_t>(number) % kSources.size()];
    const std::string key = fmt::format("evt_{:09}", number);
    InboxRecord record;
    record.position = number + 1;
    record.received_at = begun_ + number * kBetweenEvents;
    record.id = EventId::make(record.received_at);
    record.source = source;
    record.keys_until = record.received_at + kKeysKept;
    RecordedContent content;
    content.type = type(number);
    content.key = key;
    content.headers.add("Content-Type", "application/json");
    content.body = body(number, key, content.type);
    record.body_hash = body_hash(content.body);
    record.keys = {{key_hash("", {key}), true}};
    StoredArrival first;
    first.arrival.at = record.received_at;
    first.arrival.remote = "203.0.113.7";
    first.arrival.body_hash = record.body_hash;
    content.arrivals = {first};
    content.deliveries = {delivery(number, record.received_at)};
    record.content = std::move(content);
    return record;
  }

 private:
  bool is_pending(std::int64_t number) const {
    return number < options_.pending / 2 || number >= options_.events - (options_.pending - options_.pending / 2);
  }

  std::string type(std::int64_t number) const {
    if (number % kRareTypeEvery == kRareTypeEvery / 2) return "account.closed";
    return kTypes[static_cast<std::size_t>(number / 7) % kTypes.size()];
  }

  std::string body(std::int64_t number, const std::string& key, const std::string& type) const {
    const bool rare = number == options_.events / 3 || number == options_.events / 2;
    std::string text =
        fmt::format(R"({{"id":"{}","type":"{}","note":"{}{}","lines":")", key, type,
                    number % kFrequentWordEvery == 0 ? "express" : "standard", rare ? " needle-in-the-stack" : "");
    while (text.size() < kBodyBytes) text += fmt::format("item {} of {}, ", text.size(), number);
    return text + "\"}";
  }

  RecordedDelivery delivery(std::int64_t number, Time at) const {
    RecordedDelivery delivery;
    delivery.destination = number % 3 == 0 ? "archive" : "backend";
    delivery.record = new_delivery(at);
    if (is_pending(number)) return delivery;
    const bool dead = number % kDeadEvery == kDeadEvery / 2;
    DeliveryRecord& record = delivery.record;
    record.state = dead ? DeliveryState::kDead : DeliveryState::kDelivered;
    record.attempt = record.counted = 1;
    record.claimed_at = record.ended_at = at + std::chrono::milliseconds(20);
    if (!dead) record.delivered_at = record.ended_at;
    Attempt attempt;
    attempt.number = 1;
    attempt.started_at = at;
    attempt.duration = std::chrono::milliseconds(20);
    attempt.outcome = dead ? Outcome::kFailed : Outcome::kSuccess;
    attempt.status = dead ? 500 : 200;
    if (dead) attempt.error = "HTTP 500";
    delivery.attempts = {attempt};
    return delivery;
  }

  const FillOptions options_;
  const Time begun_;
};

Status fill(const FillOptions& options) {
  const Time now = system_clock().now();
  HK_ASSIGN(const auto store, open_store(options.store, now, OpenFor::kCopyingInto));
  InboxRecords* const records = store->records();
  if (records == nullptr) return invalid("such a store takes no records");
  const Filler filler(options, now);
  std::vector<InboxRecord> batch;
  for (std::int64_t number = 0; number < options.events; ++number) {
    batch.push_back(filler.record(number));
    if (batch.size() < kCopiedRecords && number + 1 < options.events) continue;
    HK_TRY(records->write(batch, CopyMark{"bench", batch.back().position, batch.back().id, number + 1}));
    batch.clear();
  }
  return records->remove_mark();
}

int run_fill(int argc, char** argv) {
  FillOptions options;
  Status status = read_options(argc, argv, options);
  const Duration begun = steady_now();
  if (status.ok()) status = fill(options);
  if (!status.ok()) {
    std::fprintf(stderr, "hookonce_fill_inbox: %s\n", status.message().c_str());
    return status.code() == Code::kInvalid ? 2 : 1;
  }
  const double seconds = std::chrono::duration<double>(steady_now() - begun).count();
  std::printf("%s\n", to_json(json::object{{"events", options.events}, {"seconds", seconds}}).c_str());
  return 0;
}

}  // namespace
}  // namespace hookonce

int main(int argc, char** argv) {
  return hookonce::run_fill(argc, argv);
}
