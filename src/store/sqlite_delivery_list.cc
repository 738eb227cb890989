#include "store/sqlite_delivery_list.h"

#include "base/clock.h"

namespace hookonce {

namespace {

constexpr std::int64_t kStepRows = 2000;  // of one step: a few milliseconds

}  // namespace

Status SqliteDeliveryList::prepare(Database& database, SqliteNames& destinations, SqliteDeliveries& deliveries,
                                   SqliteSearch& search, SqliteHolds& holds) {
  destinations_ = &destinations;
  deliveries_ = &deliveries;
  search_ = &search;
  holds_ = &holds;
  return prepare_all(database,
                     {
                         {&all_,
                          "SELECT seq, destination, state FROM deliveries WHERE seq < ? "
                          "ORDER BY seq DESC LIMIT ?"},
                         {&open_,
                          "SELECT seq, destination, state FROM deliveries INDEXED BY deliveries_open_in_order "
                          "WHERE state IN (0, 1) AND seq < ? ORDER BY seq DESC LIMIT ?"},
                         {&dead_,
                          "SELECT seq, destination, 3 FROM deliveries INDEXED BY deliveries_dead "
                          "WHERE state = 3 AND seq < ? ORDER BY seq DESC LIMIT ?"},
                         {&received_at_, "SELECT received_at FROM events WHERE seq = ?"},
                         {&last_attempt_,
                          "SELECT status, error FROM attempts WHERE seq = ? AND destination = ? "
                          "ORDER BY number DESC LIMIT 1"},
                     });
}

Statement& SqliteDeliveryList::candidates_for(const DeliveryFilter& filter) {
  if (filter.state == DeliveryState::kDead) return dead_;
  return filter.state == DeliveryState::kPending || filter.state == DeliveryState::kInFlight ? open_ : all_;
}

Status SqliteDeliveryList::step(DeliveryWalk& walk) {
  HK_ASSIGN(const std::vector<std::int64_t> seqs, candidates(walk));
  for (std::int64_t seq : seqs) {
    HK_TRY(look_at(seq, walk.list));
    if (walk.list.is_full()) break;
  }
  walk.finished = walk.exhausted || walk.list.is_full() || steady_now() >= walk.stop_at;
  if (!walk.finished || walk.exhausted || walk.list.is_full()) return {};
  Query query(received_at_);
  query.bind_integer(walk.list.place.seq);
  HK_ASSIGN(const bool found, query.row());
  if (found) walk.list.looked_until = query.time(0);
  return {};
}

// Events with a delivery that matches, each once, and the one with which the step ends: that may have more deliveries
// than the step has seen, and the walk goes on below it.
Result<std::vector<std::int64_t>> SqliteDeliveryList::candidates(DeliveryWalk& walk) {
  const DeliveryFilter& filter = walk.list.filter;
  std::vector<std::int64_t> seqs;
  std::optional<std::int64_t> destination;
  if (filter.destination) {
    HK_ASSIGN(destination, destinations_->find(*filter.destination));
    if (!destination) {  // nothing was ever delivered there
      walk.exhausted = true;
      return seqs;
    }
  }
  Query query(candidates_for(filter));
  // Most lists are answered by what they ask for.
  const std::int64_t step = walk.rows == 0 ? static_cast<std::int64_t>(walk.list.limit) + 1 : kStepRows;
  query.bind_integer(walk.list.place.below()).bind_integer(step);
  std::int64_t rows = 0;
  std::int64_t last = 0;
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) break;
    ++rows;
    last = query.integer(0);
    const bool wanted = (!destination || query.integer(1) == *destination) &&
                        (!filter.state || query.integer(2) == static_cast<std::int64_t>(*filter.state));
    if (wanted && (seqs.empty() || seqs.back() != last)) seqs.push_back(last);
  }
  walk.rows += rows;
  walk.exhausted = rows < step;
  if (!walk.exhausted && (seqs.empty() || seqs.back() != last)) seqs.push_back(last);
  return seqs;
}

Status SqliteDeliveryList::look_at(std::int64_t seq, DeliveryList& list) {
  HK_ASSIGN(const std::vector<PlacedDelivery> placed, deliveries_->of_event(seq));
  std::vector<std::pair<std::string, DeliveryRecord>> records;
  bool wanted = false;
  for (const PlacedDelivery& delivery : placed) {
    HK_ASSIGN(const std::string name, destinations_->name_of(delivery.place.destination));
    wanted = wanted || matches(list.filter, name, delivery.record.state);
    records.emplace_back(name, delivery.record);
  }
  if (!wanted) {
    list.place = {seq, std::nullopt};
    return {};
  }
  HK_ASSIGN(const auto event, search_->by_seq(seq, EventFilter()));
  if (!event) return internal("the event of a delivery is missing");
  const std::size_t before = list.found.size();
  add_rows(list, seq, event->summary, std::move(records));
  for (std::size_t i = before; i < list.found.size(); ++i) {
    DeliverySummary& row = list.found[i].row;
    HK_ASSIGN(const auto destination, destinations_->find(row.destination));
    const DeliveryPlace place{seq, destination.value_or(0)};  // No name has the number 0.
    HK_TRY(add_last_attempt(place, row));
    if (row.state == DeliveryState::kPending) {
      HK_ASSIGN(row.held, holds_->of(place, !row.next_attempt_at));
    }
  }
  return {};
}

Status SqliteDeliveryList::add_last_attempt(DeliveryPlace place, DeliverySummary& row) {
  Query query(last_attempt_);
  query.bind_integer(place.seq).bind_integer(place.destination);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return {};
  row.last_status = static_cast<int>(query.integer(0));
  row.last_error = query.blob(1);
  return {};
}

}  // namespace hookonce
