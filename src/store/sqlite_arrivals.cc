#include "store/sqlite_arrivals.h"

namespace hookonce {

void bind_arrival(Query& query, const Arrival& arrival) {
  query.bind_time(arrival.at).bind_blob(arrival.remote);
  query.bind_integer(arrival.retry ? std::optional(std::int64_t{arrival.retry->number}) : std::nullopt);
  if (arrival.retry) {
    query.bind_blob(arrival.retry->reason);
  } else {
    query.bind_null();
  }
  query.bind_time(arrival.provider_time).bind_integer(std::int64_t{arrival.secret}).bind_blob(arrival.body_hash);
  query.bind_blob(arrival.signature_hash);
}

Arrival read_arrival(const Query& query, int column) {
  Arrival arrival;
  arrival.at = query.time(column);
  arrival.remote = query.blob(column + 1);
  if (!query.is_null(column + 2)) {
    arrival.retry = RetryHint{static_cast<int>(query.integer(column + 2)), std::string(query.blob(column + 3))};
  }
  arrival.provider_time = query.optional_time(column + 4);
  arrival.secret = static_cast<int>(query.integer(column + 5));
  arrival.body_hash = query.bytes<16>(column + 6);
  arrival.signature_hash = query.bytes<16>(column + 7);
  return arrival;
}

}  // namespace hookonce
