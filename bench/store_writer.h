// The bare client of `./x bench stores`: writes batches of rows into the tables or keys of an inbox that a gateway
// made, one durable transaction a batch, and does nothing else. It shares no code with src/store, so that it can be the
// measure of what is there.
//
// Single-threaded, one connection, one batch at a time, as the gateway's committer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "bench/store_row.h"

namespace hookonce {

class StoreWriter {
 public:
  virtual ~StoreWriter() = default;
  // How many of the rows were new; the others' dedup keys were taken and nothing else of them is written.
  virtual Result<std::int64_t> write(std::span<const StoreRow> rows, Time now) = 0;
};

// `schema`: one that a gateway made.
Result<std::unique_ptr<StoreWriter>> open_postgres_writer(const std::string& url, const std::string& schema);
Result<std::unique_ptr<StoreWriter>> open_redis_writer(std::uint16_t port, const std::string& prefix);

}  // namespace hookonce
