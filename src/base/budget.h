// A shared limit on bytes held in memory (max_inflight): take before holding, give back by destroying the charge.
//
//   Budget budget(256 * kMiB);
//   Budget::Charge charge;                       // holds nothing
//   if (!charge.grow(budget, n)) return shed();  // over the limit: nothing was taken
//
// Thread-safe. REQUIRES: the Budget outlives its charges.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace hookonce {

class Budget {
 public:
  explicit Budget(std::size_t limit) : limit_(limit) {}

  class Charge {
   public:
    Charge() = default;
    Charge(Charge&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Charge& operator=(Charge&& other) noexcept {
      if (this != &other) {
        release();
        budget_ = std::exchange(other.budget_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
      }
      return *this;
    }
    ~Charge() { release(); }

    // Takes `bytes` more of `budget`; false, and nothing taken, where that would pass the limit.
    // REQUIRES: always the same budget for one charge.
    [[nodiscard]] bool grow(Budget& budget, std::size_t bytes) {
      if (budget.used_.fetch_add(bytes, std::memory_order_relaxed) + bytes > budget.limit()) {
        budget.used_.fetch_sub(bytes, std::memory_order_relaxed);
        return false;
      }
      budget_ = &budget;
      bytes_ += bytes;
      return true;
    }
    std::size_t bytes() const { return bytes_; }

   private:
    void release() {
      if (budget_ != nullptr) budget_->used_.fetch_sub(bytes_, std::memory_order_relaxed);
      budget_ = nullptr;
      bytes_ = 0;
    }
    Budget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };

  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // For a reload. Charges above a lowered limit stay; nothing more is taken until they are given back.
  void set_limit(std::size_t limit) { limit_.store(limit, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace hookonce
