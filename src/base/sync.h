// Mutex, MutexLock and CondVar with annotations that clang's -Wthread-safety checks (preset `tsa`).
//
//   Mutex mutex_;
//   int pending_ GUARDED_BY(mutex_) = 0;
//   void grow() LOCKS_REQUIRED(mutex_);
//
// One mutex at a time; nothing foreign (callbacks, I/O of others) is called under it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HK_ANNOTATION(x) __attribute__((x))
#else
#define HK_ANNOTATION(x)
#endif

#define CAPABILITY(x) HK_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY HK_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) HK_ANNOTATION(guarded_by(x))
#define LOCKS_REQUIRED(...) HK_ANNOTATION(requires_capability(__VA_ARGS__))
#define LOCKS_EXCLUDED(...) HK_ANNOTATION(locks_excluded(__VA_ARGS__))
#define HK_ACQUIRE(...) HK_ANNOTATION(acquire_capability(__VA_ARGS__))
#define HK_RELEASE(...) HK_ANNOTATION(release_capability(__VA_ARGS__))

namespace hookonce {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() HK_ACQUIRE() { mutex_.lock(); }
  void unlock() HK_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HK_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() HK_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  // May wake for no reason: call it in a loop that tests the condition.
  void wait(Mutex& mutex) LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // As wait(), but returns at the latest after `timeout`.
  template <typename Rep, typename Period>
  void wait_for(Mutex& mutex, std::chrono::duration<Rep, Period> timeout) LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, timeout);
    lock.release();
  }

 private:
  std::condition_variable condition_;
};

}  // namespace hookonce
