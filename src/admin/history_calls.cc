#include "admin/history_calls.h"

#include <cmath>
#include <utility>

#include "admin/answers.h"
#include "admin/event_queries.h"
#include "base/bytes.h"

namespace hookonce {

namespace {

json::value milliseconds(const std::optional<double>& seconds) {
  if (!seconds) return nullptr;
  return std::round(*seconds * 1e5) / 100;  // two digits, since a bucket's inside is a guess anyway
}

json::object quantiles_view(const BucketCounts& counts) {
  return {{"p50", milliseconds(quantile(counts, 0.5))}, {"p99", milliseconds(quantile(counts, 0.99))}};
}

json::object point_view(const HistoryPoint& point) {
  const ArrivalCounts& arrivals = point.arrivals;
  json::object causes;
  std::uint64_t duplicates = 0;
  for (std::size_t i = 0; i < kDuplicateCauses.size(); ++i) {
    const std::uint64_t count = arrivals.duplicates[i];
    duplicates += count;
    if (count > 0) causes[to_string(kDuplicateCauses[i])] = count;
  }
  json::object view{{"at", to_rfc3339(point.at)},
                    {"accepted", arrivals.accepted},
                    {"duplicates", duplicates},
                    {"causes", std::move(causes)},
                    {"rejected", arrivals.rejected},
                    {"delivered", nullptr},
                    {"dead", nullptr},
                    {"answer_ms", quantiles_view(arrivals.answers)},
                    {"delivery_ms", quantiles_view({})}};
  if (point.deliveries) {
    view["delivered"] = point.deliveries->delivered;
    view["dead"] = point.deliveries->dead;
    view["delivery_ms"] = quantiles_view(point.deliveries->seconds);
  }
  return view;
}

}  // namespace

HttpResponse show_history(const CallContext& context, std::string_view query) {
  const Result<HistoryQuery> asked = parse_history_query(query);
  if (!asked.ok()) return error_response(400, "invalid_parameter", asked.status().message());
  // Up to this moment, so that it agrees with what other calls say now.
  context.history.add(context.now, count_totals());
  json::array points;
  for (const HistoryPoint& point :
       asked->source ? context.history.last(asked->minutes, *asked->source) : context.history.last(asked->minutes)) {
    points.push_back(point_view(point));
  }
  return json_answer(200, json::object{{"step_seconds", 60}, {"points", std::move(points)}});
}

}  // namespace hookonce
