#include "store/postgres_errors.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

PostgresFailure classify(std::string_view state, std::string_view message) {
  const std::string text = fmt::format("{} (SQLSTATE {})", one_line(message), state);
  if (state == "40P01" || state == "40001") return {PostgresTrouble::kRepeat, unavailable(text)};
  if (state == "55P03") return {PostgresTrouble::kBusy, exhausted(text)};
  if (state == "57014") return {PostgresTrouble::kBusy, unavailable(text)};
  const std::string_view kind = state.substr(0, 2);
  // Data that does not fit, a constraint, a limit of the program: the batch is at fault.
  if (kind == "21" || kind == "22" || kind == "23" || kind == "54") return {PostgresTrouble::kItem, internal(text)};
  if (kind == "08" || kind == "57") return {PostgresTrouble::kLost, unavailable(text)};
  return {PostgresTrouble::kServer, unavailable(text)};
}

// libpq tells nothing but a text here, and the server's part of it may be in the server's language; what is not
// recognised is worth another try.
Status connect_error(std::string_view shown, std::string_view message) {
  const std::string text = fmt::format("{}: {}", shown, one_line(message));
  if (has(message, "password authentication failed") || has(message, "no password supplied") ||
      has(message, "SASL authentication failed")) {
    return precondition(text + "; correct user and password in store.url");
  }
  if (has(message, "does not exist") && has(message, "database")) {
    return precondition(text + "; create it with `createdb`, or name another one in store.url");
  }
  if (has(message, "does not exist") && has(message, "role")) {
    return precondition(text + "; create the role, or name another user in store.url");
  }
  // The role's, the database's, the server's limit, and a pooler's.
  if (has(message, "too many connections") || has(message, "too many clients") ||
      has(message, "connection slots are reserved") || has(message, "no more connections allowed")) {
    return exhausted(text +
                     "; a gateway needs 3 connections, under load up to 11: raise the CONNECTION LIMIT of the role or "
                     "the database, or the server's max_connections");
  }
  if (has(message, "pg_hba.conf") || has(message, "no such database") || has(message, "no such user")) {
    return precondition(text + "; allow this user and database there, or correct store.url");
  }
  return unavailable(text);
}

bool is_undefined(std::string_view state) {
  return state == "42P01" || state == "3F000" || state == "42703";
}

std::string one_line(std::string_view text) {
  std::vector<std::string> lines;
  for (std::string_view line : split(text, '\n')) {
    if (!trim(line).empty()) lines.emplace_back(trim(line));
  }
  return join(lines, "; ");
}

}  // namespace hookonce
