// Name resolution with a name server that hangs: this program's own getaddrinfo() stands before the system's, for the
// client and for curl alike, and blocks for some names until a test lets it go.
#include "http/client_resolver.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <algorithm>

#include "base/sync.h"
#include "test/support/client_call.h"
#include "test/support/raw_server.h"

namespace hookonce {
namespace {

using ::testing::HasSubstr;

// Names that begin with "hang" block; names that begin with "found" lead to the loopback; every lookup is counted.
class FakeNames {
 public:
  static FakeNames& instance() {
    static auto* names = new FakeNames;  // lives on: a detached lookup may end after main()
    return *names;
  }
  void enter(const std::string& name) {
    MutexLock lock(mutex_);
    ++lookups_[name];
    changed_.notify_all();
    while (name.starts_with("hang") && !released_) changed_.wait(mutex_);
  }
  void hold() {
    MutexLock lock(mutex_);
    lookups_.clear();
    released_ = false;
  }
  void release() {
    MutexLock lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  void await(const std::string& name) {
    MutexLock lock(mutex_);
    while (lookups_.count(name) == 0) changed_.wait(mutex_);
  }
  int lookups(const std::string& name) {
    MutexLock lock(mutex_);
    const auto it = lookups_.find(name);
    return it == lookups_.end() ? 0 : it->second;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, int> lookups_ GUARDED_BY(mutex_);
  bool released_ GUARDED_BY(mutex_) = true;
};

}  // namespace
}  // namespace hookonce

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** list) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto system = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "getaddrinfo"));
  const std::string name = node != nullptr ? node : "";
  hookonce::FakeNames::instance().enter(name);
  if (name.starts_with("found")) return system("127.0.0.1", service, hints, list);
  if (name.ends_with(".test") || name.ends_with(".test.")) return EAI_NONAME;
  return system(node, service, hints, list);
}

namespace hookonce {
namespace {

class ResolverTest : public ::testing::Test {
 protected:
  ResolverTest() { names_.hold(); }
  ~ResolverTest() override { names_.release(); }

  std::shared_ptr<const std::string> body_ = std::make_shared<const std::string>("b");
  FakeNames& names_ = FakeNames::instance();
};

TEST_F(ResolverTest, AHangingNameDelaysNoOtherDestinationAndEndsAtItsDeadline) {
  auto client = start_client();
  RawServer server(answer_ok);
  ClientCall hung(*client,
                  {.url = server.url("/", "hang.test"), .body = body_, .timeout = std::chrono::milliseconds(200)});
  names_.await("hang.test");
  ClientCall other(*client, {.url = server.url("/", "found.test"), .body = body_, .timeout = std::chrono::hours(1)});
  EXPECT_EQ(other.wait().status, 200);
  const ClientResponse response = hung.wait();
  EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("resolve hang.test: no answer within 200ms"));
  client->stop();  // neither waits for the lookup that still hangs
  client.reset();
}

TEST_F(ResolverTest, OneHangingNameTakesOneLookupHoweverManyAttemptsWaitForIt) {
  auto client = start_client({.resolvers_max = 2});
  RawServer server(answer_ok);
  std::vector<std::unique_ptr<ClientCall>> hung;
  for (int i = 0; i < 40; ++i) {
    hung.push_back(std::make_unique<ClientCall>(
        *client, ClientRequest{.url = server.url("/", "hang.test"), .body = body_, .timeout = std::chrono::hours(1)}));
  }
  names_.await("hang.test");
  ClientCall other(*client, {.url = server.url("/", "found.test"), .body = body_, .timeout = std::chrono::hours(1)});
  EXPECT_EQ(other.wait().status, 200);
  EXPECT_EQ(names_.lookups("hang.test"), 1);
  for (auto& call : hung) EXPECT_FALSE(call->ended());
  names_.release();
  for (auto& call : hung) EXPECT_THAT(call->wait().error, HasSubstr("resolve hang.test"));
}

TEST_F(ResolverTest, MoreNamesThanThreadsWaitTheirTurn) {
  auto client = start_client({.resolvers_max = 2});
  RawServer server(answer_ok);
  std::vector<std::unique_ptr<ClientCall>> hung;
  for (const char* name : {"hang1.test", "hang2.test", "hang3.test"}) {
    hung.push_back(std::make_unique<ClientCall>(
        *client, ClientRequest{.url = server.url("/", name), .body = body_, .timeout = std::chrono::hours(1)}));
  }
  names_.await("hang1.test");
  names_.await("hang2.test");
  ClientCall literal(*client, {.url = server.url(), .body = body_});
  EXPECT_EQ(literal.wait().status, 200) << "an address needs no lookup";
  EXPECT_EQ(names_.lookups("hang3.test"), 0);
  names_.release();
  for (auto& call : hung) EXPECT_EQ(call->wait().result, ClientResponse::Result::kNotSent);
  EXPECT_EQ(names_.lookups("hang3.test"), 1);
}

TEST_F(ResolverTest, CurlItselfNeverLooksANameUp) {
  auto client = start_client();
  RawServer server(answer_ok);
  for (const char* name : {"found.test", "found.test", "FOUND2.test", "found3.test."}) {
    ClientCall call(*client, {.url = server.url("/", name), .body = body_});
    EXPECT_EQ(call.wait().status, 200) << name;
  }
  // A second lookup of a name could only be curl's own.
  EXPECT_EQ(names_.lookups("found.test"), 1);
  EXPECT_EQ(names_.lookups("found2.test") + names_.lookups("FOUND2.test"), 1);
  EXPECT_EQ(names_.lookups("found3.test") + names_.lookups("found3.test."), 1);
}

TEST_F(ResolverTest, ANameThatLeadsInsideIsRefused) {
  auto client = start_client();
  RawServer server(answer_ok);
  ClientCall call(*client, {.url = server.url("/", "found.test"), .body = body_, .allow_private = false});
  const ClientResponse response = call.wait();
  EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("127.0.0.1 is not public"));
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(ResolverTest, AnUnknownNameIsNotSentAndIsAskedForAgain) {
  auto client = start_client();
  for (int i = 1; i <= 2; ++i) {
    ClientCall call(*client, {.url = "http://missing.test/"});
    const ClientResponse response = call.wait();
    EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
    EXPECT_THAT(response.error, HasSubstr("resolve missing.test: "));
    EXPECT_EQ(names_.lookups("missing.test"), i);
  }
}

TEST_F(ResolverTest, WhatWasFoundServesForAWhileAndIsForgottenOnDemand) {
  auto wakeup = std::make_shared<ClientWakeup>();
  Resolver resolver(1, wakeup);
  const auto look_up = [&](Duration now) {
    resolver.look_up("found.test");
    std::vector<Resolver::Found> found;
    while (found.empty()) {
      wakeup->drain();
      found = resolver.collect(now);
      if (found.empty()) std::this_thread::yield();
    }
    return found.at(0).answer.addresses;
  };
  const Duration start = std::chrono::seconds(100);
  EXPECT_EQ(resolver.find("found.test", start), nullptr);
  EXPECT_EQ(look_up(start), std::vector<std::string>{"127.0.0.1"});
  EXPECT_NE(resolver.find("found.test", start + kNameKept - Duration(1)), nullptr);
  EXPECT_EQ(resolver.find("found.test", start + kNameKept), nullptr);
  look_up(start);
  resolver.forget("found.test");
  EXPECT_EQ(resolver.find("found.test", start), nullptr);
}

}  // namespace
}  // namespace hookonce
