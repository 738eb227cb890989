// One request through a client, and the wait for its answer.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/sync.h"
#include "http/client.h"

namespace hookonce {

class ClientCall {
 public:
  // `first` runs on the client's thread when the answer is there, before wait() returns.
  ClientCall(HttpClient& client, ClientRequest request, std::function<void()> first = nullptr) {
    client.send(std::move(request), [shared = shared_, first = std::move(first)](ClientResponse response) {
      if (first) first();
      MutexLock lock(shared->mutex);
      HK_CHECK(!shared->done);  // a second answer to one request is the worst mistake a client can make
      shared->response = std::move(response);
      shared->done = true;
      shared->ended.notify_all();
    });
  }
  ClientResponse wait() {
    MutexLock lock(shared_->mutex);
    while (!shared_->done) shared_->ended.wait(shared_->mutex);
    return shared_->response;
  }
  bool ended() {
    MutexLock lock(shared_->mutex);
    return shared_->done;
  }

 private:
  struct Shared {
    Mutex mutex;
    CondVar ended;
    bool done GUARDED_BY(mutex) = false;
    ClientResponse response GUARDED_BY(mutex);
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

inline std::unique_ptr<HttpClient> start_client(HttpClient::Options options = {}) {
  auto client = HttpClient::start(options);
  HK_CHECK(client.ok());
  return std::move(client).value();
}

}  // namespace hookonce
