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
constexpr std::int64_t kFewOpen = 5000;           // index entries that are read and sorted in a millisecond
constexpr std::int64_t kNewestFirst = 6000;       // events: some ten milliseconds
constexpr std::size_t kOpenKept = 20'000;         // events of open deliveries that are sorted at once

void keep_newest(OpenEvents& open) {
  const auto first_kept = open.seqs.end() - kOpenKept;
  std::nth_element(open.seqs.begin(), first_kept, open.seqs.end());
  open.seqs.erase(open.seqs.begin(), first_kept);
  open.whole = false;
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
          {&open_, "SELECT seq FROM deliveries INDEXED BY deliveries_open WHERE state IN (0, 1) AND seq < ?"},
          {&some_open_,
           "SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_open WHERE state IN (0, 1) LIMIT ?)"},
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
  for (std::int64_t seq : next.seqs) {
    if (search.found.size() >= search.wanted || bytes >= kStepBytesMax) {
      search.open.reset();  // what is left of this step's candidates is read again
      search.finished = search.found.size() >= search.wanted || steady_now() >= search.stop_at;
      return {};
    }
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

Result<SqliteSearch::Candidates> SqliteSearch::candidates(Search& search) {
  if (search.filter.key) return from_key(*search.filter.key, search.before);
  if (search.filter.state == EventState::kPending) {
    if (search.open || search.rows >= kNewestFirst) return from_open(search);
    HK_ASSIGN(const bool few, are_few_open());
    return few ? from_open(search) : from_all(search);
  }
  if (search.filter.state == EventState::kDead || search.dead_deliveries) return from_dead(search.before);
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
  const std::int64_t step = search.rows == 0 ? static_cast<std::int64_t>(search.wanted) : kStepRows;
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

Result<SqliteSearch::Candidates> SqliteSearch::from_dead(std::int64_t before) {
  Candidates candidates;
  Query query(dead_);
  query.bind_integer(before).bind_integer(kStepRows);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) break;
    ++candidates.rows;
    const std::int64_t seq = query.integer(0);
    if (candidates.seqs.empty() || candidates.seqs.back() != seq) candidates.seqs.push_back(seq);
  }
  if (candidates.rows == kStepRows) candidates.resume = candidates.seqs.back();
  return candidates;
}

// Where few deliveries are open, their index finds them at once, wherever they lie. Where many are, enough of them are
// mostly among the newest events, and if not, one reading of the whole index serves all further steps.
Result<bool> SqliteSearch::are_few_open() {
  Query query(some_open_);
  query.bind_integer(kFewOpen);
  HK_ASSIGN(const bool counted, query.row());
  return counted && query.integer(0) < kFewOpen;
}

// The index is by destination and due time, so nothing of it comes in the order of the list.
Result<SqliteSearch::Candidates> SqliteSearch::from_open(Search& search) {
  if (!search.open) {
    OpenEvents open;
    Query query(open_);
    query.bind_integer(search.before);
    while (true) {
      HK_ASSIGN(const bool more, query.row());
      if (!more) break;
      open.seqs.push_back(query.integer(0));
      if (open.seqs.size() == 2 * kOpenKept) keep_newest(open);
    }
    if (open.seqs.size() > kOpenKept) keep_newest(open);
    std::sort(open.seqs.begin(), open.seqs.end());
    open.seqs.erase(std::unique(open.seqs.begin(), open.seqs.end()), open.seqs.end());
    search.open = std::move(open);
  }
  OpenEvents& open = *search.open;
  Candidates candidates;
  while (!open.seqs.empty() && candidates.rows < kStepRows) {
    candidates.seqs.push_back(open.seqs.back());
    open.seqs.pop_back();
    ++candidates.rows;
  }
  if (!open.seqs.empty() || !open.whole) candidates.resume = candidates.seqs.back();
  if (open.seqs.empty() && !open.whole) search.open.reset();  // read again from here
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
