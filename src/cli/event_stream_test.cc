#include "cli/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace hookonce {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> read(std::string_view text, std::size_t piece) {
  std::vector<std::string> events;
  EventStreamReader reader([&](std::string_view name, std::string_view data) {
    events.push_back(std::string(name) + "|" + std::string(data));
  });
  for (std::size_t i = 0; i < text.size(); i += piece) reader.take(text.substr(i, piece));
  return events;
}

TEST(EventStreamReader, ReadsEventsHoweverTheyAreCut) {
  constexpr std::string_view kText =
      "retry: 2000\n\n: a comment\n\nevent: accepted\ndata: {\"a\":1}\n\ndata:one\ndata: two\nid: 7\r\n\r\n"
      "event:named\rdata\r\revent: without data\n\ndata: never ended";
  for (std::size_t piece = 1; piece <= kText.size(); ++piece) {
    EXPECT_THAT(read(kText, piece), ElementsAre("accepted|{\"a\":1}", "message|one\ntwo", "named|")) << piece;
  }
}

}  // namespace
}  // namespace hookonce
