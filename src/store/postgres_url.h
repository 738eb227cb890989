// The URL of a PostgreSQL inbox: what libpq gets of it, which schema it names, and how it is shown.
//
//   postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME&sslmode=verify-full
//
// `schema` is ours (default `hookonce`); everything else is libpq's, which also reads PGPASSFILE and its kin.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hookonce {

struct PostgresTarget {
  std::vector<std::pair<std::string, std::string>> parameters;  // libpq's keywords and values; may hold the password
  std::string schema = "hookonce";
  std::string shown;  // the URL for people: host, port, database and schema, never a password
};

bool is_postgres_url(std::string_view url);

// kInvalid where it is not such a URL; the message never quotes it, because it may hold a password.
Result<PostgresTarget> parse_postgres_url(std::string_view url);

}  // namespace hookonce
