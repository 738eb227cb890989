#include "store/sqlite_checkpointer.h"

#include <sqlite3.h>

#include "base/log.h"

namespace hookonce {

namespace {

constexpr Duration kStepEvery = std::chrono::milliseconds(20);
constexpr int kStepFramesMin = 64;    // a step costs two syncs: not for less
constexpr int kRestartFrames = 4000;  // the log is worth beginning anew
constexpr int kRestartLeftMax = 600;  // what the writer copies itself takes about a millisecond
constexpr int kFramesMax = 16000;     // 64 MiB: the steps lag behind, so the writer copies whatever is left
constexpr Duration kRestartWait = std::chrono::milliseconds(10);    // for readers of the old log
constexpr Duration kRestartPause = std::chrono::milliseconds(200);  // after a reader was in the way

}  // namespace

SqliteCheckpointer::~SqliteCheckpointer() {
  stop();
}

Status SqliteCheckpointer::start(const std::string& path) {
  HK_ASSIGN(database_, Database::open(path, Database::Mode::kExisting, Duration::zero()));
  {
    MutexLock lock(mutex_);
    stopping_ = false;
    grown_ = false;
  }
  copied_ = 0;
  thread_ = std::thread([this] { run(); });
  return {};
}

void SqliteCheckpointer::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  database_.reset();
}

void SqliteCheckpointer::watch(Database& writer) {
  frames_ = 0;
  not_before_ = Duration::zero();
  const auto hook = [](void* self, sqlite3*, const char*, int frames) {
    static_cast<SqliteCheckpointer*>(self)->grown(frames);
    return SQLITE_OK;
  };
  sqlite3_wal_hook(writer.handle(), hook, this);
}

void SqliteCheckpointer::grown(int frames) {
  // Fewer than before: the log has begun anew.
  if (frames < frames_.exchange(frames)) copied_ = 0;
  if (frames - copied_ < kStepFramesMin) return;
  MutexLock lock(mutex_);
  if (grown_) return;
  grown_ = true;
  changed_.notify_all();
}

void SqliteCheckpointer::run() {
  bool failing = false;
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!grown_ && !stopping_) changed_.wait(mutex_);
      if (!stopping_) changed_.wait_for(mutex_, kStepEvery);
      if (stopping_) return;
      grown_ = false;
    }
    int frames = 0;
    int copied = 0;
    const int code =
        sqlite3_wal_checkpoint_v2(database_->handle(), "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);
    if (code == SQLITE_OK) {
      // A log that is shorter now has begun anew behind this step, and nothing of it is copied yet.
      if (frames <= frames_) copied_ = copied;
      failing = false;
    } else if (code != SQLITE_BUSY && !failing) {
      failing = true;  // said once
      // The writer meets the same trouble and is the one to act on it; the next growth tries again.
      const Status status = sqlite_status(database_->handle(), code, "checkpoint");
      log_warn("store.checkpoint_failed", {{"reason", status.message()}});
    }
  }
}

void SqliteCheckpointer::restart_if_due(Database& writer) {
  const int frames = frames_;
  const bool nearly_copied = frames > kRestartFrames && frames - copied_ < kRestartLeftMax;
  if (!nearly_copied && frames <= kFramesMax) return;
  if (steady_now() < not_before_) return;
  const Duration usual_wait = writer.busy_wait();
  writer.set_busy_wait(kRestartWait);
  const int code = sqlite3_wal_checkpoint_v2(writer.handle(), "main", SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
  writer.set_busy_wait(usual_wait);
  if (code == SQLITE_OK) {
    frames_ = 0;
    copied_ = 0;
  } else {
    not_before_ = steady_now() + kRestartPause;
  }
}

}  // namespace hookonce
