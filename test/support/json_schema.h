// Checks a value against a JSON Schema as far as the project's own OpenAPI document uses it; an unknown keyword is a
// failure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace hookonce {

class JsonSchema {
 public:
  // `document` is where "#/..." references lead; it outlives this.
  explicit JsonSchema(const json::value& document) : document_(document) {}

  // What is wrong with `value`, each with its place; empty: nothing.
  std::vector<std::string> check(const json::value& value, const json::value& schema) {
    problems_.clear();
    visit(value, schema, "$");
    return problems_;
  }
  // "#/components/schemas/Event", or null where it leads nowhere.
  const json::value* follow(std::string_view reference) const {
    boost::system::error_code error;
    return document_.find_pointer({reference.data() + 1, reference.size() - 1}, error);
  }

 private:
  void visit(const json::value& value, const json::value& schema, const std::string& place) {
    for (const auto& [name, rule] : schema.as_object()) {
      const std::string keyword(name);
      if (keyword == "$ref") {
        const json::value* target = follow(std::string(rule.as_string()));
        if (target == nullptr) return say(place, "dangling " + to_json(rule));
        visit(value, *target, place);
      } else if (keyword == "type") {
        if (!is_of_type(value, rule)) say(place, to_json(value) + " is not of type " + to_json(rule));
      } else if (keyword == "enum") {
        bool found = false;
        for (const json::value& item : rule.as_array()) found = found || item == value;
        if (!found) say(place, to_json(value) + " is none of " + to_json(rule));
      } else if (keyword == "const") {
        if (value != rule) say(place, to_json(value) + " is not " + to_json(rule));
      } else if (keyword == "oneOf") {
        int fitting = 0;
        for (const json::value& item : rule.as_array()) fitting += JsonSchema(document_).check(value, item).empty();
        if (fitting != 1) say(place, std::to_string(fitting) + " alternatives fit");
      } else if (value.is_object()) {
        visit_object(value.as_object(), schema.as_object(), keyword, rule, place);
      } else if (value.is_array()) {
        visit_array(value.as_array(), keyword, rule, place);
      } else if (kKnown.count(keyword) == 0) {
        say(place, "unknown keyword " + keyword);
      }
    }
  }
  void visit_object(const json::object& value, const json::object& schema, const std::string& keyword,
                    const json::value& rule, const std::string& place) {
    if (keyword == "required") {
      for (const json::value& name : rule.as_array()) {
        if (!value.contains(name.as_string())) say(place, "no member " + std::string(name.as_string()));
      }
    } else if (keyword == "properties") {
      for (const auto& [name, member] : value) {
        if (const json::value* known = rule.as_object().if_contains(name)) {
          visit(member, *known, place + "." + std::string(name));
        } else if (!schema.contains("additionalProperties")) {
          say(place, "undescribed member " + std::string(name));
        }
      }
    } else if (keyword == "additionalProperties" && rule.is_object()) {
      for (const auto& [name, member] : value) visit(member, rule, place + "." + std::string(name));
    } else if (kKnown.count(keyword) == 0) {
      say(place, "unknown keyword " + keyword);
    }
  }
  void visit_array(const json::array& value, const std::string& keyword, const json::value& rule,
                   const std::string& place) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string here = place + "[" + std::to_string(i) + "]";
      if (keyword == "items") visit(value[i], rule, here);
      if (keyword == "prefixItems" && i < rule.as_array().size()) visit(value[i], rule.as_array()[i], here);
    }
    if (keyword == "minItems" && value.size() < rule.to_number<std::size_t>()) say(place, "too few items");
    if (keyword == "maxItems" && value.size() > rule.to_number<std::size_t>()) say(place, "too many items");
    if (kKnown.count(keyword) == 0) say(place, "unknown keyword " + keyword);
  }
  static bool is_of_type(const json::value& value, const json::value& rule) {
    if (rule.is_array()) {
      for (const json::value& item : rule.as_array()) {
        if (is_of_type(value, item)) return true;
      }
      return false;
    }
    const std::string type(rule.as_string());
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_int64() || value.is_uint64();
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_bool();
    if (type == "null") return value.is_null();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    return false;
  }
  void say(const std::string& place, const std::string& what) { problems_.push_back(place + ": " + what); }

  inline static const std::set<std::string> kKnown = {
      "description", "format",   "default",  "minimum",     "maximum", "contentEncoding",     "required",
      "properties",  "minItems", "maxItems", "prefixItems", "items",   "additionalProperties"};
  const json::value& document_;
  std::vector<std::string> problems_;
};

}  // namespace hookonce
