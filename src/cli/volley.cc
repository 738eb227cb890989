#include "cli/volley.h"

#include <algorithm>
#include <utility>

#include "base/sync.h"

namespace hookonce {

namespace {

// Answers on their way from the client's thread to the caller's.
class AnswerQueue {
 public:
  struct Answer {
    std::size_t shot = 0;
    ClientResponse response;
  };

  void put(Answer answer) {
    // Told under the lock: the last answer lets the caller destroy this queue.
    MutexLock lock(mutex_);
    answers_.push_back(std::move(answer));
    arrived_.notify_one();
  }

  // What has come; waits at most `limit` for the first. Empty where nothing came.
  std::vector<Answer> take(Duration limit) {
    MutexLock lock(mutex_);
    if (answers_.empty() && limit > Duration::zero()) arrived_.wait_for(mutex_, limit);
    return std::exchange(answers_, {});
  }

 private:
  Mutex mutex_;
  CondVar arrived_;
  std::vector<Answer> answers_ GUARDED_BY(mutex_);
};

constexpr Duration kWaitMax = std::chrono::seconds(1);  // a wake-up too many costs nothing

}  // namespace

void Volley::run(const std::vector<Shot>& shots,
                 const std::function<void(std::size_t, const ClientResponse&)>& answered) {
  AnswerQueue queue;
  const Duration start = steady_now();
  std::size_t sent = 0;
  std::size_t ended = 0;
  while (ended < shots.size()) {
    while (sent < shots.size() && shots[sent].at <= steady_now() - start) {
      client_.send(shots[sent].make_request(), [&queue, shot = sent](ClientResponse response) {
        queue.put({shot, std::move(response)});
      });
      ++sent;
    }
    const Duration until_next = sent < shots.size() ? shots[sent].at - (steady_now() - start) : kWaitMax;
    for (const AnswerQueue::Answer& answer : queue.take(std::min(until_next, kWaitMax))) {
      answered(answer.shot, answer.response);
      ++ended;
    }
  }
}

void pause_for(Duration duration) {
  const Duration end = steady_now() + duration;
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  for (Duration left = duration; left > Duration::zero(); left = end - steady_now()) never.wait_for(mutex, left);
}

}  // namespace hookonce
