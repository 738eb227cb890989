// The simulation itself under test: clean where nothing is broken, and never clean where something is.
//
// Its fault model is in simulation.h. `./x sim` runs many more seeds.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "store/open.h"
#include "test/sim/simulation.h"
#include "test/support/temp_folder.h"

namespace hookonce::sim {

// For GoogleTest, which would print bytes.
void PrintTo(const CanaryName& canary, std::ostream* out) {
  *out << canary.name;
}

namespace {

constexpr std::uint64_t kSeeds = 300;
constexpr std::uint64_t kCanarySeeds = 1000;

TEST(Simulation, NoRuleIsBrokenInManySeeds) {
  std::size_t events = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Options options;
    options.seed = seed;
    const Outcome outcome = simulate(options);
    ASSERT_FALSE(outcome.violation) << "seed " << seed << ": " << *outcome.violation;
    events += outcome.events;
  }
  EXPECT_GT(events, kSeeds) << "next to nothing happens";
}

TEST(Simulation, ASeedRepeatedGivesTheSameTrace) {
  Options options;
  options.seed = 42;
  options.keep_trace = true;
  const Outcome first = simulate(options);
  const Outcome second = simulate(options);
  EXPECT_EQ(first.trace, second.trace);
  EXPECT_EQ(first.hash, second.hash);
  options.seed = 43;
  EXPECT_NE(simulate(options).hash, first.hash);
}

TEST(Simulation, EveryGatewayMayDieBehindAnyStep) {
  for (int step = 1; step <= 200; ++step) {
    Options options;
    options.seed = 7;
    options.die_at = step;
    const Outcome outcome = simulate(options);
    ASSERT_FALSE(outcome.violation) << "seed 7, death behind step " << step << ": " << *outcome.violation;
  }
}

// The file is closed and opened again whenever all processes die.
TEST(Simulation, TheEmbeddedStoreKeepsTheRulesToo) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const TempFolder folder;
    Options options;
    options.seed = seed;
    options.die_at = 100;
    options.open = [&] {
      auto store = open_store("sqlite:" + folder.file("inbox.db"), Time(std::chrono::seconds(1790000000)));
      HK_CHECK(store.ok());
      return *std::move(store);
    };
    const Outcome outcome = simulate(options);
    ASSERT_FALSE(outcome.violation) << "seed " << seed << ": " << *outcome.violation;
  }
}

class CanaryTest : public testing::TestWithParam<CanaryName> {};

TEST_P(CanaryTest, IsFoundAndItsSeedFindsItAgain) {
  Options options;
  options.canary = GetParam().canary;
  for (options.seed = 1; options.seed <= kCanarySeeds; ++options.seed) {
    const Outcome outcome = simulate(options);
    if (!outcome.violation) continue;
    const Outcome again = simulate(options);
    EXPECT_EQ(again.violation, outcome.violation);
    EXPECT_EQ(again.hash, outcome.hash);
    options.canary = Canary::kNone;
    EXPECT_FALSE(simulate(options).violation) << "seed " << options.seed << " fails without the canary as well";
    return;
  }
  ADD_FAILURE() << "no seed of " << kCanarySeeds << " finds " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Rules, CanaryTest, testing::ValuesIn(canaries()), [](const auto& info) {
  std::string name(info.param.name);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace hookonce::sim
