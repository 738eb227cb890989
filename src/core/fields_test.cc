#include "core/fields.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

std::vector<FieldSpec> specs_of(const std::vector<std::string>& texts) {
  std::vector<FieldSpec> specs;
  for (const std::string& text : texts) specs.push_back(FieldSpec::parse(text).value());
  return specs;
}

HttpRequest request_with_body(std::string body) {
  HttpRequest request;
  request.body = std::move(body);
  return request;
}

Fields read(const std::vector<std::string>& specs, const HttpRequest& request) {
  return FieldReader(specs_of(specs)).read(request);
}

std::string message_of(std::string_view text) {
  return FieldSpec::parse(text).status().message();
}

TEST(FieldSpec, ReadsBackWhatItWrites) {
  for (const char* text : {"header:X-GitHub-Delivery", "json:/data/id", "json:/", "json:/a~1b/0", "form:trigger_id",
                           "query:id", "body", "form_json:payload:/type"}) {
    const Result<FieldSpec> spec = FieldSpec::parse(text);
    ASSERT_OK(spec);
    EXPECT_EQ(spec->text(), text);
  }
}

TEST(FieldSpec, SaysWhatToWriteInstead) {
  EXPECT_EQ(message_of("json:id"), "`json:id` is not a JSON pointer; did you mean `json:/id`?");
  EXPECT_EQ(message_of("json:"), "`json:` points at nothing; write the place of the value, as in `json:/id`");
  EXPECT_EQ(message_of("json:/a~2"),
            "`json:/a~2` is not a JSON pointer; `~` must be written `~0` and a `/` inside a name `~1`");
  EXPECT_EQ(message_of("heder:X-Id"), "`heder:X-Id` is no place of a value; did you mean `header:X-Id`?");
  EXPECT_EQ(message_of("id"), "`id` does not say where the value lies; did you mean `json:/id` or `header:id`?");
  EXPECT_EQ(message_of("/data/id"), "`/data/id` does not say where the value lies; did you mean `json:/data/id`?");
}

TEST(FieldSpec, RefusesWhatNamesNothing) {
  for (const char* text : {"", "header:", "header:X Id", "header:X-Id:", "form:", "query:", "form_json:payload",
                           "form_json::/a", "form_json:payload:", "Body", "cookie:sid"}) {
    EXPECT_EQ(FieldSpec::parse(text).code(), Code::kInvalid) << text;
  }
}

TEST(FieldReader, ReadsEachPlaceInTheOrderOfItsSpecs) {
  HttpRequest request = request_with_body(R"({"data":{"id":"evt_1"},"n":12345678901234567890123})");
  request.headers = {{"x-request-id", "abc"}};
  request.query = "id=a%20b&empty=&id2=c";
  const Fields fields =
      read({"json:/n", "query:id", "header:X-Request-Id", "json:/data/id", "query:missing", "query:empty"}, request);
  ASSERT_OK(fields.body);
  EXPECT_EQ(fields.values[0], "12345678901234567890123");
  EXPECT_EQ(fields.values[1], "a b");
  EXPECT_EQ(fields.values[2], "abc");
  EXPECT_EQ(fields.values[3], "evt_1");
  EXPECT_FALSE(fields.values[4].has_value());
  EXPECT_FALSE(fields.values[5].has_value());
}

TEST(FieldReader, ThingsThatIdentifyNothingAreMissing) {
  const Fields fields =
      read({"json:/empty", "json:/null", "json:/yes", "json:/object", "json:/list", "json:/none", "json:/zero"},
           request_with_body(R"({"empty":"","null":null,"yes":true,"object":{},"list":[1],"zero":0})"));
  ASSERT_OK(fields.body);
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(fields.values[i].has_value()) << i;
  EXPECT_EQ(fields.values[6], "0");
}

TEST(FieldReader, ABodyThatIsNotJsonAsAWholeHasAProblemAndNoValues) {
  for (const char* body : {"", "{", R"({"id":"evt_1"} x)", R"({"id":"evt_1",})", "id=evt_1", "{\"id\":\"\xff\"}"}) {
    const Fields fields = read({"json:/id"}, request_with_body(body));
    EXPECT_EQ(fields.body.code(), Code::kInvalid) << body;
    EXPECT_FALSE(fields.values[0].has_value()) << body;
  }
}

