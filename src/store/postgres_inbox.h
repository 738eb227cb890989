// Whether the inbox in a schema is still the one that a process opened, and whether its user may do all that a gateway
// does there.
//
// Who drops the schema, or exchanges it for another, takes every dedup key with it: a gateway that went on with an
// empty one would accept each event again. So the schema holds an id, each process remembers the one it found at its
// start, and nothing is made in the place of an inbox that is gone.
#pragma once

#include <optional>

#include "base/result.h"
#include "store/postgres_connection.h"

namespace hookonce {

using PostgresInboxId = std::optional<Bytes16>;  // nullopt: none was opened yet

// kNotFound: the inbox is gone, or another one.
Status check_same_inbox(PostgresConnection& connection, const PostgresTarget& target, const PostgresInboxId& opened,
                        Duration limit);
Status inbox_is_gone(const PostgresTarget& target);

// Tries a write and takes it back. kPrecondition, with what is missing and its mend, where a table is gone or the user
// lacks a right.
Status check_rights(PostgresConnection& connection, const PostgresTarget& target);

// kPrecondition: the user of the URL may not do `what`.
Status right_is_missing(const PostgresTarget& target, std::string_view what);

// The schema's name as SQL reads it. A name that is qualified fails by the right that is missing; one that is found on
// the search path merely does not exist.
std::string quoted_schema(const PostgresTarget& target);

}  // namespace hookonce
