// Leases out and outcomes in: claim, settle, and when the next delivery is due.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite_deliveries.h"
#include "store/sqlite_lines.h"
#include "store/sqlite_names.h"
#include "store/sqlite_pauses.h"
#include "store/sqlite_replies.h"
#include "store/store.h"

namespace hookonce {

class SqliteClaim {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteNames& sources, SqliteNames& destinations, SqliteDeliveries& deliveries,
                 SqliteLines& lines, SqliteReplies& replies, SqlitePauses& pauses);

  // REQUIRES: within a write transaction.
  Result<Claimed> claim(const ClaimRequest& request, Time now);
  Result<SettleFacts> settle(const Settlement& settlement, Time now);
  // At start: whoever held a lease is dead, so what is in flight is due. REQUIRES: within a write transaction.
  Status end_leases(Time now);
  // Where the newest event is from the future, the clock was ahead when it came and has been set back: retries that
  // were planned by it come as much earlier.
  Status follow_clock(Time now);

  Result<std::optional<Time>> next_due(const std::vector<std::string>& destinations, Time now);

 private:
  // What all leases of one event share; kept for one claim, so that two destinations share one body.
  struct Content {
    EventId id;
    std::string source;
    std::string type;
    Time received_at{};
    bool forwarded_trusted = false;
    std::string new_items;
    std::shared_ptr<const Headers> headers;
    std::shared_ptr<const std::string> body;
  };
  using Contents = std::map<std::int64_t, Content>;

  Status claim_for(const ClaimDestination& destination, Time now, Contents& contents, Claimed& claimed);
  Result<std::vector<std::int64_t>> due(std::int64_t destination, Time now, int limit);
  Result<const Content*> content(std::int64_t seq, Contents& contents);

  SqliteNames* sources_ = nullptr;
  SqliteNames* destinations_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteLines* lines_ = nullptr;
  SqliteReplies* replies_ = nullptr;
  SqlitePauses* pauses_ = nullptr;
  Statement due_;
  Statement content_;
  Statement seq_of_;
  Statement next_due_;
  Statement newest_;
  Statement bring_forward_;
  Statement end_leases_;
};

}  // namespace hookonce