TEST(FieldReader, ABodyThatNoSpecLooksIntoHasNoProblem) {
  HttpRequest request = request_with_body("\x1f\x8b not JSON, not a form: %zz");
  request.headers = {{"X-Id", "7"}};
  const Fields fields = read({"header:X-Id", "query:id"}, request);
  EXPECT_OK(fields.body);
  EXPECT_EQ(fields.values[0], "7");
}

TEST(FieldReader, DecodesFormFieldsAndTheLastOfARepeatedOneCounts) {
  const Fields fields = read({"form:trigger_id", "form:te xt", "form:none", "form:empty"},
                             request_with_body("trigger_id=1&te+xt=a%26b+c%3D&trigger_id=2&empty="));
  ASSERT_OK(fields.body);
  EXPECT_EQ(fields.values[0], "2");
  EXPECT_EQ(fields.values[1], "a&b c=");
  EXPECT_FALSE(fields.values[2].has_value());
  EXPECT_FALSE(fields.values[3].has_value());
}

TEST(FieldReader, AFormWithABrokenEscapeHasAProblem) {
  for (const char* body : {"id=%zz", "id=1&x=%", "id=1&%4=2"}) {
    EXPECT_EQ(read({"form:id"}, request_with_body(body)).body.code(), Code::kInvalid) << body;
  }
}

TEST(FieldReader, AQueryWithABrokenEscapeSpoilsThatParameterAlone) {
  HttpRequest request;
  request.query = "bad=%zz&id=7&flag&=x&id=8";
  const Fields fields = read({"query:id", "query:bad", "query:flag"}, request);
  EXPECT_OK(fields.body);
  EXPECT_EQ(fields.values[0], "8");
  EXPECT_FALSE(fields.values[1].has_value());
  EXPECT_FALSE(fields.values[2].has_value());
}

TEST(FieldReader, ReadsJsonInsideFormFields) {
  const Fields fields =
      read({"form_json:payload:/type", "form_json:other:/n", "form_json:payload:/user/id", "form_json:none:/a"},
           request_with_body("payload=%7B%22type%22%3A%22view%22%2C%22user%22%3A%7B%22id%22%3A%22U1%22%7D%7D"
                             "&other=%7B%22n%22%3A5%7D"));
  ASSERT_OK(fields.body);
  EXPECT_EQ(fields.values[0], "view");
  EXPECT_EQ(fields.values[1], "5");
  EXPECT_EQ(fields.values[2], "U1");
  EXPECT_FALSE(fields.values[3].has_value());
}

TEST(FieldReader, AFormFieldThatIsNotJsonHasAProblemThatNamesIt) {
  const Fields fields = read({"form_json:payload:/type"}, request_with_body("payload=%7B"));
  EXPECT_EQ(fields.body.code(), Code::kInvalid);
  EXPECT_NE(fields.body.message().find("`payload`"), std::string::npos) << fields.body.message();
}

TEST(FieldReader, TheWholeBodyReadsAsItsHash) {
  const Fields fields = read({"body", "body"}, request_with_body(""));
  EXPECT_EQ(fields.values[0], "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(fields.values[1], fields.values[0]);
}

TEST(FieldReader, NoSpecsReadNothing) {
  const Fields fields = read({}, request_with_body("%zz"));
  EXPECT_TRUE(fields.values.empty());
  EXPECT_OK(fields.body);
}

TEST(SingleHeader, EqualOnesCountAsOneAndDifferingOnesAreInvalid) {
  const Headers headers = {{"X-Id", "1"}, {"x-id", "1"}, {"X-Sig", "a"}, {"X-SIG", "b"}, {"X-Empty", ""}};
  EXPECT_EQ(*single_header(headers, "X-ID"), "1");
  EXPECT_EQ(single_header(headers, "X-Sig").code(), Code::kInvalid);
  EXPECT_EQ(*single_header(headers, "X-None"), std::nullopt);
  EXPECT_EQ(*single_header(headers, "X-Empty"), "");
  EXPECT_FALSE(read({"header:X-Sig"},
                    [&] {
                      HttpRequest request;
                      request.headers = headers;
                      return request;
                    }())
                   .values[0]
                   .has_value());
}

}  // namespace
}  // namespace hookonce
