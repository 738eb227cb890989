#include "admin/state_calls.h"

#include <algorithm>
#include <utility>

#include "admin/answers.h"
#include "admin/masking.h"
#include "base/bytes.h"
#include "core/destination_counters.h"
#include "core/source_counters.h"

namespace hookonce {

namespace {

json::array texts(const std::vector<std::string>& items) {
  json::array view;
  for (const std::string& item : items) view.push_back(json_text(item));
  return view;
}

json::array specs(const std::vector<FieldSpec>& items) {
  json::array view;
  for (const FieldSpec& item : items) view.push_back(json_text(item.text()));
  return view;
}

json::array conditions(const std::vector<Condition>& items) {
  json::array view;
  for (const Condition& item : items) view.push_back(json_text(item.text()));
  return view;
}

std::string_view word(MissingKey missing_key) {
  switch (missing_key) {
    case MissingKey::kAccept:
      return "accept";
    case MissingKey::kHash:
      return "hash";
    case MissingKey::kReject:
      return "reject";
  }
  return "accept";
}

json::object counts_view(const std::string& source, Time now) {
  const SourceCounters& counters = source_counters(source);
  json::object causes;
  for (const Cause cause : kDuplicateCauses) causes[to_string(cause)] = counters.duplicate(cause).value();
  return {{"accepted", counters.accepted.value()},
          {"duplicates", counters.duplicates()},
          {"causes", std::move(causes)},
          {"rearmed", counters.rearmed.value()},
          {"rejected", counters.rejected()},
          {"unavailable", counters.unavailable()},
          {"handshakes", counters.handshakes.value()},
          {"unwanted", counters.unwanted.value()},
          {"replied", counters.replied.value()},
          {"acknowledged", counters.acknowledged.value()},
          {"accepted_last_minute", counters.accepted_rate.last_minute(now)},
          {"duplicates_last_minute", counters.duplicates_rate.last_minute(now)}};
}

json::value late_answer_view(const std::optional<LateAnswerConfig>& answer) {
  if (!answer) return nullptr;
  return json::object{{"content_type", json_text(answer->content_type)}, {"body", json_text(answer->body)}};
}

json::value late_reply_view(const std::optional<LateReplyConfig>& reply) {
  if (!reply) return nullptr;
  json::object view{{"to", "response_url"}};
  view["ca_file"] = text_or_null(reply->ca_file);
  view["proxy"] = text_or_null(masked_url(reply->proxy));
  return view;
}

json::value alarm_view(const std::string& source, Time now) {
  const std::optional<SourceAlarm> alarm = source_counters(source).alarm(now);
  if (!alarm) return nullptr;
  return json::object{{"since", to_rfc3339(alarm->since)},
                      {"rejected_last_minute", alarm->rejected_last_minute},
                      {"code", json::string(to_string(alarm->code))}};
}

// What is to be pasted at the provider; null where neither a public URL is configured nor anything listens yet.
json::value source_url(const SourceConfig& source, const CallContext& context) {
  const ServerConfig& server = context.config.server;
  std::string base = server.public_url;
  while (!base.empty() && base.back() == '/') base.pop_back();
  if (base.empty() && !context.ingest_address.empty()) {
    base = (server.tls_cert.empty() ? "http://" : "https://") + context.ingest_address;
  }
  if (base.empty()) return nullptr;
  return json_text(base + source.path);
}

json::object source_view(const SourceConfig& source, const CallContext& context) {
  json::array destinations;
  for (const SourceDestination& destination : source.destinations) {
    destinations.push_back(json::object{{"name", json_text(destination.name)},
                                        {"types", texts(destination.types)},
                                        {"when", conditions(destination.when)}});
  }
  json::object view{{"name", json_text(source.name)},
                    {"provider", json_text(source.provider)},
                    {"path", json_text(source.path)},
                    {"secrets", source.secrets.size()},
                    {"destinations", std::move(destinations)},
                    {"tolerance", format_duration(source.tolerance)},
                    {"dedup_key", specs(source.dedup_key)},
                    {"dedup_also", specs(source.dedup_also)},
                    {"items", source.items ? json::value(json_text("json:" + *source.items + "/*")) : nullptr},
                    {"dedup_window", format_duration(source.dedup_window)},
                    {"missing_key", json::string(word(source.missing_key))},
                    {"rearm", source.rearm},
                    {"mode", source.mode == SourceMode::kSync ? "sync" : "async"}};
  view["url"] = source_url(source, context);
  view["late_answer"] = late_answer_view(source.late_answer);
  view["late_reply"] = late_reply_view(source.late_reply);
  view["ordering_key"] =
      source.ordering_key ? json::value(json_text(source.ordering_key->text())) : json::value(nullptr);
  view["ack_deadline"] = format_duration(source.ack_deadline);
  view["max_body"] = source.max_body;
  view["redact"] = specs(source.redact);
  view["retention"] = source.retention ? json::value(format_duration(*source.retention)) : json::value(nullptr);
  view["counts"] = counts_view(source.name, context.now);
  view["alarm"] = alarm_view(source.name, context.now);
  return view;
}

json::object retry_view(const RetryPolicy& retry) {
  return {{"first", format_duration(retry.first)},
          {"factor", retry.factor},
          {"max", format_duration(retry.max)},
          {"jitter", retry.jitter},
          {"attempts", retry.attempts},
          {"give_up", format_duration(retry.give_up)}};
}

json::object breaker_view(const DestinationConfig& destination, Time now) {
  const DestinationCounters& counters = destination_counters(destination.name);
  Breaker breaker;
  breaker.open_until = counters.breaker_open_until();
  json::object view{{"enabled", destination.breaker.enabled},
                    {"state", json::string(to_string(state_of(breaker, now)))}};
  view["open_until"] = breaker.open_until ? json::value(to_rfc3339(*breaker.open_until)) : json::value(nullptr);
  view["opened"] = counters.breaker_openings();
  view["failure_rate"] = destination.breaker.failure_rate;
  view["attempts"] = destination.breaker.attempts;
  view["after"] = format_duration(destination.breaker.after);
  view["open"] = format_duration(destination.breaker.open);
  view["open_max"] = format_duration(destination.breaker.open_max);
  return view;
}

std::int64_t waiting_for(const StoreStats& stats, const std::string& destination) {
  for (const auto& [name, waiting] : stats.pending_by_destination) {
    if (name == destination) return waiting;
  }
  return 0;
}

bool is_paused(const StoreStats& stats, const std::string& destination) {
  return std::find(stats.paused.begin(), stats.paused.end(), destination) != stats.paused.end();
}

void add_counts(json::object& view, const std::string& destination, Time now) {
  const DestinationCounters& counters = destination_counters(destination);
  view["delivered"] = counters.delivered.value();
  view["failed"] = counters.failed.value();
  view["delivered_last_minute"] = counters.delivered_rate.last_minute(now);
}

json::object destination_view(const DestinationConfig& destination, const StoreStats& stats, Time now) {
  json::object view{{"name", json_text(destination.name)},
                    {"orphaned", false},
                    {"waiting", waiting_for(stats, destination.name)},
                    {"paused", is_paused(stats, destination.name)},
                    {"url", json_text(masked_url(destination.url))},
                    {"secrets", destination.secrets.size()},
                    {"timeout", format_duration(destination.timeout)},
                    {"concurrency", destination.concurrency}};
  add_counts(view, destination.name, now);
  view["rate_per_second"] = destination.rate ? json::value(*destination.rate) : json::value(nullptr);
  view["ordering"] = destination.ordering;
  view["on_dead"] = destination.on_dead == OnDead::kBlock ? "block" : "skip";
  view["resign"] = destination.resign;
  view["lease"] = format_duration(destination.lease);
  view["retry"] = retry_view(destination.retry);
  view["breaker"] = breaker_view(destination, now);
  view["allow_private"] = destination.allow_private;
  view["ca_file"] = text_or_null(destination.ca_file);
  view["client_cert"] = text_or_null(destination.client_cert);
  view["proxy"] =
      destination.proxy.empty() ? json::value(nullptr) : json::value(json_text(masked_url(destination.proxy)));
  return view;
}

json::object unconfigured_view(const std::string& name, std::int64_t waiting, const StoreStats& stats) {
  return {{"name", json_text(name)}, {"orphaned", true}, {"waiting", waiting}, {"paused", is_paused(stats, name)}};
}

HttpResponse not_ready(std::string_view code, std::string_view why, bool told_why) {
  if (told_why) return error_response(503, code, why);
  return error_response(503, "not_ready", "the gateway takes no events now; with the admin token this call says why");
}

}  // namespace

HttpResponse health() {
  return json_answer(200, json::object{{"status", "alive"}});
}

HttpResponse readiness(const CallContext& context, bool told_why) {
  if (context.draining) return not_ready("draining", "the gateway is shutting down", told_why);
  const Status health = context.store.health();
  if (!health.ok()) return not_ready("store_unavailable", health.message(), told_why);
  json::object answer{{"status", "ready"}};
  if (told_why) answer["weaknesses"] = texts(context.store.weaknesses());
  return json_answer(200, answer);
}

HttpResponse list_sources(const CallContext& context) {
  json::array items;
  for (const auto& [name, source] : context.config.sources) items.push_back(source_view(source, context));
  return json_answer(200, json::object{{"items", std::move(items)}});
}

HttpResponse list_destinations(const CallContext& context) {
  const Result<StoreStats> stats = context.store.stats(context.now);
  if (!stats.ok()) return store_error_answer(stats.status());
  json::array items;
  for (const auto& [name, destination] : context.config.destinations) {
    items.push_back(destination_view(destination, *stats, context.now));
  }
  for (const auto& [name, waiting] : stats->pending_by_destination) {
    if (context.config.destinations.count(name) != 0) continue;
    items.push_back(unconfigured_view(name, waiting, *stats));
  }
  for (const std::string& name : stats->paused) {
    if (context.config.destinations.count(name) == 0 && waiting_for(*stats, name) == 0)
      items.push_back(unconfigured_view(name, 0, *stats));
  }
  return json_answer(200, json::object{{"items", std::move(items)}});
}

HttpResponse show_stats(const CallContext& context) {
  const Result<StoreStats> stats = context.store.stats(context.now);
  if (!stats.ok()) return store_error_answer(stats.status());
  std::int64_t orphaned = 0;
  for (const auto& [name, waiting] : stats->pending_by_destination) {
    if (context.config.destinations.count(name) == 0) orphaned += waiting;
  }
  json::object deliveries{
      {"pending", stats->pending}, {"in_flight", stats->in_flight}, {"dead", stats->dead}, {"orphaned", orphaned}};
  deliveries["oldest_pending_at"] =
      stats->oldest_pending ? json::value(to_rfc3339(*stats->oldest_pending)) : json::value(nullptr);

  json::object sources;
  for (const auto& [name, source] : context.config.sources) sources[name] = counts_view(name, context.now);
  json::object destinations;
  std::uint64_t delivered = 0;
  // Also of those that the configuration no longer knows: the sum since the start never falls.
  for (const DestinationCounters* counters : all_destination_counters()) delivered += counters->delivered.value();
  for (const auto& [name, destination] : context.config.destinations) {
    destinations[name] = json::object{{"waiting", waiting_for(*stats, name)}};
  }
  deliveries["delivered"] = delivered;
  const Status health = context.store.health();
  json::object store{{"ready", health.ok()}, {"why", text_or_null(health.message())}, {"log_bytes", stats->log_bytes}};
  store["weaknesses"] = texts(context.store.weaknesses());
  return json_answer(200, json::object{{"now", to_rfc3339(context.now)},
                                       {"draining", context.draining},
                                       {"events", stats->events},
                                       {"deliveries", std::move(deliveries)},
                                       {"sources", std::move(sources)},
                                       {"destinations", std::move(destinations)},
                                       {"paused", texts(stats->paused)},
                                       {"store", std::move(store)}});
}

}  // namespace hookonce
