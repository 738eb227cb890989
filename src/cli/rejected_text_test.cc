#include "cli/rejected_text.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {
namespace {

json::array items(std::string_view reason, int count = 1) {
  return {json::object{{"id", "0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"},
                       {"source", "stripe"},
                       {"code", "signature_mismatch"},
                       {"reason", json::string(reason)},
                       {"remote", "203.0.113.7"},
                       {"first_at", "2026-01-02T03:04:05.678Z"},
                       {"last_at", "2026-01-02T03:09:05.112Z"},
                       {"count", count},
                       {"size", 1512}}};
}

TEST(RejectedText, NamesTheSourceOnce) {
  const std::string text = rejected_text(items("source \"stripe\": no configured secret made this signature"), {});
  EXPECT_EQ(text, local_time("2026-01-02T03:04:05.678Z") +
                      "  stripe  signature_mismatch  1.5 KiB  from 203.0.113.7  0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b\n"
                      "    no configured secret made this signature\n");
  EXPECT_NE(rejected_text(items("source \"other\": a reason"), {}).find("source \"other\": a reason"),
            std::string::npos);
}

TEST(RejectedText, FitsTheTerminalWithoutLosingAWord) {
  const std::string reason = "source \"stripe\": the body was changed after signing: the signature fits the same JSON";
  for (const std::size_t columns : {44u, 60u, 80u, 200u}) {
    const std::string text = rejected_text(items(reason, 3), {false, columns});
    std::string words;
    for (const std::string_view line : split(text, '\n')) {
      EXPECT_LE(width_of(line), columns) << line;
      words += " " + std::string(trim(line));
    }
    EXPECT_NE(words.find("the body was changed after signing: the signature fits the same JSON"), std::string::npos);
    EXPECT_NE(words.find("3 times, last " + local_time("2026-01-02T03:09:05.112Z")), std::string::npos);
  }
}

TEST(RejectedText, IsNotWrappedWhereThereIsNoTerminalOrNoRoom) {
  const std::string whole = rejected_text(items(std::string(300, 'x') + " y", 3), {});
  EXPECT_EQ(split(whole, '\n').size(), 3u);
  EXPECT_EQ(rejected_text(items(std::string(300, 'x') + " y", 3), {false, 10}), whole);
}

}  // namespace
}  // namespace hookonce
