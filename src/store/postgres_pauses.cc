#include "store/postgres_pauses.h"

namespace hookonce {

namespace {

// "hkpa" and what the schema's name makes.
constexpr const char* kShared = "SELECT pg_advisory_xact_lock_shared(1751871585, hashtext(current_schema()::text))";
constexpr const char* kAlone = "SELECT pg_advisory_xact_lock(1751871585, hashtext(current_schema()::text))";

}  // namespace

void lock_pauses(PostgresConnection& connection) {
  connection.add(kShared);
}

void queue_paused(PostgresConnection& connection, const std::set<std::string>& destinations) {
  PostgresColumn names(PostgresType::kBytea);
  for (const std::string& name : destinations) names.add(std::string_view(name));
  connection.add("SELECT destination FROM pauses WHERE destination = ANY ($1::bytea[])",
                 PostgresParameters().add_column(std::move(names)));
}

std::set<std::string> read_paused(const PostgresResult& result) {
  std::set<std::string> names;
  for (int row = 0; row < result.rows(); ++row) names.insert(std::string(result.bytes(row, 0)));
  return names;
}

Result<bool> write_paused(PostgresConnection& connection, const PostgresTransaction& transaction,
                          const std::string& destination, bool paused) {
  connection.begin(transaction);
  connection.add(kAlone);
  connection.add(paused ? "INSERT INTO pauses (destination) VALUES ($1) ON CONFLICT DO NOTHING"
                        : "DELETE FROM pauses WHERE destination = $1",
                 PostgresParameters().add_bytes(std::string_view(destination)));
  HK_ASSIGN(const auto results, connection.run_and_commit());
  return results.at(1).rows_changed() > 0;
}

}  // namespace hookonce
