#include "http/response_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/bytes.h"

namespace hookonce {
namespace {

// Room for the status line, Date, Content-Length and Connection.
constexpr std::size_t kOwnLines = 192;

bool breaks_framing(const Header& header) {
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
  };
  return header.name.empty() || header.name.find_first_of(": \t") != std::string::npos ||
         std::any_of(header.name.begin(), header.name.end(), is_control) ||
         std::any_of(header.value.begin(), header.value.end(), is_control);
}

// What the server itself writes; a second one would contradict it.
bool is_servers_own(const std::string& name) {
  return equals_ignore_case(name, "content-length") || equals_ignore_case(name, "connection") ||
         equals_ignore_case(name, "date") || equals_ignore_case(name, "transfer-encoding");
}

}  // namespace

const std::string& HttpDate::at(Time wall) {
  const auto second = std::chrono::floor<std::chrono::seconds>(wall);
  if (second == second_ && !text_.empty()) return text_;
  static constexpr const char* kWeekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(second - day);
  text_ =
      fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kWeekdays[std::chrono::weekday(day).c_encoding()],
                  static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                  static_cast<int>(date.year()), time.hours().count(), time.minutes().count(), time.seconds().count());
  second_ = second;
  return text_;
}

std::string response_text(const HttpResponse& response, const ResponseForm& form, const std::string& date) {
  const bool bodiless = response.status < 200 || response.status == 204 || response.status == 304;
  std::size_t room = kOwnLines + response.body.size();
  for (const Header& header : response.headers.items()) room += header.name.size() + header.value.size() + 4;

  std::string text;
  text.reserve(room);
  fmt::format_to(std::back_inserter(text), "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                 reason_phrase(response.status), date);
  for (const Header& header : response.headers.items()) {
    if (breaks_framing(header) || is_servers_own(header.name)) continue;
    text.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  if (!bodiless && !form.open_end)
    fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n", response.body.size());
  if (form.close) {
    text.append("Connection: close\r\n");
  } else if (form.say_keep_alive) {
    text.append("Connection: keep-alive\r\n");
  }
  text.append("\r\n");
  if (!bodiless && !form.head_request) text.append(response.body);
  return text;
}

}  // namespace hookonce
