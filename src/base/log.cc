#include "base/log.h"

#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/log_filter.h"
#include "base/sync.h"

namespace hookonce {
namespace {

std::atomic<LogLevel> threshold{LogLevel::kInfo};
std::atomic<LogFormat> form{LogFormat::kText};

std::vector<std::string_view>& left_out() {
  static auto* const facts = new std::vector<std::string_view>;  // never destroyed, as the logger below
  return *facts;
}

// Standard error, which may be a pipe whose reader stands still: the gateway must not stand still with it. A line that
// finds no room is dropped, and how many were is the first that is said when there is room again.
class Output {
 public:
  void put(std::string_view lines) LOCKS_EXCLUDED(mutex_);

 private:
  bool has_room() LOCKS_REQUIRED(mutex_);
  // Leaves in `text` what the reader, who stands still, has not taken.
  void write(std::string_view& text) LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  bool stalled_ GUARDED_BY(mutex_) = false;
  std::int64_t dropped_ GUARDED_BY(mutex_) = 0;  // lines
};

Output& output() {
  static auto* const all = new Output;  // never destroyed: a thread that logs while the process exits must find it
  return *all;
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
    case LogLevel::kOff:
      return "error";
  }
  return "error";
}

// JSON's short escapes, which the text form shares.
std::string_view short_escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return {};
  }
}

constexpr char kDelete = 0x7F;
constexpr std::size_t kUsualLine = 256;       // bytes
constexpr std::size_t kBatchMax = 64 * 1024;  // bytes of lines that wait; then they go out early
// A reader that is only slow gets this long, once: senders wait meanwhile.
constexpr int kReaderPatienceMs = 200;

// The lines that wait for the end of this thread's LogBatch.
struct Waiting {
  int batches = 0;
  std::string lines;
};
thread_local Waiting waiting;

// What stands for itself in every form: printable ASCII without quote and backslash.
bool is_plain(char c) {
  return c >= ' ' && c < kDelete && c != '"' && c != '\\';
}

// Control characters in two bytes, U+0080 to U+009F: terminals act on some of them. REQUIRES: text is UTF-8.
bool is_c1_control(std::string_view text) {
  return text.size() >= 2 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
}

// Characters of three bytes that turn the direction of writing round, so that a line reads as another one: U+202A to
// U+202E, U+2066 to U+2069. 0 where there is none. REQUIRES: text is UTF-8.
int direction_control(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xE2') return 0;
  const int last = static_cast<unsigned char>(text[2]);
  if (text[1] == '\x80' && last >= 0xAA && last <= 0xAE) return 0x2000 + (last - 0x80);
  if (text[1] == '\x81' && last >= 0xA6 && last <= 0xA9) return 0x2040 + (last - 0x80);
  return 0;
}

// The value as the inside of a JSON string: one line, no byte that a terminal acts on, valid UTF-8.
void append_escaped(std::string& out, std::string_view value) {
  if (std::all_of(value.begin(), value.end(), is_plain)) {  // nearly always
    out += value;
    return;
  }
  const std::string text = to_utf8(value);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (const auto escape = short_escape(c); !escape.empty()) {
      out += escape;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == kDelete) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    } else if (is_c1_control(std::string_view(text).substr(i))) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(text[++i]));
    } else if (const int control = direction_control(std::string_view(text).substr(i)); control != 0) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", control);
      i += 2;
    } else {
      out.push_back(c);
    }
  }
}

void append_quoted(std::string& out, std::string_view value) {
  out.push_back('"');
  append_escaped(out, value);
  out.push_back('"');
}

// In the text form a value stands bare where it can be told from what follows it.
void append_bare_or_quoted(std::string& out, std::string_view value) {
  const auto is_bare = [](char c) { return is_plain(c) && c != ' ' && c != '='; };
  if (!value.empty() && std::all_of(value.begin(), value.end(), is_bare)) {
    out += value;
    return;
  }
  // What is no ASCII may stand bare as well, if it is as it was after the escaping.
  std::string escaped;
  append_escaped(escaped, value);
  if (!value.empty() && escaped == value && value.find_first_of(" =") == std::string_view::npos) {
    out += value;
  } else {
    out.push_back('"');
    out += escaped;
    out.push_back('"');
  }
}

