// The calls that exist: one table, which the OpenAPI document and the reference are tested against.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hookonce {

enum class Call {
  kIndex,
  kHealth,
  kReady,
  kMetrics,
  kOpenApi,
  kListEvents,
  kGetEvent,
  kReplayEvent,
  kReplayEvents,
  kListDeliveries,
  kSources,
  kDestinations,
  kPause,
  kResume,
  kStats,
  kHistory,
  kBeginSession,
  kShowSession,
  kEndSession,
  kStream,
  kListRejected,
  kAcceptRejected,
};

struct Route {
  std::string_view method;
  std::string_view path;  // `{id}` and `{name}` stand for one segment
  Call call;
  bool open = false;  // answers without the admin token
};

std::span<const Route> routes();

struct Routed {
  const Route* route = nullptr;  // null: 404, or where `allowed` is not empty 405
  std::string_view id;           // what stands there, as it came; valid while the path is
  std::string allowed;           // the methods that the path has
};

// HEAD goes where GET goes. The path is compared byte for byte.
Routed find_route(std::string_view method, std::string_view path);

}  // namespace hookonce
