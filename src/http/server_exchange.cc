#include "http/server_exchange.h"

#include <utility>

#include "http/server_connection.h"
#include "http/server_loop.h"

namespace hookonce {

Exchange::Exchange(std::shared_ptr<Loop> loop, std::weak_ptr<Connection> connection)
    : loop_(std::move(loop)), connection_(std::move(connection)) {}

void Exchange::respond(HttpResponse response) {
  if (answered_.exchange(true)) return;
  if (loop_->is_own_thread()) {
    deliver(connection_, std::move(response));
    return;
  }
  loop_->post_one(
      [connection = connection_, answer = std::move(response)]() mutable { deliver(connection, std::move(answer)); });
}

void Exchange::set_deadline(Time at, HttpResponse fallback, std::function<void()> passed) {
  fallback_ = std::move(fallback);
  passed_ = std::move(passed);
  const bool is_watched = deadline_ != Time::max();
  deadline_ = at;
  if (!is_watched) loop_->watch(weak_from_this());
}

Executor& Exchange::executor() {
  return *loop_;
}

void Exchange::expire() {
  if (answered_.exchange(true)) return;
  deliver(connection_, std::move(fallback_));
  if (passed_) passed_();
}

void Exchange::deliver(const std::weak_ptr<Connection>& connection, HttpResponse response) {
  if (const auto alive = connection.lock()) alive->answer(std::move(response));
}

}  // namespace hookonce
