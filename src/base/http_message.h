// HTTP requests and answers as plain values, shared by the server, the client and everything that looks at them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"

namespace hookonce {

struct Header {
  std::string name;   // as it arrived; compared without letter case
  std::string value;  // bytes, outer blanks removed; may be empty
  bool operator==(const Header&) const = default;
};

// In order of arrival, repeated ones included.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> items) : items_(items) {}
  explicit Headers(std::vector<Header> items) : items_(std::move(items)) {}

  void add(std::string name, std::string value) { items_.push_back({std::move(name), std::move(value)}); }
  void remove(std::string_view name);  // all of that name
  // Replaces the first of that name in place and removes the others; adds it where there is none.
  void set(std::string_view name, std::string value);

  bool has(std::string_view name) const { return first(name).has_value(); }
  std::optional<std::string_view> first(std::string_view name) const;  // valid while this is unchanged
  std::vector<std::string_view> all(std::string_view name) const;

  const std::vector<Header>& items() const { return items_; }
  std::vector<Header>& items() { return items_; }
  bool operator==(const Headers&) const = default;

 private:
  std::vector<Header> items_;
};

struct HttpRequest {
  std::string method;
  std::string path;   // the target up to `?`, byte for byte as it arrived
  std::string query;  // behind `?`, without it; empty where there is none
  Headers headers;
  std::string body;
  std::string remote;     // the peer's address without port, "203.0.113.7" or "2001:db8::1"
  bool tls = false;       // whether the connection itself was TLS
  Time head_at{};         // Clock::now() when the last header byte had been read: deadlines count from here
  Time wall_at{};         // Clock::wall() at the same moment: tolerances are judged against it
  Budget::Charge charge;  // what the body takes of max_inflight; released with the request
};

// The rest of an answer that goes on for as long as both sides want: the server asks for more some times a second, and
// not before the peer has read what came before.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // The next bytes, empty where there are none now; nullopt ends the answer. Called on the connection's own thread;
  // must not block.
  virtual std::optional<std::string> next() = 0;
};

struct HttpResponse {
  int status = 200;
  Headers headers;  // without Content-Length, Connection and Date: the server adds those
  std::string body;
  std::shared_ptr<BodyStream> stream;  // goes on behind `body`, and the connection ends with it; null: `body` is all
  bool close = false;                  // true: `Connection: close`, and the connection ends after this answer
};

// The standard reason phrase, "Unknown" for a status that has none here.
std::string_view reason_phrase(int status);

// {"error":{"code":...,"message":...}} with its content type: the shape of every error answer.
HttpResponse error_response(int status, std::string_view code, std::string_view message);

}  // namespace hookonce
