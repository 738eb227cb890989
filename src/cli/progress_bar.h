// How far a long command is: a bar on a terminal, a plain line now and then elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hookonce {

// "  sending  [#########           ]  45 %  9 of 20", without a line end.
std::string bar_text(std::string_view what, std::size_t done, std::size_t total);

// Where the plain form prints: after every tenth of the way, and at its end. `before`: what was done when it was asked
// last.
bool is_milestone(std::size_t before, std::size_t done, std::size_t total);

// Writes to standard output as it goes. Not thread-safe.
class ProgressBar {
 public:
  // `quiet`: prints nothing, because the output is for programs.
  ProgressBar(std::string what, std::size_t total, bool quiet);
  void set_total(std::size_t total) { total_ = total; }  // where it was an estimate
  void show(std::size_t done);                           // does nothing where nothing would look different
  void end();                                            // the bar stands, and the next line begins

 private:
  const std::string what_;
  std::size_t total_;
  const bool quiet_;
  const bool terminal_;
  std::size_t done_ = 0;
  std::string shown_;
};

}  // namespace hookonce
