#include "store/postgres_inbox.h"

#include <fmt/format.h>

#include "store/postgres_errors.h"

namespace hookonce {

namespace {

constexpr Duration kCheckLimit = std::chrono::seconds(5);

// What no statement of a gateway could do without. A right on a column alone is not looked for.
constexpr const char* kMissing =
    "SELECT (SELECT coalesce(string_agg(name, ', '), '')::text FROM "
    "unnest(string_to_array('events,contents,dedup,former_holders,pruned,arrivals,deliveries,lines,replies,attempts,"
    "batches', ',')) name "
    "WHERE NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid AND relname = name)), "
    "(SELECT coalesce(string_agg(privilege || ' on ' || relname, ', '), '')::text FROM pg_class, "
    "unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) privilege "
    "WHERE relnamespace = n.oid AND relkind = 'r' AND relname <> 'schema_version' "
    "AND NOT has_table_privilege(pg_class.oid, privilege)), "
    "has_schema_privilege(n.oid, 'USAGE') "
    "FROM pg_namespace n WHERE nspname = $1";

constexpr const char* kTriedWrite = "INSERT INTO former_holders (key, source, seq) VALUES (gen_random_uuid(), '', -1)";

}  // namespace

std::string quoted_schema(const PostgresTarget& target) {
  return "\"" + target.schema + "\"";
}

Status inbox_is_gone(const PostgresTarget& target) {
  return not_found(
      fmt::format("{}: the inbox that was opened is gone, or another one stands in its place; restore the schema {} "
                  "from a backup, or restart the gateway to begin with what is there: every key it knew is forgotten "
                  "then",
                  target.shown, target.schema));
}

Status right_is_missing(const PostgresTarget& target, std::string_view what) {
  return precondition(
      fmt::format("{}: the user of store.url has no right to {}; as the owner of the schema run GRANT USAGE ON SCHEMA "
                  "{} and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {} and GRANT ALL ON ALL "
                  "SEQUENCES IN SCHEMA {}, each TO that user",
                  target.shown, what, target.schema, target.schema, target.schema));
}

Status check_same_inbox(PostgresConnection& connection, const PostgresTarget& target, const PostgresInboxId& opened,
                        Duration limit) {
  connection.begin({target.schema, limit, limit, true});
  connection.add(fmt::format("SELECT inbox FROM {}.schema_version", quoted_schema(target)));
  const auto found = connection.run_and_commit();
  if (found.ok()) {
    const PostgresResult& row = found->at(0);
    return row.rows() == 1 && row.uuid(0, 0) == opened ? Status() : inbox_is_gone(target);
  }
  return is_undefined(connection.state()) ? inbox_is_gone(target) : found.status();
}

Status check_rights(PostgresConnection& connection, const PostgresTarget& target) {
  connection.begin({target.schema, kCheckLimit, kCheckLimit, false});
  connection.add(kMissing, PostgresParameters().add_text(target.schema));
  const auto answered = connection.run();
  HK_TRY(answered.status());
  const PostgresResult& missing = answered->at(0);
  if (missing.rows() != 1) return inbox_is_gone(target);
  if (const auto tables = missing.bytes(0, 0); !tables.empty()) {
    return precondition(fmt::format("{}: of the inbox is missing: {}; restore the schema {} from a backup",
                                    target.shown, tables, target.schema));
  }
  if (!missing.flag(0, 2)) return right_is_missing(target, "USAGE on its schema");
  if (const auto rights = missing.bytes(0, 1); !rights.empty()) return right_is_missing(target, rights);
  connection.add(kTriedWrite);
  const auto written = connection.run();
  if (!written.ok()) return written.status();
  connection.rollback();
  return {};
}

}  // namespace hookonce
