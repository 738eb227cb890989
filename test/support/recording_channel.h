// One request's answer, kept for the test; and an event loop that the test turns by hand.
//
//   TestLoop loop;
//   auto channel = std::make_shared<RecordingChannel>(loop);
//   ingest.on_request(std::move(request), Responder(channel));
//   ASSERT_TRUE(loop.run_until([&] { return channel->answer().has_value(); }));
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/http_handler.h"
#include "base/sync.h"

namespace hookonce {

class TestLoop final : public Executor {
 public:
  void post(std::vector<Task> tasks) override {
    MutexLock lock(mutex_);
    for (Task& task : tasks) tasks_.push_back(std::move(task));
    changed_.notify_all();
  }

  // Runs what is posted until `done` says so. False: it never did, and waiting longer is useless.
  bool run_until(const std::function<bool()>& done) {
    while (true) {
      run_posted();
      if (done()) return true;
      MutexLock lock(mutex_);
      if (tasks_.empty()) changed_.wait_for(mutex_, kPatience);
      if (tasks_.empty()) return false;
    }
  }
  void run_posted() {
    std::vector<Task> tasks;
    {
      MutexLock lock(mutex_);
      tasks.swap(tasks_);
    }
    for (Task& task : tasks) task();
  }

 private:
  static constexpr std::chrono::seconds kPatience{20};  // of a broken test only
  Mutex mutex_;
  CondVar changed_;
  std::vector<Task> tasks_ GUARDED_BY(mutex_);
};

// Used by the test's thread alone: answers come from the loop, or at once.
class RecordingChannel final : public Responder::Channel {
 public:
  explicit RecordingChannel(Executor& loop) : loop_(loop) {}

  void respond(HttpResponse response) override {
    ++responds_;
    if (!answer_) answer_ = std::move(response);
  }
  void set_deadline(Time at, HttpResponse fallback, std::function<void()> passed) override {
    deadline_ = at;
    fallback_ = std::move(fallback);
    passed_ = std::move(passed);
  }
  Executor& executor() override { return loop_; }

  const std::optional<HttpResponse>& answer() const { return answer_; }
  const std::optional<Time>& deadline() const { return deadline_; }
  int responds() const { return responds_; }

  // What a server does when the deadline passes unanswered.
  void pass_deadline() {
    if (answer_) return;
    answer_ = fallback_;
    if (passed_) passed_();
  }

 private:
  Executor& loop_;
  std::optional<HttpResponse> answer_;
  std::optional<Time> deadline_;
  HttpResponse fallback_;
  std::function<void()> passed_;
  int responds_ = 0;
};

inline std::string header_of(const HttpResponse& response, std::string_view name) {
  return std::string(response.headers.first(name).value_or("(none)"));
}

}  // namespace hookonce
