// Pause and resume.
#include "admin/destination_calls.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

class AdminDestinations : public AdminFixture {
 protected:
  HttpResponse pause(const std::string& name) {
    return post("/api/v1/destinations/" + percent_encode(name) + "/pause");
  }
  HttpResponse resume(const std::string& name) {
    return post("/api/v1/destinations/" + percent_encode(name) + "/resume");
  }
  std::string paused() { return to_json(got("/api/v1/stats").at("paused")); }
};

TEST_F(AdminDestinations, APauseHoldsAndAResumeWakesTheDispatcher) {
  put(NewEventBuilder().build());
  const HttpResponse answer = pause("backend");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"name":"backend","paused":true})");
  EXPECT_TRUE(claim("backend").empty());
  EXPECT_EQ(paused(), R"(["backend"])");
  EXPECT_EQ(got("/api/v1/destinations").at("items").as_array().at(0).at("paused"), true);
  EXPECT_EQ(nudges_, 0);
  EXPECT_EQ(resume("backend").body, R"({"name":"backend","paused":false})");
  EXPECT_EQ(nudges_, 1);
  EXPECT_EQ(claim("backend").size(), 1u);
  EXPECT_EQ(paused(), "[]");
}

TEST_F(AdminDestinations, TwiceIsAsGoodAsOnce) {
  EXPECT_EQ(pause("backend").status, 200);
  EXPECT_EQ(pause("backend").status, 200);
  EXPECT_EQ(resume("backend").status, 200);
  EXPECT_EQ(resume("backend").status, 200);
}

TEST_F(AdminDestinations, AnUnknownNameIs404AndLeavesNothingBehind) {
  for (const char* name : {"nobody", "Backend", "back end", "%"}) {
    EXPECT_EQ(pause(name).status, 404) << name;
    EXPECT_EQ(code_of(pause(name)), "no_such_destination") << name;
    EXPECT_EQ(code_of(resume(name)), "no_such_destination") << name;
  }
  EXPECT_EQ(code_of(post("/api/v1/destinations/%zz/pause")), "no_such_destination");
  EXPECT_EQ(paused(), "[]");
}

TEST_F(AdminDestinations, OneThatLeftTheConfigurationCanBeHeldWhileDeliveriesWaitAndFreedLater) {
  put(NewEventBuilder().to({"gone \xc3\xa4"}).build());
  EXPECT_EQ(pause("gone \xc3\xa4").status, 200);
  EXPECT_TRUE(claim("gone \xc3\xa4").empty());
  Config config = shop_config();
  config.destinations.erase("spare");
  ASSERT_EQ(pause("spare").status, 200);
  configure(std::move(config));
  const json::value items = got("/api/v1/destinations").at("items");
  EXPECT_EQ(to_json(items.as_array().at(3)), R"({"name":"spare","orphaned":true,"waiting":0,"paused":true})");
  EXPECT_EQ(resume("spare").status, 200);
  EXPECT_EQ(resume("spare").status, 404) << "nothing knows it any more";
}

TEST_F(AdminDestinations, ABodyMayBeAnEmptyObjectAndNothingElse) {
  EXPECT_EQ(post("/api/v1/destinations/backend/pause", "{}").status, 200);
  EXPECT_EQ(code_of(post("/api/v1/destinations/backend/pause", "{")), "malformed");
  EXPECT_EQ(code_of(post("/api/v1/destinations/backend/pause", R"({"minutes":5})")), "invalid_field");
  EXPECT_EQ(code_of(post("/api/v1/destinations/backend/pause", "[]")), "invalid_field");
}

TEST_F(AdminDestinations, AStoreThatIsAwayIs503) {
  store_.fall_ill("the disk is gone");
  EXPECT_EQ(pause("backend").status, 503);
  EXPECT_EQ(resume("backend").status, 503);
  EXPECT_EQ(nudges_, 0);
}

}  // namespace
}  // namespace hookonce
