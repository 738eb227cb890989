#include "store/sqlite_backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "store/sqlite_database.h"
#include "store/sqlite_owner_lock.h"
#include "store/sqlite_schema.h"

namespace hookonce {

namespace {

namespace fs = std::filesystem;

constexpr Duration kBusyWait = std::chrono::seconds(5);  // for the moments in which a gateway begins its log anew

// All pages in one step: they are of one moment, and commits go on meanwhile. Several steps would begin from the start
// again with each commit in between, which under load is for ever.
Status copy_pages(Database& source, Database& target) {
  sqlite3_backup* backup = sqlite3_backup_init(target.handle(), "main", source.handle(), "main");
  if (backup == nullptr) {
    return sqlite_status(target.handle(), sqlite3_extended_errcode(target.handle()), "backup");
  }
  const int step = sqlite3_backup_step(backup, -1);
  const int finish = sqlite3_backup_finish(backup);
  if (step != SQLITE_DONE) return sqlite_status(nullptr, step, "backup");
  return finish == SQLITE_OK ? Status() : sqlite_status(target.handle(), finish, "backup");
}

// A name is durable once its folder is.
Status sync_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = file >= 0 && ::fsync(file) == 0;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (synced) return {};
  return unavailable(fmt::format("{}: cannot be synced: {}", folder.string(), std::system_category().message(error)));
}

Status copy_into(const std::string& path, const std::string& part) {
  HK_ASSIGN(const auto source, Database::open(path, Database::Mode::kExisting, kBusyWait));
  HK_TRY(check_schema(*source, path));
  HK_ASSIGN(const auto copy, Database::open(part, Database::Mode::kCreate, kBusyWait));
  return copy_pages(*source, *copy);
}

}  // namespace

Status backup_sqlite(const std::string& path, const std::string& target) {
  HK_ASSIGN(const std::string real_path, resolve_path(path));
  HK_ASSIGN(const std::string real_target, resolve_path(target));
  std::error_code error;
  if (!fs::exists(real_path, error)) return precondition(fmt::format("{}: no such inbox; name the file of one", path));
  const Status exists = precondition(fmt::format("{}: exists already; name a new file", target));
  if (fs::exists(real_target, error)) return exists;

  // Under another name until it is whole, so that a crash leaves nothing that looks like a backup.
  const std::string part = fmt::format("{}.part-{}", real_target, ::getpid());
  const auto remove_part = [&part] {
    std::error_code ignored;  // What cannot be removed is only left behind.
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(part + suffix, ignored);
  };
  remove_part();
  const Status copied = copy_into(real_path, part);
  if (!copied.ok()) {
    remove_part();
    return copied.with_context(target);
  }
  // Unlike rename(), link() refuses a target that has come into being meanwhile.
  const bool linked = ::link(part.c_str(), real_target.c_str()) == 0;
  const int link_error = errno;
  remove_part();
  if (!linked) {
    if (link_error == EEXIST) return exists;
    return unavailable(fmt::format("{}: {}", target, std::system_category().message(link_error)));
  }
  return sync_folder(fs::path(real_target).parent_path());
}

}  // namespace hookonce
