#include <utility>

#include "base/sync.h"
#include "http/client.h"

namespace hookonce {

ClientResponse fetch(const ClientRequest& request) {
  ClientResponse response;
  Mutex mutex;
  CondVar ended;
  bool done = false;
  auto client = HttpClient::start({});
  if (!client.ok()) {
    response.error = client.status().message();
    return response;
  }
  (*client)->send(request, [&](ClientResponse r) {
    MutexLock lock(mutex);
    response = std::move(r);
    done = true;
    ended.notify_one();
  });
  MutexLock lock(mutex);
  while (!done) ended.wait(mutex);
  return response;
}

}  // namespace hookonce
