#include "ingest/rewriting.h"

#include <gtest/gtest.h>

#include <set>

#include "base/bytes.h"
#include "base/json.h"

namespace hookonce {
namespace {

// How `original` is found from `received`; nullopt where it is not.
std::optional<std::string> found(std::string_view received, std::string_view original) {
  std::optional<std::string> how;
  for_each_rewriting(received, [&](const Rewriting& rewriting) {
    if (rewriting.body == original) how = rewriting.how;
    return !how;
  });
  return how;
}

std::vector<std::string> all_of(std::string_view body) {
  std::vector<std::string> bodies;
  for_each_rewriting(body, [&](const Rewriting& rewriting) {
    bodies.push_back(rewriting.body);
    return true;
  });
  return bodies;
}

TEST(Rewriting, FindsTheUsualWritersOfJson) {
  // What an Express or PHP middleware passes on, and what was signed.
  const std::string compact = R"({"id":"evt_1","list":[1,{},[],"a/b"],"name":"Zoë 山 𝄞"})";
  EXPECT_EQ(found(compact, R"({"id": "evt_1", "list": [1, {}, [], "a/b"], "name": "Zo\u00eb \u5c71 \ud834\udd1e"})"),
            "the same JSON with a blank behind each comma and colon, with \\u escapes for what is not ASCII");
  EXPECT_EQ(found(compact, R"({"id":"evt_1","list":[1,{},[],"a\/b"],"name":"Zo\u00eb \u5c71 \ud834\udd1e"})"),
            "the same JSON with \\u escapes for what is not ASCII, with `\\/` for `/`");
  EXPECT_EQ(found(compact, R"({"id":"evt_1","list":[1,{},[],"a/b"],"name":"Zo\u00EB \u5C71 \uD834\uDD1E"})"),
            "the same JSON with \\u escapes for what is not ASCII");
  const std::string pretty =
      "{\n  \"id\": \"evt_1\",\n  \"list\": [\n    1,\n    {},\n    [],\n    \"a/b\"\n  ],\n  \"name\": \"Zoë 山 "
      "𝄞\"\n}";
  EXPECT_EQ(found(compact, pretty), "the same JSON indented by two blanks");
  EXPECT_EQ(found(compact, pretty + "\n"), "the same JSON indented by two blanks, with a line end behind");
  EXPECT_EQ(found(pretty, compact), "the same JSON without white space");
}

TEST(Rewriting, FindsOneChangedSpellingAndLeavesTheRestAsItIs) {
  EXPECT_EQ(found(R"({"a" :"\u00fc\u0041\/\n\"\u0001"})", R"({"a" :"üA\/\n\"\u0001"})"),
            "the same JSON with characters in place of \\u escapes");
  EXPECT_EQ(found(R"({"a" :"\u00fc\/"})", R"({"a" :"\u00fc/"})"), "the same JSON with `/` for `\\/`");
  EXPECT_EQ(found(R"({"a":"<b>&"})", R"({"a":"\u003cb\u003e\u0026"})"),
            "the same JSON with \\u escapes for `<`, `>` and `&`");
  EXPECT_EQ(found(R"({ "a":"\ud834x\\u00e9" })", R"({"a":"\ud834x\\u00e9"})"), "the same JSON without white space");
}

TEST(Rewriting, FindsLineEndsAndMarksAtTheEdges) {
  EXPECT_EQ(found("{}", "{}\n"), "the same bytes with a line end behind");
  EXPECT_EQ(found("{}\n", "{}"), "the same bytes without the line end behind");
  EXPECT_EQ(found("{}\r\n", "{}"), "the same bytes without the line end behind");
  EXPECT_EQ(found("a\r\nb", "a\nb"), "the same text with LF for CR LF");
  EXPECT_EQ(found("a\nb", "a\r\nb"), "the same text with CR LF for LF");
  EXPECT_EQ(found("\xEF\xBB\xBF{}", "{}"), "the same bytes without the byte order mark");
  EXPECT_EQ(found("{}", "\xEF\xBB\xBF{}"), "the same bytes with a byte order mark in front");
}

TEST(Rewriting, FindsForms) {
  EXPECT_EQ(found("command=%2Fdeploy&text=a+b", "command=%2Fdeploy&text=a%20b"), "the same form with `%20` for `+`");
  EXPECT_EQ(found("command=%2Fdeploy&text=a%20b", "command=%2Fdeploy&text=a+b"), "the same form with `+` for `%20`");
  EXPECT_EQ(found("text=(now)~*&b=", "text=%28now%29~%2A&b="), "the same form with other percent escapes");
  EXPECT_EQ(found("text=a%2fb", "text=a%2Fb"), "the same form with other percent escapes");
}

TEST(Rewriting, FindsWhatWrapsTheWhole) {
  EXPECT_EQ(found("eyJhIjoxfQ==", R"({"a":1})"), "what this body holds as base64");
  EXPECT_EQ(found(R"("{\"a\":\"\\u00e9\"}")", R"({"a":"\u00e9"})"), "the text that this body holds as one JSON string");
}

TEST(Rewriting, FindsNothingThatSaysSomethingElse) {
  EXPECT_EQ(found(R"({"amount":1})", R"({"amount":2})"), std::nullopt);
  EXPECT_EQ(found(R"({"amount":1})", R"({"amount":1.0})"), std::nullopt);
  EXPECT_EQ(found(R"({"a":1,"b":2})", R"({"b":2,"a":1})"), std::nullopt);
  EXPECT_EQ(found("a=1&b=2", "b=2&a=1"), std::nullopt);
}

TEST(Rewriting, KeepsTheMeaningOfJsonIsBoundedAndShowsNothingTwice) {
  for (const std::string body :
       {R"({"a":[1.50,-0,1e5,true,null,"",{"b":{}}],"ü\u00e9\ud800":"\\\/\"\t<&>\u2028 / 山"})",
        R"(  [ "x" , [ ] , { "k" : [ { } ] } ]  )", R"("only text")", "17"}) {
    const auto original = parse_json(body);
    const auto bodies = all_of(body);
    std::set<std::string> once(bodies.begin(), bodies.end());
    EXPECT_EQ(once.size(), bodies.size());
    EXPECT_EQ(once.count(body), 0u);
    EXPECT_LE(bodies.size(), 100u);
    for (const std::string& rewriting : bodies) {
      const auto read = parse_json(rewriting);
      if (!read.ok() && (rewriting.starts_with("\xEF\xBB\xBF") || body == "\"only text\"")) continue;
      EXPECT_EQ(read.ok(), original.ok()) << rewriting;
      if (read.ok() && original.ok()) {
        EXPECT_EQ(*read, *original) << rewriting;
      }
    }
  }
}

TEST(Rewriting, TakesAnyBytes) {
  for (const std::string& body : {std::string(), std::string("\0\xff\xfe", 3), std::string(1000, '['),
                                  std::string("{\"a\":\"\\u12"), std::string("%zz=1"), std::string("\xEF\xBB\xBF"),
                                  std::string("\"\\ud834\\u\""), std::string(1024, '[') + std::string(1024, ']')}) {
    all_of(body);
  }
  SUCCEED();
}

TEST(Rewriting, NoBodyMakesMuchMoreOfItself) {
  const std::string brackets = std::string(1000, '[') + "1";
  std::string deep = brackets;
  for (int i = 0; i < 10'000; ++i) deep += ",1";
  deep += std::string(1000, ']');
  for (const std::string& body : {deep, std::string(1024, '[') + std::string(1024, ']'), std::string(20'000, '/')}) {
    for (const std::string& rewriting : all_of(body)) EXPECT_LE(rewriting.size(), 20'000 + 10 * body.size());
  }
  EXPECT_FALSE(all_of(deep).empty()) << "what does not grow is tried";
  EXPECT_TRUE(all_of("[" + std::string(kRewrittenMax, ' ') + "]").empty());
}

TEST(Rewriting, StopsWhenAsked) {
  int shown = 0;
  for_each_rewriting(R"({"a": "/é"})", [&](const Rewriting&) { return ++shown < 12; });
  EXPECT_EQ(shown, 12);
}

}  // namespace
}  // namespace hookonce
