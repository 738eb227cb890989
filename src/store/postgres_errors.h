// What PostgreSQL's errors mean to a store, and in which words a person reads them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/postgres_connection.h"

namespace hookonce {

struct PostgresFailure {
  PostgresTrouble trouble = PostgresTrouble::kServer;
  Status status;
};

// `state` is the SQLSTATE of a statement's error.
PostgresFailure classify(std::string_view state, std::string_view message);

// libpq's message about a connection that did not come about, with the mend where a person is needed. kExhausted: the
// server has as many connections as it takes.
Status connect_error(std::string_view shown, std::string_view message);

// Whether the SQLSTATE says that a table, its schema or its column is not there.
bool is_undefined(std::string_view state);

// Lines joined by "; ", without blanks at the ends.
std::string one_line(std::string_view text);

}  // namespace hookonce