// Three decimals at most, as durations in milliseconds need; a number that JSON can't write becomes 0.
std::string number_text(double number) {
  if (!std::isfinite(number)) return "0";
  std::string text = fmt::format("{:.3f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

template <typename AppendText>
void append_value(std::string& out, const LogField& field, AppendText append_text) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    append_text(out, *text);
  } else if (const auto* integer = std::get_if<std::int64_t>(&field.value)) {
    out += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&field.value)) {
    out += number_text(*number);
  } else {
    out += std::get<bool>(field.value) ? "true" : "false";
  }
}

std::string text_line(Time at, LogLevel level, std::string_view fact, std::initializer_list<LogField> fields) {
  constexpr std::size_t kDateWidth = 11;  // "2026-01-02 ", which a person at a terminal knows
  constexpr std::size_t kLevelWidth = 5;
  std::string name;
  append_escaped(name, fact);
  std::string line = to_local(at).substr(kDateWidth);
  line.reserve(kUsualLine);
  line.push_back(' ');
  line += level_name(level);
  line.append(kLevelWidth + 1 - level_name(level).size(), ' ');
  line += name;
  constexpr std::size_t kFactWidth = 10;
  if (fields.size() > 0 && name.size() < kFactWidth) line.append(kFactWidth - name.size(), ' ');
  for (const LogField& field : fields) {
    line.push_back(' ');
    line += field.name;
    line.push_back('=');
    append_value(line, field, append_bare_or_quoted);
  }
  return line;
}

std::string json_line(Time at, LogLevel level, std::string_view fact, std::initializer_list<LogField> fields) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","fact":)", to_rfc3339(at), level_name(level));
  append_quoted(line, fact);
  for (const LogField& field : fields) {
    line.push_back(',');
    append_quoted(line, field.name);
    line.push_back(':');
    append_value(line, field, append_quoted);
  }
  line.push_back('}');
  return line;
}

std::string line_of(LogLevel level, std::string_view fact, std::initializer_list<LogField> fields) {
  const Time at = system_clock().wall();
  const bool as_json = form.load(std::memory_order_relaxed) == LogFormat::kJson;
  std::string line = as_json ? json_line(at, level, fact, fields) : text_line(at, level, fact, fields);
  line.push_back('\n');
  return line;
}

// A pipe says so while it takes PIPE_BUF bytes at once; a file always does.
bool Output::has_room() {
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  const int ready = ::poll(&error, 1, stalled_ ? 0 : kReaderPatienceMs);
  stalled_ = ready == 0;
  return !stalled_;
}

void Output::write(std::string_view& text) {
  while (!text.empty()) {
    if (!has_room()) return;
    std::size_t size = std::min<std::size_t>(text.size(), PIPE_BUF);
    // Lines are cut only where one alone is too long.
    if (const std::size_t end = text.rfind('\n', size - 1); end != std::string_view::npos) size = end + 1;
    const ssize_t written = ::write(STDERR_FILENO, text.data(), size);
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // somebody has made it non-blocking, and was faster
      stalled_ = true;
    } else if (errno != EINTR) {
      text = {};  // closed: nobody reads, and nobody misses a line
    }
  }
}

void Output::put(std::string_view lines) {
  MutexLock lock(mutex_);
  if (dropped_ > 0) {
    const std::string line = line_of(LogLevel::kWarn, "log.dropped", {{"lines", dropped_}});
    std::string_view notice = line;
    write(notice);
    if (notice.empty()) dropped_ = 0;
  }
  if (dropped_ == 0) write(lines);
  dropped_ += std::count(lines.begin(), lines.end(), '\n');
}

void write_waiting() {
  output().put(waiting.lines);
  waiting.lines.clear();
}

}  // namespace

void configure_log(LogLevel level, LogFormat format) {
  threshold.store(level, std::memory_order_relaxed);
  form.store(format, std::memory_order_relaxed);
}

void leave_out_of_log(std::initializer_list<std::string_view> facts) {
  left_out().assign(facts);
}

bool log_enabled(LogLevel level) {
  return level >= threshold.load(std::memory_order_relaxed);
}

void write_log(LogLevel level, std::string_view fact, std::initializer_list<LogField> fields) {
  if (!log_enabled(level)) return;
  if (std::find(left_out().begin(), left_out().end(), fact) != left_out().end()) return;
  const std::string line = line_of(level, fact, fields);
  if (waiting.batches == 0) return output().put(line);
  waiting.lines += line;
  if (waiting.lines.size() >= kBatchMax) write_waiting();
}

LogBatch::LogBatch() {
  ++waiting.batches;
}

LogBatch::~LogBatch() {
  if (--waiting.batches == 0) write_waiting();
}

}  // namespace hookonce
