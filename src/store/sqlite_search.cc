#include "store/sqlite_search.h"

#include <algorithm>
#include <functional>

#include "core/dedup.h"
#include "store/event_filter.h"

namespace hookonce {

namespace {

constexpr std::int64_t kStepRows = 2000;          // candidates of one step: a few milliseconds
constexpr std::size_t kStepBytesMax = 16u << 20;  // bodies of one step, likewise

}  // namespace

Status SqliteSearch::prepare(Database& database, SqliteNames& sources, SqliteDeliveries& deliveries,
                             const SqliteHotKeys& hot) {
  sources_ = &sources;
  deliveries_ = &deliveries;
  HK_TRY(keys_.prepare(database, hot));
  return prepare_all(
      database,
      {
          {&all_, "SELECT seq FROM events WHERE seq < ? ORDER BY seq DESC LIMIT ?"},
          // An event appears once per delivery; from_index() drops the repeats.
          {&pending_,
           "SELECT seq FROM deliveries INDEXED BY deliveries_open "
           "WHERE state IN (0, 1) AND seq < ? ORDER BY seq DESC LIMIT ?"},
          {&dead_,
           "SELECT seq FROM deliveries INDEXED BY deliveries_dead "
           "WHERE state = 3 AND seq < ? ORDER BY seq DESC LIMIT ?"},
          {&source_numbers_, "SELECT id FROM sources"},
          {&source_of_, "SELECT source FROM events WHERE seq = ?"},
          {&older_of_key_, "SELECT older FROM event_keys WHERE seq = ? AND key = ?"},
          {&summary_, "SELECT id, source, type, key, received_at, duplicates, size FROM events WHERE seq = ?"},
          {&seq_of_, "SELECT seq FROM events WHERE id = ?"},
          {&body_, "SELECT body FROM contents WHERE seq = ?"},
      });
}

Status SqliteSearch::step(Search& search) {
  HK_ASSIGN(const Candidates next, candidates(search));
  const std::size_t bytes_before = search.bytes;
  for (std::int64_t seq : next.seqs) {
    if (search.found.size() >= search.wanted || search.bytes - bytes_before >= kStepBytesMax) {
      search.finished = search.found.size() >= search.wanted || search.bytes >= kSearchBytesMax;
      return {};
    }
    search.before = seq;
    ++search.rows;
    HK_ASSIGN(const bool matches, judge(search, seq));
    if (!matches) continue;
    HK_ASSIGN(auto read, by_seq(seq, EventFilter()));
    if (read) search.found.push_back(std::move(*read));
  }
  search.exhausted = !next.resume;
  if (next.resume) search.before = *next.resume;
  search.finished = search.exhausted || search.found.size() >= search.wanted || search.rows >= kSearchRowsMax ||
                    search.bytes >= kSearchBytesMax;
  return {};
}

// The cheap questions first: fields, then the deliveries' rows, then the body.
Result<bool> SqliteSearch::judge(Search& search, std::int64_t seq) {
  HK_ASSIGN(const auto read, summary(seq));
  if (!read || !matches_fields(search.filter, *read)) return false;
  if (search.filter.state) {
    HK_ASSIGN(const EventState state, deliveries_->event_state(seq));
    if (state != *search.filter.state) return false;
  }
  if (matches_names(search.filter, *read)) return true;
  Query query(body_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return false;
  search.bytes += query.blob(0).size();
  return contains(query.blob(0), search.filter.query);
}

Result<SqliteSearch::Candidates> SqliteSearch::candidates(const Search& search) {
  if (search.filter.key) return from_key(*search.filter.key, search.before);
  if (search.filter.state == EventState::kPending) return from_index(pending_, search.before);
  if (search.filter.state == EventState::kDead || search.dead_deliveries) return from_index(dead_, search.before);
  return from_index(all_, search.before);
}

Result<SqliteSearch::Candidates> SqliteSearch::from_index(Statement& statement, std::int64_t before) {
  Candidates candidates;
  Query query(statement);
  query.bind_integer(before).bind_integer(kStepRows);
  std::int64_t rows = 0;
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) break;
    ++rows;
    const std::int64_t seq = query.integer(0);
    if (candidates.seqs.empty() || candidates.seqs.back() != seq) candidates.seqs.push_back(seq);
  }
  if (rows == kStepRows) candidates.resume = candidates.seqs.back();
  return candidates;
}

