#include "store/postgres_url.h"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

constexpr std::string_view kSchema = "schema=";
constexpr std::size_t kSchemaMax = 63;  // the server cuts longer names
constexpr const char* kForm = "write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %XX for special characters";

// Lower case alone, so that the name means the same with and without quotes.
bool is_schema_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= kSchemaMax && std::all_of(name.begin(), name.end(), fits) &&
         !(name[0] >= '0' && name[0] <= '9') && name.substr(0, 3) != "pg_";
}

// Takes `schema=` out of the query, which libpq would refuse.
Result<std::string> take_schema(std::string_view url, std::string& schema) {
  const std::size_t mark = url.find('?');
  if (mark == std::string_view::npos) return std::string(url);
  std::vector<std::string> rest;
  for (std::string_view part : split(url.substr(mark + 1), '&')) {
    if (part.substr(0, kSchema.size()) != kSchema) {
      rest.emplace_back(part);
      continue;
    }
    schema = part.substr(kSchema.size());
    if (!is_schema_name(schema)) {
      return invalid(
          "store postgres: the schema's name must be lower-case letters, digits and underscores, at most 63");
    }
  }
  std::string without(url.substr(0, mark));
  if (!rest.empty()) without += "?" + join(rest, "&");
  return without;
}

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

}  // namespace

bool is_postgres_url(std::string_view url) {
  return url.substr(0, 11) == "postgres://" || url.substr(0, 13) == "postgresql://";
}

Result<PostgresTarget> parse_postgres_url(std::string_view url) {
  if (!is_postgres_url(url)) return invalid(fmt::format("store postgres: not a URL; {}", kForm));
  if (url.find('\0') != std::string_view::npos) return invalid("store postgres: a NUL in the URL");
  PostgresTarget target;
  HK_ASSIGN(const std::string without, take_schema(url, target.schema));
  // libpq's own message may quote a part of the password.
  std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(without.c_str(), nullptr));
  if (!options) return invalid(fmt::format("store postgres: not a valid URL; {}", kForm));
  std::string host, port, database;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string keyword = option->keyword;
    if (keyword == "host" || keyword == "hostaddr") host = option->val;
    if (keyword == "port") port = option->val;
    if (keyword == "dbname") database = option->val;
    target.parameters.emplace_back(keyword, option->val);
  }
  // A password with a bare `@` or `/` in it would stand in these, and be shown; so would the one of a connection string
  // in the database's place.
  const bool digits = port.find_first_not_of("0123456789,") == std::string::npos;
  if (!digits || host.find('@') != std::string::npos || database.find_first_of("@/=") != std::string::npos) {
    return invalid(fmt::format("store postgres: not a valid URL; {}", kForm));
  }
  target.shown =
      fmt::format("postgres://{}{}/{}?schema={}", host, port.empty() ? "" : ":" + port, database, target.schema);
  return target;
}

}  // namespace hookonce
