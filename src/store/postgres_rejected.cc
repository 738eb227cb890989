#include "store/postgres_rejected.h"

#include <utility>

#include "base/sync.h"
#include "store/event_filter.h"
#include "store/postgres_pool.h"
#include "store/rejected_record.h"

namespace hookonce {

namespace {

constexpr int kConnections = 2;  // the one that keeps, and whoever looks
constexpr Duration kStatementTimeout = std::chrono::seconds(5);

// What a crash takes of these is lost anyway, so that no flush is waited for.
constexpr const char* kUnsynced = "SET LOCAL synchronous_commit = off";
// Rows that two gateways count at once, in different orders, would else lock each other out.
constexpr const char* kOneAtATime = "SELECT pg_advisory_xact_lock(1919249012, hashtext($1))";
constexpr const char* kKeep =
    "INSERT INTO rejected (id, digest, source, last_at, count, size, request) VALUES ($1, $2, $3, $4, $5, $6, $7) "
    "ON CONFLICT (digest) DO UPDATE SET count = rejected.count + excluded.count, "
    "last_at = greatest(rejected.last_at, excluded.last_at)";
// All but the newest that the limits leave room for.
constexpr const char* kTrim =
    "DELETE FROM rejected WHERE seq IN (SELECT seq FROM (SELECT seq, row_number() OVER newest AS place, sum(size) OVER "
    "newest AS bytes FROM rejected WHERE source = $1 WINDOW newest AS (ORDER BY seq DESC)) AS ranked "
    "WHERE place > $2 OR bytes > $3)";
// The bytes of a page are known before any request is read.
constexpr const char* kList =
    "SELECT seq, last_at, count, request FROM (SELECT seq, row_number() OVER newest AS place, sum(size) OVER newest AS "
    "bytes FROM rejected WHERE seq < $1 AND ($2::bytea IS NULL OR source = $2) WINDOW newest AS (ORDER BY seq DESC) "
    "ORDER BY seq DESC LIMIT $3) AS page JOIN rejected USING (seq) WHERE place = 1 OR bytes <= $4 ORDER BY seq DESC";
constexpr const char* kAny = "SELECT 1 FROM rejected WHERE seq < $1 AND ($2::bytea IS NULL OR source = $2) LIMIT 1";
constexpr const char* kGet = "SELECT seq, last_at, count, request FROM rejected WHERE id = $1";
constexpr const char* kRemove = "DELETE FROM rejected WHERE id = $1";

Result<RejectedRequest> read(const PostgresResult& rows, int row) {
  HK_ASSIGN(RejectedRequest request, decode_rejected(rows.bytes(row, 3)));
  request.last_at = rows.time(row, 1);
  request.count = rows.bigint(row, 2);
  return request;
}

class PostgresRejected final : public RejectedStore {
 public:
  explicit PostgresRejected(PostgresTarget target) : target_(std::move(target)), pool_(target_, kConnections) {}

  Status keep(std::span<const RejectedRequest> requests, const RejectedLimits& limits) override {
    return transact(false,
                    [&](PostgresConnection& connection) {
                      connection.add(kUnsynced);
                      connection.add(kOneAtATime, PostgresParameters().add_text(target_.schema));
                      for (const RejectedRequest& request : requests) {
                        PostgresParameters row;
                        row.add_uuid(request.id.bytes())
                            .add_uuid(digest_of(request))
                            .add_bytes(std::string_view(request.source));
                        row.add_time(request.last_at).add_bigint(request.count).add_bigint(request.size());
                        row.add_bytes(std::string_view(encode_rejected(request)));
                        connection.add(kKeep, row);
                      }
                      for (const RejectedRequest& request : requests) {
                        PostgresParameters trim;
                        trim.add_bytes(std::string_view(request.source))
                            .add_bigint(limits.requests)
                            .add_bigint(limits.bytes);
                        connection.add(kTrim, trim);
                      }
                    })
        .status();
  }

  Result<RejectedPage> list(const std::optional<std::string>& source, int limit,
                            const std::optional<std::string>& cursor) override {
    HK_ASSIGN(const std::int64_t below, parse_cursor(cursor));
    HK_ASSIGN(const auto rows, transact(true, [&](PostgresConnection& connection) {
                PostgresParameters parameters;
                parameters.add_bigint(below).add_bytes(source).add_bigint(std::int64_t{limit});
                parameters.add_bigint(kRejectedPageBytes);
                connection.add(kList, parameters);
              }));
    RejectedPage page;
    const PostgresResult& found = rows.back();
    for (int row = 0; row < found.rows(); ++row) {
      HK_ASSIGN(RejectedRequest request, read(found, row));
      page.items.push_back(std::move(request));
    }
    if (page.items.empty()) return page;
    const std::int64_t last = found.bigint(found.rows() - 1, 0);
    HK_ASSIGN(const auto more, transact(true, [&](PostgresConnection& connection) {
                connection.add(kAny, PostgresParameters().add_bigint(last).add_bytes(source));
              }));
    if (more.back().rows() > 0) page.next = format_cursor(last);
    return page;
  }

  Result<std::optional<RejectedRequest>> get(const EventId& id) override {
    HK_ASSIGN(const auto rows, transact(true, [&](PostgresConnection& connection) {
                connection.add(kGet, PostgresParameters().add_uuid(id.bytes()));
              }));
    if (rows.back().rows() == 0) return std::optional<RejectedRequest>();
    HK_ASSIGN(RejectedRequest request, read(rows.back(), 0));
    return std::optional(std::move(request));
  }

  Result<bool> remove(const EventId& id) override {
    HK_ASSIGN(const auto rows, transact(false, [&](PostgresConnection& connection) {
                connection.add(kRemove, PostgresParameters().add_uuid(id.bytes()));
              }));
    return rows.back().rows_changed() > 0;
  }

 private:
  // One transaction with the statements that `add` queues; their results.
  template <typename Add>
  Result<std::vector<PostgresResult>> transact(bool read_only, Add add) {
    HK_ASSIGN(PostgresPool::Loan loan, pool_.borrow(PostgresPool::Opening::kAllowed));
    PostgresConnection& connection = loan.connection();
    connection.begin({target_.schema, kStatementTimeout, kStatementTimeout, read_only});
    add(connection);
    auto results = connection.run_and_commit();
    if (results.ok() || connection.rollback()) loan.keep();
    if (results.ok()) return results;
    // Nothing here is worth telling apart whether it was done: what is lost of it is lost.
    return results.code() == Code::kInternal ? results.status() : unavailable(results.status().message());
  }

  const PostgresTarget target_;
  PostgresPool pool_;
};

}  // namespace

Result<std::unique_ptr<RejectedStore>> open_postgres_rejected(std::string_view url) {
  HK_ASSIGN(PostgresTarget target, parse_postgres_url(url));
  return std::unique_ptr<RejectedStore>(std::make_unique<PostgresRejected>(std::move(target)));
}

}  // namespace hookonce
