// The OpenAPI document describes exactly the calls that exist, and real answers are as it says.
#include "admin/openapi.h"

#include <gtest/gtest.h>

#include <set>

#include "admin/routes.h"
#include "base/bytes.h"
#include "test/support/admin_fixture.h"
#include "test/support/json_schema.h"

namespace hookonce {
namespace {

class AdminOpenApi : public AdminFixture {
 protected:
  const json::value& operation(std::string_view method, std::string_view path) {
    return document_.at("paths").at(std::string(path)).at(to_lower(method));
  }
  // The answer is described for its call: the status, and the body where it is JSON.
  void expect_described(std::string_view method, std::string_view path, const HttpResponse& answer) {
    SCOPED_TRACE(std::string(method) + " " + std::string(path) + " " + std::to_string(answer.status));
    const json::object& responses = operation(method, path).at("responses").as_object();
    const json::value* response = responses.if_contains(std::to_string(answer.status));
    ASSERT_NE(response, nullptr) << "an undescribed status";
    JsonSchema schemas(document_);
    if (const json::value* reference = response->as_object().if_contains("$ref")) {
      response = schemas.follow(std::string(reference->as_string()));
      ASSERT_NE(response, nullptr) << to_json(*reference);
    }
    std::string type = header_of(answer, "Content-Type");
    type = type.substr(0, type.find(';'));
    const json::value* content = response->at("content").as_object().if_contains(type);
    ASSERT_NE(content, nullptr) << type;
    if (type != "application/json") return;
    for (const std::string& problem : schemas.check(*parse_json(answer.body), content->at("schema"))) {
      ADD_FAILURE() << problem << "\n" << answer.body;
    }
  }
  void collect_references(const json::value& value, std::set<std::string>& references) {
    if (const json::array* items = value.if_array()) {
      for (const json::value& item : *items) collect_references(item, references);
    }
    if (const json::object* members = value.if_object()) {
      for (const auto& [name, member] : *members) {
        if (name == "$ref") references.insert(std::string(member.as_string()));
        collect_references(member, references);
      }
    }
  }

