#include "store/copy_inbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "store/inbox_records.h"

namespace hookonce {

namespace {

// The clocks of the two stores and of this machine need not agree. A key that was over a little while ago is copied as
// one that is over; one that seems to be and is not would be lost.
constexpr Duration kClockMargin = std::chrono::minutes(5);

Result<InboxRecords*> records_of(const CopySide& side) {
  InboxRecords* records = side.store.records();
  if (records == nullptr) return invalid(side.name + ": this version cannot copy such a store");
  return records;
}

// Where an earlier run ended, or nothing where this is the first.
Result<std::optional<CopyMark>> resume_from(InboxRecords& from, InboxRecords& to, const CopySide& source,
                                            const CopySide& target) {
  HK_ASSIGN(auto mark, to.mark());
  if (!mark) {
    HK_ASSIGN(const auto reader, to.read(0, Time()));
    HK_ASSIGN(const std::vector<InboxRecord> records, reader->next());
    if (records.empty()) return mark;
    return precondition(target.name + ": not empty; copy into a new store, so that no two inboxes are mixed");
  }
  HK_ASSIGN(const auto reader, from.read(mark->position - 1, Time()));
  HK_ASSIGN(const std::vector<InboxRecord> records, reader->next());
  if (!records.empty() && records[0].position == mark->position && records[0].id == mark->last) return mark;
  return precondition(
      fmt::format("{}: holds a part of another inbox, copied from {}, or {} has changed since; empty the target and "
                  "begin anew",
                  target.name, mark->from, source.name));
}

// As the source has them now: an interrupted run may have left others.
Status copy_pauses(const StoreStats& source, Store& target, Time now) {
  HK_ASSIGN(const StoreStats there, target.stats(now));
  for (const std::string& name : there.paused) {
    if (std::find(source.paused.begin(), source.paused.end(), name) == source.paused.end())
      HK_TRY(target.set_paused(name, false).status());
  }
  for (const std::string& name : source.paused) HK_TRY(target.set_paused(name, true).status());
  return {};
}

// One record after the other.
class RecordStream {
 public:
  explicit RecordStream(std::unique_ptr<InboxReader> reader) : reader_(std::move(reader)) {}

  // Null at the end; valid until the next call.
  Result<const InboxRecord*> next() {
    if (at_ == page_.size()) {
      HK_ASSIGN(page_, reader_->next());
      at_ = 0;
      if (page_.empty()) return static_cast<const InboxRecord*>(nullptr);
    }
    return static_cast<const InboxRecord*>(&page_[at_++]);
  }

 private:
  std::unique_ptr<InboxReader> reader_;
  std::vector<InboxRecord> page_;
  std::size_t at_ = 0;
};

// False where it was stopped.
Result<bool> compare(InboxRecords& from, InboxRecords& to, Time as_of, const CopyWatch& watch, std::int64_t total,
                     CopyReport& report) {
  HK_ASSIGN(auto from_reader, from.read(0, as_of));
  HK_ASSIGN(auto to_reader, to.read(0, as_of));
  RecordStream left(std::move(from_reader)), right(std::move(to_reader));
  for (std::int64_t done = 0;;) {
    HK_ASSIGN(const InboxRecord* const mine, left.next());
    HK_ASSIGN(const InboxRecord* const other, right.next());
    if (mine == nullptr && other == nullptr) return true;
    if (mine != nullptr) report.source.add(*mine);
    if (other != nullptr) report.target.add(*other);
    if (!report.difference && !report.equal()) report.difference = (mine != nullptr ? mine : other)->id.text();
    if (++done % kCopiedRecords == 0 && !watch({CopyProgress::Stage::kComparing, done, std::max(done, total)})) {
      return false;
    }
  }
}

}  // namespace

Result<CopyReport> copy_inbox(const CopySide& source, const CopySide& target, const Clock& clock,
                              const CopyWatch& watch) {
  HK_ASSIGN(InboxRecords* const from, records_of(source));
  HK_ASSIGN(InboxRecords* const to, records_of(target));
  HK_ASSIGN(const auto unfinished, from->mark());
  if (unfinished) return precondition(source.name + ": is itself a copy that was not finished; copy from its origin");
  HK_ASSIGN(const auto earlier, resume_from(*from, *to, source, target));

  CopyReport report;
  CopyMark mark = earlier.value_or(CopyMark{});
  mark.from = source.name;
  report.resumed_at = mark.records;
  HK_ASSIGN(const StoreStats stats, source.store.stats(clock.now()));
  HK_ASSIGN(const auto reader, from->read(mark.position, clock.now() - kClockMargin));
  while (true) {
    if (!watch({CopyProgress::Stage::kCopying, mark.records, std::max(stats.events, mark.records)})) {
      report.stopped = true;
      return report;
    }
    HK_ASSIGN(const std::vector<InboxRecord> records, reader->next());
    if (records.empty()) break;
    mark.position = records.back().position;
    mark.last = records.back().id;
    mark.records += static_cast<std::int64_t>(records.size());
    HK_TRY(to->write(records, mark));
  }
  HK_TRY(copy_pauses(stats, target.store, clock.now()));
  // By a moment of its own: what has become over meanwhile is over on both sides.
  HK_ASSIGN(const bool whole, compare(*from, *to, clock.now() - kClockMargin, watch, mark.records, report));
  report.stopped = !whole;
  if (whole && report.equal()) HK_TRY(to->remove_mark());
  return report;
}

}  // namespace hookonce
