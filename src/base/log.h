// One line per fact on standard error: a time, a level, what happened, and its fields.
//
//   log_info("accepted", {{"source", source}, {"event", id.text()}, {"commit_ms", 1.1}});
//   22:28:53.677 info  accepted   source=stripe event=0199... commit_ms=1.1
//
// Never pass a secret. Values of unknown origin are escaped so that one fact stays one line. Thread-safe; a line is
// written whole or not at all: it is dropped, and counted, where whoever reads standard error stands still.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace hookonce {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat { kText, kJson };

struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t, double, bool> value;

  LogField(std::string_view field, std::string_view v) : name(field), value(v) {}
  LogField(std::string_view field, const std::string& v) : name(field), value(std::string_view(v)) {}
  LogField(std::string_view field, const char* v) : name(field), value(std::string_view(v)) {}
  LogField(std::string_view field, bool v) : name(field), value(v) {}
  LogField(std::string_view field, double v) : name(field), value(v) {}
  template <typename Int, typename = std::enable_if_t<std::is_integral_v<Int> && !std::is_same_v<Int, bool>>>
  LogField(std::string_view field, Int v) : name(field), value(static_cast<std::int64_t>(v)) {}
};

void configure_log(LogLevel level, LogFormat format);  // default: kInfo, kText. Call before threads start.
bool log_enabled(LogLevel level);
void write_log(LogLevel level, std::string_view fact, std::initializer_list<LogField> fields);

// While one exists, the lines of its thread gather and go out in one write at its end: for loops that do many small
// things at once. What a crash in between takes away is their lines alone.
//
//   LogBatch batch;
//   for (Task& task : tasks) task();
class LogBatch {
 public:
  LogBatch();
  ~LogBatch();
  LogBatch(const LogBatch&) = delete;
  LogBatch& operator=(const LogBatch&) = delete;
};

inline void log_debug(std::string_view fact, std::initializer_list<LogField> fields = {}) {
  if (log_enabled(LogLevel::kDebug)) write_log(LogLevel::kDebug, fact, fields);
}
inline void log_info(std::string_view fact, std::initializer_list<LogField> fields = {}) {
  if (log_enabled(LogLevel::kInfo)) write_log(LogLevel::kInfo, fact, fields);
}
inline void log_warn(std::string_view fact, std::initializer_list<LogField> fields = {}) {
  if (log_enabled(LogLevel::kWarn)) write_log(LogLevel::kWarn, fact, fields);
}
inline void log_error(std::string_view fact, std::initializer_list<LogField> fields = {}) {
  if (log_enabled(LogLevel::kError)) write_log(LogLevel::kError, fact, fields);
}

}  // namespace hookonce
