#include "admin/event_views.h"

#include "admin/answers.h"
#include "admin/masking.h"
#include "base/bytes.h"
#include "core/cause.h"
#include "core/redact.h"

namespace hookonce {

namespace {

// Deliveries are made when the event is accepted, so this is the one way to have none.
constexpr std::string_view kUnwanted = "no destination of its source wanted it when it arrived: see types and when";

std::int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

json::value time_or_null(const std::optional<Time>& time) {
  if (!time) return nullptr;
  return json::string(to_rfc3339(*time));
}

json::string word(std::string_view text) {
  return json::string(text);
}

json::value retry_view(const std::optional<RetryHint>& retry) {
  if (!retry) return nullptr;
  return json::object{{"number", retry->number}, {"reason", text_or_null(retry->reason)}};
}

// Null where too little is signed to tell one request from another.
json::value same_signature_view(const Arrival& arrival, const Arrival& first) {
  if (arrival.signature_hash == KeyHash{} || first.signature_hash == KeyHash{}) return nullptr;
  return arrival.signature_hash == first.signature_hash;
}

// Null where the event is no batch.
json::value items_view(std::string_view items) {
  if (items.empty()) return nullptr;
  json::array view;
  for (const std::size_t index : parse_items(items)) view.push_back(index);
  return view;
}

json::object arrival_view(const StoredArrival& stored, const Conclusion& conclusion, const Arrival& first) {
  const Arrival& arrival = stored.arrival;
  std::string reason(conclusion.reason);
  if (!conclusion.doubt.empty()) reason.append("; ").append(conclusion.doubt);
  return {{"at", to_rfc3339(arrival.at)},
          {"verdict", word(to_string(stored.verdict))},
          {"cause", word(to_string(conclusion.cause))},
          {"reason", word(reason)},
          {"certain", conclusion.certain},
          {"remote", json_text(arrival.remote)},
          {"retry", retry_view(arrival.retry)},
          {"provider_time", time_or_null(arrival.provider_time)},
          {"secret", arrival.secret},
          {"same_key", stored.same_key},
          {"same_body", stored.same_body},
          {"same_signature", same_signature_view(arrival, first)},
          {"since_first_ms", milliseconds(arrival.at - first.at)}};
}

json::object attempt_view(const Attempt& attempt) {
  json::object view{{"number", attempt.number}, {"started_at", to_rfc3339(attempt.started_at)}};
  view["duration_ms"] = attempt.duration ? json::value(milliseconds(*attempt.duration)) : json::value(nullptr);
  view["outcome"] = attempt.outcome ? json::value(word(to_string(*attempt.outcome))) : json::value(nullptr);
  const bool answered = attempt.status != 0;
  view["status"] = answered ? json::value(attempt.status) : json::value(nullptr);
  view["error"] = text_or_null(attempt.error);
  view["response"] = answered ? json::value(json_text(attempt.response)) : json::value(nullptr);
  return view;
}

void add_hold(json::object& view, const std::optional<Hold>& held) {
  view["held"] = held ? json::value(word(to_string(held->by))) : json::value(nullptr);
  view["behind"] = held && held->behind ? json::value(json::string(held->behind->text())) : json::value(nullptr);
}

json::object delivery_view(const Delivery& delivery, const Config& config) {
  json::array attempts;
  for (const Attempt& attempt : delivery.attempts) attempts.push_back(attempt_view(attempt));
  const bool waits = delivery.state == DeliveryState::kPending;
  json::object view{{"destination", json_text(delivery.destination)},
                    {"state", word(to_string(delivery.state))},
                    {"orphaned", config.destinations.count(delivery.destination) == 0},
                    {"next_attempt_at", time_or_null(waits ? delivery.next_attempt_at : std::nullopt)}};
  add_hold(view, delivery.held);
  view["delivered_at"] = time_or_null(delivery.delivered_at);
  view["replayed"] = delivery.replayed;
  view["attempts"] = std::move(attempts);
  return view;
}

}  // namespace

json::object summary_view(const EventSummary& event) {
  json::object view{{"id", event.id.text()}, {"source", json_text(event.source)}, {"type", text_or_null(event.type)}};
  view["key"] = event.key ? json::value(json_text(*event.key)) : json::value(nullptr);
  view["received_at"] = to_rfc3339(event.received_at);
  view["state"] = word(to_string(event.state));
  view["duplicates"] = event.duplicates;
  view["size"] = event.size;
  return view;
}

json::array headers_view(const Headers& headers, std::string_view source_name, const DetailOptions& options) {
  const auto known = options.config.sources.find(source_name);
  const SourceConfig* source = known == options.config.sources.end() ? nullptr : &known->second;
  // The header in which this source's senders put their token is a secret whatever its name.
  const std::string_view token_header = source != nullptr && source->token ? source->token->header : std::string_view();

  const auto shown = [&](const Header& header) -> std::string_view {
    if (source != nullptr && hides_header(source->redact, header.name)) return kRedacted;
    const bool secret =
        bears_secret(header.name) || (!token_header.empty() && equals_ignore_case(header.name, token_header));
    return secret && !options.reveal ? kMasked : std::string_view(header.value);
  };
  json::array view;
  for (const Header& header : headers.items()) {
    view.push_back(json::array{json_text(header.name), json_text(shown(header))});
  }
  return view;
}

bool add_body(json::object& view, std::string_view body, std::string_view source_name, const Config& config,
              std::size_t limit) {
  const auto source = config.sources.find(source_name);
  std::optional<std::string> redacted;
  if (source != config.sources.end() && !source->second.redact.empty()) {
    Result<std::string> shown = redacted_body(source->second.redact, body);
    if (!shown.ok()) {
      view["body"] = nullptr;
      view["body_hidden"] = json_text(shown.status().message());
      return false;
    }
    body = redacted.emplace(std::move(shown).value());
  }
  const bool cut = body.size() > limit;
  // What is cut within a character would be no text any more.
  const bool is_text = cut && is_utf8(body);
  body = body.substr(0, limit);
  while (is_text && !is_utf8(body)) body.remove_suffix(1);
  if (is_utf8(body)) {
    view["body"] = json_text(body);
  } else {
    view["body_base64"] = to_base64(body);
  }
  return cut;
}

json::object detail_view(const EventDetail& event, const DetailOptions& options) {
  json::object view = summary_view(event.summary);
  view["ordering_key"] = event.ordering_key ? json::value(json_text(*event.ordering_key)) : json::value(nullptr);
  view["new_items"] = items_view(event.new_items);
  view["headers"] = headers_view(event.headers, event.summary.source, options);
  add_body(view, event.body, event.summary.source, options.config);
  const auto source = options.config.sources.find(event.summary.source);
  const std::vector<Conclusion> conclusions =
      conclude(event.arrivals, source == options.config.sources.end() ? nullptr : &source->second, options.clocks);
  json::array arrivals;
  for (std::size_t i = 0; i < conclusions.size(); ++i) {
    arrivals.push_back(arrival_view(event.arrivals[i], conclusions[i], event.arrivals.front().arrival));
  }
  view["arrivals"] = std::move(arrivals);
  json::array deliveries;
  for (const Delivery& delivery : event.deliveries) deliveries.push_back(delivery_view(delivery, options.config));
  if (event.deliveries.empty()) view["reason"] = kUnwanted;
  view["deliveries"] = std::move(deliveries);
  return view;
}

json::object delivery_view(const DeliverySummary& delivery, const Config& config) {
  json::object view{
      {"event", delivery.event.text()}, {"source", json_text(delivery.source)}, {"type", text_or_null(delivery.type)}};
  view["key"] = delivery.key ? json::value(json_text(*delivery.key)) : json::value(nullptr);
  view["destination"] = json_text(delivery.destination);
  view["state"] = word(to_string(delivery.state));
  view["orphaned"] = config.destinations.count(delivery.destination) == 0;
  view["attempts"] = delivery.attempts;
  view["last_status"] = delivery.last_status != 0 ? json::value(delivery.last_status) : json::value(nullptr);
  view["last_error"] = text_or_null(delivery.last_error);
  view["received_at"] = to_rfc3339(delivery.received_at);
  view["next_attempt_at"] = time_or_null(delivery.next_attempt_at);
  add_hold(view, delivery.held);
  view["delivered_at"] = time_or_null(delivery.delivered_at);
  return view;
}

json::value next_cursor_view(const CursorMark& mark, const std::optional<std::string>& next) {
  return next ? json::value(json_text(mark.add_to(*next))) : json::value(nullptr);
}

json::object replayed_view(const ReplayedDelivery& delivery) {
  const bool left_alone = delivery.before == DeliveryState::kInFlight;
  return {{"event", delivery.event.text()},
          {"destination", json_text(delivery.destination)},
          {"state", word(to_string(left_alone ? DeliveryState::kInFlight : DeliveryState::kPending))},
          {"replayed", !left_alone}};
}

}  // namespace hookonce
