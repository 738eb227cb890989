// The bare client of `./x bench stores`. Prints one JSON line of what it wrote.
//
//   hookonce_store_client --postgres postgres://... --inbox SCHEMA --batch 32 --seconds 5
//   hookonce_store_client --redis 6379 --inbox PREFIX --batch 32 --seconds 5
//
// The inbox is one that a gateway made and has left.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "bench/store_writer.h"

namespace hookonce {
namespace {

struct ClientOptions {
  std::string postgres;
  std::int64_t redis = 0;  // its port
  std::string inbox;
  std::int64_t batch = 1;
  std::int64_t seconds = 5;
  std::int64_t warm_up = 0;  // rows written before anything is measured
  std::int64_t duplicate_every = 100;
};

Status read_options(int argc, char** argv, ClientOptions& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return invalid("no value behind " + std::string(name));
    const std::string value = argv[i + 1];
    const auto number = parse_digits(value);
    if (name == "--postgres") {
      options.postgres = value;
    } else if (name == "--inbox") {
      options.inbox = value;
    } else if (!number) {
      return invalid("unknown option, or no number: " + std::string(name) + " " + value);
    } else if (name == "--redis") {
      options.redis = *number;
    } else if (name == "--batch") {
      options.batch = *number;
    } else if (name == "--seconds") {
      options.seconds = *number;
    } else if (name == "--warm-up") {
      options.warm_up = *number;
    } else if (name == "--duplicate-every") {
      options.duplicate_every = *number;
    } else {
      return invalid("unknown option: " + std::string(name));
    }
  }
  if (options.postgres.empty() == (options.redis == 0) || options.inbox.empty() || options.batch == 0) {
    return invalid("either --postgres or --redis, --inbox and at least one row a batch are needed");
  }
  return {};
}

class ClientRun {
 public:
  ClientRun(const ClientOptions& options, StoreWriter& writer) : options_(options), writer_(writer) {}

  Status run() {
    while (position_ < options_.warm_up) HK_TRY(write_batch());
    written_ = accepted_ = batches_ = 0;
    const Duration cpu_before = process_cpu_time(), begun = steady_now();
    const Duration stop_at = begun + std::chrono::seconds(options_.seconds);
    while (steady_now() < stop_at) HK_TRY(write_batch());
    took_ = steady_now() - begun;
    cpu_ = process_cpu_time() - cpu_before;
    return {};
  }

  std::string report() const {
    json::object out;
    out["ok"] = written_;
    out["accepted"] = accepted_;
    out["duplicates"] = written_ - accepted_;
    out["batches"] = batches_;
    out["seconds"] = static_cast<double>(took_.count()) / 1e6;
    out["cpu_seconds"] = static_cast<double>(cpu_.count()) / 1e6;
    return to_json(out);
  }

 private:
  Status write_batch() {
    const Time now = system_clock().now();
    batch_.clear();
    for (std::int64_t i = 0; i < options_.batch; ++i) batch_.push_back(rows_.make(next_number(), now));
    HK_ASSIGN(const std::int64_t accepted, writer_.write(batch_, now));
    written_ += options_.batch;
    accepted_ += accepted;
    ++batches_;
    return {};
  }

  // As the load generator counts (bench/load_run.cc).
  std::uint64_t next_number() {
    const std::int64_t every = options_.duplicate_every, position = position_++;
    const bool repeats = every > 0 && position >= every && position % every == every - 1;
    return static_cast<std::uint64_t>(repeats ? position - every + 1 : position);
  }

  const ClientOptions& options_;
  StoreWriter& writer_;
  StoreRows rows_;
  std::vector<StoreRow> batch_;
  std::int64_t position_ = 0;
  std::int64_t written_ = 0, accepted_ = 0, batches_ = 0;
  Duration took_{}, cpu_{};
};

int run_client(int argc, char** argv) {
  ClientOptions options;
  Status status = read_options(argc, argv, options);
  if (!status.ok()) {
    std::fprintf(stderr, "hookonce_store_client: %s\n", status.message().c_str());
    return 2;
  }
  auto writer = options.postgres.empty() ? open_redis_writer(static_cast<std::uint16_t>(options.redis), options.inbox)
                                         : open_postgres_writer(options.postgres, options.inbox);
  status = writer.status();
  if (status.ok()) {
    ClientRun run(options, **writer);
    status = run.run();
    if (status.ok()) std::printf("%s\n", run.report().c_str());
  }
  if (!status.ok()) std::fprintf(stderr, "hookonce_store_client: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace hookonce

int main(int argc, char** argv) {
  return hookonce::run_client(argc, argv);
}
