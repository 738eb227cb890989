#include "store/sqlite_search.h"

#include <algorithm>
#include <functional>

#include "base/clock.h"
#include "core/dedup.h"
#include "store/event_filter.h"

namespace hookonce {

namespace {

constexpr std::int64_t kStepRows = 2000;          // candidates of one step: a few milliseconds
constexpr std::size_t kStepBytesMax = 16u << 20;  // bodies of one step, likewise
constexpr std::size_t kJudgedAtOnce = 64;         // candidates between two looks at the time

// Most lists are answered by what they ask for.
std::int64_t step_of(const Search& search) {
  return search.rows == 0 ? static_cast<std::int64_t>(search.wanted) : kStepRows;
}

}  // namespace

Status SqliteSearch::prepare(Database& database, SqliteNames& sources, SqliteDeliveries& deliveries,
                             const SqliteHotKeys& hot) {
  sources_ = &sources;
  deliveries_ = &deliveries;
  HK_TRY(keys_.prepare(database, hot));
  return prepare_all(
      database,
      {
          {&all_, "SELECT seq, received_at, source, type FROM events WHERE seq < ? ORDER BY seq DESC LIMIT ?"},
          // An event appears once per delivery in the indexes.
          {&open_,
           "SELECT seq FROM deliveries INDEXED BY deliveries_open_in_order "
           "WHERE state IN (0, 1) AND seq < ? ORDER BY seq DESC LIMIT ?"},
          {&dead_,
           "SELECT seq FROM deliveries INDEXED BY deliveries_dead "
           "WHERE state = 3 AND seq < ? ORDER BY seq DESC LIMIT ?"},
          {&source_numbers_, "SELECT id FROM sources"},
          {&older_of_key_, "SELECT older FROM event_keys WHERE seq = ? AND key = ?"},
          {&summary_, "SELECT id, source, type, key, received_at, duplicates, size FROM events WHERE seq = ?"},
          {&seq_of_, "SELECT seq FROM events WHERE id = ?"},
          {&body_, "SELECT body FROM contents WHERE seq = ?"},
      });
}

Status SqliteSearch::step(Search& search) {
  HK_ASSIGN(const Candidates next, candidates(search));
  search.rows += next.rows;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < next.seqs.size(); ++i) {
    const bool full = search.found.size() >= search.wanted;
    const bool late = i > 0 && i % kJudgedAtOnce == 0 && steady_now() >= search.stop_at;
    if (full || late || bytes >= kStepBytesMax) {
      search.finished = full || late || steady_now() >= search.stop_at;
      return {};
    }
    const std::int64_t seq = next.seqs[i];
    search.before = seq;
    HK_ASSIGN(const bool matches, judge(search, seq, bytes));
    if (!matches) continue;
    HK_ASSIGN(auto read, by_seq(seq, EventFilter()));
    if (read) search.found.push_back(std::move(*read));
  }
  search.exhausted = !next.resume;
  if (next.resume) search.before = *next.resume;
  if (next.looked_until) search.looked_until = next.looked_until;
  search.finished = search.exhausted || search.found.size() >= search.wanted || steady_now() >= search.stop_at;
  return {};
}

// The cheap questions first: fields, then the deliveries' rows, then the body.
Result<bool> SqliteSearch::judge(Search& search, std::int64_t seq, std::size_t& bytes) {
  HK_ASSIGN(const auto read, summary(seq));
  if (!read) return false;
  search.looked_until = read->received_at;
  if (!matches_fields(search.filter, *read)) return false;
  if (search.filter.state) {
    HK_ASSIGN(const EventState state, deliveries_->event_state(seq));
    if (state != *search.filter.state) return false;
  }
  if (matches_names(search.filter, *read)) return true;
  Query query(body_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return false;
  bytes += query.blob(0).size();
  return contains(query.blob(0), search.filter.query);
}

Result<SqliteSearch::Candidates> SqliteSearch::candidates(const Search& search) {
  if (search.filter.key) return from_key(*search.filter.key, search.before);
  if (search.filter.state == EventState::kPending) return from_index(open_, search);
  if (search.filter.state == EventState::kDead || search.dead_deliveries) return from_index(dead_, search);
  return from_all(search);
}

// What cannot match is left out here already: of a million events nearly all are, where a type is rare.
Result<SqliteSearch::Candidates> SqliteSearch::from_all(const Search& search) {
  const EventFilter& filter = search.filter;
  std::optional<std::int64_t> source;
  if (filter.source) {
    HK_ASSIGN(source, sources_->find(*filter.source));
    if (!source) return Candidates();  // no event is of it
  }
  Candidates candidates;
  const std::int64_t step = step_of(search);
  Query query(all_);
  query.bind_integer(search.before).bind_integer(step);
  std::int64_t last = 0;
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) break;
    ++candidates.rows;
    last = query.integer(0);
    const Time received_at = query.time(1);
    candidates.looked_until = received_at;
    const bool matches = (!source || query.integer(2) == *source) && (!filter.type || query.blob(3) == *filter.type) &&
                         (!filter.since || received_at >= *filter.since) &&
                         (!filter.until || received_at < *filter.until);
    if (matches) candidates.seqs.push_back(last);
  }
  if (candidates.rows == step) candidates.resume = last;
  return candidates;
}

Result<SqliteSearch::Candidates> SqliteSearch::from_index(Statement& index, const Search& search) {
  Candidates candidates;
  const std::int64_t step = step_of(search);
  Query query(index);
  query.bind_integer(search.before).bind_integer(step);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) break;
    ++candidates.rows;
    const std::int64_t seq = query.integer(0);
    if (candidates.seqs.empty() || candidates.seqs.back() != seq) candidates.seqs.push_back(seq);
  }
  if (candidates.rows == step) candidates.resume = candidates.seqs.back();
  return candidates;
}

// Every event shown as `text` holds or held a key of it: from the dedup row down the chain of holders, in every source.
// All of the chain is read each time: an event that a later duplicate brought the key to stands above newer ones.
Result<SqliteSearch::Candidates> SqliteSearch::from_key(const std::string& text, std::int64_t before) {
  Candidates candidates;
  HK_ASSIGN(const std::vector<std::int64_t> sources, source_numbers());
  for (std::int64_t source : sources) {
    for (const KeyHash& key : hashes_of_text(text)) {
      HK_ASSIGN(const auto newest, keys_.find({source, key}));
      std::optional<std::int64_t> next;
      if (newest) next = newest->seq;
      while (next) {
        if (*next < before) candidates.seqs.push_back(*next);
        HK_ASSIGN(next, older_of_key(*next, key));
      }
    }
  }
  candidates.rows = static_cast<std::int64_t>(candidates.seqs.size());
  std::sort(candidates.seqs.begin(), candidates.seqs.end(), std::greater<>());
  candidates.seqs.erase(std::unique(candidates.seqs.begin(), candidates.seqs.end()), candidates.seqs.end());
  if (candidates.seqs.size() > static_cast<std::size_t>(kStepRows)) {
    candidates.seqs.resize(static_cast<std::size_t>(kStepRows));
    candidates.resume = candidates.seqs.back();
  }
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
