#include "base/result.h"

#include <fmt/format.h>

namespace hookonce {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not found";
    case Code::kPrecondition:
      return "precondition";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kUnknown:
      return "unknown";
    case Code::kExhausted:
      return "exhausted";
    case Code::kInternal:
      return "internal";
  }
  HK_CHECK(false);
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return *this;
  return {code_, fmt::format("{}: {}", context, message_)};
}

}  // namespace hookonce
