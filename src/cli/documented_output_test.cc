// The samples of docs/cli.md are what the commands print.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/fact_text.h"
#include "cli/status_text.h"

namespace hookonce {
namespace {

// What stands below `$ command` in the documentation, up to the end of the block.
std::string documented(const std::string& command) {
  std::ifstream file(std::string(HOOKONCE_SOURCE_DIR) + "/docs/cli.md");
  std::string line;
  while (std::getline(file, line) && line != "$ " + command) continue;
  std::string text;
  while (std::getline(file, line) && line.rfind("```", 0) != 0) text += line + "\n";
  return text;
}

json::value parsed(std::string_view text) {
  const auto value = parse_json(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : json::value();
}

TEST(DocumentedOutput, Status) {
  const json::object stats =
      parsed(
          R"({"now":"2026-01-02T03:04:05.678Z","draining":false,"events":12418,"deliveries":{"pending":2,"in_flight":1,
        "dead":3,"orphaned":0,"oldest_pending_at":"2026-01-02T03:04:01.678Z","delivered":12411},"paused":["billing"],
        "store":{"ready":true,"why":null,"log_bytes":1048576,"weaknesses":[]}})")
          .as_object();
  const json::array sources =
      parsed(R"([{"name":"stripe","counts":{"accepted":12418,"duplicates":1204,"rearmed":0,"rejected":20,
        "accepted_last_minute":31,"duplicates_last_minute":4,"causes":{"provider_retry":361,"concurrent_twin":735,
        "manual_resend":108,"replayed_request":0}}}])")
          .as_array();
  const json::array destinations = parsed(R"([
    {"name":"backend","orphaned":false,"waiting":1,"paused":false,"delivered":12411,"failed":31,
     "delivered_last_minute":30,"breaker":{"state":"closed","open_until":null}},
    {"name":"billing","orphaned":false,"waiting":2,"paused":true,"delivered":0,"failed":0,"delivered_last_minute":0,
     "breaker":{"state":"closed","open_until":null}}])")
                                       .as_array();
  EXPECT_EQ(status_text(stats, sources, destinations, false), documented("hookonce status"));
}

TEST(DocumentedOutput, Tail) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  constexpr std::string_view kEvent =
      R"("event":"0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b","source":"stripe","type":"invoice.paid",)";
  const auto fact = [&](std::string_view name, std::string_view at, std::string_view rest) {
    const std::string data =
        R"({"at":"2026-01-02T22:28:)" + std::string(at) + R"(Z",)" + std::string(kEvent) + std::string(rest) + "}";
    return fact_text(name, parsed(data), false) + "\n";
  };
  constexpr std::string_view kKey = R"("key":"evt_1LP4n0BB5Q5Dr2x7",)";
  const std::string attempt = R"("key":null,"destination":"backend","attempt":1,"status":200,"ms":12,"error":null)";
  EXPECT_EQ(fact("accepted", "53.677", std::string(kKey) + R"("verdict":"accepted")") +
                fact("duplicate", "53.682",
                     std::string(kKey) +
                         R"("verdict":"duplicate","cause":"concurrent_twin","since_first_ms":5,"same_body":true)") +
                fact("attempt", "53.691", attempt + R"(,"outcome":"success","late":false)") +
                fact("delivered", "53.691", attempt),
            documented("hookonce tail --source stripe"));
}

}  // namespace
}  // namespace hookonce
