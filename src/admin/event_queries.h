// What callers ask for: the filters of the list, and the bodies of replays, from text to values. Pure.
//
// Every mistake names the parameter and the nearest one that exists. An empty value is as good as none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "admin/cursor_mark.h"
#include "admin/live_hub.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "store/store.h"

namespace hookonce {

struct ListQuery {
  EventFilter filter;
  int limit = kListDefault;
  std::optional<std::string> cursor;  // the store's
  CursorMark mark;                    // of the next one
};

// The query of GET /api/v1/events.
Result<ListQuery> parse_list_query(std::string_view query, Time now);
struct DeliveriesQuery {
  DeliveryFilter filter;
  int limit = kListDefault;
  std::optional<std::string> cursor;  // the store's
  CursorMark mark;                    // of the next one
};
// The query of GET /api/v1/deliveries.
Result<DeliveriesQuery> parse_deliveries_query(std::string_view query);
// The query of GET /api/v1/events/{id}: whether secrets are to be shown.
Result<bool> parse_reveal(std::string_view query);
struct RejectedQuery {
  std::optional<std::string> source;
  int limit = kListDefault;
  std::optional<std::string> cursor;  // the store's
  CursorMark mark;                    // of the next one
};
// The query of GET /api/v1/rejected.
Result<RejectedQuery> parse_rejected_query(std::string_view query);
// The query of GET /api/v1/stream.
Result<LiveFilter> parse_live_query(std::string_view query);
struct HistoryQuery {
  int minutes = 60;
  std::optional<std::string> source;
};
// The query of GET /api/v1/history.
Result<HistoryQuery> parse_history_query(std::string_view query);
// The query of a call that takes no parameter.
Status expect_no_query(std::string_view query);

struct ReplayBody {
  std::optional<std::string> destination;
  bool new_key = false;
};
struct ReplaysBody {
  EventFilter filter;
  bool dead = false;
  std::optional<std::string> destination;
  bool new_key = false;
  bool dry_run = false;
  std::optional<int> limit;           // events of one part
  std::optional<std::string> cursor;  // of the part before, the store's
  CursorMark mark;                    // of the next one
  bool is_part() const { return limit || cursor; }
  bool names_nothing() const;  // neither a filter nor `dead` nor a destination: all events would be sent again
};

// The body of a call that takes no field.
Status expect_no_fields(const json::value& body);
// REQUIRES: `body` is valid JSON text, parsed. Anything but an object is kInvalid.
Result<ReplayBody> parse_replay_body(const json::value& body);
Result<ReplaysBody> parse_replays_body(const json::value& body, Time now);

}  // namespace hookonce
