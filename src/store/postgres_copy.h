// Whole records out of a PostgreSQL inbox and into one.
//
// A copy that is not finished has one table more than an inbox, which holds its mark and goes with its end.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "store/inbox_records.h"
#include "store/postgres_connection.h"

namespace hookonce {

// All below begin and commit a transaction of their own.

// As InboxReader::next(), behind `after`; where the last record looked at lies goes into `after`.
Result<std::vector<InboxRecord>> read_records(PostgresConnection& connection, const PostgresTransaction& transaction,
                                              std::int64_t& after, Time as_of);

// As InboxRecords::write().
Status write_records(PostgresConnection& connection, const PostgresTransaction& transaction,
                     std::span<const InboxRecord> records, const CopyMark& mark);

Result<std::optional<CopyMark>> read_copy_mark(PostgresConnection& connection, const PostgresTransaction& transaction);
Status remove_copy_mark(PostgresConnection& connection, const PostgresTransaction& transaction);

}  // namespace hookonce
