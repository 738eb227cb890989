#include "admin/routes.h"

#include <optional>

namespace hookonce {

namespace {

constexpr Route kRoutes[] = {
    {"GET", "/", Call::kIndex, true},
    {"GET", "/healthz", Call::kHealth, true},
    {"GET", "/readyz", Call::kReady, true},
    {"GET", "/metrics", Call::kMetrics},
    {"GET", "/api/v1/openapi.json", Call::kOpenApi},
    {"GET", "/api/v1/events", Call::kListEvents},
    {"GET", "/api/v1/events/{id}", Call::kGetEvent},
    {"POST", "/api/v1/events/{id}/replay", Call::kReplayEvent},
    {"POST", "/api/v1/replays", Call::kReplayEvents},
    {"GET", "/api/v1/deliveries", Call::kListDeliveries},
    {"GET", "/api/v1/sources", Call::kSources},
    {"GET", "/api/v1/destinations", Call::kDestinations},
    {"POST", "/api/v1/destinations/{name}/pause", Call::kPause},
    {"POST", "/api/v1/destinations/{name}/resume", Call::kResume},
    {"GET", "/api/v1/stats", Call::kStats},
    {"GET", "/api/v1/history", Call::kHistory},
    {"POST", "/api/v1/session", Call::kBeginSession, true},
    {"GET", "/api/v1/session", Call::kShowSession, true},
    {"DELETE", "/api/v1/session", Call::kEndSession, true},
    {"GET", "/api/v1/stream", Call::kStream},
    {"GET", "/api/v1/rejected", Call::kListRejected},
    {"POST", "/api/v1/rejected/{id}/accept", Call::kAcceptRejected},
};

// What stands for `{id}` or `{name}` (empty where the pattern has none), or nullopt where `path` does not match.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  const auto at = pattern.find('{');
  if (at == std::string_view::npos) return pattern == path ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view before = pattern.substr(0, at);
  const std::string_view after = pattern.substr(pattern.find('}') + 1);
  if (path.size() <= before.size() + after.size()) return std::nullopt;
  if (path.substr(0, before.size()) != before || path.substr(path.size() - after.size()) != after) return std::nullopt;
  const std::string_view id = path.substr(before.size(), path.size() - before.size() - after.size());
  return id.find('/') == std::string_view::npos ? std::optional(id) : std::nullopt;
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

Routed find_route(std::string_view method, std::string_view path) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  Routed routed;
  for (const Route& route : kRoutes) {
    const auto id = match(route.path, path);
    if (!id) continue;
    if (route.method == wanted) return {&route, *id, {}};
    if (!routed.allowed.empty()) routed.allowed += ", ";
    routed.allowed += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  return routed;
}

}  // namespace hookonce
