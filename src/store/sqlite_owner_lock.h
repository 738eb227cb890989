// Owner lock of a SQLite inbox: one gateway per file, for as long as the process lives.
//
// `flock` on `<real path>.lock`: the kernel releases it when the process dies, however it dies, so there is nothing
// stale to clean up; the lock file itself stays. SQLite's own exclusive locking mode would shut out the checkpoint and
// reading connections.
#pragma once

#include <string>

#include "base/result.h"

namespace hookonce {

class OwnerLock {
 public:
  // `path` may not exist yet, its folder must. kPrecondition: another gateway holds it, a network file system, no
  // permission.
  static Result<OwnerLock> take(const std::string& path);

  OwnerLock(OwnerLock&& other) noexcept;
  OwnerLock& operator=(OwnerLock&&) = delete;
  ~OwnerLock();

  // Whether the lock file at its path is the one that is locked here: where it is not, another gateway may own the
  // next.
  bool is_in_place() const;
  const std::string& real_path() const { return real_path_; }  // of the inbox, links resolved

 private:
  static Result<OwnerLock> lock_file_of(const std::string& real_path);
  OwnerLock(std::string real_path, int file) : real_path_(std::move(real_path)), file_(file) {}
  std::string real_path_;
  int file_;
};

// Where `path` really lies, whether or not it exists yet. kPrecondition where its folder does not exist.
Result<std::string> resolve_path(const std::string& path);

// Whether a statfs() type is a file system on which neither flock nor SQLite's shared memory can be trusted.
bool is_network_file_system(long type);

}  // namespace hookonce
