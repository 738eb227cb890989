// The tables of a PostgreSQL inbox, as numbered migrations, and what a server must be to hold one.
//
// To change the tables: add a migration with the next number to postgres_schema.cc and never touch a landed one.
#pragma once

#include "base/result.h"
#include "store/postgres_connection.h"
#include "store/postgres_inbox.h"

namespace hookonce {

// kPrecondition, each with its mend: older than version 13, fsync or full_page_writes off, a read-only replica.
// kUnavailable where the server does not answer. The time is the server's when it answered.
struct PostgresServerState {
  bool standby_names = false;  // synchronous_standby_names is set: a failover loses nothing that was acknowledged
};
Result<PostgresServerState> check_server(PostgresConnection& connection, const PostgresTarget& target);

// kPrecondition: the schema holds no inbox. Makes nothing.
Status check_inbox_exists(PostgresConnection& connection, const PostgresTarget& target);

// Makes the schema and its tables, or brings older ones up to date: in one transaction, and of several gateways that
// start at once only one does. The inbox's id. kPrecondition: not ours, newer than this program, no right to make it.
// kNotFound: `opened` is an inbox that is not there any more; nothing is made then.
Result<Bytes16> prepare_schema(PostgresConnection& connection, const PostgresTarget& target,
                               const PostgresInboxId& opened);

}  // namespace hookonce
