// Where callbacks run: an event loop that takes a batch of tasks with one wake-up.
#pragma once

#include <functional>
#include <vector>

namespace hookonce {

using Task = std::function<void()>;

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs the tasks in order on the loop's own thread, later. Thread-safe; one wake-up per call. Tasks that are posted
  // after the loop has stopped are destroyed unrun.
  virtual void post(std::vector<Task> tasks) = 0;
};

}  // namespace hookonce
