#include "base/clock.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <ctime>

#include "base/bytes.h"
#include "base/check.h"

namespace hookonce {
namespace {

Time read_wall() {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

class SystemClock final : public Clock {
 public:
  SystemClock() : wall_at_start_(read_wall()), steady_at_start_(steady_now()) {}
  Time now() const override { return wall_at_start_ + (steady_now() - steady_at_start_); }
  Time wall() const override { return read_wall(); }

 private:
  const Time wall_at_start_;
  const Duration steady_at_start_;
};

constexpr std::array<std::string_view, 7> kWeekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// The text cut up from the front; a mismatch sticks, so a caller asks once at the end.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  // Exactly `width` digits with a value of at most `max`.
  int number(std::size_t width, int max) {
    if (rest_.size() < width) return fail();
    const auto value = parse_digits(rest_.substr(0, width));
    if (!value || *value > max) return fail();
    rest_.remove_prefix(width);
    return static_cast<int>(*value);
  }
  void literal(std::string_view expected) {
    if (!rest_.starts_with(expected)) return void(fail());
    rest_.remove_prefix(expected.size());
  }
  // One of the two characters (a letter in either case, a sign); 0 where it is neither.
  char either(char a, char b) {
    if (rest_.empty() || (rest_[0] != a && rest_[0] != b)) return static_cast<char>(fail());
    const char found = rest_[0];
    rest_.remove_prefix(1);
    return found;
  }
  template <std::size_t N>
  int name_of(const std::array<std::string_view, N>& names) {
    for (std::size_t i = 0; i < N; ++i) {
      if (rest_.starts_with(names[i])) {
        rest_.remove_prefix(names[i].size());
        return static_cast<int>(i);
      }
    }
    return fail();
  }
  std::string_view digits() {
    std::size_t n = 0;
    while (n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '9') ++n;
    const std::string_view found = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return found;
  }
  bool next_is(char c) const { return !rest_.empty() && rest_[0] == c; }
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  int fail() {
    failed_ = true;
    return 0;
  }
  std::string_view rest_;
  bool failed_ = false;
};

struct Civil {
  int year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0;
};

std::optional<std::chrono::sys_days> date_of(const Civil& civil) {
  const std::chrono::year_month_day date{std::chrono::year(civil.year),
                                         std::chrono::month(static_cast<unsigned>(civil.month)),
                                         std::chrono::day(static_cast<unsigned>(civil.day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

Duration time_of_day(const Civil& civil) {
  return std::chrono::hours(civil.hour) + std::chrono::minutes(civil.minute) + std::chrono::seconds(civil.second);
}

// A leap second stands only at the end of a UTC day; it is read as the second behind it.
bool second_exists(const Civil& civil, Time utc) {
  if (civil.second < 60) return true;
  return civil.second == 60 && utc == std::chrono::floor<std::chrono::days>(utc);
}

constexpr std::size_t kFractionDigitsMax = 9;  // nanoseconds: nobody sends more
constexpr std::size_t kMicroDigits = 6;

// Digits behind the point, cut to microseconds.
std::optional<Duration> fraction_of_second(std::string_view digits) {
  if (digits.empty() || digits.size() > kFractionDigitsMax) return std::nullopt;
  std::string micros(digits.substr(0, kMicroDigits));
  micros.resize(kMicroDigits, '0');
  return Duration(parse_digits(micros).value_or(0));
}

int millisecond_of(Time time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  return static_cast<int>(std::chrono::floor<std::chrono::milliseconds>(time - second).count());
}

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

Duration steady_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

Duration process_cpu_time() {
  timespec used{};
  HK_CHECK(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(used.tv_sec) +
                                              std::chrono::nanoseconds(used.tv_nsec));
}

std::string to_rfc3339(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), millisecond_of(time));
}

std::string to_local(Time time) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  // Many lines of a log fall into one second, and asking for the time zone costs more than the rest of a line.
  thread_local std::time_t kept_second = -1;
  thread_local std::string kept;
  if (seconds != kept_second) {
    std::tm local{};
    HK_CHECK(::localtime_r(&seconds, &local) != nullptr);
    kept = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                       local.tm_hour, local.tm_min, local.tm_sec);
    kept_second = seconds;
  }
  return kept + fmt::format("{:03}", millisecond_of(time));
}

std::optional<Time> parse_rfc3339(std::string_view text) {
  Cursor cursor(text);
  Civil civil;
  civil.year = cursor.number(4, 9999);
  cursor.literal("-");
  civil.month = cursor.number(2, 12);
  cursor.literal("-");
  civil.day = cursor.number(2, 31);
  cursor.either('T', 't');
  civil.hour = cursor.number(2, 23);
  cursor.literal(":");
  civil.minute = cursor.number(2, 59);
  cursor.literal(":");
  civil.second = cursor.number(2, 60);

  Duration fraction{};
  if (cursor.next_is('.')) {
    cursor.literal(".");
    const auto parsed = fraction_of_second(cursor.digits());
    if (!parsed) return std::nullopt;
    fraction = *parsed;
  }

  Duration offset{};
  if (cursor.next_is('+') || cursor.next_is('-')) {
    const bool behind = cursor.either('+', '-') == '-';
    offset = std::chrono::hours(cursor.number(2, 23));
    cursor.literal(":");
    offset += std::chrono::minutes(cursor.number(2, 59));
    if (behind) offset = -offset;
  } else {
    cursor.either('Z', 'z');
  }
  if (!cursor.complete()) return std::nullopt;

  const auto date = date_of(civil);
  if (!date) return std::nullopt;
  const Time utc = Time(*date) + time_of_day(civil) - offset;
  if (!second_exists(civil, utc)) return std::nullopt;
  return utc + fraction;
}

std::optional<Time> parse_http_date(std::string_view text) {
  Cursor cursor(text);
  Civil civil;
  const int weekday = cursor.name_of(kWeekdays);
  cursor.literal(", ");
  civil.day = cursor.number(2, 31);
  cursor.literal(" ");
  civil.month = cursor.name_of(kMonths) + 1;
  cursor.literal(" ");
  civil.year = cursor.number(4, 9999);
  cursor.literal(" ");
  civil.hour = cursor.number(2, 23);
  cursor.literal(":");
  civil.minute = cursor.number(2, 59);
  cursor.literal(":");
  civil.second = cursor.number(2, 60);
  cursor.literal(" GMT");
  if (!cursor.complete()) return std::nullopt;

  const auto date = date_of(civil);
  // A wrong weekday means that the sender computed the date wrongly; guessing which half is right helps nobody.
  if (!date || std::chrono::weekday(*date).c_encoding() != static_cast<unsigned>(weekday)) return std::nullopt;
  const Time utc = Time(*date) + time_of_day(civil);
  if (!second_exists(civil, utc)) return std::nullopt;
  return utc;
}

}  // namespace hookonce
