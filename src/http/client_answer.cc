#include "http/client_answer.h"

#include <algorithm>

#include "base/bytes.h"

namespace hookonce {
namespace {

// "HTTP/1.1 204 No Content": the three digits; 0 where they are not there.
int status_of_line(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  const auto digits = parse_digits(line.substr(blank + 1, 3));
  return digits && *digits >= 100 ? static_cast<int>(*digits) : 0;
}

bool is_provisional(int status) {
  return status >= 100 && status <= 199 && status != 101;
}

}  // namespace

bool ClientAnswer::take_line(std::string_view line) {
  received_ += line.size();
  head_size_ += line.size();
  if (head_size_ > kAnswerHeadMax) {
    cut_ = true;
    return false;
  }
  if (complete_head_) return true;  // a trailer: nobody asked for it
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (status_ == 0) {
    status_ = status_of_line(line);
  } else if (!line.empty()) {
    take_header(line);
  } else if (is_provisional(status_)) {
    status_ = 0;
    headers_ = {};
  } else {
    complete_head_ = true;
  }
  return true;
}

void ClientAnswer::take_header(std::string_view line) {
  const bool folded = line.front() == ' ' || line.front() == '\t';
  if (folded && !headers_.items().empty()) {
    headers_.items().back().value.append(" ").append(trim(line));
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  headers_.add(std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
}

bool ClientAnswer::take_body(std::string_view piece) {
  received_ += piece.size();
  const std::size_t room = body_max_ - std::min(body_max_, body_.size());
  body_.append(piece.substr(0, room));
  if (piece.size() <= room) return true;
  cut_ = true;
  return false;
}

}  // namespace hookonce