// Every event shown as `text` holds or held a key of it: from the dedup row down the chain of holders, in every source.
Result<SqliteSearch::Candidates> SqliteSearch::from_key(const std::string& text, std::int64_t before) {
  Candidates candidates;
  HK_ASSIGN(const std::vector<std::int64_t> sources, source_numbers());
  HK_ASSIGN(const auto source_before, source_of(before));
  for (std::int64_t source : sources) {
    for (const KeyHash& key : hashes_of_text(text)) {
      HK_ASSIGN(const auto newest, keys_.find({source, key}));
      if (!newest) continue;
      // A later page goes on from where the last one ended, if that event is still there and in this chain.
      std::optional<std::int64_t> next;
      if (source_before == source) {
        HK_ASSIGN(next, older_of_key(before, key));
      }
      if (!next) next = newest->seq;
      std::int64_t rows = 0;
      while (next && rows < kStepRows) {
        if (*next < before) {
          candidates.seqs.push_back(*next);
          ++rows;
        }
        HK_ASSIGN(next, older_of_key(*next, key));
      }
      // A chain that goes on: what lies below its last event waits for the next step, so that the order holds over all
      // chains.
      if (next) candidates.resume = std::max(candidates.resume.value_or(0), candidates.seqs.back());
    }
  }
  std::sort(candidates.seqs.begin(), candidates.seqs.end(), std::greater<>());
  candidates.seqs.erase(std::unique(candidates.seqs.begin(), candidates.seqs.end()), candidates.seqs.end());
  while (candidates.resume && candidates.seqs.back() < *candidates.resume) candidates.seqs.pop_back();
  return candidates;
}

Result<std::vector<std::int64_t>> SqliteSearch::source_numbers() {
  std::vector<std::int64_t> numbers;
  Query query(source_numbers_);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return numbers;
    numbers.push_back(query.integer(0));
  }
}

Result<std::optional<std::int64_t>> SqliteSearch::source_of(std::int64_t seq) {
  Query query(source_of_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  return found ? std::optional(query.integer(0)) : std::nullopt;
}

Result<std::optional<std::int64_t>> SqliteSearch::older_of_key(std::int64_t seq, const KeyHash& key) {
  Query query(older_of_key_);
  query.bind_integer(seq).bind_blob(key);
  HK_ASSIGN(const bool found, query.row());
  return found && !query.is_null(0) ? std::optional(query.integer(0)) : std::nullopt;
}

Result<std::optional<EventSummary>> SqliteSearch::summary(std::int64_t seq) {
  Query query(summary_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return std::optional<EventSummary>();
  EventSummary summary;
  summary.id = EventId(query.bytes<16>(0));
  HK_ASSIGN(summary.source, sources_->name_of(query.integer(1)));
  summary.type = query.blob(2);
  summary.key = query.optional_blob(3);
  summary.received_at = query.time(4);
  summary.duplicates = query.integer(5);
  summary.size = static_cast<std::size_t>(query.integer(6));
  return std::optional(std::move(summary));
}

Result<std::optional<FoundEvent>> SqliteSearch::by_seq(std::int64_t seq, const EventFilter& filter) {
  HK_ASSIGN(auto read, summary(seq));
  if (!read || !matches_fields(filter, *read)) return std::optional<FoundEvent>();
  HK_ASSIGN(read->state, deliveries_->event_state(seq));
  if (filter.state && *filter.state != read->state) return std::optional<FoundEvent>();
  return std::optional(FoundEvent{seq, std::move(*read)});
}

Result<std::optional<FoundEvent>> SqliteSearch::by_id(const EventId& id) {
  std::int64_t seq = 0;
  {
    Query query(seq_of_);
    query.bind_blob(id.bytes());
    HK_ASSIGN(const bool found, query.row());
    if (!found) return std::optional<FoundEvent>();
    seq = query.integer(0);
  }
  return by_seq(seq, EventFilter());
}

}  // namespace hookonce
