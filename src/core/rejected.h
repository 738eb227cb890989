// A request to a source that was not accepted, as it is kept: so that a person can see why, and so that it can be
// accepted once the secret is corrected.
#pragma once

#include <cstdint>
#include <string>

#include "core/model.h"

namespace hookonce {

struct RejectedRequest {
  EventId id;  // its own; the event that may come of it gets another
  std::string source;
  std::string code;    // of the answer it got: "signature_mismatch"
  std::string reason;  // for people
  Time first_at{};     // wall time of the first one like it; what its time stamp is judged by when it is accepted later
  Time last_at{};      // wall time of the last one
  std::int64_t count = 1;  // equal ones
  std::string remote;      // the client's address
  std::string peer;        // of the connection, which may be a proxy's
  bool tls = false;
  std::string path;
  std::string query;
  Headers headers;  // as they arrived
  std::string body;

  // What it takes of a limit, in bytes.
  std::int64_t size() const;
  bool operator==(const RejectedRequest&) const = default;
};

// Requests with the same one are kept once and counted: all that a sender repeats byte for byte, and nothing less,
// since two events may differ in one header alone.
KeyHash digest_of(const RejectedRequest& request);

// What one source may keep.
struct RejectedLimits {
  std::int64_t requests = 0;
  std::int64_t bytes = 0;
};

}  // namespace hookonce
