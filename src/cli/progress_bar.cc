#include "cli/progress_bar.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "cli/terminal.h"

namespace hookonce {

std::string bar_text(std::string_view what, std::size_t done, std::size_t total) {
  constexpr std::size_t kWidth = 20;
  const std::size_t filled = total == 0 ? kWidth : done * kWidth / total;
  const std::size_t percent = total == 0 ? 100 : done * 100 / total;
  return fmt::format("  {}  [{:<{}}] {:>3} %  {} of {}", what, std::string(filled, '#'), kWidth, percent, done, total);
}

bool is_milestone(std::size_t before, std::size_t done, std::size_t total) {
  if (done <= before || done > total) return false;
  return done == total || done * 10 / total != before * 10 / total;
}

ProgressBar::ProgressBar(std::string what, std::size_t total, bool quiet)
    : what_(std::move(what)), total_(total), quiet_(quiet), terminal_(stdout_is_terminal()) {}

void ProgressBar::show(std::size_t done) {
  if (quiet_) return;
  if (!terminal_) {
    if (is_milestone(done_, done, total_)) say(fmt::format("  {} {} of {}\n", what_, done, total_));
    std::fflush(stdout);
    done_ = done;
    return;
  }
  std::string text = bar_text(what_, done, total_);
  if (text == shown_) return;
  shown_ = std::move(text);
  say("\r" + shown_);
  std::fflush(stdout);
}

void ProgressBar::end() {
  if (terminal_ && !shown_.empty()) say("\n");
  shown_.clear();
}

}  // namespace hookonce
