// The load generator of the benchmarks: signed Stripe events over keep-alive connections. Prints one JSON line of
// what came back.
//
//   hookonce_bench --port 8080 --secret whsec_bench --seconds 5 [--rate 5000]
//
// It runs against anything that answers 200 to a POST, so that a peer is measured with the same requests.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "bench/load_run.h"

namespace hookonce {
namespace {

Status read_options(int argc, char** argv, LoadOptions& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return invalid("no value behind " + std::string(name));
    const std::string value = argv[i + 1];
    const auto number = parse_digits(value);
    if (name == "--host") {
      options.target.host = value;
    } else if (name == "--path") {
      options.target.path = value;
    } else if (name == "--secret") {
      options.target.secret = value;
    } else if (name == "--accepted-file") {
      options.accepted_file = value;
    } else if (name == "--scheme" && (value == "stripe" || value == "body")) {
      options.target.scheme = value == "body" ? LoadScheme::kBodyDigest : LoadScheme::kStripe;
    } else if (!number) {
      return invalid("unknown option, or no number: " + std::string(name) + " " + value);
    } else if (name == "--port") {
      options.target.port = static_cast<std::uint16_t>(*number);
    } else if (name == "--connections") {
      options.connections = *number;
    } else if (name == "--seconds") {
      options.seconds = *number;
    } else if (name == "--events") {
      options.events = *number;
    } else if (name == "--duplicate-every") {
      options.duplicate_every = *number;
    } else if (name == "--rate") {
      options.rate = *number;
    } else if (name == "--stall-ms") {
      options.stall_ms = *number;
    } else {
      return invalid("unknown option: " + std::string(name));
    }
  }
  if (options.target.port == 0 || options.target.secret.empty() || options.connections == 0) {
    return invalid("--port, --secret and at least one connection are needed");
  }
  return {};
}

int run_load(int argc, char** argv) {
  LoadOptions options;
  Status status = read_options(argc, argv, options);
  if (!status.ok()) {
    std::fprintf(stderr, "hookonce_bench: %s\n", status.message().c_str());
    return 2;
  }
  LoadRun load(options);
  status = load.run();
  if (!status.ok()) {
    std::fprintf(stderr, "hookonce_bench: %s\n", status.message().c_str());
    return 1;
  }
  if (!options.accepted_file.empty()) status = load.write_accepted();
  if (!status.ok()) {
    std::fprintf(stderr, "hookonce_bench: %s\n", status.message().c_str());
    return 1;
  }
  std::printf("%s\n", load.report().c_str());
  return 0;
}

}  // namespace
}  // namespace hookonce

int main(int argc, char** argv) {
  return hookonce::run_load(argc, argv);
}
