// The answer to one request as it comes in, piece by piece, within its limits.
//
// Fed with header lines and body pieces in the order in which they arrive. Provisional answers (1xx) are skipped: only
// the head of the final one counts. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/http_message.h"

namespace hookonce {

// Of all heads of one answer together, provisional ones included: as much as our own server takes.
inline constexpr std::size_t kAnswerHeadMax = 64 * 1024;

class ClientAnswer {
 public:
  explicit ClientAnswer(std::size_t body_max) : body_max_(body_max) {}

  // One line with its line break; the status line and the empty line too. False: over kAnswerHeadMax.
  [[nodiscard]] bool take_line(std::string_view line);
  // False: the limit is reached, nothing more is wanted.
  [[nodiscard]] bool take_body(std::string_view piece);

  bool complete_head() const { return complete_head_; }
  bool cut() const { return cut_; }                   // something was over a limit
  std::size_t received() const { return received_; }  // bytes so far, of heads and body
  int status() const { return status_; }              // valid where complete_head()

  Headers take_headers() { return std::move(headers_); }
  std::string take_body_bytes() { return std::move(body_); }

 private:
  void take_header(std::string_view line);

  const std::size_t body_max_;
  std::size_t head_size_ = 0;
  std::size_t received_ = 0;
  bool complete_head_ = false;
  bool cut_ = false;
  int status_ = 0;
  Headers headers_;
  std::string body_;
};

}  // namespace hookonce
