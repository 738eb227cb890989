// A body of several provider events: one arrival, an event where one of its items is new.
#include <gtest/gtest.h>

#include "base/crypto.h"
#include "core/source_counters.h"
#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

const std::string kSecret = "hmac secret";

class IngestBatch : public IngestFixture {
 protected:
  static SourceConfig batches(MissingKey missing = MissingKey::kAccept, std::string items = "/events") {
    SourceConfig source = source_of("batches", "hmac", {kSecret});
    source.hmac = HmacScheme{};
    source.hmac->header = "X-Signature";
    source.items = std::move(items);
    source.dedup_key = {FieldSpec::parse("json:/id").value()};
    source.missing_key = missing;
    return source;
  }
  HttpResponse deliver(const std::string& body) {
    SampleRequest sample;
    sample.body = body;
    sample.signature_header = "X-Signature";
    return send(signed_by("hmac", "batches", kSecret, sample));
  }
  // The new items of the event that `body` became.
  std::string new_items(const std::string& body) {
    const HttpResponse answer = deliver(body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(header_of(answer, "Hookonce-Status"), "accepted") << body;
    return event(header_of(answer, "Hookonce-Event")).new_items;
  }
  std::string status(const std::string& body) { return header_of(deliver(body), "Hookonce-Status"); }
};

TEST_F(IngestBatch, OfFiveItemsTwoAreNewAndTheSameBatchAgainIsADuplicate) {
  use(batches());
  EXPECT_EQ(new_items(R"({"type":"batch","events":[{"id":"1"},{"id":"2"},{"id":"3"}]})"), "0,1,2");
  const std::string five = R"({"type":"batch","events":[{"id":"1"},{"id":"4"},{"id":"2"},{"id":5},{"id":"3"}]})";
  EXPECT_EQ(new_items(five), "1,3");
  EXPECT_EQ(status(five), "duplicate");
  EXPECT_EQ(status(R"({"events":[{"id":"5"},{"id":"1"}]})"), "duplicate");
  ASSERT_EQ(events().size(), 2u);
  EXPECT_EQ(events()[0].type, "batch");
  EXPECT_EQ(events()[0].key, std::nullopt);
}

TEST_F(IngestBatch, AnItemTwiceInOneBodyIsNewOnce) {
  use(batches());
  EXPECT_EQ(new_items(R"({"events":[{"id":"1"},{"id":"2"},{"id":"1"}]})"), "0,1");
}

TEST_F(IngestBatch, TheBodyMayBeTheArray) {
  use(batches(MissingKey::kAccept, ""));
  EXPECT_EQ(new_items(R"([{"id":"1"},{"id":"2"}])"), "0,1");
  EXPECT_EQ(status(R"([{"id":"2"}])"), "duplicate");
}

TEST_F(IngestBatch, AnItemWithoutAKeyIsAlwaysNewUnderAccept) {
  use(batches());
  const std::string body = R"({"events":[{"id":"1"},{"no":"id"},{"id":null},"text"]})";
  EXPECT_EQ(new_items(body), "0,1,2,3");
  EXPECT_EQ(new_items(body), "1,2,3");
}

TEST_F(IngestBatch, AnItemWithoutAKeyIsItsTextUnderHash) {
  use(batches(MissingKey::kHash));
  EXPECT_EQ(new_items(R"({"events":[{"id":"1"},{"no":"id"},{"no":"id"}]})"), "0,1");
  EXPECT_EQ(status(R"({"events":[ {"no":"id"} ]})"), "duplicate");
  EXPECT_EQ(new_items(R"({"events":[{"no": "id"}]})"), "0");
}

TEST_F(IngestBatch, AnItemWithoutAKeyRefusesTheWholeUnderReject) {
  use(batches(MissingKey::kReject));
  const HttpResponse answer = deliver(R"({"events":[{"id":"1"},{"no":"id"}]})");
  EXPECT_EQ(answer.status, 422);
  EXPECT_NE(answer.body.find("dedup_key_missing"), std::string::npos);
  EXPECT_EQ(new_items(R"({"events":[{"id":"1"}]})"), "0") << "what was refused took no key";
}

TEST_F(IngestBatch, ABodyWithoutItemsHasNoKey) {
  for (const char* body : {R"({"events":[]})", R"({"events":{"id":"1"}})", "{}", "7"}) {
    use(batches(MissingKey::kAccept));
    EXPECT_EQ(new_items(body), "") << body;
    EXPECT_EQ(new_items(body), "") << body;
    use(batches(MissingKey::kReject));
    EXPECT_EQ(deliver(body).status, 422) << body;
    use(batches(MissingKey::kHash));
    EXPECT_EQ(new_items(body), "") << body;
    EXPECT_EQ(status(body), "duplicate") << body;
  }
}

TEST_F(IngestBatch, ABodyThatIsNotJsonIsMalformed) {
  use(batches());
  for (const char* body : {"id=1", R"({"events":[{"id":"1"})", R"({"events":[{"id":"1"},]})", "\x1f\x8b"}) {
    const HttpResponse answer = deliver(body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_NE(answer.body.find("malformed"), std::string::npos) << answer.body;
  }
  EXPECT_TRUE(events().empty());
}

TEST_F(IngestBatch, MoreItemsThanTheLimitAreMalformedAndSaySo) {
  use(batches());
  const auto batch_of = [](std::size_t items) {
    std::string body = R"({"events":[)";
    for (std::size_t i = 0; i < items; ++i) body += (i > 0 ? R"(,{"id":)" : R"({"id":)") + std::to_string(i) + "}";
    return body + "]}";
  };
  const HttpResponse answer = deliver(batch_of(kItemsMax + 1));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("the batch has 1001 items; at most 1000 are possible"), std::string::npos) << answer.body;
  EXPECT_EQ(parse_items(new_items(batch_of(kItemsMax))).size(), kItemsMax);
}

}  // namespace
}  // namespace hookonce
