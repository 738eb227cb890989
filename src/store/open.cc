#include "store/open.h"

#include <algorithm>

#include <fmt/format.h>

#include "store/memory_rejected.h"
#include "store/memory_store.h"
#include "store/postgres_rejected.h"
#include "store/postgres_store.h"
#include "store/redis_rejected.h"
#include "store/redis_store.h"
#include "store/redis_url.h"
#include "store/sqlite_backup.h"
#include "store/sqlite_rejected.h"
#include "store/sqlite_store.h"

namespace hookonce {

namespace {

constexpr std::string_view kMemory = "memory:";
constexpr std::string_view kSqlite = "sqlite:";
constexpr Duration kRetention = std::chrono::hours(24 * 30);
constexpr Duration kRetentionInMemory = std::chrono::hours(24 * 3);

// The path of a `sqlite:` URL. `sqlite:///x` is how others write the absolute path `/x`.
Result<std::string> sqlite_path(std::string_view url) {
  std::string_view path = url.substr(kSqlite.size());
  if (path.substr(0, 3) == "///") path.remove_prefix(2);
  if (path.empty()) return invalid(fmt::format("store url \"{}\": names no file; write sqlite:hookonce.db", url));
  if (path.substr(0, 2) == "//") {
    return invalid("store sqlite: a host is of no use to a file; write sqlite:PATH");
  }
  if (path.find('\0') != std::string_view::npos) return invalid("store url: a NUL in the path");
  return std::string(path);
}

bool is_sqlite(std::string_view url) {
  return url.substr(0, kSqlite.size()) == kSqlite;
}

// What may be shown of something that is no URL of ours, because anything else in it may be a password: the scheme, and
// only where it stands like one.
std::string named(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find("://"));
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (scheme.size() == url.size() || !std::all_of(scheme.begin(), scheme.end(), fits)) return "store";
  return fmt::format("store \"{}\"", scheme);
}

}  // namespace

Status check_store_url(std::string_view url) {
  if (url == kMemory) return {};
  if (is_sqlite(url)) return sqlite_path(url).status();
  if (is_postgres_url(url)) return check_postgres_url(url);
  if (is_redis_url(url)) return parse_redis_url(url).status();
  return invalid(fmt::format(
      "{}: not a store this version knows; use sqlite:PATH, postgres://USER:PASSWORD@HOST:PORT/DATABASE, redis:// or "
      "memory:",
      named(url)));
}

Result<std::unique_ptr<Store>> open_store(std::string_view url, Time now, OpenFor use) {
  HK_TRY(check_store_url(url));
  if (url == kMemory) {
    if (use != OpenFor::kServing) return invalid("store \"memory:\": keeps nothing that could be copied");
    return make_memory_store();
  }
  if (is_redis_url(url)) return open_redis_store(url, RedisClock::kServer, use);
  if (is_postgres_url(url)) return open_postgres_store(url, PostgresClock::kServer, use);
  HK_ASSIGN(const std::string path, sqlite_path(url));
  return open_sqlite_store(path, now, use);
}

Result<std::unique_ptr<RejectedStore>> open_rejected(std::string_view url) {
  HK_TRY(check_store_url(url));
  if (url == kMemory) return make_memory_rejected();
  if (is_redis_url(url)) return open_redis_rejected(url);
  if (is_postgres_url(url)) return open_postgres_rejected(url);
  HK_ASSIGN(const std::string path, sqlite_path(url));
  return open_sqlite_rejected(path);
}

bool is_shared_store(std::string_view url) {
  return is_redis_url(url) || is_postgres_url(url);
}

Duration default_retention(std::string_view url) {
  return is_redis_url(url) ? kRetentionInMemory : kRetention;
}

std::string shown_store_url(std::string_view url) {
  if (is_redis_url(url)) return parse_redis_url(url)->shown;
  return is_postgres_url(url) ? shown_postgres_url(url) : std::string(url);  // a file has no password
}

Status backup_store(std::string_view url, const std::string& file) {
  HK_TRY(check_store_url(url));
  if (!is_sqlite(url)) return invalid("backup: only a sqlite: store has a file to copy");
  HK_ASSIGN(const std::string path, sqlite_path(url));
  return backup_sqlite(path, file);
}

}  // namespace hookonce
