// Reads server-sent events (WHATWG HTML, section 9.2) from pieces of any size.
//
//   EventStreamReader reader([](std::string_view name, std::string_view data) { ... });
//   reader.take(piece);
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hookonce {

class EventStreamReader {
 public:
  // `name` is "message" where the event has none. Comments and the fields `id` and `retry` are left out.
  using OnEvent = std::function<void(std::string_view name, std::string_view data)>;
  explicit EventStreamReader(OnEvent on_event) : on_event_(std::move(on_event)) {}

  void take(std::string_view piece);

 private:
  void take_line(std::string_view line);

  const OnEvent on_event_;
  std::string line_;  // its beginning, while its end has not come
  bool after_cr_ = false;
  std::string name_;
  std::string data_;
  bool has_data_ = false;
};

}  // namespace hookonce
