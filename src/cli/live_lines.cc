#include "cli/live_lines.h"

#include <fmt/format.h>

#include <utility>

#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

constexpr int kWordWidth = 10;  // of "duplicate" and a blank: facts stand below each other

std::string word_of(std::string_view word, Paint paint, bool colour) {
  return painted(fmt::format("{:<{}}", word, kWordWidth), paint, colour);
}

// The time of day; the date stands in every listing.
std::string time_of_day(Time time) {
  return to_local(time).substr(11);
}

Paint paint_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAccepted:
      return Paint::kStrong;
    case Verdict::kDuplicate:
      return Paint::kDim;
    case Verdict::kRearmed:
      return Paint::kWarn;
  }
  return Paint::kNone;
}

std::int64_t milliseconds_of(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::string ending_of(const Settlement& settlement) {
  switch (settlement.next) {
    case Next::kRetry:
      return fmt::format("  again in {}", milliseconds_text(milliseconds_of(settlement.delay)));
    case Next::kDead:
      return "  given up: hookonce replay sends it again";
    case Next::kDelivered:
    case Next::kRelease:
      return "";
  }
  return "";
}

std::pair<std::string_view, Paint> word_of(Next next) {
  switch (next) {
    case Next::kDelivered:
      return {"delivered", Paint::kGood};
    case Next::kRetry:
      return {"failed", Paint::kWarn};
    case Next::kDead:
      return {"dead", Paint::kBad};
    case Next::kRelease:
      return {"released", Paint::kDim};
  }
  return {"", Paint::kNone};
}

}  // namespace

LiveLines::LiveLines(const Clock& clock, bool colour, std::string listens_on, std::function<void()> wake)
    : clock_(clock), colour_(colour), listens_on_(std::move(listens_on)), wake_(std::move(wake)) {}

void LiveLines::arrived(const Ingest::Arrived& arrived) {
  const Verdict verdict = arrived.facts.verdict;
  std::string why;
  if (verdict != Verdict::kAccepted) {
    why = fmt::format("  {} +{}", words_of(to_string(arrived.cause)),
                      milliseconds_text(milliseconds_of(arrived.since_first)));
  }
  put(fmt::format("{}  {}  {}  {}  {}  {}{}\n", time_of_day(clock_.wall()),
                  word_of(to_string(verdict), paint_of(verdict), colour_), printable(arrived.source),
                  printable(arrived.type.empty() ? "-" : arrived.type), printable(arrived.key.value_or("-")),
                  arrived.facts.id.text(), why));
}

void LiveLines::rejected(const std::string& source, const std::string& code, const std::string& message) {
  put(fmt::format("{}  {}  {}  {}: {}\n", time_of_day(clock_.wall()), word_of("rejected", Paint::kBad, colour_),
                  printable(source), printable(code), printable(message)));
}

void LiveLines::explained(const std::string& source, const std::string& reason) {
  put(fmt::format("{}  {}  {}  {}\n", time_of_day(clock_.wall()), word_of("because", Paint::kBad, colour_),
                  printable(source), printable(reason)));
}

void LiveLines::misdirected(const std::string& method, const std::string& path) {
  put(fmt::format("{}  {}  {} {}  404; this gateway listens on {}\n", time_of_day(clock_.wall()),
                  word_of("no source", Paint::kBad, colour_), printable(method), printable(path), listens_on_));
}

void LiveLines::settled(const Lease& lease, const Settlement& settlement, const SettleFacts& facts) {
  if (!facts.taken) return;  // A later attempt tells how this delivery went on.
  const auto [word, paint] = word_of(settlement.next);
  std::string how;
  if (settlement.result.status != 0) how += fmt::format("  {}", settlement.result.status);
  if (!settlement.result.error.empty()) how += "  " + printable(settlement.result.error);
  put(fmt::format("{}  {}  {}  {}  {}  attempt {}  {}{}{}\n", time_of_day(clock_.wall()), word_of(word, paint, colour_),
                  printable(lease.destination), printable(lease.type.empty() ? "-" : lease.type), lease.event.text(),
                  lease.attempt, milliseconds_text(milliseconds_of(settlement.result.duration)), how,
                  ending_of(settlement)));
}

void LiveLines::put(std::string line) {
  {
    MutexLock lock(mutex_);
    if (lines_.size() >= kLiveLinesMax) {
      ++dropped_;
      return;
    }
    lines_.push_back(std::move(line));
  }
  wake_();
}

std::string LiveLines::take() {
  std::vector<std::string> lines;
  std::size_t dropped = 0;
  {
    MutexLock lock(mutex_);
    lines.swap(lines_);
    dropped = std::exchange(dropped_, 0);
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  if (dropped > 0) text += fmt::format("              {} not shown\n", counted(dropped, "line"));
  return text;
}

}  // namespace hookonce
