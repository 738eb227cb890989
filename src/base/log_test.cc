#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "base/log_filter.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

// Each test reads what reached standard error, and leaves the log as it found it.
class Log : public ::testing::Test {
 protected:
  ~Log() override {
    configure_log(LogLevel::kInfo, LogFormat::kText);
    leave_out_of_log({});
  }

  template <typename Write>
  static std::string captured(Write write) {
    ::testing::internal::CaptureStderr();
    write();
    return ::testing::internal::GetCapturedStderr();
  }
  static std::string without_time(const std::string& line) {
    constexpr std::size_t kTimeWidth = 13;  // "22:28:53.677 "
    return line.size() < kTimeWidth ? line : line.substr(kTimeWidth);
  }
};

TEST_F(Log, AReaderThatStandsStillStopsNobodyAndIsToldWhatItMissed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int own = ::dup(STDERR_FILENO);
  ASSERT_EQ(::dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
  ::close(ends[1]);
  constexpr int kLines = 5000;  // many times what a pipe holds
  for (int i = 0; i < kLines; ++i) log_info("told", {{"n", i}, {"text", std::string(100, 'x')}});
  // The reader reads again: all that is there, then what comes.
  std::string read;
  char buffer[65536];
  read.append(buffer, static_cast<std::size_t>(::read(ends[0], buffer, sizeof buffer)));
  log_info("last");
  ::dup2(own, STDERR_FILENO);
  ::close(own);
  for (ssize_t size = 0; (size = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    read.append(buffer, static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  const auto told = static_cast<int>(std::count(read.begin(), read.end(), '\n')) - 2;
  EXPECT_GT(told, 0);
  EXPECT_LT(told, kLines);
  EXPECT_NE(read.find("warn  log.dropped lines=" + std::to_string(kLines - told)), std::string::npos);
  EXPECT_EQ(read.find("last\n"), read.size() - 5);
}

TEST_F(Log, TextLinesHaveTimeLevelFactAndFields) {
  const std::string line = captured([] {
    log_info("accepted", {{"source", "stripe"}, {"attempt", 1}, {"commit_ms", 1.1}, {"same", true}});
  });
  EXPECT_TRUE(std::regex_match(line, std::regex("\\d\\d:\\d\\d:\\d\\d\\.\\d\\d\\d info  accepted   "
                                                "source=stripe attempt=1 commit_ms=1.1 same=true\n")))
      << line;
}

TEST_F(Log, FactsArePaddedOnlyWhereFieldsFollow) {
  EXPECT_EQ(without_time(captured([] { log_warn("draining"); })), "warn  draining\n");
  EXPECT_EQ(without_time(captured([] { log_error("a longer fact", {{"n", 2u}}); })), "error a longer fact n=2\n");
}

TEST_F(Log, AValueThatCouldBeMistakenIsQuotedAndEscaped) {
  const auto written = [](std::string_view value) {
    const std::string line = without_time(captured([&] { log_info("f", {{"v", value}}); }));
    return line.substr(line.find("v="));
  };
  EXPECT_EQ(written("plain/1:2,3"), "v=plain/1:2,3\n");
  EXPECT_EQ(written(""), "v=\"\"\n");
  EXPECT_EQ(written("two words"), "v=\"two words\"\n");
  EXPECT_EQ(written("a=b"), "v=\"a=b\"\n");
  EXPECT_EQ(written("say \"x\""), "v=\"say \\\"x\\\"\"\n");
  EXPECT_EQ(written("a\nb\r\tc"), "v=\"a\\nb\\r\\tc\"\n");
  EXPECT_EQ(written("\x1b[31m\x7f"), "v=\"\\u001b[31m\\u007f\"\n");
  EXPECT_EQ(written("\xC2\x9Bx"), "v=\"\\u009bx\"\n");
  for (const char* turn : {"202a", "202b", "202c", "202d", "202e", "2066", "2067", "2068", "2069"}) {
    const auto point = static_cast<unsigned>(std::stoul(turn, nullptr, 16));
    const std::string utf8 = {'\xE2', static_cast<char>(0x80 | ((point >> 6) & 0x3F)),
                              static_cast<char>(0x80 | (point & 0x3F))};
    EXPECT_EQ(written("a" + utf8 + "b"), std::string("v=\"a\\u") + turn + "b\"\n");
  }
  EXPECT_EQ(written("\xE2\x80\x94\xE2\x81\xAF"), "v=\xE2\x80\x94\xE2\x81\xAF\n") << "their neighbours are text";
  EXPECT_EQ(written("back\\slash"), "v=\"back\\\\slash\"\n");
  EXPECT_EQ(written("caf\xC3\xA9"), "v=caf\xC3\xA9\n");
  EXPECT_EQ(written("\xFF"), "v=\"\xEF\xBF\xBD\"\n");
}

TEST_F(Log, AnyByteLeavesOneLineOfValidJson) {
  configure_log(LogLevel::kInfo, LogFormat::kJson);
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes.push_back(static_cast<char>(c));
  const std::string line = captured([&] {
    log_info("fact", {{"value", bytes}, {"n", -5}, {"ms", 0.25}, {"ok", false}});
  });
  ASSERT_EQ(line.find('\n'), line.size() - 1);
  const auto parsed = parse_json(line);
  ASSERT_OK(parsed);
  EXPECT_EQ(json_string(*parsed, "value"), to_utf8(bytes));
  EXPECT_EQ(json_string(*parsed, "level"), "info");
  EXPECT_EQ(json_string(*parsed, "fact"), "fact");
  EXPECT_EQ(json_int(*parsed, "n"), -5);
  EXPECT_EQ(parsed->at("ms").to_number<double>(), 0.25);
  EXPECT_FALSE(parsed->at("ok").as_bool());
  EXPECT_TRUE(parse_rfc3339(*json_string(*parsed, "time")).has_value());
}

TEST_F(Log, FormattingCharactersAreData) {
  EXPECT_EQ(without_time(captured([] { log_info("{} %s %v", {{"v", "{0}%v"}}); })), "info  {} %s %v   v={0}%v\n");
}

TEST_F(Log, NumbersThatJsonHasNoWordForAreZero) {
  configure_log(LogLevel::kInfo, LogFormat::kJson);
  const std::string line = captured([] { log_info("f", {{"a", 0.0 / 0.0}, {"b", 1e300}, {"c", -0.0}, {"d", 2.0}}); });
  ASSERT_OK(parse_json(line));
  EXPECT_NE(line.find("\"a\":0,"), std::string::npos) << line;
  EXPECT_NE(line.find("\"c\":0,\"d\":2}"), std::string::npos) << line;
}

TEST_F(Log, LinesBelowTheLevelAreNotWritten) {
  configure_log(LogLevel::kWarn, LogFormat::kText);
  EXPECT_FALSE(log_enabled(LogLevel::kInfo));
  EXPECT_EQ(captured([] { log_debug("d"), log_info("i"); }), "");
  EXPECT_EQ(without_time(captured([] { log_warn("w"); })), "warn  w\n");
  configure_log(LogLevel::kOff, LogFormat::kText);
  EXPECT_EQ(captured([] { log_error("e"); }), "");
  configure_log(LogLevel::kDebug, LogFormat::kText);
  EXPECT_EQ(without_time(captured([] { log_debug("d"); })), "debug d\n");
}

TEST_F(Log, FactsThatAreToldElsewhereAreLeftOut) {
  leave_out_of_log({"failed", "rejected"});
  EXPECT_EQ(captured([] { log_warn("failed", {{"n", 1}}); }), "");
  EXPECT_EQ(without_time(captured([] { log_warn("claim.failed"); })), "warn  claim.failed\n");
}

TEST_F(Log, LinesOfSeveralThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  const std::string value(300, 'x');
  const std::string all = captured([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kLines; ++i) log_info("line", {{"v", value}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  const auto lines = split(all, '\n');
  ASSERT_EQ(lines.size(), kThreads * kLines + 1u);
  for (const std::string_view line : lines) {
    if (!line.empty()) {
      EXPECT_EQ(without_time(std::string(line)), "info  line       v=" + value);
    }
  }
}

}  // namespace
}  // namespace hookonce
