// What happened in one run, line by line: its hash says whether two runs were the same, its end what led to a fault.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hookonce::sim {

class Trace {
 public:
  // Lines are kept only where somebody will read them: most runs are clean.
  explicit Trace(bool keep) : keep_(keep) {}

  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line_.clear();
    fmt::format_to(std::back_inserter(line_), format, std::forward<Arguments>(arguments)...);
    for (const char c : line_) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;  // FNV-1a
    hash_ = (hash_ ^ '\n') * 0x100000001b3u;
    if (keep_) lines_.push_back(line_);
  }

  std::uint64_t hash() const { return hash_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  const bool keep_;
  std::string line_;
  std::uint64_t hash_ = 0xcbf29ce484222325u;
  std::vector<std::string> lines_;
};

}  // namespace hookonce::sim
