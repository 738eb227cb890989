#include "app/call_worker.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hookonce {
namespace {

using Tasks = std::vector<Task>;

TEST(CallWorker, RunsTasksInOrderOnOneThreadThatIsNotTheCallers) {
  std::string order;  // of the worker's thread alone, until `done`
  std::vector<std::thread::id> threads;
  std::promise<void> done;
  CallWorker worker;
  const auto task = [&](char name) {
    return [&, name] {
      order.push_back(name);
      threads.push_back(std::this_thread::get_id());
    };
  };
  worker.post(Tasks{task('a'), task('b')});
  worker.post(Tasks{task('c'), [&done] { done.set_value(); }});
  done.get_future().wait();
  EXPECT_EQ(order, "abc");
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_EQ(threads[1], threads[0]);
  EXPECT_EQ(threads[2], threads[0]);
}

TEST(CallWorker, ATaskMayPostAnotherOne) {
  std::promise<void> done;
  CallWorker worker;
  worker.post(Tasks{[&] { worker.post(Tasks{[&done] { done.set_value(); }}); }});
  done.get_future().wait();
}

// Until stop() has begun: from then on nothing that is posted is kept.
void await_stop(CallWorker& worker) {
  for (;;) {
    const auto probe = std::make_shared<int>(0);
    worker.post(Tasks{[probe] {}});
    if (probe.use_count() == 1) return;
    std::this_thread::yield();
  }
}

// Posting never waits for the task that runs, however long that hangs.
TEST(CallWorker, StopWaitsForTheTaskThatRunsAndDropsThoseBehindIt) {
  std::promise<void> running;
  std::promise<void> go_on;
  bool ended = false;
  bool ran_behind = false;
  const auto owned = std::make_shared<int>(0);
  CallWorker worker;
  worker.post(Tasks{[&, held = go_on.get_future().share()] {
    running.set_value();
    held.wait();
    ended = true;
  }});
  worker.post(Tasks{[&ran_behind, owned] { ran_behind = true; }});
  running.get_future().wait();
  std::thread stopping([&worker] { worker.stop(); });
  await_stop(worker);
  go_on.set_value();
  stopping.join();
  EXPECT_TRUE(ended);
  EXPECT_FALSE(ran_behind);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(CallWorker, TakesNothingAfterStopAndMayBeStoppedTwice) {
  const auto owned = std::make_shared<int>(0);
  CallWorker worker;
  worker.stop();
  worker.post(Tasks{[owned] { FAIL() << "stopped"; }});
  worker.stop();
  EXPECT_EQ(owned.use_count(), 1) << "what is not taken is not kept";
}

TEST(CallWorker, ADroppedTaskMayPostWhenItGoes) {
  struct PostsAtItsEnd {
    CallWorker& worker;
    ~PostsAtItsEnd() {
      worker.post(Tasks{[] {}});
    }
  };
  std::promise<void> running;
  std::promise<void> go_on;
  CallWorker worker;
  worker.post(Tasks{[&running, held = go_on.get_future().share()] {
    running.set_value();
    held.wait();
  }});
  worker.post(Tasks{[last = std::shared_ptr<PostsAtItsEnd>(new PostsAtItsEnd{worker})] { (void)last; }});
  running.get_future().wait();
  std::thread stopping([&worker] { worker.stop(); });
  await_stop(worker);
  go_on.set_value();
  stopping.join();
}

}  // namespace
}  // namespace hookonce
