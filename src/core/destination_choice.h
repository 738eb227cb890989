// Which of a source's destinations want an event, by `types` and `when`.
//
//   DestinationChoice choice(source.destinations);                     // once per configuration
//   std::vector<std::string> names = choice.choose(type, headers, body);
//
// The body is read at most once, only where the answer depends on it, and only for the values that conditions name.
// Immutable; choose() may run on several threads at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_message.h"
#include "base/json_scan.h"
#include "core/config.h"

namespace hookonce {

class DestinationChoice {
 public:
  DestinationChoice() = default;
  explicit DestinationChoice(const std::vector<SourceDestination>& destinations);

  // In the order of the configuration; may be none. In a body that is not valid JSON as a whole no pointer leads
  // anywhere.
  std::vector<std::string> choose(std::string_view type, const Headers& headers, std::string_view body) const;

 private:
  struct JsonCondition {
    Condition condition;
    std::size_t value = 0;  // index among the scanner's values
  };
  struct Destination {
    std::string name;
    std::vector<std::string> types;
    std::vector<Condition> on_headers;
    std::vector<JsonCondition> on_json;
  };

  std::vector<Destination> destinations_;
  std::optional<JsonScanner> scanner_;  // nullopt: no condition looks into the body
};

}  // namespace hookonce
