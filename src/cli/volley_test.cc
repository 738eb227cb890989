#include "cli/volley.h"

#include <gmock/gmock.h>

#include "test/support/http_server_fixture.h"

namespace hookonce {
namespace {

class VolleyTest : public HttpServerTest {
 protected:
  Shot shot(std::string path, Duration at = {}) {
    return {at, [url = "http://" + server_->addresses().front() + path] {
              ClientRequest request;
              request.url = url;
              return request;
            }};
  }
  std::unique_ptr<HttpClient> client_ = std::move(HttpClient::start({})).value();
};

// The server answers only when all have arrived: one after the other would wait for ever.
TEST_F(VolleyTest, AllAreOnTheWayAtOnceAndEachAnswerFindsItsShot) {
  constexpr std::size_t kShots = 20;
  Mutex mutex;
  std::vector<std::pair<std::string, Responder>> waiting;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    std::vector<std::pair<std::string, Responder>> all;
    {
      MutexLock lock(mutex);
      waiting.emplace_back(request.path, std::move(responder));
      if (waiting.size() == kShots) all.swap(waiting);
    }
    for (auto& [path, each] : all) {
      HttpResponse response;
      response.body = path;
      each.respond(std::move(response));
    }
  };
  const auto server = start();
  std::vector<Shot> shots;
  for (std::size_t i = 0; i < kShots; ++i) shots.push_back(shot("/" + std::to_string(i)));
  std::vector<std::string> bodies(kShots);
  Volley(*client_).run(shots, [&](std::size_t i, const ClientResponse& response) { bodies[i] = response.body; });
  for (std::size_t i = 0; i < kShots; ++i) EXPECT_EQ(bodies[i], "/" + std::to_string(i));
}

TEST_F(VolleyTest, ShotThatFindsNobodyEndsWithItsError) {
  const auto server = start();
  std::vector<Shot> shots = {shot("/")};
  server_->stop({});
  std::vector<ClientResponse::Result> results;
  Volley(*client_).run(shots, [&](std::size_t, const ClientResponse& response) { results.push_back(response.result); });
  EXPECT_THAT(results, testing::ElementsAre(ClientResponse::Result::kNotSent));
}

TEST_F(VolleyTest, WithoutShotsNothingIsWaitedFor) {
  Volley(*client_).run({}, [](std::size_t, const ClientResponse&) { FAIL(); });
}

}  // namespace
}  // namespace hookonce
