// Result<T> and Status: what can fail says so in its type.
//
//   Result<int> parse(std::string_view text);
//   Status run() {
//     HK_ASSIGN(int n, parse("7"));
//     HK_TRY(store(n));
//     return {};
//   }
//
// A code tells the caller what to do next, the message tells a person what was wrong: lower case, no full stop, names
// the thing and the value, never a secret. Domain outcomes (duplicate, bad signature, a backend's 500) are values, not
// errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace hookonce {

enum class Code {
  kOk,
  kInvalid,       // The input is wrong: mend it, repeating is useless.
  kNotFound,      // The named thing does not exist.
  kPrecondition,  // The surroundings need a person: locked, read-only, not ours, too new. Exit 2 at start.
  kUnavailable,   // Nothing was done; the same call may go through later.
  kUnknown,       // It may have been done or not (a COMMIT that failed). Never report it as either.
  kExhausted,     // A stated limit was reached; shed load.
  kInternal,      // This one item cannot be processed; others can.
};

std::string_view to_string(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same code with "context: " before the message; added once per floor.
  Status with_context(std::string_view context) const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}        // NOLINT: a value is a result
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {  // NOLINT: so is an error
    HK_CHECK(!std::get<1>(state_).ok());
  }

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }
  Code code() const { return ok() ? Code::kOk : std::get<1>(state_).code(); }

  // REQUIRES: ok()
  T& value() & {
    HK_CHECK(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    HK_CHECK(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    HK_CHECK(ok());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

inline Status invalid(std::string message) {
  return {Code::kInvalid, std::move(message)};
}
inline Status not_found(std::string message) {
  return {Code::kNotFound, std::move(message)};
}
inline Status precondition(std::string message) {
  return {Code::kPrecondition, std::move(message)};
}
inline Status unavailable(std::string message) {
  return {Code::kUnavailable, std::move(message)};
}
inline Status unknown_outcome(std::string message) {
  return {Code::kUnknown, std::move(message)};
}
inline Status exhausted(std::string message) {
  return {Code::kExhausted, std::move(message)};
}
inline Status internal(std::string message) {
  return {Code::kInternal, std::move(message)};
}

}  // namespace hookonce

#define HK_CONCAT_INNER(a, b) a##b
#define HK_CONCAT(a, b) HK_CONCAT_INNER(a, b)

// Returns the error of `expression` (a Status) from the enclosing function.
#define HK_TRY(expression)                        \
  do {                                            \
    ::hookonce::Status hk_status_ = (expression); \
    if (!hk_status_.ok()) return hk_status_;      \
  } while (false)

// Declares `declaration` from a Result, or returns its error: HK_ASSIGN(auto row, read(id));
#define HK_ASSIGN(declaration, expression) HK_ASSIGN_INNER(HK_CONCAT(hk_result_, __LINE__), declaration, expression)
#define HK_ASSIGN_INNER(result, declaration, expression) \
  auto result = (expression);                            \
  if (!result.ok()) return result.status();              \
  declaration = std::move(result).value()
