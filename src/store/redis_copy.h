// Whole records out of a Redis inbox and into one.
//
// Reading is plain commands, because nobody writes meanwhile. A page is written by one script. While a copy is not
// finished, PREFIX:inbox has another marker: a gateway that runs on the target is cut off by it, one that starts there
// refuses it.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "store/inbox_records.h"
#include "store/redis_server.h"

namespace hookonce {

class RedisRecords final : public InboxRecords {
 public:
  // REQUIRES: the server outlives this and its readers.
  explicit RedisRecords(RedisServer& server) : server_(server) {}

  Result<std::unique_ptr<InboxReader>> read(std::int64_t after, Time as_of) override;
  Status write(std::span<const InboxRecord> records, const CopyMark& mark) override;
  Result<std::optional<CopyMark>> mark() override;
  Status remove_mark() override;

 private:
  RedisServer& server_;
};

}  // namespace hookonce
