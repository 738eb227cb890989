#include "store/sqlite_owner_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace hookonce {

namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  // as the kernel's own limit

// statfs() numbers of NFS, SMB, CIFS, SMB2, AFS (two), Coda, NCP, Ceph, GFS2, OCFS2, Lustre, GPFS and 9P.
constexpr long kNetworkTypes[] = {0x6969, 0x517b,     0xff534d42, 0xfe534d42, 0x5346414f, 0x6b414653, 0x73757245,
                                  0x564c, 0x00c36400, 0x01161970, 0x7461636f, 0x0bd00bd0, 0x47504653, 0x01021997};

std::string reason(int error) {
  return std::system_category().message(error);
}

}  // namespace

bool is_network_file_system(long type) {
  const long low = type & 0xffffffffL;  // The kernel's numbers have 32 bits; some come sign-extended.
  return std::find(std::begin(kNetworkTypes), std::end(kNetworkTypes), low) != std::end(kNetworkTypes);
}

Result<std::string> resolve_path(const std::string& path) {
  // The file itself is never opened here: closing it again would drop SQLite's own locks where this process has it
  // open.
  std::error_code error;
  fs::path place = fs::absolute(path, error);
  if (error) return precondition(fmt::format("{}: {}", path, error.message()));
  for (int links = 0; links < kLinksMax && fs::is_symlink(place, error); ++links) {
    const fs::path target = fs::read_symlink(place, error);
    if (error) return precondition(fmt::format("{}: {}", place.string(), error.message()));
    place = target.is_absolute() ? target : place.parent_path() / target;
  }
  const fs::path folder = fs::canonical(place.parent_path(), error);
  if (error)
    return precondition(
        fmt::format("{}: its folder cannot be used: {}; create it, or name another file", path, error.message()));
  if (!place.has_filename() || fs::is_directory(place, error)) {
    return precondition(fmt::format("{}: a folder, not a file", path));
  }
  return (folder / place.filename()).string();
}

Result<OwnerLock> OwnerLock::take(const std::string& path) {
  HK_ASSIGN(const std::string real_path, resolve_path(path));
  while (true) {
    HK_ASSIGN(OwnerLock lock, lock_file_of(real_path));
    // Somebody may have removed the file between its opening and its locking, and another gateway locks the next one.
    if (lock.is_in_place()) return lock;
  }
}

Result<OwnerLock> OwnerLock::lock_file_of(const std::string& real_path) {
  const std::string lock_path = real_path + ".lock";
  const int file = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    const int error = errno;
    const std::string message = fmt::format("{}: cannot be created: {}", lock_path, reason(error));
    return error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE ? unavailable(message)
                                                                                    : precondition(message);
  }
  OwnerLock lock(real_path, file);  // closes the file on every way out

  struct statfs system {};
  if (::fstatfs(file, &system) == 0 && is_network_file_system(static_cast<long>(system.f_type))) {
    return precondition(
        fmt::format("{}: on a network file system, whose locks cannot be trusted; use a local disk", real_path));
  }
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return precondition(fmt::format("{}: cannot be locked: {}", lock_path, reason(errno)));
    return precondition(
        fmt::format("{}: another gateway owns this inbox (lock file {}); stop that one, or name another file",
                    real_path, lock_path));
  }
  return lock;
}

bool OwnerLock::is_in_place() const {
  struct stat held {};
  struct stat found {};
  return ::fstat(file_, &held) == 0 && ::stat((real_path_ + ".lock").c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

OwnerLock::OwnerLock(OwnerLock&& other) noexcept
    : real_path_(std::move(other.real_path_)), file_(std::exchange(other.file_, -1)) {}

OwnerLock::~OwnerLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace hookonce