  const json::value document_ = *parse_json(openapi_document());
};

TEST_F(AdminOpenApi, IsServedAsItStands) {
  const HttpResponse answer = get("/api/v1/openapi.json");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(header_of(answer, "Content-Type"), "application/json");
  EXPECT_EQ(answer.body, openapi_document());
  EXPECT_EQ(document_.at("openapi"), "3.1.0");
}

TEST_F(AdminOpenApi, DescribesExactlyTheCallsThatExist) {
  std::set<std::string> described;
  std::set<std::string> operations;
  for (const auto& [path, methods] : document_.at("paths").as_object()) {
    for (const auto& [method, call] : methods.as_object()) {
      described.insert(std::string(method) + " " + std::string(path));
      EXPECT_TRUE(operations.insert(std::string(call.at("operationId").as_string())).second) << path;
    }
  }
  std::set<std::string> existing;
  for (const Route& route : routes()) existing.insert(to_lower(route.method) + " " + std::string(route.path));
  EXPECT_EQ(described, existing);
}

TEST_F(AdminOpenApi, SaysWhichCallsNeedNoToken) {
  for (const Route& route : routes()) {
    const json::object& call = operation(route.method, route.path).as_object();
    const bool open = call.contains("security");
    EXPECT_EQ(open, route.open) << route.path;
    EXPECT_EQ(call.at("responses").as_object().contains("401"), !route.open || route.call == Call::kBeginSession)
        << route.path;
  }
}

TEST_F(AdminOpenApi, HasNoDanglingAndNoUnusedComponent) {
  std::set<std::string> references;
  collect_references(document_, references);
  JsonSchema schemas(document_);
  for (const std::string& reference : references) EXPECT_NE(schemas.follow(reference), nullptr) << reference;
  for (const char* kind : {"schemas", "responses"}) {
    for (const auto& [name, component] : document_.at("components").at(kind).as_object()) {
      const std::string reference = std::string("#/components/") + kind + "/" + std::string(name);
      EXPECT_EQ(references.count(reference), 1u) << reference;
    }
  }
}

TEST_F(AdminOpenApi, PathParametersAreDeclared) {
  for (const Route& route : routes()) {
    const auto begin = route.path.find('{'), end = route.path.find('}');
    if (begin == std::string_view::npos) continue;
    const std::string name(route.path.substr(begin + 1, end - begin - 1));
    EXPECT_EQ(operation(route.method, route.path).at("parameters").as_array().at(0).at("name"), name.c_str());
  }
}

TEST_F(AdminOpenApi, SuccessfulAnswersAreAsDescribed) {
  Arrival arrival;
  arrival.at = clock_.now();
  arrival.retry = RetryHint{1, ""};
  const EventId text = put(NewEventBuilder().key("evt_1").arrival(arrival).build());
  settle(failure(claim("backend").at(0), std::chrono::seconds(1)));
  const EventId bytes = put(NewEventBuilder().type("").body("\xff").to({"backend", "gone"}).build());
  ASSERT_EQ(claim("backend").size(), 1u);

  for (const char* path : {"/", "/healthz", "/readyz", "/metrics", "/api/v1/openapi.json", "/api/v1/events",
                           "/api/v1/sources", "/api/v1/destinations", "/api/v1/stats", "/api/v1/session"}) {
    expect_described("GET", path, get(path));
  }
  expect_described("GET", "/api/v1/events", get("/api/v1/events?limit=1"));
  expect_described("GET", "/api/v1/deliveries", get("/api/v1/deliveries?limit=2"));
  expect_described("GET", "/api/v1/history", get("/api/v1/history"));
  expect_described("GET", "/api/v1/history", get("/api/v1/history?minutes=1440&source=shop"));
  expect_described("POST", "/api/v1/replays", post("/api/v1/replays", R"({"dry_run":true,"limit":1})"));
  for (const EventId& id : {text, bytes}) {
    expect_described("GET", "/api/v1/events/{id}", get("/api/v1/events/" + id.text()));
    expect_described("POST", "/api/v1/events/{id}/replay", post("/api/v1/events/" + id.text() + "/replay"));
  }
  expect_described("POST", "/api/v1/replays", post("/api/v1/replays", R"({"dry_run":true})"));
  for (const char* verb : {"pause", "resume"}) {
    const std::string path = std::string("/api/v1/destinations/{name}/") + verb;
    expect_described("POST", path, post(std::string("/api/v1/destinations/gone/") + verb));
    expect_described("POST", path, post(std::string("/api/v1/destinations/nobody/") + verb));
    expect_described("POST", path, post(std::string("/api/v1/destinations/gone/") + verb, "{"));
    expect_described("POST", path, post(std::string("/api/v1/destinations/gone/") + verb, R"({"a":1})"));
  }
  expect_described("GET", "/api/v1/destinations", get("/api/v1/destinations"));
}

TEST_F(AdminOpenApi, RefusalsAreAsDescribed) {
  const std::string unknown = "/api/v1/events/0199a1b2-0000-7000-8000-000000000001";
  expect_described("GET", "/api/v1/events", get("/api/v1/events?limit=0"));
  expect_described("GET", "/api/v1/deliveries", get("/api/v1/deliveries?cursor=x"));
  expect_described("GET", "/api/v1/history", get("/api/v1/history?minutes=0"));
  expect_described("GET", "/api/v1/events/{id}", get(unknown));
  expect_described("GET", "/api/v1/events/{id}", get(unknown + "?reveal=2"));
  expect_described("POST", "/api/v1/events/{id}/replay", post(unknown + "/replay"));
  for (const char* body : {"{", "[]", R"({"unknown":1})"}) {
    expect_described("POST", "/api/v1/events/{id}/replay", post(unknown + "/replay", body));
    expect_described("POST", "/api/v1/replays", post("/api/v1/replays", body));
  }
  for (const Route& route : routes()) {
    const bool has_query_rules = route.path.substr(0, 8) == "/api/v1/";
    if (has_query_rules && route.path != "/api/v1/openapi.json") {
      std::string target(route.path);
      expect_described(route.method, route.path, call(request(std::string(route.method), target + "?unknown=1")));
    }
    HttpRequest misdirected = request(std::string(route.method), std::string(route.path));
    misdirected.headers.set("Host", "evil.example");
    expect_described(route.method, route.path, call(std::move(misdirected)));
    if (route.method != "POST") continue;
    HttpRequest foreign = request("POST", std::string(route.path));
    foreign.headers.add("Origin", "null");
    expect_described(route.method, route.path, call(std::move(foreign)));
    HttpRequest form = request("POST", std::string(route.path), "a=1");
    form.headers.set("Content-Type", "text/plain");
    expect_described(route.method, route.path, call(std::move(form)));
  }
  store_.fall_ill("the disk is gone");
  for (const char* path :
       {"/readyz", "/api/v1/events", "/api/v1/deliveries", "/api/v1/destinations", "/api/v1/stats"}) {
    expect_described("GET", path, get(path));
  }
  expect_described("GET", "/api/v1/events/{id}", get(unknown));
  expect_described("POST", "/api/v1/events/{id}/replay", post(unknown + "/replay"));
  expect_described("POST", "/api/v1/replays", post("/api/v1/replays", R"({"dead":true})"));
  expect_described("POST", "/api/v1/destinations/{name}/pause", post("/api/v1/destinations/backend/pause"));
  require_token();
  for (const Route& route : routes()) {
    if (!route.open)
      expect_described(route.method, route.path, call(request(std::string(route.method), std::string(route.path))));
  }
  expect_described("GET", "/readyz", get("/readyz"));
}

}  // namespace
}  // namespace hookonce
