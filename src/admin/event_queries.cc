#include "admin/event_queries.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "core/history.h"

namespace hookonce {

namespace {

using Names = std::vector<std::string>;
const Names kFilters = {"source", "type", "state", "key", "q", "since", "until"};

Status unknown_name(std::string_view kind, std::string_view name, const Names& known) {
  std::string message = "unknown " + std::string(kind) + " `" + to_utf8(name) + "`";
  if (const auto near = nearest(name, known)) return invalid(message + "; did you mean `" + *near + "`?");
  if (known.empty()) return invalid(message + "; this call takes none");
  return invalid(message + "; there are " + join(known, ", "));
}

Result<Time> parse_moment(std::string_view name, std::string_view text, Time now) {
  if (const auto age = parse_duration(text)) return now - *age;
  // In a query a `+` that was not escaped has become a blank: "2026-01-02T03:04:05 01:00".
  std::string moment(text);
  if (const auto blank = moment.find(' '); blank != std::string::npos && blank > 10) moment[blank] = '+';
  if (const auto time = parse_rfc3339(moment)) return *time;
  return invalid("`" + std::string(name) + "` is \"" + to_utf8(text) +
                 "\", which is neither RFC 3339 (2026-01-02T03:04:05Z) nor an age (1h)");
}

bool is_filter(std::string_view name) {
  return std::find(kFilters.begin(), kFilters.end(), name) != kFilters.end();
}

// REQUIRES: is_filter(name).
Status set_filter(EventFilter& filter, std::string_view name, std::string value, Time now) {
  if (value.empty()) return {};
  if (name == "source") {
    filter.source = std::move(value);
  } else if (name == "type") {
    filter.type = std::move(value);
  } else if (name == "key") {
    filter.key = std::move(value);
  } else if (name == "q") {
    filter.query = std::move(value);
  } else if (name == "state") {
    filter.state = parse_event_state(value);
    if (!filter.state) return invalid("`state` is \"" + to_utf8(value) + "\"; it is pending, delivered or dead");
  } else {
    HK_ASSIGN(const Time moment, parse_moment(name, value, now));
    (name == "since" ? filter.since : filter.until) = moment;
  }
  return {};
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The decoded parameters, each of them known and there once.
Result<Pairs> parse_query(std::string_view query, const Names& known) {
  auto pairs = parse_form(query);
  if (!pairs) return invalid("the query has a broken %-escape");
  std::erase_if(*pairs, [](const auto& pair) { return pair.first.empty() && pair.second.empty(); });  // "a=1&"
  for (auto pair = pairs->begin(); pair != pairs->end(); ++pair) {
    if (std::find(known.begin(), known.end(), pair->first) == known.end()) {
      return unknown_name("parameter", pair->first, known);
    }
    const auto same = [&](const auto& other) { return other.first == pair->first; };
    if (std::any_of(pairs->begin(), pair, same)) return invalid("`" + pair->first + "` is given twice");
  }
  return std::move(*pairs);
}

Result<int> parse_limit(std::string_view text) {
  const auto limit = parse_digits(text);
  if (limit && *limit >= 1 && *limit <= kListMax) return static_cast<int>(*limit);
  return invalid("`limit` is \"" + to_utf8(text) + "\"; it is a number from 1 to " + std::to_string(kListMax));
}

Result<DeliveryState> parse_delivery_state(std::string_view text) {
  for (const DeliveryState state :
       {DeliveryState::kPending, DeliveryState::kInFlight, DeliveryState::kDelivered, DeliveryState::kDead}) {
    if (text == to_string(state)) return state;
  }
  return invalid("`state` is \"" + to_utf8(text) + "\"; it is pending, in_flight, delivered or dead");
}

Result<int> read_limit(const json::value& value) {
  const auto* limit = value.if_int64();
  if (limit != nullptr && *limit >= 1 && *limit <= kListMax) return static_cast<int>(*limit);
  return invalid("`limit` must be a number from 1 to " + std::to_string(kListMax));
}

Result<bool> read_bool(std::string_view name, const json::value& value) {
  if (const bool* flag = value.if_bool()) return *flag;
  return invalid("`" + std::string(name) + "` must be true or false");
}

Result<std::string> read_string(std::string_view name, const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(text->data(), text->size());
  return invalid("`" + std::string(name) + "` must be a string");
}

Status read_destination(const json::value& value, std::optional<std::string>& destination) {
  HK_ASSIGN(std::string name, read_string("destination", value));
  if (name.empty()) return invalid("`destination` is empty; name one, or leave it out for all");
  destination = std::move(name);
  return {};
}

// Takes the mark off the cursor, if there is one, and keeps it for the next.
template <typename Query>
Status set_mark(Query& query, ListKind kind, const std::vector<std::string>& filters) {
  query.mark = CursorMark(kind, filters);
  if (!query.cursor) return {};
  HK_ASSIGN(query.cursor, query.mark.remove_from(*query.cursor));
  return {};
}

Result<const json::object*> read_object(const json::value& body) {
  if (const json::object* object = body.if_object()) return object;
  return invalid("the body must be a JSON object");
}

}  // namespace

Result<ListQuery> parse_list_query(std::string_view query, Time now) {
  Names known = kFilters;
  known.insert(known.end(), {"limit", "cursor"});
  HK_ASSIGN(Pairs pairs, parse_query(query, known));
  ListQuery list;
  for (auto& [name, value] : pairs) {
    if (is_filter(name)) {
      HK_TRY(set_filter(list.filter, name, std::move(value), now));
    } else if (name == "limit" && !value.empty()) {
      HK_ASSIGN(list.limit, parse_limit(value));
    } else if (name == "cursor" && !value.empty()) {
      list.cursor = std::move(value);
    }
  }
  HK_TRY(set_mark(list, ListKind::kEvents, marked_filters(list.filter)));
  return list;
}

Result<DeliveriesQuery> parse_deliveries_query(std::string_view query) {
  HK_ASSIGN(Pairs pairs, parse_query(query, {"source", "state", "destination", "limit", "cursor"}));
  DeliveriesQuery list;
  for (auto& [name, value] : pairs) {
    if (value.empty()) continue;
    if (name == "source") {
      list.filter.source = std::move(value);
    } else if (name == "state") {
      HK_ASSIGN(list.filter.state, parse_delivery_state(value));
    } else if (name == "destination") {
      list.filter.destination = std::move(value);
    } else if (name == "limit") {
      HK_ASSIGN(list.limit, parse_limit(value));
    } else {
      list.cursor = std::move(value);
    }
  }
  const DeliveryFilter& filter = list.filter;
  HK_TRY(set_mark(list, ListKind::kDeliveries,
                  {filter.source.value_or(""), filter.destination.value_or(""),
                   filter.state ? std::string(to_string(*filter.state)) : std::string()}));
  return list;
}

Result<bool> parse_reveal(std::string_view query) {
  HK_ASSIGN(const Pairs pairs, parse_query(query, {"reveal"}));
  if (pairs.empty() || pairs.front().second.empty()) return false;
  const std::string& value = pairs.front().second;
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  return invalid("`reveal` is \"" + to_utf8(value) + "\"; it is true or false");
}

Result<RejectedQuery> parse_rejected_query(std::string_view query) {
  HK_ASSIGN(Pairs pairs, parse_query(query, {"source", "limit", "cursor"}));
  RejectedQuery wanted;
  for (auto& [name, value] : pairs) {
    if (value.empty()) continue;
    if (name == "limit") {
      HK_ASSIGN(wanted.limit, parse_limit(value));
    } else {
      (name == "source" ? wanted.source : wanted.cursor) = std::move(value);
    }
  }
  HK_TRY(set_mark(wanted, ListKind::kRejected, {wanted.source.value_or("")}));
  return wanted;
}

Result<LiveFilter> parse_live_query(std::string_view query) {
  HK_ASSIGN(Pairs pairs, parse_query(query, {"source", "type", "key", "destination"}));
  LiveFilter filter;
  for (auto& [name, value] : pairs) {
    if (value.empty()) continue;
    (name == "source" ? filter.source
     : name == "type" ? filter.type
     : name == "key"  ? filter.key
                      : filter.destination) = std::move(value);
  }
  return filter;
}

Result<HistoryQuery> parse_history_query(std::string_view query) {
  HK_ASSIGN(Pairs pairs, parse_query(query, {"minutes", "source"}));
  HistoryQuery history;
  for (auto& [name, value] : pairs) {
    if (value.empty()) continue;
    if (name == "source") {
      history.source = std::move(value);
      continue;
    }
    const auto minutes = parse_digits(value);
    if (!minutes || *minutes < 1 || *minutes > kHistoryMinutesMax) {
      return invalid("`minutes` is \"" + to_utf8(value) + "\"; it is a number from 1 to " +
                     std::to_string(kHistoryMinutesMax));
    }
    history.minutes = static_cast<int>(*minutes);
  }
  return history;
}

Status expect_no_query(std::string_view query) {
  return parse_query(query, {}).status();
}

bool ReplaysBody::names_nothing() const {
  return !dead && !destination && !filter.source && !filter.type && !filter.state && !filter.key &&
         filter.query.empty() && !filter.since && !filter.until;
}

Status expect_no_fields(const json::value& body) {
  HK_ASSIGN(const json::object* object, read_object(body));
  if (object->empty()) return {};
  const auto name = object->begin()->key();
  return unknown_name("field", std::string_view(name.data(), name.size()), {});
}

Result<ReplayBody> parse_replay_body(const json::value& body) {
  HK_ASSIGN(const json::object* object, read_object(body));
  ReplayBody replay;
  for (const auto& [key, value] : *object) {
    const std::string_view name(key.data(), key.size());
    if (name == "destination") {
      if (!value.is_null()) HK_TRY(read_destination(value, replay.destination));
    } else if (name == "new_key") {
      HK_ASSIGN(replay.new_key, read_bool(name, value));
    } else {
      return unknown_name("field", name, {"destination", "new_key"});
    }
  }
  return replay;
}

Result<ReplaysBody> parse_replays_body(const json::value& body, Time now) {
  HK_ASSIGN(const json::object* object, read_object(body));
  ReplaysBody replays;
  for (const auto& [key, value] : *object) {
    const std::string_view name(key.data(), key.size());
    if (is_filter(name)) {
      if (value.is_null()) continue;
      HK_ASSIGN(std::string text, read_string(name, value));
      // In a list an empty filter is as good as none; here it would send more again than was meant.
      if (text.empty()) return invalid("`" + std::string(name) + "` is empty; give it a value, or leave it out");
      HK_TRY(set_filter(replays.filter, name, std::move(text), now));
    } else if (name == "destination") {
      if (!value.is_null()) HK_TRY(read_destination(value, replays.destination));
    } else if (name == "dead") {
      HK_ASSIGN(replays.dead, read_bool(name, value));
    } else if (name == "new_key") {
      HK_ASSIGN(replays.new_key, read_bool(name, value));
    } else if (name == "dry_run") {
      HK_ASSIGN(replays.dry_run, read_bool(name, value));
    } else if (name == "limit") {
      if (value.is_null()) continue;
      HK_ASSIGN(replays.limit, read_limit(value));
    } else if (name == "cursor") {
      if (value.is_null()) continue;
      HK_ASSIGN(replays.cursor, read_string(name, value));
    } else {
      Names known = kFilters;
      known.insert(known.end(), {"dead", "destination", "new_key", "dry_run", "limit", "cursor"});
      return unknown_name("field", name, known);
    }
  }
  std::vector<std::string> filters = marked_filters(replays.filter);
  filters.insert(filters.end(), {replays.destination.value_or(""), replays.dead ? "dead" : ""});
  HK_TRY(set_mark(replays, ListKind::kReplays, filters));
  return replays;
}

}  // namespace hookonce
