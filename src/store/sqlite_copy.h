// Whole records out of a SQLite inbox and into one.
//
// A copy that is not finished has one table more than an inbox, which holds its mark and goes with its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/inbox_records.h"
#include "store/sqlite_accept.h"
#include "store/sqlite_deliveries.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_lines.h"
#include "store/sqlite_names.h"
#include "store/sqlite_replies.h"

namespace hookonce {

class SqliteRecordReader {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteNames& sources, SqliteNames& destinations, SqliteDeliveries& deliveries,
                 SqliteKeyLookup& keys, SqliteReplies& replies);

  // As InboxReader::next(). REQUIRES: within a read transaction.
  Result<std::vector<InboxRecord>> page(std::int64_t after, Time as_of);

 private:
  struct Place {
    std::int64_t seq = 0;
    bool pruned = false;
  };
  Result<std::vector<Place>> places(std::int64_t after);
  Result<InboxRecord> read(const Place& place, Time as_of);
  Status read_keys(std::int64_t source, Time as_of, InboxRecord& record);
  Status read_event(std::int64_t seq, InboxRecord& record, std::int64_t& source);
  Status read_duplicates(std::int64_t seq, RecordedContent& content);
  Status read_deliveries(std::int64_t seq, std::int64_t source, RecordedContent& content);
  Status read_pruned(std::int64_t seq, InboxRecord& record, std::int64_t& source);

  SqliteNames* sources_ = nullptr;
  SqliteNames* destinations_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteKeyLookup* keys_ = nullptr;
  SqliteReplies* replies_ = nullptr;
  Statement places_;
  Statement event_;
  Statement duplicates_;
  Statement pruned_;
  Statement event_keys_;
  Statement in_line_;
};

class SqliteRecordWriter {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteNames& sources, SqliteNames& destinations, SqliteDeliveries& deliveries,
                 SqliteKeys& keys, SqliteLines& lines, SqliteReplies& replies, SqliteAccept& accept);

  // As InboxRecords::write(). REQUIRES: within a write transaction.
  Status write(const InboxRecord& record);

 private:
  Result<bool> is_here(const InboxRecord& record, std::int64_t source);
  Status write_event(const InboxRecord& record, const RecordedContent& content, std::int64_t seq, std::int64_t source);
  Status write_pruned(const InboxRecord& record, std::int64_t seq, std::int64_t source);

  SqliteNames* sources_ = nullptr;
  SqliteNames* destinations_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteKeys* keys_ = nullptr;
  SqliteLines* lines_ = nullptr;
  SqliteReplies* replies_ = nullptr;
  SqliteAccept* accept_ = nullptr;
  Statement is_event_;
  Statement is_pruned_;
  Statement insert_event_;
  Statement insert_content_;
  Statement insert_arrival_;
  Statement insert_pruned_;
};

Result<std::optional<CopyMark>> read_copy_mark(Database& database);
// REQUIRES, for both: within a write transaction.
Status write_copy_mark(Database& database, const CopyMark& mark);
Status remove_copy_mark(Database& database);

}  // namespace hookonce
