// ./x sim: runs seeds on every core until one of them breaks a rule.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "test/sim/simulation.h"

namespace hookonce::sim {

namespace {

constexpr std::uint64_t kSeeds = 20000;
constexpr std::uint64_t kCanarySeeds = 1000;  // a broken rule that takes longer to be seen is not watched well
constexpr std::size_t kTraceShown = 60;       // lines before the violation

struct Arguments {
  std::optional<std::uint64_t> seed;  // only this one, with its trace
  std::uint64_t from = 1;
  std::optional<std::uint64_t> seeds;
  Canary canary = Canary::kNone;
};

constexpr std::string_view kUsage =
    "usage: simulation [--seed N] [--seeds N] [--from N] [--canary NAME|all|list]\n"
    "  --seed N       this seed alone, with the end of its trace\n"
    "  --seeds N      so many seeds (20000; with a canary 1000)\n"
    "  --from N       the first of them (1)\n"
    "  --canary NAME  break one rule: 0 when the auditor finds it; all: each in turn; list: their names\n";

std::optional<std::uint64_t> parse_number(const char* text) {
  std::uint64_t number = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

// The lowest seed of the range that breaks a rule.
std::optional<std::uint64_t> first_failing(const Arguments& arguments, std::uint64_t seeds) {
  const bool progress = ::isatty(1) == 1;
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failing{seeds};
  const auto work = [&] {
    for (std::uint64_t i = next++; i < failing; i = next++) {
      Options options;
      options.seed = arguments.from + i;
      options.canary = arguments.canary;
      if (simulate(options).violation) {
        std::uint64_t known = failing;
        while (i < known && !failing.compare_exchange_weak(known, i)) continue;
      }
      const std::uint64_t count = ++done;
      if (progress && count % 100 == 0) fmt::print("\r  {} of {} seeds", count, seeds), std::fflush(stdout);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (progress) fmt::print("\r\033[K");
  return failing < seeds ? std::optional(arguments.from + failing) : std::nullopt;
}

// Prints what the seed does; whether it broke a rule.
bool show(std::uint64_t seed, Canary canary) {
  Options options;
  options.seed = seed;
  options.canary = canary;
  options.keep_trace = true;
  const Outcome outcome = simulate(options);
  const std::size_t skipped = outcome.trace.size() - std::min(outcome.trace.size(), kTraceShown);
  if (skipped > 0) fmt::print("  ... {} lines before\n", skipped);
  for (std::size_t i = skipped; i < outcome.trace.size(); ++i) fmt::print("  {}\n", outcome.trace[i]);
  fmt::print("seed {}: {} events, {} steps, trace {:016x}\n", seed, outcome.events, outcome.step, outcome.hash);
  if (!outcome.violation) return false;
  fmt::print("violation: {}\n", *outcome.violation);
  const bool broken = canary != Canary::kNone;
  fmt::print("repeat with: ./x sim --seed {}{}{}\n", seed, broken ? " --canary " : "", broken ? to_string(canary) : "");
  return true;
}

// 0: every canary was caught.
int run_canaries(Arguments arguments) {
  int missed = 0;
  for (const CanaryName& canary : canaries()) {
    arguments.canary = canary.canary;
    const auto seed = first_failing(arguments, arguments.seeds.value_or(kCanarySeeds));
    if (seed) {
      Options options;
      options.seed = *seed;
      options.canary = canary.canary;
      fmt::print("  {:<24} seed {:<5} {}\n", canary.name, *seed, simulate(options).violation.value_or(""));
    } else {
      fmt::print("  {:<24} NOT FOUND\n", canary.name);
      ++missed;
    }
  }
  return missed == 0 ? 0 : 1;
}

int run(const Arguments& arguments) {
  const bool broken = arguments.canary != Canary::kNone;
  if (arguments.seed) return show(*arguments.seed, arguments.canary) == broken ? 0 : 1;
  const std::uint64_t seeds = arguments.seeds.value_or(broken ? kCanarySeeds : kSeeds);
  const auto began = std::chrono::steady_clock::now();
  const auto failing = first_failing(arguments, seeds);
  if (failing) {
    show(*failing, arguments.canary);
    return broken ? 0 : 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("{} seeds from {}: no rule was broken ({:.1f} s)\n", seeds, arguments.from, took.count());
  return broken ? 1 : 0;
}

}  // namespace

int main_of(int argc, char** argv) {
  Arguments arguments;
  bool all = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const char* value = i + 1 < argc ? argv[++i] : "";
    const auto number = parse_number(value);
    if (name == "--canary" && std::string_view(value) == "list") {
      for (const CanaryName& canary : canaries()) fmt::print("{}\n", canary.name);
      return 0;
    }
    if (name == "--canary" && std::string_view(value) == "all") {
      all = true;
    } else if (name == "--canary" && parse_canary(value)) {
      arguments.canary = *parse_canary(value);
    } else if (name == "--seed" && number) {
      arguments.seed = *number;
    } else if (name == "--seeds" && number) {
      arguments.seeds = *number;
    } else if (name == "--from" && number) {
      arguments.from = *number;
    } else {
      fmt::print(stderr, "{}", kUsage);
      return name == "--help" ? 0 : 2;
    }
  }
  return all ? run_canaries(arguments) : run(arguments);
}

}  // namespace hookonce::sim

int main(int argc, char** argv) {
  return hookonce::sim::main_of(argc, argv);
}
