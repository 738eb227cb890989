#include "base/json_redact.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/json_scan.h"
#include "base/random.h"

namespace hookonce {
namespace {

std::string redacted(std::string_view document, const std::vector<std::string>& pointers) {
  const Result<std::string> shown = redact_json(document, pointers, "#");
  return shown.ok() ? *shown : "refused";
}

TEST(JsonRedact, ReplacesWhatAPointerLeadsTo) {
  struct Case {
    const char* document;
    std::vector<std::string> pointers;
    const char* shown;
  };
  const Case cases[] = {
      {R"({"a":"x"})", {"/a"}, R"({"a":"#"})"},
      {R"({"a":"x","b":"y"})", {"/a"}, R"({"a":"#","b":"y"})"},
      {R"({"b":"y","a":"x"})", {"/a"}, R"({"b":"y","a":"#"})"},
      {R"({"a":"x","b":"y"})", {"/b", "/a"}, R"({"a":"#","b":"#"})"},
      {R"({"a":12.5e3,"b":1})", {"/a"}, R"({"a":"#","b":1})"},
      {R"({"a":-7})", {"/a"}, R"({"a":"#"})"},
      {R"({"a":true})", {"/a"}, R"({"a":"#"})"},
      {R"({"a":null})", {"/a"}, R"({"a":"#"})"},
      {R"({"a":{"b":[1,{"c":"]}"}]},"d":2})", {"/a"}, R"({"a":"#","d":2})"},
      {R"({"a":[1,[2],"]"],"d":2})", {"/a"}, R"({"a":"#","d":2})"},
      {R"({"a":{},"d":[]})", {"/a", "/d"}, R"({"a":"#","d":"#"})"},
      {R"({"a":{"b":{"c":"x"},"c":"y"},"c":"z"})", {"/a/b/c"}, R"({"a":{"b":{"c":"#"},"c":"y"},"c":"z"})"},
      {R"({"a":{"b":1}})", {"/a/b", "/a"}, R"({"a":"#"})"},
      // Nothing is there.
      {R"({"b":"a"})", {"/a"}, R"({"b":"a"})"},
      {R"({"a":"x"})", {"/a/b"}, R"({"a":"x"})"},
      {R"({"a":["x"]})", {"/a/b"}, R"({"a":["x"]})"},
      {R"("a")", {"/a"}, R"("a")"},
      {"7", {"/0"}, "7"},
      {"{}", {"/a"}, "{}"},
      {"[]", {"/*"}, "[]"},
      // Arrays.
      {R"(["x","y",["z"]])", {"/1"}, R"(["x","#",["z"]])"},
      {R"(["x","y"])", {"/01"}, R"(["x","y"])"},
      {R"([{"n":1},{"n":2,"m":3},4])", {"/*/n"}, R"([{"n":"#"},{"n":"#","m":3},4])"},
      {R"({"a":[[1,2],[3]]})", {"/a/*/*"}, R"({"a":[["#","#"],["#"]]})"},
      {R"({"a":[1, 2 ,3]})", {"/a/*"}, R"({"a":["#", "#" ,"#"]})"},
      {R"({"a":[{"n":1}],"b":[{"n":1}]})", {"/*/0/n"}, R"({"a":[{"n":"#"}],"b":[{"n":"#"}]})"},
      {R"({"a":{"x":{"n":1},"y":{"n":2}}})", {"/a/*/n"}, R"({"a":{"x":{"n":"#"},"y":{"n":"#"}}})"},
      // Repeated and escaped names.
      {R"({"a":"x","a":"y"})", {"/a"}, R"({"a":"#","a":"#"})"},
      {R"({"a":{"b":1},"a":{"b":2,"b":3}})", {"/a/b"}, R"({"a":{"b":"#"},"a":{"b":"#","b":"#"}})"},
      {R"({"\u0061":"x","b":"\u0061"})", {"/a"}, R"({"\u0061":"#","b":"\u0061"})"},
      {R"({"c\"d":"x","a\/b":"y","m~n":"z"})", {"/c\"d", "/a~1b", "/m~0n"}, R"({"c\"d":"#","a\/b":"#","m~n":"#"})"},
      {R"({"a\\":"x","b":1})", {"/a\\"}, R"({"a\\":"#","b":1})"},
      {R"({"é":"x","\u00e9":"y"})", {"/é"}, R"({"é":"#","\u00e9":"#"})"},
      {R"({"":"x","b":1})", {"/"}, R"({"":"#","b":1})"},
      // Strings that look like structure, and blanks.
      {R"({"a":"\"}],{","b":"\\"})", {"/a"}, R"({"a":"#","b":"\\"})"},
      {R"({"{":"a","a":"x"})", {"/a"}, R"({"{":"a","a":"#"})"},
      {" {\n\t\"a\" : \"x\" , \"b\" : [ 1 , 2 ] }\r\n",
       {"/a", "/b/0"},
       " {\n\t\"a\" : \"#\" , \"b\" : [ \"#\" , 2 ] }\r\n"},
      // What is valid and rare.
      {R"({"a":"\ud800","b":1e99999999999})", {"/a"}, R"({"a":"#","b":1e99999999999})"},
      {R"({"a":1e99999999999,"b":"\ud800"})", {"/a"}, R"({"a":"#","b":"\ud800"})"},
  };
  for (const Case& one : cases) EXPECT_EQ(redacted(one.document, one.pointers), one.shown) << one.document;
}

TEST(JsonRedact, WhatIsNotJsonAsAWholeIsRefused) {
  for (const char* document :
       {"", " ", "{", R"({"a":"x")", R"({"a":"x"}})", R"({"a":"x"} {"a":"y"})", R"({a:"x"})", R"({'a':'x'})",
        "\xEF\xBB\xBF{\"a\":\"x\"}", "{\"a\":\"\xff\"}", "a=x", R"({"a":"x",})"}) {
    EXPECT_EQ(redacted(document, {"/a"}), "refused") << document;
  }
  EXPECT_EQ(redacted(std::string(kJsonDepthMax + 1, '[') + std::string(kJsonDepthMax + 1, ']'), {"/a"}), "refused");
}

TEST(JsonRedact, TheDeepestDocumentIsGoneThrough) {
  std::string document = "\"x\"";
  std::string pointer;
  for (std::size_t i = 0; i < kJsonDepthMax; ++i) {
    document = "[" + document + "]";
    pointer += "/0";
  }
  EXPECT_EQ(redacted(document, {pointer}), std::string(kJsonDepthMax, '[') + "\"#\"" + std::string(kJsonDepthMax, ']'));
}

TEST(JsonRedact, APointerCoversItselfAndWhatIsBelow) {
  EXPECT_TRUE(json_pointer_covers("/a", "/a"));
  EXPECT_TRUE(json_pointer_covers("/a", "/a/b/0"));
  EXPECT_TRUE(json_pointer_covers("/a/*/c", "/a/0/c"));
  EXPECT_TRUE(json_pointer_covers("/a/*", "/a/*"));
  EXPECT_FALSE(json_pointer_covers("/a/b", "/a"));
  EXPECT_FALSE(json_pointer_covers("/a", "/ab"));
  EXPECT_FALSE(json_pointer_covers("/a/*/c", "/a/0/d"));
}

// Goal: nothing hidden is seen, and nothing else changes. Method: random documents in which every scalar is a text of
// its own, written down with its place; pointers are made from random places, some components as `*`; which scalars are
// hidden is judged from the places alone.
class RandomDocument {
 public:
  explicit RandomDocument(std::uint64_t seed) : random_(seed) { write_value({}, 0); }

  struct Leaf {
    std::vector<std::string> place;
    std::string text;
  };
  const std::string& text() const { return text_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

 private:
  void blanks() { text_ += std::string(pick(4) == 0 ? pick(3) : 0, pick(2) == 0 ? ' ' : '\n'); }

  void write_value(const std::vector<std::string>& place, int depth) {
    const std::size_t kind = depth > 4 ? 0 : pick(4);
    if (kind <= 1) return write_leaf(place);
    const bool array = kind == 2;
    text_ += array ? "[" : "{";
    const std::size_t count = pick(4);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text_ += ",";
      blanks();
      std::vector<std::string> inner = place;
      if (array) {
        inner.push_back(std::to_string(i));
      } else {
        static const std::pair<const char*, const char*> kNames[] = {
            {"a", "a"}, {"a", "\\u0061"}, {"b/c", "b\\/c"}, {"", ""}, {"m~n", "m~n"}, {"q\"", "q\\\""}, {"0", "0"}};
        const auto& [name, written] = kNames[pick(std::size(kNames))];
        inner.emplace_back(name);
        text_ += std::string("\"") + written + "\"";
        blanks();
        text_ += ":";
        blanks();
      }
      write_value(inner, depth + 1);
      blanks();
    }
    text_ += array ? "]" : "}";
  }

  void write_leaf(const std::vector<std::string>& place) {
    const std::string own = std::to_string(100000 + leaves_.size());
    static const char* const kTails[] = {"\"", "]}\"", "\\\"\"", "\\\\\"", ",\"", "\\u0061:\""};
    const std::string written = pick(2) == 0 ? own : "\"" + own + kTails[pick(std::size(kTails))];
    text_ += written;
    leaves_.push_back({place, own});
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<Leaf> leaves_;
};

std::string pointer_of(const std::vector<std::string>& place) {
  std::string pointer;
  for (const std::string& component : place) {
    pointer += '/';
    for (const char c : component) pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return pointer;
}

bool leads_to(const std::vector<std::string>& chosen, const std::vector<std::string>& place) {
  if (chosen.size() > place.size()) return false;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] != "*" && chosen[i] != place[i]) return false;
  }
  return true;
}

TEST(JsonRedact, NothingHiddenIsSeenAndNothingElseChanges) {
  const char* given = std::getenv("HOOKONCE_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : static_cast<std::uint64_t>(random_unit() * 1e15);
  std::printf("HOOKONCE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  int hidden_leaves = 0;
  for (std::uint64_t round = 0; round < 3000; ++round) {
    RandomDocument document(seed + round);
    std::vector<std::vector<std::string>> chosen;
    for (std::size_t i = document.pick(3); i > 0 && !document.leaves().empty(); --i) {
      std::vector<std::string> place = document.leaves()[document.pick(document.leaves().size())].place;
      if (place.empty()) continue;
      place.resize(1 + document.pick(place.size()));
      for (std::string& component : place) {
        if (document.pick(4) == 0) component = "*";
      }
      chosen.push_back(place);
    }
    std::vector<std::string> pointers;
    for (const auto& place : chosen) pointers.push_back(pointer_of(place));
    const Result<std::string> shown = redact_json(document.text(), pointers, "[redacted]");
    ASSERT_TRUE(shown.ok()) << document.text();
    EXPECT_TRUE(JsonScanner({}).scan(*shown).ok()) << *shown;
    if (pointers.empty()) EXPECT_EQ(*shown, document.text());
    for (const auto& leaf : document.leaves()) {
      bool hidden = false;
      for (const auto& place : chosen) hidden = hidden || leads_to(place, leaf.place);
      hidden_leaves += hidden ? 1 : 0;
      EXPECT_EQ(shown->find(leaf.text) == std::string::npos, hidden) << leaf.text << " in " << document.text();
    }
  }
  EXPECT_GT(hidden_leaves, 1000);
}

}  // namespace
}  // namespace hookonce
