#include "cli/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "base/bytes.h"

namespace hookonce {

namespace {

const char* code_of(Paint paint) {
  switch (paint) {
    case Paint::kNone:
      return "";
    case Paint::kStrong:
      return "1";
    case Paint::kDim:
      return "2";
    case Paint::kGood:
      return "32";
    case Paint::kWarn:
      return "33";
    case Paint::kBad:
      return "31";
  }
  return "";
}

// The code point at `at`, which moves behind it. REQUIRES: valid UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  char32_t point = first & (0x3F >> more);
  for (int i = 0; i < more && at < text.size(); ++i) {
    point = (point << 6) | (static_cast<unsigned char>(text[at++]) & 0x3F);
  }
  return point;
}

bool is_wide(char32_t point) {
  return (point >= 0x1100 && point <= 0x115F) || (point >= 0x2E80 && point <= 0xA4CF) ||
         (point >= 0xAC00 && point <= 0xD7A3) || (point >= 0xF900 && point <= 0xFAFF) ||
         (point >= 0xFE30 && point <= 0xFE6F) || (point >= 0xFF00 && point <= 0xFF60) ||
         (point >= 0x1F300 && point <= 0x1FAFF) || (point >= 0x20000 && point <= 0x3FFFD);
}

// Characters that act instead of being shown: C0, DEL, C1, and those that turn the direction of writing round.
bool is_control(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point <= 0x9F) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

bool wants_colour(const ColourHints& hints) {
  if (!hints.terminal) return false;
  if (hints.no_color != nullptr && *hints.no_color != '\0') return false;
  return hints.term != nullptr && std::string_view(hints.term) != "dumb";
}

bool stdin_is_terminal() {
  return ::isatty(STDIN_FILENO) == 1;
}
bool stdout_is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}
bool stdout_wants_colour() {
  return wants_colour({stdout_is_terminal(), std::getenv("NO_COLOR"), std::getenv("TERM")});
}

std::size_t stdout_columns() {
  winsize size{};
  return ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string painted(std::string_view text, Paint paint, bool colour) {
  if (!colour || paint == Paint::kNone || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code_of(paint), text);
}

std::string printable(std::string_view bytes, bool keep_lines) {
  const std::string text = to_utf8(bytes);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_code_point(text, at);
    if (!is_control(point) || (keep_lines && (point == '\n' || point == '\t'))) {
      out.append(text, begin, at - begin);
    } else {
      const auto number = static_cast<std::uint32_t>(point);
      out += number < 0x100 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{:04x}", number);
    }
  }
  return out;
}

std::string printable_json(const json::value& value) {
  const std::string text = to_json(value);  // has escaped what is below a blank
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_code_point(text, at);
    if (is_control(point)) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point));
    } else {
      out.append(text, begin, at - begin);
    }
  }
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) width += is_wide(next_code_point(text, at)) ? 2 : 1;
  return width;
}

std::string counted(std::size_t count, std::string_view noun) {
  std::string plural(noun);
  if (count != 1) {
    if (!plural.empty() && plural.back() == 'y') {
      plural.replace(plural.size() - 1, 1, "ies");
    } else {
      plural += 's';
    }
  }
  return fmt::format("{} {}", count, plural);
}

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

bool reader_of_stdout_has_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

void complain(std::string_view line) {
  const std::string text = fmt::format("hookonce: {}\n", line);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void complain_of_mistakes(const std::vector<std::string>& errors, std::string_view ending) {
  for (const std::string& error : errors) complain(error);
  complain(counted(errors.size(), "mistake") + std::string(ending));
}

bool confirmed(std::string_view question) {
  std::fflush(stdout);
  const std::string prompt = fmt::format("{} [y/N] ", question);
  std::fwrite(prompt.data(), 1, prompt.size(), stderr);
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  const std::string lower = to_lower(trim(answer));
  return lower == "y" || lower == "yes";
}

}  // namespace hookonce
