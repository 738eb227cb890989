#include "base/sync.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/budget.h"

namespace hookonce {
namespace {

TEST(Sync, ASignalledConditionIsSeenAndTheMutexIsHeldBehindTheWait) {
  struct {
    Mutex mutex;
    CondVar changed;
    int turn GUARDED_BY(mutex) = 0;
  } shared;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      MutexLock lock(shared.mutex);
      while (shared.turn % 2 != 1) shared.changed.wait(shared.mutex);
      ++shared.turn;
      shared.changed.notify_all();
    }
  });
  for (int i = 0; i < 100; ++i) {
    MutexLock lock(shared.mutex);
    while (shared.turn % 2 != 0) shared.changed.wait(shared.mutex);
    ++shared.turn;
    shared.changed.notify_all();
  }
  other.join();
  MutexLock lock(shared.mutex);
  EXPECT_EQ(shared.turn, 200);
}

TEST(BudgetTest, AChargeThatWouldPassTheLimitTakesNothing) {
  Budget budget(100);
  Budget::Charge first, second;
  EXPECT_TRUE(first.grow(budget, 60));
  EXPECT_FALSE(second.grow(budget, 41));
  EXPECT_EQ(budget.used(), 60u);
  EXPECT_TRUE(second.grow(budget, 40));
  EXPECT_FALSE(first.grow(budget, 1));
  EXPECT_EQ(first.bytes(), 60u);
}

TEST(BudgetTest, AChargeIsGivenBackOnceHoweverItIsMoved) {
  Budget budget(100);
  {
    Budget::Charge charge;
    ASSERT_TRUE(charge.grow(budget, 30));
    ASSERT_TRUE(charge.grow(budget, 20));
    Budget::Charge moved = std::move(charge);
    EXPECT_EQ(budget.used(), 50u);
    Budget::Charge assigned;
    ASSERT_TRUE(assigned.grow(budget, 10));
    assigned = std::move(moved);
    EXPECT_EQ(budget.used(), 50u);
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(BudgetTest, ManyThreadsNeverHoldMoreThanTheLimit) {
  Budget budget(10);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        Budget::Charge charge;
        if (charge.grow(budget, 3)) {
          EXPECT_LE(charge.bytes(), budget.limit());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace hookonce
